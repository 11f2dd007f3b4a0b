"""Parts: what a score is made of adds up to it, whatever the store and the preset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.model import Author, Edge, Memory, Origin, drawer_id
from camillo.ops.search import search
from camillo.retrieval.candidate import Candidate, Context, Expansion, Query
from camillo.retrieval.fuse import Scale
from camillo.retrieval.pipeline import run
from camillo.retrieval.presets import PRESETS
from camillo.vault import OpenRoot, Vault, open_vault
from unit.retrieval.by_hand import candidate, context

WORDS = ("harbour", "lamp", "rope", "signal", "tide", "the", "keeper", "灯塔")
IDS = "abcdef"
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
edges = st.builds(
    Edge, st.sampled_from(("related-to", "builds-on", "child-of", "supersedes")),
    st.sampled_from(IDS),
)  # fmt: skip
notes = st.builds(
    Memory, st.sampled_from(IDS), texts, st.sampled_from(("fact", "rule", "question")),
    title=texts | st.just(""), summary=texts | st.just(""),
    edges=st.lists(edges, max_size=2).map(tuple), aliases=st.lists(texts, max_size=2).map(tuple),
)  # fmt: skip
messages = st.builds(
    Memory, st.integers(0, 9).map(lambda n: f"m{n}"), texts, st.just("conversation"),
    session=st.sampled_from(("s", "t")),
)  # fmt: skip
stores = st.tuples(
    st.lists(notes, max_size=5), st.lists(messages, max_size=8), st.lists(texts, max_size=4)
)


@pytest.mark.parametrize("preset", sorted(PRESETS))
@pytest.mark.parametrize("expand", ["none", "one-hop", "hierarchical"])
@given(stores, texts)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_parts_of_a_score_add_up_to_it(
    tmp_path_factory: pytest.TempPathFactory,
    preset: str,
    expand: Any,
    store: tuple[list[Memory], list[Memory], list[str]],
    question: str,
) -> None:
    with open_vault(overrides={"search.embedder": "hashing"}) as vault:
        root = vault.scratch(str(tmp_path_factory.mktemp("root")))
        _fill(root, *store)
        vault.embed(root)
        for found in _candidates(vault, root, question, preset, expand):
            assert sum(found.parts.values()) == pytest.approx(found.score, abs=1e-9)
            named = found.signals.keys() | {"keyword"}
            assert found.parts.keys() <= named, "a part is that of a signal"
        root.close()


def _fill(
    root: OpenRoot, notes: Sequence[Memory], messages: Sequence[Memory], drawers: Sequence[str]
) -> None:
    root.store.put([*notes, *messages], Author(via="test"))
    for n, text in enumerate(drawers):
        name, body = f"/{n}.md", f"# {text}\n\n{text}\n"
        origin = Origin(name, 0, 1, 3, 0, len(body))
        source = Memory(f"source-{n}", "", "source", origin=Origin(name), extra={"parts": 1})
        root.store.replace_source(source, [Memory(drawer_id(name, 0), body, "drawer",
                                                  origin=origin)])  # fmt: skip
    root.catch_up()


def _candidates(
    vault: Vault, root: OpenRoot, question: str, preset: str, expand: Any
) -> list[Candidate]:
    """Not explained, so that nothing is made good for a stage that does not say what it adds."""
    plan = vault.plan(preset, expand=expand != "none")
    asked = Context([root], vault.settings.search, plan.embedder)
    asked.superseded = root.superseded(root.store.get)
    query = Query(question, 30, expansion=Expansion(expand))
    return run(query, plan.stages, asked)


def test_a_search_that_explains_shows_them(home: object) -> None:
    with open_vault() as vault:
        root = vault.root("user", create=True)
        _fill(root, [Memory("a", "The lamp of the harbour", title="harbour lamp")], [],
              ["harbour lamp and rope", "tide"])  # fmt: skip
        explained = search(vault, "harbour lamp", explain=True)
        assert len(explained.results) == 2
        for found in explained.results:
            assert sum(found.parts.values()) == pytest.approx(found.score, abs=1e-6)
        assert {"alias", "note", "closet"} <= {
            name for found in explained.results for name in found.parts
        }
        assert [step["stage"] for step in explained.trace] == list(PRESETS["words"])
        assert all({"before", "after", "ms"} <= step.keys() for step in explained.trace)
        plain = search(vault, "harbour lamp")
        assert [found.parts for found in plain.results] == [{}, {}]
        assert plain.trace == []


def test_a_stage_that_does_not_say_what_it_adds_is_named_itself() -> None:
    def louder(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
        for each in candidates:
            each.score += 0.25
        return candidates

    def first(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
        made = candidate("a", 0.5)
        made.parts = {"keyword": 0.5}
        return [made]

    asked = context()
    asked.explain = True
    [found] = run(Query("q"), [("first", first), ("louder", louder), ("again", louder)], asked)
    assert found.parts == {"keyword": 0.5, "louder": 0.25, "again": 0.25}


@given(
    st.dictionaries(st.sampled_from(("keyword", "window", "session")), st.floats(0, 1)),
    st.none() | st.floats(-1, 1),
    st.floats(0, 1),
    st.floats(0, 1.2),
)
def test_a_fused_score_is_the_sum_of_its_parts(
    said: dict[str, float], cosine: float | None, trust: float, strength: float
) -> None:
    scale = Scale(max(0.2, sum(said.values())), -1.0, 1.0, trust, strength)
    parts = scale.parts(said, cosine)
    assert sum(parts.values()) == pytest.approx(scale.score(sum(said.values()), cosine), abs=1e-9)
    assert all(part >= 0 for part in parts.values())
