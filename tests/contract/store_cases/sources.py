"""Cases of a store: a source's drawers are replaced in one step, and only its own."""

from __future__ import annotations

import pytest

from camillo.errors import InvalidValue
from camillo.model import Filter, Memory, replace
from camillo.ports import Store
from contract.applicable import needs
from contract.specimens import drawer, memory, source_of, untimed


class SourceCases:
    """replace_source."""

    @needs("keeps")
    def test_a_source_and_its_drawers_are_stored(self, store: Store) -> None:
        parts = _parts("a.md", "one", "two", "three")
        assert store.replace_source(source_of("a.md"), parts) == (3, 0, 0)
        assert _texts(store, "a.md") == ["one", "two", "three"]
        assert untimed(store.get([source_of("a.md").key])[0]) == source_of("a.md")

    @needs("keeps")
    def test_a_second_time_nothing_changes(self, store: Store) -> None:
        parts = _parts("a.md", "one", "two")
        store.replace_source(source_of("a.md"), parts)
        last, lines = store.last_change(), store.journal()
        assert store.replace_source(source_of("a.md"), parts) == (0, 2, 0)
        assert store.last_change() == last
        assert store.journal() == lines

    @needs("keeps", "feed")
    def test_unchanged_text_keeps_its_number(self, store: Store) -> None:
        store.replace_source(source_of("a.md"), _parts("a.md", "one", "two", "three", "four"))
        before = _numbers(store)
        result = store.replace_source(source_of("a.md"), _parts("a.md", "one", "TWO", "three"))
        assert result == (1, 2, 1)
        assert _texts(store, "a.md") == ["one", "TWO", "three"]
        kept = set(before.items()) & set(_numbers(store).items())
        assert {body for body, _ in kept} == {"one", "three", ""}

    @needs("keeps", "feed")
    def test_what_went_is_in_the_feed_and_what_stayed_is_not(self, store: Store) -> None:
        store.replace_source(source_of("a.md"), _parts("a.md", "one", "two", "three"))
        cursor = store.last_change()
        store.replace_source(source_of("a.md"), _parts("a.md", "one", "TWO"))
        told = [(c.memory and c.memory.body, c.former and c.former.body)
                for c in store.changes(cursor)]  # fmt: skip
        assert sorted(told, key=str) == [("TWO", None), (None, "three"), (None, "two")]

    @needs("keeps")
    def test_other_sources_and_scopes_are_not_touched(self, store: Store) -> None:
        others = [
            *_parts("b.md", "in b"),
            *_parts("a.md.bak", "in a.md.bak"),
            *(replace(d, scope="project") for d in _parts("a.md", "in a project")),
            *(replace(d, namespace="n") for d in _parts("a.md", "in a namespace")),
            memory("note", "a note", origin=_parts("a.md", "x")[0].origin),
        ]
        store.put(others)
        store.replace_source(source_of("a.md"), _parts("a.md", "one", "two"))
        assert store.replace_source(source_of("a.md"), []) == (0, 0, 2)
        assert [untimed(m) for m in store.get([m.key for m in others])] == others

    @needs("keeps")
    def test_no_drawers_leave_none(self, store: Store) -> None:
        store.replace_source(source_of("a.md"), _parts("a.md", *"abcdef"))
        assert store.replace_source(source_of("a.md"), []) == (0, 0, 6)
        assert _texts(store, "a.md") == []
        assert store.count(Filter(kinds=("source",), internal=True)) == 1
        assert store.replace_source(source_of("a.md"), []) == (0, 0, 0)

    @needs("keeps")
    def test_a_changed_record_of_a_source_is_kept(self, store: Store) -> None:
        parts = _parts("a.md", "one")
        store.replace_source(source_of("a.md", extra={"hash": "1"}), parts)
        changed = source_of("a.md", extra={"hash": "2"})
        assert store.replace_source(changed, parts) == (0, 1, 0)
        assert untimed(store.get([changed.key])[0]) == changed

    @needs("keeps")
    def test_one_bad_drawer_and_the_source_is_as_it_was(self, store: Store) -> None:
        store.replace_source(source_of("a.md"), _parts("a.md", "one", "two"))
        held, last, lines = list(store.scan()), store.last_change(), store.journal()
        bad = [*_parts("a.md", "ONE"), memory("bad", "\udc80", kind="drawer")]
        with pytest.raises(InvalidValue, match="body"):
            store.replace_source(source_of("a.md", extra={"hash": "2"}), bad)
        assert list(store.scan()) == held
        assert (store.last_change(), store.journal()) == (last, lines)

    @needs("keeps", "journal")
    def test_each_drawer_that_goes_leaves_a_line(self, store: Store) -> None:
        parts = _parts("a.md", "one", "two", "three")
        store.replace_source(source_of("a.md"), parts)
        cursor = store.journal()[-1].number
        store.replace_source(source_of("a.md"), parts[:1])
        gone = {line.key for line in store.journal(cursor) if line.what == "deleted"}
        assert gone == {f"user/{d.id}" for d in parts[1:]}


def _parts(source: str, *bodies: str) -> list[Memory]:
    return [drawer(source, number, body) for number, body in enumerate(bodies)]


def _texts(store: Store, source: str) -> list[str]:
    drawers = store.scan(Filter(kinds=("drawer",), source=source))
    return [m.body for m in sorted(drawers, key=lambda m: m.origin.part if m.origin else 0)]


def _numbers(store: Store) -> dict[str, int]:
    """The number of each text that is held; the record of the source has none."""
    return {change.memory.body: change.seq for change in store.changes(0) if change.memory}
