"""Catch-up: indexes pull what changed, in order, and go on where they stopped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from camillo.engines.memory import MemoryStore
from camillo.model import Change, Health, Memory
from camillo.ports import Store
from camillo.projection import BATCH, behind, catch_up


class Slate:
    """An index that remembers what it was told; it fails when it is told to."""

    def __init__(self, name: str = "slate", cursor: int = 0, fail_at: int = 0) -> None:
        self.name = name
        self.at = cursor
        self.seen: list[int] = []
        self.fail_at = fail_at

    def cursor(self) -> int:
        return self.at

    def update(self, changes: Sequence[Change], store: Store) -> None:
        if self.fail_at and any(change.seq >= self.fail_at for change in changes):
            raise OSError("the disk")
        self.seen += [change.seq for change in changes]
        self.at = changes[-1].seq

    def reset(self) -> None:
        self.at = 0

    def check(self) -> Health:
        return Health(self.name)

    def close(self) -> None: ...


@pytest.fixture
def store() -> Any:
    store = MemoryStore()
    store.put([Memory(f"m{n}", f"text {n}") for n in range(2 * BATCH + 10)])
    return store


def test_every_index_hears_every_change_once_and_in_order(store: Any) -> None:
    slates = [Slate("a"), Slate("b")]
    assert catch_up(store, slates) == 0
    for slate in slates:
        assert slate.seen == list(range(1, store.last_change() + 1))
    assert catch_up(store, slates) == 0
    assert len(slates[0].seen) == store.last_change()


def test_one_that_is_ahead_is_not_told_again(store: Any) -> None:
    slow, fast = Slate("slow"), Slate("fast", cursor=3000)
    catch_up(store, [slow, fast])
    assert fast.seen == list(range(3001, store.last_change() + 1))
    assert slow.seen[0] == 1


def test_it_stops_after_at_most_so_many_and_says_what_is_left(store: Any) -> None:
    slate = Slate()
    left = catch_up(store, [slate], at_most=1)
    assert left == store.last_change() - BATCH == behind(store, [slate])
    assert len(slate.seen) == BATCH
    assert catch_up(store, [slate], at_most=0) == left


def test_it_tells_of_every_step(store: Any) -> None:
    taken: list[int] = []
    catch_up(store, [Slate()], told=taken.append)
    assert taken == [BATCH, BATCH, 10]


def test_after_a_failure_it_goes_on_where_the_cursor_stands(store: Any) -> None:
    slate = Slate(fail_at=BATCH + 1)
    with pytest.raises(OSError, match="disk"):
        catch_up(store, [slate])
    slate.fail_at = 0
    assert catch_up(store, [slate]) == 0
    assert slate.seen == list(range(1, store.last_change() + 1))


def test_without_indexes_nothing_is_behind(store: Any) -> None:
    assert behind(store, []) == 0
    assert catch_up(store, []) == 0
