"""Stage `related`: neighbours of hits, scored by themselves and by what leads to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.embed.hashing import HashingEmbedder
from camillo.model import Edge, Filter, Memory, Place, replace
from camillo.retrieval.candidate import Candidate, Expansion, Via
from camillo.retrieval.related import EXPANDED
from camillo.vault import Vault, open_vault
from unit.graph.specimens import key, memory
from unit.retrieval.linked import HYBRID, VECTORS, WORDS, LinkedRoot, search

ONE_HOP = Expansion("one-hop")
PARENTS = Expansion("hierarchical")


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    (home / "work" / ".camillo").mkdir()
    with open_vault(overrides={"search.embedder": "hashing"}) as opened:
        yield opened


@pytest.fixture
def root(vault: Vault) -> Iterator[LinkedRoot]:
    linked = LinkedRoot(vault.root("user", create=True), vault)
    yield linked
    linked.close()


def _found(root: LinkedRoot, text: str = "gate", k: int = 10, **how: Any) -> dict[str, Candidate]:
    how.setdefault("expansion", ONE_HOP)
    how["stages"] = tuple(each for each in how.get("stages", WORDS) if each != "connected")
    return {each.memory.id: each for each in search(root, text, k, **how)}


class TestOneHop:
    @pytest.mark.case("CP30")
    def test_a_neighbour_that_is_no_hit_has_the_hits_score_times_the_decay(
        self, root: LinkedRoot
    ) -> None:
        root.put(memory("a ~b", body="the gate"), memory("b", body="a lamp"))
        found = _found(root)
        assert list(found) == ["a", "b"]
        assert found["b"].score == pytest.approx(0.7 * found["a"].score)
        assert found["b"].signals["related"] == found["b"].score
        assert found["b"].via == Via("related-to", key("a"))
        assert found["a"].via is None

    def test_nothing_is_expanded_unless_asked_for(self, root: LinkedRoot) -> None:
        root.put(memory("a ~b", body="the gate"), memory("b", body="a lamp"))
        assert list(_found(root, expansion=Expansion())) == ["a"]

    def test_a_neighbours_own_score_counts_where_it_is_more(self, root: LinkedRoot) -> None:
        root.put(memory("a ~b", body="gate of wood"), memory("b", body="gate of a wall"))
        plain = _found(root, expansion=Expansion())
        found = _found(root)
        assert plain["b"].score > 0.7 * plain["a"].score
        assert found["b"].score == plain["b"].score
        assert found["b"].via is None

    def test_a_weak_hit_is_lifted_by_a_strong_one(self, root: LinkedRoot) -> None:
        wall = "wall of many stones and more of them " * 9
        root.put(memory("a ~b", body="gate"), memory("b", body=f"{wall} gate"))
        plain, found = _found(root, expansion=Expansion()), _found(root)
        assert plain["b"].score < found["b"].score == pytest.approx(0.7 * found["a"].score)
        assert found["b"].via == Via("related-to", key("a"))

    @pytest.mark.parametrize("stages", [HYBRID, VECTORS])
    def test_what_nothing_nominated_scores_as_if_it_had_been(
        self, root: LinkedRoot, stages: tuple[str, ...]
    ) -> None:
        # 300 that are nearer keep `b` out of what meaning nominates, but not out of what is linked
        near = (Memory(f"m{n}", f"xylophagous {n}") for n in range(300))
        far = memory("b", body="a xylophone")
        root.put(memory("a ~b", body="unxylophagous"), far, *near)
        how: dict[str, Any] = {"stages": stages[:-1], "embedder": HashingEmbedder()}
        assert "b" not in _found(root, "unxylophagous", expansion=Expansion(), **how)
        found = _found(root, "unxylophagous", expansion=replace(ONE_HOP, decay=0.0), **how)["b"]
        wide = _found(root, "unxylophagous", 100, expansion=Expansion(), **how)["b"]
        assert found.signals == pytest.approx(wide.signals)
        assert found.score == pytest.approx(wide.score, abs=0.02)
        assert found.via == Via("related-to", key("a"))

    def test_only_the_relations_that_are_asked_for_are_followed(self, root: LinkedRoot) -> None:
        root.put(memory("a ~b !c ^d", body="gate"), *map(memory, "bcd"))
        assert set(_found(root)) == {"a", "b"}
        only = replace(ONE_HOP, relations=("contradicts",))
        assert set(_found(root, expansion=only)) == {"a", "c"}
        assert set(_found(root, expansion=replace(ONE_HOP, relations=()))) == {"a"}

    def test_each_hit_brings_in_at_most_the_limit_in_the_order_of_its_links(
        self, root: LinkedRoot
    ) -> None:
        root.put(memory("a ~d ~c ~b", body="gate"), *map(memory, "bcd"))
        assert set(_found(root)) == {"a", "c", "d"}
        assert set(_found(root, expansion=replace(ONE_HOP, limit=0))) == {"a"}
        assert set(_found(root, expansion=replace(ONE_HOP, limit=9))) == {"a", "b", "c", "d"}

    def test_what_a_better_hit_has_brought_in_does_not_count_against_the_limit(
        self, root: LinkedRoot
    ) -> None:
        root.put(memory("a ~c", body="gate"), memory("b ~a ~c ~d", body="gate gate gate wall"),
                 *map(memory, "cd"))  # fmt: skip
        found = _found(root, expansion=replace(ONE_HOP, limit=1))
        assert set(found) == {"a", "b", "c", "d"}
        assert {id: each.via and each.via.hit.id for id, each in found.items()} == {
            "a": None, "b": None, "c": "a", "d": "b",
        }  # fmt: skip

    def test_links_that_lead_nowhere_take_no_place(self, root: LinkedRoot) -> None:
        root.put(memory("a ~gone1 ~gone2 ~away ~b", body="gate"), memory("b"),
                 memory("away", archived=5))  # fmt: skip
        assert set(_found(root)) == {"a", "b"}

    def test_links_into_a_hit_are_not_followed(self, root: LinkedRoot) -> None:
        root.put(memory("a", body="gate"), memory("b ~a", body="lamp"))
        assert set(_found(root)) == {"a"}

    def test_filters_hold_for_neighbours(self, root: LinkedRoot) -> None:
        here = Place("w")
        root.put(memory("a ~b ~c ~d", body="gate", place=here), memory("b", place=Place("v")),
                 memory("c", place=here), memory("d", place=here))  # fmt: skip
        assert set(_found(root, filter=Filter(wing="w"))) == {"a", "c", "d"}

    def test_a_superseded_neighbour_is_its_newest_version(self, root: LinkedRoot) -> None:
        root.put(memory("a ~old", body="gate"), memory("old"), memory("new =old"))
        assert set(_found(root)) == {"a", "new"}
        assert set(_found(root, include_superseded=True)) == {"a", "old"}

    def test_a_session_means_its_own_memories_first(self, root: LinkedRoot) -> None:
        root.put(memory("a ~b ~c", body="gate", session="s"), memory("b", session="s"),
                 memory("b", session=""), memory("c"))  # fmt: skip
        found = search(root, "gate", expansion=ONE_HOP)
        assert {each.key for each in found} == {
            key("a", session="s"), key("b", session="s"), key("c"),
        }  # fmt: skip

    @pytest.mark.case("CP34")
    def test_without_hits_there_are_no_neighbours(self, root: LinkedRoot) -> None:
        assert _found(root) == {}
        root.put(memory("a ~b", body="wall"), memory("b"))
        assert _found(root) == {}


def test_no_link_leaves_its_scope(vault: Vault, root: LinkedRoot) -> None:
    project = LinkedRoot(vault.root("project"))
    root.put(memory("a ~b", body="gate"))
    project.put(memory("b", body="wall", scope="project"))
    found = search([project, root], "gate", expansion=ONE_HOP)
    assert [each.key for each in found] == [key("a")]
    project.close()


class TestParents:
    def test_a_parent_has_nine_tenths_of_its_best_child(self, root: LinkedRoot) -> None:
        root.put(memory("x ^p", body="gate"), memory("y ^p", body="gate gate wall wall"),
                 memory("p", body="lamp"))  # fmt: skip
        found = _found(root, expansion=PARENTS)
        best = max(found["x"].score, found["y"].score)
        assert found["p"].signals["related"] == pytest.approx(0.9 * best)
        assert found["p"].via is not None
        assert found["p"].via.relation == "child-of"
        assert found["p"].score == found["p"].signals["related"]

    def test_a_parent_that_is_a_better_hit_keeps_its_score(self, root: LinkedRoot) -> None:
        root.put(memory("x ^p", body="gate and wall and wall"), memory("p", body="gate"))
        found = _found(root, expansion=PARENTS, stages=("expand", "keyword", "read", "related"))
        assert found["p"].score > found["x"].score
        assert found["p"].via is None

    def test_other_relations_are_not_followed(self, root: LinkedRoot) -> None:
        root.put(memory("x ~b ^p", body="gate"), *map(memory, "bp"))
        assert set(_found(root, expansion=PARENTS)) == {"x", "p"}

    def test_only_one_level_is_climbed(self, root: LinkedRoot) -> None:
        root.put(memory("x ^p", body="gate"), memory("p ^q"), memory("q"))
        assert set(_found(root, expansion=PARENTS)) == {"x", "p"}

    def test_all_parents_come(self, root: LinkedRoot) -> None:
        root.put(memory("x ^p ^q ^r", body="gate"), *map(memory, "pqr"))
        assert set(_found(root, expansion=PARENTS)) == {"x", "p", "q", "r"}


NAMES = [f"n{n}" for n in range(12)]
SAID = ("gate", "wall", "lamp", "door", "seven")
notes = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.lists(st.sampled_from(SAID), min_size=1, max_size=6),
        st.lists(
            st.builds(
                Edge, st.sampled_from(("related-to", "child-of", "supersedes")),
                st.sampled_from(NAMES),
            ),
            max_size=4, unique=True,
        ),
    ),
    min_size=4, max_size=12, unique_by=lambda each: each[0],
)  # fmt: skip


@given(notes, st.sampled_from([ONE_HOP, PARENTS]), st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_result_does_not_depend_on_how_many_are_wanted(
    root: LinkedRoot,
    notes: list[tuple[str, list[str], list[Edge]]],
    expansion: Expansion,
    meaning: bool,
) -> None:
    root.store.delete([each.key for each in root.store.scan()])
    root.put(*(Memory(id, " ".join(words), edges=tuple(edges)) for id, words, edges in notes))
    how: dict[str, Any] = {"expansion": expansion}
    if meaning:
        how |= {"stages": HYBRID, "embedder": HashingEmbedder()}
    whole = [(each.key, each.score) for each in search(root, "seven gates", 50, **how)]
    for k in range(1, 6):
        part = [(each.key, each.score) for each in search(root, "seven gates", k, **how)]
        assert part == whole[:k]


def test_only_the_first_hits_are_expanded(root: LinkedRoot) -> None:
    many = EXPANDED + 5
    root.put(*(memory(f"m{n:02} ~to{n:02}", body=f"gate {'wall ' * n}") for n in range(many)),
             *(memory(f"to{n:02}") for n in range(many)))  # fmt: skip
    found = _found(root, k=500)
    assert sum(id.startswith("to") for id in found) == EXPANDED
    assert {f"to{n:02}" for n in range(EXPANDED)} <= found.keys()


def test_a_store_of_some_size_gives_the_same_for_any_number(root: LinkedRoot) -> None:
    root.put(*(memory(f"m{n:04} ~m{(n * 37) % 2400:04}", body=f"gate {'wall ' * (n % 90)}{n}")
               for n in range(2400)))  # fmt: skip
    whole = [(each.key, each.via) for each in search(root, "gate", 200, expansion=ONE_HOP)]
    for k in (1, 3, 10):
        part = [(each.key, each.via) for each in search(root, "gate", k, expansion=ONE_HOP)]
        assert part == whole[:k]
