"""Catch-up: indexes pull what changed in a store since their cursor.

One loop for all indexes of one store; each moves rows and cursor in one transaction of its own, so
that a crash at any point only leaves it further behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from camillo.ports import Index, Store

__all__ = ["BATCH", "behind", "catch_up"]

BATCH = 2000


def behind(store: Store, indexes: Sequence[Index]) -> int:
    """How many changes the slowest index has still to take in; 0 = all are current."""
    cursors = [index.cursor() for index in indexes]
    return store.waiting(min(cursors)) if cursors else 0


def catch_up(
    store: Store,
    indexes: Sequence[Index],
    *,
    at_most: int | None = None,
    told: Callable[[int], None] = lambda taken: None,
) -> int:
    """Bring the indexes up to the store; stops after `at_most` changes. Returns what is left.

    `told` hears how many changes each step took in.
    """
    taken = 0
    while at_most is None or taken < at_most:
        cursors = {index.name: index.cursor() for index in indexes}
        if not cursors:
            return 0
        changes = store.changes(min(cursors.values()), BATCH)
        if not changes:
            return 0
        for index in indexes:
            news = [change for change in changes if change.seq > cursors[index.name]]
            if news:
                index.update(news, store)
        taken += len(changes)
        told(len(changes))
    return behind(store, indexes)
