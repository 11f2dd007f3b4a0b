"""The `none` engine: takes everything, keeps nothing and says so.

For a root that must not remember: each write is checked like any other and then rejected with the
reason, each question has the answer of an empty store.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from camillo.engines._writable import check_writable
from camillo.model import (
    Author,
    Change,
    Filter,
    Health,
    JournalEntry,
    Key,
    Memory,
    Outcome,
    Page,
)

__all__ = ["NoneStore"]

_REASON = "the engine 'none' keeps nothing"


class NoneStore:
    """`path` is taken and not looked at, so that every engine is made in the same way."""

    name = "none"
    remote = False
    capabilities = frozenset({"feed", "transaction"})

    def __init__(self, path: str = "", clock: Callable[[], float] = time.time) -> None:
        self._identity = os.urandom(16).hex()

    def put(
        self, memories: Iterable[Memory], by: Author = Author(), *, bulk: bool = False
    ) -> list[Outcome]:
        refused = list(memories)
        for memory in refused:
            check_writable(memory)
        return [Outcome("rejected", memory.key, _REASON) for memory in refused]

    def get(self, keys: Sequence[Key]) -> list[Memory | None]:
        return [None] * len(keys)

    def find(self, prefix: str, filter: Filter = Filter(), limit: int = 20) -> list[Key]:
        return []

    def delete(self, keys: Iterable[Key], by: Author = Author(), *, bulk: bool = False) -> int:
        return 0

    def replace_source(
        self, source: Memory, drawers: Sequence[Memory], by: Author = Author()
    ) -> tuple[int, int, int]:
        self.put([*drawers, source])
        return 0, 0, 0

    def scan(self, filter: Filter = Filter(), page: Page = Page()) -> Iterator[Memory]:
        return iter(())

    def count(self, filter: Filter = Filter()) -> int:
        return 0

    def tally(self, field: str, filter: Filter = Filter()) -> dict[str, int]:
        return {}

    def changes(self, since: int, limit: int = 1000) -> list[Change]:
        return []

    def last_change(self) -> int:
        return 0

    def waiting(self, since: int) -> int:
        return 0

    def lacks(self) -> str:
        return ""

    def journal(self, since: int = 0, limit: int = 100) -> list[JournalEntry]:
        return []

    @contextmanager
    def transaction(self, *, bulk: bool = False) -> Iterator[None]:
        yield

    def scrub(self, seen: int) -> bool:
        return True

    def erased(self) -> bool:
        return False

    def unclean(self) -> bool:
        return False

    def identity(self) -> str:
        return self._identity

    def health(self, *, deep: bool = False) -> Health:
        return Health(self.name, (), (("keeps", "nothing"),))

    def close(self) -> None:
        return None
