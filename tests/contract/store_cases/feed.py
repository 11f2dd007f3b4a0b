"""Cases of a store: its feed says everything once and in order, its journal says who did it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.model import Author, Change, Memory
from camillo.ports import Store
from contract.applicable import needs
from contract.specimens import memory, source_of

_STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", "z", None])), max_size=25
)


class FeedCases:
    """changes, last_change, scrub, journal."""

    @needs("keeps", "feed")
    def test_puts_and_deletes_are_in_the_feed_in_order(self, store: Store) -> None:
        store.put([memory("a", "A"), memory("b", "B")])
        store.delete([memory("a").key])
        store.put([memory("c", "C")])
        assert [_told(change) for change in store.changes(0)] == [
            ("b", "B", None),
            ("a", None, "A"),
            ("c", "C", None),
        ]
        numbers = [change.seq for change in store.changes(0)]
        assert numbers == sorted(set(numbers))
        assert store.last_change() == numbers[-1]

    @needs("keeps", "feed")
    def test_an_update_retires_the_former_version_then_brings_the_new(self, store: Store) -> None:
        store.put([memory("a", "old")])
        (first,) = store.changes(0)
        store.put([memory("a", "new")])
        retired, brought = store.changes(first.seq)
        assert (retired.memory, retired.former_seq, retired.former) == (
            None,
            first.seq,
            first.memory,
        )
        assert _told(brought) == ("a", "new", None)
        assert retired.key == brought.key == memory("a").key
        assert store.changes(brought.seq) == []
        assert store.last_change() == brought.seq

    @needs("keeps", "feed")
    def test_what_is_deleted_and_put_again_is_told_as_both(self, store: Store) -> None:
        store.put([memory("a", "text")])
        cursor = store.last_change()
        store.delete([memory("a").key])
        store.put([memory("a", "text")])
        assert [_told(change) for change in store.changes(cursor)] == [
            ("a", None, "text"),
            ("a", "text", None),
        ]

    @needs("keeps", "feed")
    def test_what_changes_nothing_is_not_told(self, store: Store) -> None:
        store.put([memory("a")])
        last = store.last_change()
        store.put([memory("a")])
        store.delete([memory("b").key])
        assert store.last_change() == last
        assert store.changes(last) == []

    @needs("keeps", "feed")
    def test_small_pages_tell_the_same_as_one(self, store: Store) -> None:
        for n in range(40):
            store.put([memory(f"m{n % 13}", f"text {n}")])
            if n % 3 == 0:
                store.delete([memory(f"m{(n * 5) % 13}").key])
        whole = store.changes(0)
        assert len(whole) > 20
        for limit in (1, 2, 7):
            assert _followed(store, limit) == whole

    @needs("keeps", "feed")
    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(steps=_STEPS, pause=st.integers(1, 5))
    def test_a_follower_ends_with_what_the_store_holds(
        self, store: Store, steps: list[tuple[str, str | None]], pause: int
    ) -> None:
        """It takes back exactly what it took in, whenever it looks."""
        store.delete([m.key for m in store.scan()])
        store.scrub(store.last_change())
        cursor, mirror = store.last_change(), dict[int, Memory]()
        for step, (id_, body) in enumerate(steps):
            if body is None:
                store.delete([memory(id_).key])
            else:
                store.put([memory(id_, body)])
            if step % pause == 0:
                cursor = _follow(store, cursor, mirror)
        _follow(store, cursor, mirror)
        held = {m.id: m for m in store.scan()}
        assert {m.id: m for m in mirror.values()} == held
        assert len(mirror) == len(held)

    @needs("keeps", "feed")
    def test_scrub_drops_former_texts_and_keeps_their_tombstones(self, store: Store) -> None:
        store.put([memory("a", "A"), memory("b", "B"), memory("c", "C")])
        store.delete([memory("a").key])
        store.put([memory("b", "B2")])
        seen = store.last_change()
        store.delete([memory("c").key])
        before = store.changes(0)
        assert store.scrub(seen) is True
        after = store.changes(0)
        assert [change[:4] for change in after] == [change[:4] for change in before]
        assert [_told(change) for change in after] == [
            ("a", None, None),
            ("b", None, None),
            ("b", "B2", None),
            ("c", None, "C"),
        ]
        assert store.scrub(store.last_change()) is True
        assert all(change.former is None for change in store.changes(0))
        assert [m.body for m in store.scan()] == ["B2"]

    @needs("keeps", "feed")
    def test_a_store_is_unclean_until_former_texts_are_scrubbed(self, store: Store) -> None:
        assert store.unclean() is False
        store.put([memory("a"), memory("b")])
        assert store.unclean() is False
        store.delete([memory("a").key])
        first = store.last_change()
        store.put([memory("b", "changed")])
        for seen in (0, first):  # the second retirement has a higher number
            store.scrub(seen)
            assert store.unclean() is True
        assert store.scrub(store.last_change()) is True
        assert store.unclean() is False

    @needs("keeps", "journal")
    def test_the_journal_says_who_did_what_in_order(self, store: Store) -> None:
        store.put([memory("a", "secret words")], Author("ann", "cli"))
        store.put([memory("a", "other words", title="secret title")], Author("bob", "mcp"))
        store.delete([memory("a").key], Author("eve", "http"))
        told = [(line.who, line.via, line.what, line.key) for line in store.journal()]
        assert told == [
            ("ann", "cli", "stored", "user/a"),
            ("bob", "mcp", "updated", "user/a"),
            ("eve", "http", "deleted", "user/a"),
        ]
        numbers = [line.number for line in store.journal()]
        assert numbers == sorted(set(numbers))
        assert all(line.at > 0 for line in store.journal())

    @needs("keeps", "journal")
    def test_the_journal_is_read_in_pages(self, store: Store) -> None:
        for n in range(10):
            store.put([memory(f"m{n}")])
        whole = store.journal()
        assert len(whole) == 10
        pages, since = [], 0
        while page := store.journal(since, 3):
            pages += page
            since = page[-1].number
        assert pages == whole

    @needs("keeps", "journal")
    def test_a_bulk_put_is_one_line_with_a_count(self, store: Store) -> None:
        store.put([memory(f"m{n}") for n in range(50)], Author("ann"), bulk=True)
        (line,) = store.journal()
        assert (line.who, line.what, line.times) == ("ann", "imported", 50)

    @pytest.mark.promise(14)
    @needs("keeps", "journal")
    def test_each_delete_leaves_a_line_without_the_text(self, store: Store) -> None:
        words = "perambulating marmalade"
        store.put([memory(f"m{n}", words, title=words, tags=(words,)) for n in range(5)])
        cursor = store.journal()[-1].number
        gone = [memory(f"m{n}").key for n in range(4)]
        store.delete([*gone, memory("never").key], Author("ann"), bulk=True)
        lines = store.journal(cursor)
        assert [(line.what, line.key) for line in lines] == [
            ("deleted", f"user/m{n}") for n in range(4)
        ]
        assert not any("marmalade" in str(line) for line in store.journal())

    @needs("keeps", "journal")
    def test_a_replaced_source_leaves_no_text_in_the_journal(self, store: Store) -> None:
        parts = [memory(f"d{n}", f"marmalade {n}", kind="drawer") for n in range(2)]
        store.replace_source(source_of("a.md"), parts, Author("ann", "cli"))
        (line,) = store.journal()
        assert (line.who, line.what, line.key, line.times) == ("ann", "mined", "a.md", 2)


def _told(change: Change) -> tuple[str, str | None, str | None]:
    """Id, the text that came, the text that went."""
    former = change.former.body if change.former else None
    return change.key.id, change.memory.body if change.memory else None, former


def _followed(store: Store, limit: int) -> Sequence[Change]:
    told: list[Change] = []
    while page := store.changes(told[-1].seq if told else 0, limit):
        assert len(page) <= limit
        told += page
    return told


def _follow(store: Store, cursor: int, mirror: dict[int, Memory]) -> int:
    """What an index does: rows by number in, the same rows out."""
    for change in store.changes(cursor):
        cursor = change.seq
        if change.memory:
            mirror[change.seq] = change.memory
        elif change.former_seq in mirror:
            assert mirror.pop(change.former_seq) == change.former
    assert cursor == store.last_change()
    return cursor
