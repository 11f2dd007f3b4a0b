"""The `memory` engine: memories in this process, at most `limit` of them, gone with it.

The least recently used give way: `put` and `get` are use, a scan is not. What gives way is retired
in the feed and logged like a delete. Records of erased texts and settings never give way. Retired
versions and journal lines are kept up to the same bound (at least 1000), oldest first to go.
"""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import NamedTuple

from camillo.engines._writable import check_writable
from camillo.errors import InvalidValue
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
    replace,
    source_id,
)

__all__ = ["MemoryStore"]

_STAYS = frozenset({"forgotten", "setting"})  # without them, erased text could come back
_LEAST_KEPT = 1000
_TALLIED: dict[str, Callable[[Memory], str]] = {
    "kind": lambda m: m.kind,
    "wing": lambda m: m.place.wing,
    "room": lambda m: m.place.room,
    "source": lambda m: m.origin.source if m.origin else "",
    "session": lambda m: m.session,
    "scope": lambda m: m.scope,
    "namespace": lambda m: m.namespace,
}


class _Row(NamedTuple):
    seq: int
    memory: Memory


class _Mark(NamedTuple):
    """How long everything was when a transaction began; undoing cuts back to it."""

    next: int
    rows: int
    changes: int
    numbers: int
    retired: int
    lines: int


class MemoryStore:
    """`path` is taken and not looked at. `clock` gives seconds. Safe to call from threads."""

    name = "memory"
    remote = False
    capabilities = frozenset({"feed", "journal", "transaction", "keeps"})

    def __init__(
        self, path: str = "", limit: int = 100_000, clock: Callable[[], float] = time.time
    ) -> None:
        if limit < 1:
            raise InvalidValue(f"a store for {limit} memories cannot keep one; give 1 or more")
        self._limit = limit
        self._kept = max(limit, _LEAST_KEPT)
        self._clock = clock
        self._identity = os.urandom(16).hex()
        self._lock = threading.RLock()
        self._depth = 0
        self._next = 1
        self._line_number = 0
        self._rows: dict[Key, _Row] = {}
        self._order: OrderedDict[Key, None] = OrderedDict()  # the least recently used first
        self._parts: dict[tuple[str, str, str], dict[Key, None]] = {}  # drawers of each source
        self._feed: dict[int, Change] = {}
        self._numbers: list[int] = []  # ascending; those no longer in the feed are passed over
        self._retired: list[int] = []  # ascending
        self._lines: list[JournalEntry] = []
        self._former_rows: list[tuple[Key, _Row | None]] = []  # to undo a transaction
        self._former_changes: list[tuple[int, Change | None]] = []

    # --- writing -------------------------------------------------------------------------------

    def put(
        self, memories: Iterable[Memory], by: Author = Author(), *, bulk: bool = False
    ) -> list[Outcome]:
        with self.transaction():
            outcomes = [self._put(memory) for memory in memories]
            changed = [o for o in outcomes if o.status != "deduplicated"]
            if bulk and len(changed) > 1:
                self._log(by, "imported", changed[0].key, len(changed))
            else:
                for outcome in changed:
                    self._log(by, outcome.status, outcome.key)
            self._make_room(by)
        return outcomes

    def delete(self, keys: Iterable[Key], by: Author = Author(), *, bulk: bool = False) -> int:
        with self.transaction():
            gone = [key for key in keys if self._retire(key)]
            for key in gone:
                self._log(by, "deleted", key)
        return len(gone)

    def replace_source(
        self, source: Memory, drawers: Sequence[Memory], by: Author = Author()
    ) -> tuple[int, int, int]:
        name = source.origin.source if source.origin else source.id
        with self.transaction():
            kept = {drawer.key for drawer in drawers}
            former = list(self._parts.get((source.namespace, source.scope, name), ()))
            gone = [key for key in former if key not in kept]
            for key in gone:
                self._retire(key)
            outcomes = [self._put(drawer) for drawer in drawers]
            new = sum(o.status != "deduplicated" for o in outcomes)
            self._put(source)
            if new or not former:
                self._lines.append(self._line(by, "mined", name, new))
            for key in gone:
                self._log(by, "deleted", key)
            self._make_room(by)
        return new, len(outcomes) - new, len(gone)

    @contextmanager
    def transaction(self, *, bulk: bool = False) -> Iterator[None]:
        with self._lock:
            mark = self._mark()
            self._depth += 1
            try:
                yield
            except BaseException:
                self._undo(mark)
                raise
            finally:
                self._depth -= 1
            if not self._depth:
                self._settle()

    def _put(self, memory: Memory) -> Outcome:
        check_writable(memory)
        key = memory.key
        row = self._rows.get(key)
        if row and _same(row.memory, memory):
            self._use(key)
            return Outcome("deduplicated", key)
        now = int(self._clock() * 1000)
        if row:
            self._retire(key)
            kept = replace(memory, created=row.memory.created, updated=now)
        else:
            kept = replace(memory, created=memory.created or now)
        kept = _own(kept)
        number = self._take_number()
        self._set_row(key, _Row(number, kept))
        self._set_change(number, Change(number, key, kept))
        return Outcome("updated" if row else "stored", key)

    def _retire(self, key: Key) -> bool:
        row = self._rows.get(key)
        if row is None:
            return False
        self._set_row(key, None)
        self._set_change(row.seq, None)
        number = self._take_number()
        self._retired.append(number)
        self._set_change(number, Change(number, key, None, row.seq, row.memory))
        return True

    def _make_room(self, by: Author) -> None:
        """The least recently used go. A source that lost a drawer loses its record too, so that
        mining it again brings the drawer back."""
        while len(self._order) > self._limit:
            key = next(iter(self._order))
            origin = self._rows[key].memory.origin
            self._retire(key)
            self._log(by, "evicted", key)
            record = key._replace(id=source_id(origin.source)) if origin else None
            if record in self._rows and self._rows[record].memory.kind == "source":
                self._retire(record)
                self._log(by, "evicted", record)

    def _take_number(self) -> int:
        self._numbers.append(self._next)
        self._next += 1
        return self._next - 1

    # --- state and how it is undone ------------------------------------------------------------

    def _set_row(self, key: Key, row: _Row | None) -> None:
        self._former_rows.append((key, self._rows.get(key)))
        self._place_row(key, row)

    def _set_change(self, number: int, change: Change | None) -> None:
        self._former_changes.append((number, self._feed.get(number)))
        self._place_change(number, change)

    def _place_row(self, key: Key, row: _Row | None) -> None:
        former = self._rows.pop(key, None)
        if former:
            self._order.pop(key, None)
            self._note_part(key, former.memory, there=False)
        if row:
            self._rows[key] = row
            self._note_part(key, row.memory, there=True)
            if row.memory.kind not in _STAYS:
                self._order[key] = None

    def _place_change(self, number: int, change: Change | None) -> None:
        if change is None:
            self._feed.pop(number, None)
        else:
            self._feed[number] = change

    def _note_part(self, key: Key, memory: Memory, *, there: bool) -> None:
        if memory.kind != "drawer" or memory.origin is None:
            return
        source = (memory.namespace, memory.scope, memory.origin.source)
        if there:
            self._parts.setdefault(source, {})[key] = None
            return
        parts = self._parts[source]
        del parts[key]
        if not parts:
            del self._parts[source]

    def _mark(self) -> _Mark:
        return _Mark(
            self._next,
            len(self._former_rows),
            len(self._former_changes),
            len(self._numbers),
            len(self._retired),
            len(self._lines),
        )

    def _undo(self, mark: _Mark) -> None:
        while len(self._former_rows) > mark.rows:
            self._place_row(*self._former_rows.pop())
        while len(self._former_changes) > mark.changes:
            self._place_change(*self._former_changes.pop())
        self._line_number -= len(self._lines) - mark.lines
        del self._numbers[mark.numbers :], self._retired[mark.retired :], self._lines[mark.lines :]
        self._next = mark.next

    def _settle(self) -> None:
        """After a commit: nothing to undo any more; what is too old or too much goes."""
        self._former_rows.clear()
        self._former_changes.clear()
        if len(self._retired) > 2 * self._kept:
            for number in self._retired[: -self._kept]:
                del self._feed[number]
            del self._retired[: -self._kept]
        if len(self._lines) > 2 * self._kept:
            del self._lines[: -self._kept]
        if len(self._numbers) > 2 * len(self._feed) + _LEAST_KEPT:
            self._numbers = sorted(self._feed)

    # --- journal -------------------------------------------------------------------------------

    def _log(self, by: Author, what: str, key: Key, count: int = 1) -> None:
        self._lines.append(self._line(by, what, "/".join(part for part in key if part), count))

    def _line(self, by: Author, what: str, key: str, count: int) -> JournalEntry:
        self._line_number += 1
        at = int(self._clock() * 1000)
        return JournalEntry(self._line_number, at, by.who, by.via, what, key, count)

    def journal(self, since: int = 0, limit: int = 100) -> list[JournalEntry]:
        with self._lock:
            first = bisect_right(self._lines, since, key=lambda line: line.number)
            return self._lines[first : first + limit]

    # --- reading -------------------------------------------------------------------------------

    def get(self, keys: Sequence[Key]) -> list[Memory | None]:
        with self._lock:
            rows = [self._rows.get(key) for key in keys]
            for key, row in zip(keys, rows, strict=True):
                if row:
                    self._use(key)
        return [_own(row.memory) if row else None for row in rows]

    def find(self, prefix: str, filter: Filter = Filter(), limit: int = 20) -> list[Key]:
        keys = [m.key for m in self._admitted(filter) if m.id.startswith(prefix)]
        keys.sort(key=lambda key: (key.id != prefix, key.id))
        return keys[:limit]

    def scan(self, filter: Filter = Filter(), page: Page = Page()) -> Iterator[Memory]:
        found = self._admitted(filter)
        if page.order == "id":
            found.sort(key=lambda m: m.id)
        else:
            newest = page.order == "newest"
            found.sort(key=lambda m: (m.created, m.id), reverse=newest)
        end = page.offset + page.limit if page.limit else None
        return map(_own, found[page.offset : end])

    def count(self, filter: Filter = Filter()) -> int:
        return len(self._admitted(filter))

    def tally(self, field: str, filter: Filter = Filter()) -> dict[str, int]:
        value = _TALLIED.get(field)
        if value is None:
            raise InvalidValue(f"cannot count by {field!r}; known: {', '.join(sorted(_TALLIED))}")
        counts = Counter(map(value, self._admitted(filter)))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def _admitted(self, filter: Filter) -> list[Memory]:
        with self._lock:
            return [row.memory for row in self._rows.values() if filter.admits(row.memory)]

    def _use(self, key: Key) -> None:
        if key in self._order:
            self._order.move_to_end(key)

    # --- feed ----------------------------------------------------------------------------------

    def changes(self, since: int, limit: int = 1000) -> list[Change]:
        found: list[Change] = []
        with self._lock:
            for place in range(bisect_right(self._numbers, since), len(self._numbers)):
                if len(found) >= limit:
                    break
                change = self._feed.get(self._numbers[place])
                if change:
                    found.append(change)
        return found

    def last_change(self) -> int:
        with self._lock:
            return self._next - 1

    def waiting(self, since: int) -> int:
        return max(0, self.last_change() - since)

    def lacks(self) -> str:
        return ""

    def scrub(self, seen: int) -> bool:
        with self._lock:
            for place in range(bisect_right(self._retired, seen) - 1, -1, -1):
                number = self._retired[place]
                if self._feed[number].former is None:  # and all before it
                    break
                self._feed[number] = self._feed[number]._replace(former=None)
        return True

    def erased(self) -> bool:
        return False

    def unclean(self) -> bool:
        with self._lock:
            return bool(self._retired) and self._feed[self._retired[-1]].former is not None

    # --- care ----------------------------------------------------------------------------------

    def identity(self) -> str:
        return self._identity

    def health(self, *, deep: bool = False) -> Health:
        with self._lock:
            facts = (("memories", str(len(self._rows))), ("limit", str(self._limit)))
        return Health(self.name, (), facts)

    def close(self) -> None:
        return None


def _same(kept: Memory, offered: Memory) -> bool:
    """Equal in everything but the times of writing."""
    return replace(offered, created=kept.created, updated=kept.updated) == kept


def _own(memory: Memory) -> Memory:
    """The same memory with an `extra` that nobody else can change."""
    return replace(memory, extra=deepcopy(memory.extra)) if memory.extra else memory
