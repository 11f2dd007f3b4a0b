"""The edges index: every link of a living memory, from whichever end it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo import registry
from camillo.engines.memory import MemoryStore
from camillo.graph.edges import graph_of
from camillo.indexes._file import IndexFile
from camillo.indexes.edges import EdgeIndex, Link
from camillo.model import Edge, Key, Memory, Origin, Place, replace
from camillo.projection import BATCH, catch_up
from camillo.text.mentions import reader
from unit.graph.specimens import key, memory


class Unfed(MemoryStore):
    """Tells what changed, not what it was."""

    capabilities = frozenset({"manifest", "keeps"})


class Linked:
    """A store with its edges, caught up before each question."""

    def __init__(self, store: Any, file: IndexFile, **options: Any) -> None:
        self.store = store
        self.file = file
        self._index = EdgeIndex(file, **options)

    def put(self, *memories: Memory) -> None:
        self.store.put(memories)

    @property
    def index(self) -> EdgeIndex:
        self.catch_up(self._index)
        return self._index

    def catch_up(self, index: EdgeIndex) -> None:
        if "feed" in self.store.capabilities:
            catch_up(self.store, [index])
        else:
            index.update(self.store.changes(index.cursor(), BATCH), self.store)

    def again(self, **options: Any) -> Linked:
        """Another handle on the same file."""
        return Linked(self.store, self.file, **options)


def _file(tmp_path: Path, store: Any) -> IndexFile:
    made: IndexFile = registry.open_index_file(str(tmp_path / "index.db"), store.identity())
    return made


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[Linked]:
    store = MemoryStore("")
    file = _file(tmp_path, store)
    yield Linked(store, file)
    file.close()


def _spelled(links: Sequence[Link]) -> list[str]:
    return [f"{source.id} {relation} {target.id}" for source, relation, target in links]


class TestTakingIn:
    def test_relations_come_first_then_supersedes_then_mentions(self, linked: Linked) -> None:
        linked.put(memory("a =old ~b >c", body="as [[d]] says, and [[d]]"))
        assert _spelled(linked.index.all_edges()) == [
            "a related-to b", "a builds-on c", "a supersedes old", "a mentions d",
        ]  # fmt: skip

    def test_superseded_by_is_a_link_from_the_newer_one(self, linked: Linked) -> None:
        linked.put(Memory("old", "", superseded_by="new"), Memory("new", ""))
        assert linked.index.superseders() == [Link(key("new"), "supersedes", key("old"))]

    def test_said_at_both_ends_it_is_one_link(self, linked: Linked) -> None:
        linked.put(Memory("old", "", superseded_by="new"), memory("new =old"))
        assert _spelled(linked.index.superseders()) == ["new supersedes old"]
        assert _spelled(linked.index.outbound([key("new")])) == ["new supersedes old"]
        assert _spelled(linked.index.inbound([key("old")])) == ["new supersedes old"]

    @pytest.mark.case("CP26")
    def test_a_mention_of_itself_is_none(self, linked: Linked) -> None:
        linked.put(Memory("a", "[[a]] [[b]]"))
        assert _spelled(linked.index.all_edges()) == ["a mentions b"]

    @pytest.mark.parametrize("kind", ["drawer", "diary"])
    def test_in_what_was_said_brackets_are_text(self, linked: Linked, kind: str) -> None:
        linked.put(memory("a ~b", body="[[c]]", kind=kind))
        assert _spelled(linked.index.all_edges()) == ["a related-to b"]

    def test_mentions_can_be_switched_off(self, linked: Linked) -> None:
        linked.put(memory("a ~b", body="[[c]]"))
        assert len(linked.index.all_edges()) == 2
        assert _spelled(linked.again(mentions=False).index.all_edges()) == ["a related-to b"]
        assert len(linked.index.all_edges()) == 2

    def test_records_of_the_store_itself_have_none(self, linked: Linked) -> None:
        linked.put(Memory("s", "[[a]]", "source", origin=Origin("/s"), edges=(Edge("x", "y"),)))
        assert linked.index.empty()

    def test_a_new_version_replaces_the_links(self, linked: Linked) -> None:
        linked.put(memory("a ~b"))
        assert _spelled(linked.index.all_edges()) == ["a related-to b"]
        linked.put(memory("a >c"))
        assert _spelled(linked.index.all_edges()) == ["a builds-on c"]

    def test_what_is_gone_or_put_away_has_none(self, linked: Linked) -> None:
        linked.put(memory("a ~b"), memory("c ~b"))
        assert len(linked.index.all_edges()) == 2
        linked.store.delete([key("a")])
        linked.put(replace(memory("c ~b"), archived=5))
        assert linked.index.empty()
        linked.put(memory("c ~b"))
        assert len(linked.index.all_edges()) == 1

    def test_a_store_without_a_feed_is_followed_by_key(self, tmp_path: Path) -> None:
        store = Unfed("")
        linked = Linked(store, _file(tmp_path, store))
        linked.put(memory("a ~b"), memory("c ~b"))
        assert len(linked.index.all_edges()) == 2
        linked.put(memory("a >b"))
        linked.store.delete([key("c")])
        assert _spelled(linked.index.all_edges()) == ["a builds-on b"]
        linked.file.close()

    def test_two_processes_may_take_in_the_same(self, linked: Linked) -> None:
        linked.put(memory("a ~b"))
        changes = linked.store.changes(0)
        for index in (EdgeIndex(linked.file), EdgeIndex(linked.file)):
            index.update(changes, linked.store)
        assert len(linked.index.all_edges()) == 1

    def test_a_file_from_before_there_were_edges_gets_them(self, linked: Linked) -> None:
        linked.file.database.connection.execute("DROP TABLE edges").fetchall()
        old = EdgeIndex(linked.file)
        assert (old.cursor(), old.empty(), old.all_edges()) == (0, True, [])
        assert old.check().problems == ()
        linked.put(memory("a ~b"))
        linked.catch_up(old)
        assert _spelled(old.all_edges()) == ["a related-to b"]
        assert old.cursor() == linked.store.last_change()

    @pytest.mark.promise(4)
    def test_emptied_it_comes_back_the_same(self, linked: Linked) -> None:
        linked.put(memory("a ~b =c", body="[[d]]"), Memory("e", "", superseded_by="a"))
        before = linked.index.all_edges()
        linked.index.reset()
        assert linked.index.all_edges() == before
        linked.file.rebuild()
        assert linked.again().index.all_edges() == before


class TestAsking:
    def test_links_come_in_the_order_of_the_keys(self, linked: Linked) -> None:
        linked.put(memory("a ~x >y"), memory("b ~x"), memory("x"), memory("y"))
        index = linked.index
        assert _spelled(index.outbound([key("b"), key("a"), key("b")])) == [
            "b related-to x", "a related-to x", "a builds-on y",
        ]  # fmt: skip
        assert _spelled(index.inbound([key("y"), key("x")])) == [
            "a builds-on y", "a related-to x", "b related-to x",
        ]  # fmt: skip

    def test_relations_may_be_chosen(self, linked: Linked) -> None:
        linked.put(memory("a ~x >y =z", body="[[w]]"))
        index = linked.index
        assert _spelled(index.outbound([key("a")], ["builds-on", "mentions"])) == [
            "a builds-on y", "a mentions w",
        ]  # fmt: skip
        assert index.inbound([key("x")], ["builds-on"]) == []
        assert index.outbound([key("a")], []) == []

    def test_no_keys_no_links(self, linked: Linked) -> None:
        linked.put(memory("a ~b"))
        assert linked.index.outbound([]) == linked.index.inbound([]) == []
        assert linked.index.inbound_counts([]) == {}

    def test_scopes_are_never_crossed(self, linked: Linked) -> None:
        linked.put(memory("a ~b"), memory("b"), memory("b", scope="project"),
                   memory("b", namespace="n"))  # fmt: skip
        there = [key("b"), key("b", "project"), Key("n", "user", "", "b")]
        assert linked.index.inbound_counts(there) == {key("b"): 1}
        assert linked.index.inbound(there[1:]) == []

    def test_a_session_means_its_own_and_then_the_global_ones(self, linked: Linked) -> None:
        linked.put(memory("a ~b ~c", session="s"), memory("b", session="s"), memory("b"),
                   memory("c"), memory("d ~b"))  # fmt: skip
        own, everywhere = key("b", session="s"), key("b")
        index = linked.index
        assert index.inbound_counts([own, everywhere]) == {own: 1, everywhere: 1}
        assert [link.source.id for link in index.inbound([own])] == ["a"]
        assert _spelled(index.inbound([key("c")])) == ["a related-to c"]
        assert index.inbound_counts([key("b", session="t")]) == {}

    @pytest.mark.case("CP29")
    def test_only_authored_links_are_counted(self, linked: Linked) -> None:
        linked.put(memory("a ~x >x"), memory("b =x"), memory("c", body="[[x]]"),
                   memory("d !x"), memory("x ~x"))  # fmt: skip
        assert linked.index.inbound_counts([key("x"), key("a")]) == {key("x"): 3}

    def test_more_keys_than_one_statement_holds(self, linked: Linked) -> None:
        linked.put(*(memory(f"m{n} ~m{n + 1}") for n in range(1200)))
        keys = [key(f"m{n}") for n in range(1201)]
        assert [link.source for link in linked.index.outbound(keys)] == keys[:-1]
        assert linked.index.inbound_counts(keys) == dict.fromkeys(keys[1:], 1)

    @pytest.mark.promise(22)
    def test_any_name_can_be_linked(self, linked: Linked) -> None:
        for name in ("門", "a'b", 'a"b', "%_", "e\u0301", "🎉"):
            linked.put(memory(f"to_{name} ~{name}"))
            assert linked.index.inbound_counts([key(name)]) == {key(name): 1}


class TestMentions:
    """A mention is written as people write it; what it means is told when it is asked."""

    @pytest.fixture
    def people(self, linked: Linked) -> Linked:
        linked.put(
            Memory("ada", "", aliases=("Ada Lovelace",), place=Place(room="people")),
            Memory("rules/no-force-push", "", place=Place(room="rules")),
            Memory("a", "[[Ada Lovelace|her]], [[people/ada]], [[no-force-push#Why]] `[[code]]`"),
        )
        return linked

    def test_other_names_lead_to_the_note(self, people: Linked) -> None:
        wanted = ["a mentions ada", "a mentions rules/no-force-push"]
        assert _spelled(people.index.outbound([key("a")])) == wanted
        assert _spelled(people.index.all_edges()) == wanted
        assert _spelled(people.index.inbound([key("ada")], ["mentions"])) == wanted[:1]
        assert _spelled(people.index.inbound([key("rules/no-force-push")])) == wanted[1:]
        assert people.index.inbound_counts([key("ada")]) == {}

    def test_what_a_name_means_follows_what_there_is(self, people: Linked) -> None:
        people.put(Memory("facts/no-force-push", "", place=Place(room="facts")))
        assert _spelled(people.index.outbound([key("a")]))[1:] == ["a mentions no-force-push"]
        assert people.index.inbound([key("rules/no-force-push")]) == []
        people.store.delete([key("rules/no-force-push")])
        assert _spelled(people.index.inbound([key("facts/no-force-push")])) == [
            "a mentions facts/no-force-push"
        ]
        people.put(Memory("no-force-push", ""))
        assert _spelled(people.index.outbound([key("a")]))[1:] == ["a mentions no-force-push"]

    def test_a_note_that_calls_itself_mentions_nobody(self, linked: Linked) -> None:
        linked.put(Memory("ada", "[[Countess]]", aliases=("Countess",)))
        assert linked.index.all_edges() == linked.index.inbound([key("ada")]) == []

    def test_notes_of_commonplace_are_read_as_it_reads_them(self, people: Linked) -> None:
        people.put(Memory("b", "[[ada]] [[Ada Lovelace]] [[no-force-push]]"))
        index = people.again(form="commonplace").index
        assert _spelled(index.all_edges()) == ["a mentions code", "b mentions ada"]
        assert _spelled(index.inbound([key("ada")])) == ["b mentions ada"]
        assert len(people.index.all_edges()) == 4

    def test_what_went_is_called_nothing(self, people: Linked) -> None:
        people.store.delete([key("ada")])
        assert _spelled(people.index.outbound([key("a")]))[:1] == ["a mentions Ada Lovelace"]


class TestCare:
    def test_it_says_how_many_there_are(self, linked: Linked) -> None:
        linked.put(memory("a ~b ~c"))
        health = linked.index.check()
        assert (health.problems, health.facts) == ((), (("edges", "2"),))

    @pytest.mark.promise(3)
    def test_overwritten_bytes_are_noticed(self, tmp_path: Path) -> None:
        store = MemoryStore("")
        linked = Linked(store, _file(tmp_path, store))
        linked.put(memory("unmistakable ~b"))
        assert linked.index.check().problems == ()
        linked.file.close()
        path = tmp_path / "index.db"
        path.write_bytes(path.read_bytes().replace(b"unmistakable", b"unmistakably", 1))
        file = _file(tmp_path, store)
        assert EdgeIndex(file).check().problems != ()
        file.close()


NAMES = "abcd"
SESSIONS = ("", "s")
links = st.builds(
    Edge, st.sampled_from(("related-to", "child-of", "supersedes")), st.sampled_from(NAMES)
)
memories = st.builds(
    Memory,
    st.sampled_from(NAMES),
    st.sampled_from(("", "[[a]]", "[[b]] and [[a]]", "[[Also b|x]] and [[d]]")),
    aliases=st.sampled_from(((), (), ("Also b",), ("a", "d"))),
    session=st.sampled_from(SESSIONS),
    edges=st.lists(links, max_size=3, unique=True).map(tuple),
    superseded_by=st.sampled_from(("", *NAMES)),
    archived=st.sampled_from((0, 0, 0, 9)),
)
steps = st.lists(
    memories | st.builds(key, st.sampled_from(NAMES), session=st.sampled_from(SESSIONS))
)


@given(steps, st.integers(1, 3))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_answers_as_the_graph_of_what_is_kept(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Memory | Key], every: int
) -> None:
    store = MemoryStore("")
    linked = Linked(store, _file(tmp_path_factory.mktemp("edges"), store))
    for n, step in enumerate(steps):
        if isinstance(step, Memory):
            linked.put(step)
        else:
            store.delete([step])
        if n % every == 0:
            linked.catch_up(linked.index)
    living = list(store.scan())
    keys = [each.key for each in living]
    named = ((each.id, each.place.room, each.aliases) for each in living if not each.archived)
    graph = graph_of(living, reader("camillo", named))

    def there(found: Sequence[tuple[Key, str, Key]]) -> set[tuple[Key, str, Key]]:
        ends = ((_meant(s, keys), r, _meant(t, keys)) for s, r, t in found)
        return {
            (s, r, t) for s, r, t in ends if s in keys and t in keys and (s != t or r[0] != "m")
        }

    wanted = {edge[:3] for edge in graph.edges() if not edge.dangling}
    assert there(linked.index.all_edges()) == wanted
    assert there(linked.index.outbound(keys)) == wanted
    assert there(linked.index.inbound(keys)) == wanted
    counts = dict.fromkeys(keys, 0)
    for source, relation, target in wanted:
        counts[target] += relation not in ("supersedes", "mentions") and source.id != target.id
    assert linked.index.inbound_counts(keys) == {each: n for each, n in counts.items() if n}
    linked.file.close()


def _meant(end: Key, keys: Sequence[Key]) -> Key:
    return end if end in keys else end._replace(session="")
