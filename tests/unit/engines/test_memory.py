"""The memory engine's own: its bound, and what gives way. The rest is tests/contract/."""

from __future__ import annotations

from contextlib import suppress

import pytest

from camillo.engines.memory import MemoryStore
from camillo.errors import InvalidValue
from camillo.model import Memory, Origin, source_id

KEYS = [Memory(f"m{n}", "").key for n in range(20)]


def _filled(limit: int, count: int) -> MemoryStore:
    store = MemoryStore(limit=limit)
    store.put([Memory(f"m{n}", f"text {n}") for n in range(count)])
    return store


def _held(store: MemoryStore) -> list[str]:
    return [m.id for m in store.scan()]


def test_the_oldest_gives_way() -> None:
    store = _filled(3, 3)
    assert store.put([Memory("new", "text")])[0].status == "stored"
    assert _held(store) == ["m1", "m2", "new"]


def test_get_and_put_are_use_and_a_scan_is_not() -> None:
    store = _filled(3, 3)
    store.get([KEYS[0]])
    store.put([Memory("m1", "text 1")])  # deduplicated, and used
    assert _held(store) == ["m0", "m1", "m2"]
    store.put([Memory("new", "text")])
    assert _held(store) == ["m0", "m1", "new"]


def test_an_update_takes_no_room() -> None:
    store = _filled(3, 3)
    store.put([Memory("m0", "changed")])
    assert _held(store) == ["m0", "m1", "m2"]
    store.put([Memory("new", "text")])
    assert _held(store) == ["m0", "m2", "new"]


def test_what_gives_way_is_retired_in_the_feed_and_logged() -> None:
    store = _filled(2, 2)
    cursor, number = store.last_change(), store.journal()[-1].number
    store.put([Memory("new", "text")])
    brought, retired = store.changes(cursor)
    assert [m and m.body for m in (brought.memory, retired.memory)] == ["text", None]
    assert [m and m.body for m in (brought.former, retired.former)] == [None, "text 0"]
    assert (brought.key.id, retired.key) == ("new", KEYS[0])
    assert [(line.what, line.key) for line in store.journal(number)] == [
        ("stored", "user/new"),
        ("evicted", "user/m0"),
    ]


def test_a_put_that_fails_evicts_nothing() -> None:
    store = _filled(3, 3)
    with suppress(LookupError), store.transaction():
        store.put([Memory("new", "text")])
        raise LookupError
    assert _held(store) == ["m0", "m1", "m2"]
    assert store.last_change() == 3


def test_a_source_that_loses_a_drawer_loses_its_record() -> None:
    """Else the next mine would take the source for unchanged."""
    record = Memory(source_id("f"), "", kind="source", origin=Origin("f"))
    store = MemoryStore(limit=2)
    store.replace_source(record, [Memory("d", "text", kind="drawer", origin=Origin("f", 0))])
    assert store.get([record.key]) != [None]
    store.put([Memory("new", "text")])
    assert store.get([record.key]) == [None]
    assert _held(store) == ["new"]


def test_records_of_erased_texts_and_settings_stay() -> None:
    stays = [Memory("f", "", kind="forgotten"), Memory("s", "", kind="setting")]
    store = MemoryStore(limit=2)
    store.put(stays)
    store.put([Memory(f"m{n}", "text") for n in range(10)])
    assert None not in store.get([m.key for m in stays])
    assert _held(store) == ["m8", "m9"]


@pytest.mark.promise(11)
def test_ten_thousand_writes_stay_inside_the_bound() -> None:
    store = MemoryStore(limit=10)
    for n in range(10_000):
        store.put([Memory(f"m{n}", f"text {n}")])
    assert store.count() == 10
    assert len(store.changes(0, 10_000)) <= 2_100
    assert len(store.journal(0, 100_000)) <= 2_100
    assert store.last_change() == 19_990
    assert [change.seq for change in store.changes(19_988)] == [19_989, 19_990]


def test_a_bound_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidValue, match="0"):
        MemoryStore(limit=0)
