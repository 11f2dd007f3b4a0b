"""The `postgres` engine: memories in a schema of a PostgreSQL database, for a team or a fleet.

Tables in `_postgres_schema.py`, numbers and locks in `_postgres_transactions.py`, the feed in
`_postgres_feed.py`; words and meaning are searched by the server itself.

What of an erased text is left where only the server's owner reaches: its write-ahead log and
archives, replicas, backups, and bytes of freed pages until they are used again (or VACUUM FULL).
Behind a connection pooler, sessions have to be kept (pgbouncer: `pool_mode = session`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import psycopg

from camillo.engines._postgres_connections import Connections, rows, together, value
from camillo.engines._postgres_feed import Feed
from camillo.engines._postgres_meaning import PostgresMeaning
from camillo.engines._postgres_rows import (
    COLUMNS,
    after,
    asked,
    intact,
    key_digest,
    read_text,
    where,
    written,
)
from camillo.engines._postgres_schema import (
    FAMILY,
    Opened,
    check_space,
    lock_number,
    open_space,
)
from camillo.engines._postgres_transactions import ALONE, Transaction, Transactions
from camillo.engines._postgres_words import (
    RULES,
    LabelTable,
    PostgresWords,
    add_passages,
    begin_anew,
    compact,
)
from camillo.engines._postgres_writes import Plan, write
from camillo.engines._writable import check_writable
from camillo.errors import InvalidValue, StoreDamaged, StoreError
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from camillo.engines._postgres_words import Labels

    Result = TypeVar("Result")

__all__ = ["PostgresStore"]

_TIDY_EACH = 8  # writes
_ALL = ", ".join(f"m.{column}" for column in COLUMNS)
_LIVE = f"SELECT m.seq, {_ALL} FROM memories m"
_TALLIED = {
    "kind": "m.kind", "wing": "m.wing", "room": "m.room", "source": "coalesce(m.source, '')",
    "session": "m.session", "scope": "m.scope", "namespace": "m.namespace",
}  # fmt: skip
_ORDERS = {
    "oldest": "m.created, m.id, m.seq",
    "newest": "m.created DESC, m.id DESC, m.seq DESC",
    "id": "m.id, m.seq",
}
_JOURNAL = (
    "INSERT INTO journal SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], "
    "%s::text[], %s::text[], %s::bigint[])"
)


class _Capabilities:
    """A class tells what every server can do, a store what its own can."""

    def __get__(self, store: PostgresStore | None, owner: type) -> frozenset[str]:
        every = frozenset({"feed", "journal", "transaction", "persistent", "keeps", "keyword"})
        if store is None:
            return every
        return every | {"vector"} if store._opened().vector else every


class PostgresStore:
    """`dsn` as libpq takes it; `space` is the schema that holds this root's tables. `clock` gives
    seconds. Opened on first use. Threads may share it.

    Waits 30 seconds for others that write, then raises StoreBusy.
    """

    name = "postgres"
    remote = True
    capabilities = _Capabilities()

    def __init__(
        self, dsn: str, clock: Callable[[], float] = time.time, *, space: str = "camillo"
    ) -> None:
        self._space = check_space(space)
        self._clock = clock
        self._connections = Connections(dsn, self._space)
        self._where = self._connections.where
        self._labels = LabelTable()
        self._opening = threading.Lock()
        self._found: Opened | None = None
        self._untidied = os.getpid() % _TIDY_EACH  # of many short processes some tidy up, too
        self._transactions = Transactions(self._connections, space, self._opened, self._tidy)
        self._read = self._transactions.read
        self._feed = Feed(self._connections, self._transactions, space, self._checked)
        self._words = PostgresWords(self._read)
        self._meaning = PostgresMeaning(
            self._connections, space, self._read, self._transactions.alone
        )

    # --- writing -------------------------------------------------------------------------------

    def put(
        self, memories: Iterable[Memory], by: Author = Author(), *, bulk: bool = False
    ) -> list[Outcome]:
        wanted = list(memories)

        def work(held: Transaction, labels: Labels) -> list[Outcome]:
            plan = self._write(held, labels, wanted, [])
            changed = [o for o in plan.outcomes if o.status != "deduplicated"]
            if bulk and len(changed) > 1:
                lines = [("imported", _named(changed[0].key), len(changed))]
            else:
                lines = [(outcome.status, _named(outcome.key), 1) for outcome in changed]
            self._log(held, by, lines)
            return plan.outcomes

        return self._writing(wanted, work, bulk)

    def delete(self, keys: Iterable[Key], by: Author = Author(), *, bulk: bool = False) -> int:
        wanted = list(dict.fromkeys(keys))

        def work(held: Transaction, labels: Labels) -> int:
            gone = self._write(held, labels, [], wanted, erase=True).gone
            self._log(held, by, [("deleted", _named(key), 1) for key in gone])
            return len(gone)

        return self._writing([], work, bulk)

    def replace_source(
        self, source: Memory, drawers: Sequence[Memory], by: Author = Author()
    ) -> tuple[int, int, int]:
        name = source.origin.source if source.origin else source.id
        kept = {drawer.key for drawer in drawers}
        of_source = f"source/{source.namespace}/{source.scope}/{name}"

        def work(held: Transaction, labels: Labels) -> tuple[int, int, int]:
            number = lock_number(self._space, of_source)
            rows(held.connection, ALONE, (FAMILY, number))
            former = self._keys_of_source(held, name, source.namespace, source.scope)
            gone = [key for key in former if key not in kept]
            plan = self._write(held, labels, [*drawers, source], gone)
            new = sum(o.status != "deduplicated" for o in plan.outcomes[: len(drawers)])
            lines = [("mined", name, new)] if new or not former else []
            self._log(held, by, [*lines, *(("deleted", _named(key), 1) for key in gone)])
            return new, len(drawers) - new, len(gone)

        return self._writing([*drawers, source], work, bulk=True)

    @contextmanager
    def transaction(self, *, bulk: bool = False) -> Iterator[None]:
        with self._transactions.alone(bulk=bulk):
            yield

    def _writing(
        self,
        memories: Sequence[Memory],
        work: Callable[[Transaction, Labels], Result],
        bulk: bool,
    ) -> Result:
        """All that can be wrong with a memory is found before the server is asked: a statement
        that fails would undo the caller's whole transaction."""
        for memory in memories:
            check_writable(memory)
        self._opened()
        labels = self._labels.of(memories, self._connections.run)
        return self._transactions.write(lambda held: work(held, labels), bulk)

    def _tidy(self) -> None:
        """After a commit of some, so that nothing waits for it; whoever writes next can do it."""
        if self._untidied < _TIDY_EACH:
            return
        self._untidied = 0
        lock = (FAMILY, lock_number(self._space, "compact"))
        try:
            with self._connections.lent() as (connection, _):
                compact(connection, lock)
        except (psycopg.Error, StoreError):
            pass

    def _write(
        self,
        held: Transaction,
        labels: Labels,
        memories: Sequence[Memory],
        gone: Sequence[Key],
        *,
        erase: bool = False,
    ) -> Plan:
        now = int(self._clock() * 1000)
        plan = write(held, labels, memories, gone, now=now, erase=erase)
        self._untidied += _TIDY_EACH if len(plan.rows) > _TIDY_EACH else 1
        return plan

    def _keys_of_source(
        self, held: Transaction, source: str, namespace: str, scope: str
    ) -> list[Key]:
        clause, arguments = where(
            Filter(namespace, scope, source=source, kinds=("drawer",), archived=True)
        )
        sql = f"SELECT m.namespace, m.scope, m.session, m.id FROM memories m WHERE {clause}"
        return [_key(row) for row in rows(held.connection, sql, arguments)]

    # --- journal -------------------------------------------------------------------------------

    def _log(self, held: Transaction, by: Author, lines: Sequence[tuple[str, str, int]]) -> None:
        if not lines:
            return
        now = int(self._clock() * 1000)
        who, via = written(by.who), written(by.via)
        made = [
            (held.take_number(), now, who, via, what, written(key), count)
            for what, key, count in lines
        ]
        rows(held.connection, _JOURNAL, [list(column) for column in zip(*made, strict=True)])

    def journal(self, since: int = 0, limit: int = 100) -> list[JournalEntry]:
        return self._feed.journal(since, limit)

    # --- reading -------------------------------------------------------------------------------

    def get(self, keys: Sequence[Key]) -> list[Memory | None]:
        if not keys:
            return []
        digests = [key_digest(key) for key in keys]
        sql = f"{_LIVE} WHERE m.key = ANY(%s::bytea[])"
        found = self._read(lambda c: rows(c, sql, (list(set(digests)),)))
        held = {row[1]: row for row in found}
        return [self._checked(held[each]) if each in held else None for each in digests]

    def find(self, prefix: str, filter: Filter = Filter(), limit: int = 20) -> list[Key]:
        clause, arguments = where(filter)
        start = asked(prefix)
        short = start[:100]
        sql = (
            "SELECT m.namespace, m.scope, m.session, m.id FROM memories m "
            "WHERE left(m.id, 100) >= %s AND left(m.id, 100) < %s AND m.id >= %s AND m.id < %s "
            f"AND {clause} ORDER BY m.id <> %s, m.id, m.seq LIMIT %s"
        )
        values = (short, after(short), start, after(start), *arguments, start, limit)
        return [_key(row) for row in self._read(lambda c: rows(c, sql, values))]

    def scan(self, filter: Filter = Filter(), page: Page = Page()) -> Iterator[Memory]:
        clause, arguments = where(filter)
        sql = f"{_LIVE} WHERE {clause} ORDER BY {_ORDERS[page.order]} LIMIT %s OFFSET %s"
        values = (*arguments, page.limit or None, page.offset)
        return map(self._checked, self._read(lambda c: rows(c, sql, values)))

    def count(self, filter: Filter = Filter()) -> int:
        clause, arguments = where(filter)
        sql = f"SELECT count(*) FROM memories m WHERE {clause}"
        return int(self._read(lambda c: value(c, sql, arguments)))

    def tally(self, field: str, filter: Filter = Filter()) -> dict[str, int]:
        if field not in _TALLIED:
            raise InvalidValue(f"cannot count by {field!r}; known: {', '.join(sorted(_TALLIED))}")
        clause, arguments = where(filter)
        sql = (
            f"SELECT {_TALLIED[field]}, count(*) FROM memories m WHERE {clause} "
            "GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        found = self._read(lambda c: rows(c, sql, arguments))
        return {read_text(each): count for each, count in found}

    def _checked(self, row: Sequence[Any]) -> Memory:
        memory = intact(row[1:])
        if memory is None:
            raise StoreDamaged(
                f"{self._where}: {_no_longer(row[5])}; "
                "restore it from a backup, or mine its source again"
            )
        return memory

    # --- feed ----------------------------------------------------------------------------------

    def changes(self, since: int, limit: int = 1000) -> list[Change]:
        return self._feed.changes(since, limit)

    def last_change(self) -> int:
        return self._feed.last_change()

    def waiting(self, since: int) -> int:
        return self._feed.waiting(since)

    def lacks(self) -> str:
        opened = self._opened()
        if opened.vector:
            return ""
        why = "pgvector is too old" if opened.extension else "pgvector is missing"
        return f"{why} on the server: words and vectors are searched on this machine"

    def scrub(self, seen: int) -> bool:
        return self._feed.scrub(seen)

    def erased(self) -> bool:
        return self._feed.text_kept()[0]

    def unclean(self) -> bool:
        return any(self._feed.text_kept())

    # --- searching -----------------------------------------------------------------------------

    def words(self) -> PostgresWords:
        return self._words

    def meaning(self) -> PostgresMeaning:
        return self._meaning

    # --- care ----------------------------------------------------------------------------------

    def identity(self) -> str:
        return self._opened().identity

    def health(self, *, deep: bool = False) -> Health:
        opened = self._opened()
        missing = "not there: searches by meaning use a local index"
        extension = opened.extension or missing
        if opened.extension and not opened.vector:
            extension = f"{opened.extension}, needs 0.8: searches by meaning use a local index"
        facts = (
            ("server", self._where), ("space", self._space), ("postgresql", opened.server),
            ("pgvector", extension),
        )  # fmt: skip
        problems = self._bad_rows() + self._miscounted() if deep else []
        return Health(self.name, tuple(problems), facts)

    def _bad_rows(self) -> list[str]:
        return [
            _no_longer(row[5]) for page in self._pages() for row in page if intact(row[1:]) is None
        ]

    def _pages(self) -> Iterator[list[Any]]:
        """All rows, some at a time: a store may be larger than the memory of the machine."""
        sql, last = f"{_LIVE} WHERE m.seq > %s ORDER BY m.seq LIMIT 1000", -1
        while page := self._read(partial(rows, sql=sql, arguments=(last,))):
            yield page
            last = page[-1][0]

    def _miscounted(self) -> list[str]:
        sql = (
            "SELECT (SELECT count(*) FROM passages), (SELECT passages FROM totals) "
            "+ (SELECT coalesce(sum(passages), 0) FROM tallies)::bigint"
        )
        held, counted = self._read(lambda c: rows(c, sql))[0]
        return [] if held == counted else [f"{held} passages, {counted} counted"]

    def close(self) -> None:
        self._connections.close()

    def _opened(self) -> Opened:
        """Brought up to date on first use."""
        if self._found is None:
            with self._opening, self._connections.translated():
                if self._found is None:
                    self._open()
        assert self._found is not None
        return self._found

    def _open(self) -> None:
        try:
            with self._connections.lent() as (connection, _):
                found = self._found = open_space(self._connections, connection, self._space)
            if found.rules != RULES and not found.read_only:
                self._make_words_anew()
        except BaseException:  # nobody closes what could not be opened
            self._found = None
            self._connections.drop_idle()
            raise

    def _make_words_anew(self) -> None:
        """They were made by another version's rules. Searches wait for it."""
        with self._transactions.alone(bulk=True) as connection:
            if value(connection, "SELECT value FROM meta WHERE key = 'rules'") == RULES:
                return
            begin_anew(connection)
            self._untidied = _TIDY_EACH
            for page in self._pages():
                held = [(row[0], intact(row[1:])) for row in page]
                sound = [(number, memory) for number, memory in held if memory is not None]
                memories = [memory for _, memory in sound]
                labels = self._labels.of(memories, self._connections.run)
                together(connection, add_passages(sound, labels))


def _key(row: Sequence[str]) -> Key:
    return Key(*map(read_text, row))


def _named(key: Key) -> str:
    return "/".join(part for part in key if part)


def _no_longer(id_: str) -> str:
    return f"the row of {read_text(id_)!r} no longer matches its hash"
