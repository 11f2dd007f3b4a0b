"""The `sqlite` engine: memories in one `store.db`, with a gap-safe feed and a journal.

Layout in `_sqlite_schema.py`, a row in `_sqlite_rows.py`, what is told of changes in
`_sqlite_feed.py`. It has no search of its own: the vault attaches the local indexes.
Numbers of changes are handed out inside BEGIN IMMEDIATE, so that none becomes visible late.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from camillo.database import BUSY_SECONDS, Database
from camillo.engines._sqlite_feed import Feed, note_erased
from camillo.engines._sqlite_filter import JOIN, after, asked, where
from camillo.engines._sqlite_rows import (
    LIVE,
    checked,
    content_of,
    damaged,
    digest,
    intact,
    mismatch,
)
from camillo.engines._sqlite_schema import COLUMNS, MIGRATIONS
from camillo.engines._sqlite_shared import OWNER, Shared
from camillo.engines._writable import check_writable
from camillo.errors import InvalidValue, StoreDamaged
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
    from typing import Any

__all__ = ["SqliteStore"]

_AT_ONCE = 500  # ids that one statement asks for
_INSERT = f"INSERT INTO memories(seq, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)})"
_RETIRE = (
    f"INSERT INTO retired(seq, former, {', '.join(COLUMNS)}) "
    f"SELECT ?, seq, {', '.join(COLUMNS)} FROM memories WHERE seq = ?"
)
_TALLIED = {
    "kind": "p.kind",
    "wing": "p.wing",
    "room": "p.room",
    "source": "coalesce(s.name, '')",
    "session": "o.session",
    "scope": "o.scope",
    "namespace": "o.namespace",
}
_ORDERS = {  # the number last, so that pages of equal ids neither overlap nor leave any out
    "oldest": "m.created, m.id, m.seq",
    "newest": "m.created DESC, m.id DESC, m.seq DESC",
    "id": "m.id, m.seq",
}


class SqliteStore:
    """One file. `path` is that of `store.db`; its folder must exist. `clock` gives seconds.

    Waits `busy_seconds` for another process that writes, then raises StoreBusy.
    """

    name = "sqlite"
    remote = False
    capabilities = frozenset({"feed", "journal", "transaction", "persistent", "keeps"})

    def __init__(
        self,
        path: str,
        clock: Callable[[], float] = time.time,
        *,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self._clock = clock
        self._next = 0
        self._version = 0  # SQLite's: it moves when another connection writes
        self._open = False  # a transaction is running; only read with the lock held
        self._database = Database(path, MIGRATIONS, backup=_back_up, busy_seconds=busy_seconds)
        self._shared = Shared(self._database)
        self._feed = Feed(self._database, self._shared)
        _only_mine(path)

    # --- writing -------------------------------------------------------------------------------

    def put(
        self, memories: Iterable[Memory], by: Author = Author(), *, bulk: bool = False
    ) -> list[Outcome]:
        with self.transaction(bulk=bulk):
            outcomes = [self._put(memory) for memory in memories]
            changed = [o for o in outcomes if o.status != "deduplicated"]
            self._journal_outcomes(changed, by, bulk)
        return outcomes

    def delete(self, keys: Iterable[Key], by: Author = Author(), *, bulk: bool = False) -> int:
        with self.transaction(bulk=bulk):
            gone = [key for key in keys if self._delete(key)]
            if gone:
                note_erased(self._database.connection)
            self._log(by, [("deleted", _written(key), 1) for key in gone])
        return len(gone)

    def replace_source(
        self, source: Memory, drawers: Sequence[Memory], by: Author = Author()
    ) -> tuple[int, int, int]:
        name = source.origin.source if source.origin else source.id
        with self.transaction(bulk=True):
            kept = {drawer.key for drawer in drawers}
            former = self._keys_of_source(name, source.namespace, source.scope)
            gone = [key for key in former if key not in kept]
            for key in gone:
                self._delete(key)
            outcomes = [self._put(drawer) for drawer in drawers]
            new = sum(o.status != "deduplicated" for o in outcomes)
            self._put(source)
            lines = [("mined", name, new)] if new or not former else []
            self._log(by, [*lines, *(("deleted", _written(key), 1) for key in gone)])
        return new, len(outcomes) - new, len(gone)

    @contextmanager
    def transaction(self, *, bulk: bool = False) -> Iterator[None]:
        with self._database.lock:  # also while the caches are emptied
            try:
                with (
                    self._database.write(durable=not bulk) as connection,
                    self._joined(connection) if self._open else self._numbered(connection),
                ):
                    yield
            except BaseException:
                self._shared.clear()  # rows that it knows may have been undone
                raise

    @contextmanager
    def _numbered(self, connection: apsw.Connection) -> Iterator[None]:
        self._open = True
        try:
            self._next = self._database.value("SELECT value FROM meta WHERE key = 'next_seq'")
            version = self._database.value("PRAGMA data_version")
            if version != self._version:  # another process wrote, and may have emptied places
                self._shared.clear_places()
                self._version = version
            yield
            connection.execute("UPDATE meta SET value = ? WHERE key = 'next_seq'", (self._next,))
        finally:
            self._open = False

    @contextmanager
    def _joined(self, connection: apsw.Connection) -> Iterator[None]:
        """A part of what runs already; a caller may catch its error and go on without it."""
        before = self._next
        connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            self._next = before
            if connection.in_transaction:
                connection.execute("ROLLBACK TO part; RELEASE part").fetchall()
            raise
        connection.execute("RELEASE part")

    def _put(self, memory: Memory) -> Outcome:
        check_writable(memory)
        connection = self._database.connection
        content = content_of(memory, self._shared)
        made = digest(content, self._shared)
        found: list[Any] = connection.execute(
            "SELECT seq, hash, created FROM memories WHERE id = ? AND owner = ?",
            content[:2],
        ).fetchall()
        seq, former, created = found[0] if found else (0, None, 0)
        if former == made:
            return Outcome("deduplicated", memory.key)
        now = int(self._clock() * 1000)
        if found:
            self._retire(seq)
        else:
            created = memory.created or now
        times = (created, (now if found else memory.updated) or None)
        row = (*content[:12], *times, *content[14:], made)
        connection.execute(_INSERT, (self._take_number(), *row))
        return Outcome("updated" if found else "stored", memory.key)

    def _delete(self, key: Key) -> bool:
        seq = self._database.value(
            f"SELECT seq FROM memories WHERE id = ? AND owner = ({OWNER})",
            [asked(text) for text in (key.id, key.namespace, key.scope, key.session)],
        )
        if seq is None:
            return False
        self._retire(seq)
        return True

    def _retire(self, seq: int) -> None:
        connection = self._database.connection
        connection.execute(_RETIRE, (self._take_number(), seq))
        connection.execute("DELETE FROM memories WHERE seq = ?", (seq,))

    def _take_number(self) -> int:
        self._next += 1
        return self._next - 1

    # --- journal -------------------------------------------------------------------------------

    def _journal_outcomes(self, changed: Sequence[Outcome], by: Author, bulk: bool) -> None:
        if bulk and len(changed) > 1:
            self._log(by, [("imported", _written(changed[0].key), len(changed))])
        else:
            self._log(by, [(outcome.status, _written(outcome.key), 1) for outcome in changed])

    def _log(self, by: Author, lines: Iterable[tuple[str, str, int]]) -> None:
        now = int(self._clock() * 1000)
        self._database.connection.executemany(
            "INSERT INTO journal(at, who, via, what, key, count) VALUES (?, ?, ?, ?, ?, ?)",
            [(now, by.who, by.via, *line) for line in lines],
        )

    def journal(self, since: int = 0, limit: int = 100) -> list[JournalEntry]:
        rows = self._database.rows(
            "SELECT number, at, who, via, what, key, count FROM journal "
            "WHERE number > ? ORDER BY number LIMIT ?",
            (since, limit),
        )
        return [JournalEntry(*row) for row in rows]

    # --- reading -------------------------------------------------------------------------------

    def get(self, keys: Sequence[Key]) -> list[Memory | None]:
        groups: dict[tuple[str, str, str], dict[str, Memory | None]] = {}
        for key in keys:
            groups.setdefault(key[:3], {})[key.id] = None
        with self._database.reading() as connection:
            for owner, group in groups.items():
                row = connection.execute(OWNER, tuple(map(asked, owner))).get
                if row is not None:
                    for memory in self._held(connection, row, list(group)):
                        group[memory.id] = memory
        return [groups[key[:3]][key.id] for key in keys]

    def _held(
        self, connection: apsw.Connection, owner: int, ids: Sequence[str]
    ) -> Iterator[Memory]:
        """Those of one owner's ids that are there; a damaged one is named."""
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            sql = f"{LIVE} WHERE m.owner = ? AND m.id IN ({', '.join('?' * len(some))})"
            try:
                rows: list[Any] = connection.execute(sql, (owner, *map(asked, some))).fetchall()
            except UnicodeDecodeError as error:
                if len(some) == 1:
                    raise damaged(self._database.path, some[0]) from error
                for id_ in some:
                    yield from self._held(connection, owner, [id_])
            else:
                self._shared.learn({row[3] for row in rows})
                yield from self._all_checked(rows)

    def find(self, prefix: str, filter: Filter = Filter(), limit: int = 20) -> list[Key]:
        clauses, arguments = where(filter)
        rows = self._database.rows(
            f"SELECT o.namespace, o.scope, o.session, m.id FROM memories m{JOIN} "
            f"WHERE m.id >= ? AND m.id < ? AND {clauses} ORDER BY m.id <> ?, m.id, m.seq LIMIT ?",
            (asked(prefix), asked(after(prefix)), *arguments, asked(prefix), limit),
        )
        return [Key(*row) for row in rows]

    def scan(self, filter: Filter = Filter(), page: Page = Page()) -> Iterator[Memory]:
        clauses, arguments = where(filter)
        rows = self._database.rows(
            f"{LIVE}{JOIN} WHERE {clauses} ORDER BY {_ORDERS[page.order]} LIMIT ? OFFSET ?",
            (*arguments, page.limit or -1, page.offset),
        )
        return self._all_checked(rows)

    def count(self, filter: Filter = Filter()) -> int:
        clauses, arguments = where(filter)
        sql = f"SELECT count(*) FROM memories m{JOIN} WHERE {clauses}"
        return int(self._database.value(sql, arguments))

    def tally(self, field: str, filter: Filter = Filter()) -> dict[str, int]:
        if field not in _TALLIED:
            raise InvalidValue(f"cannot count by {field!r}; known: {', '.join(sorted(_TALLIED))}")
        clauses, arguments = where(filter)
        rows = self._database.rows(
            f"SELECT {_TALLIED[field]}, count(*) FROM memories m{JOIN} WHERE {clauses} "
            "GROUP BY 1 ORDER BY 2 DESC, 1",
            arguments,
        )
        return dict(rows)

    def _keys_of_source(self, source: str, namespace: str, scope: str) -> list[Key]:
        rows = self._database.rows(
            f"SELECT o.namespace, o.scope, o.session, m.id FROM memories m{JOIN} "
            "WHERE p.source = (SELECT rowid FROM sources WHERE name = ?) "
            "AND p.kind = 'drawer' AND o.namespace = ? AND o.scope = ?",
            (source, namespace, scope),
        )
        return [Key(*row) for row in rows]

    def _all_checked(self, rows: Sequence[Sequence[Any]]) -> Iterator[Memory]:
        return (checked(row, self._shared, self._database.path) for row in rows)

    # --- feed ----------------------------------------------------------------------------------

    def changes(self, since: int, limit: int = 1000) -> list[Change]:
        return self._feed.changes(since, limit)

    def last_change(self) -> int:
        return self._feed.last_change()

    def waiting(self, since: int) -> int:
        return max(0, self.last_change() - since)

    def lacks(self) -> str:
        return ""

    def scrub(self, seen: int) -> bool:
        return self._feed.scrub(seen)

    def erased(self) -> bool:
        return self._feed.erased()

    def unclean(self) -> bool:
        return self._feed.unclean()

    # --- care ----------------------------------------------------------------------------------

    def identity(self) -> str:
        return str(self._database.value("SELECT value FROM meta WHERE key = 'store_id'"))

    def health(self, *, deep: bool = False) -> Health:
        facts = [("file", self._database.path), ("sqlite", apsw.sqlite_lib_version())]
        try:
            problems = self._bad_pages("integrity_check" if deep else "quick_check")
            if deep:
                problems += self._bad_rows()
            facts.append(("journal mode", str(self._database.value("PRAGMA journal_mode"))))
        except StoreDamaged as error:
            problems = [str(error)]
        return Health(self.name, tuple(problems), tuple(facts))

    def _bad_pages(self, check: str) -> list[str]:
        lines = [str(row[0]) for row in self._database.rows(f"PRAGMA {check}")]
        return [] if lines == ["ok"] else lines

    def _bad_rows(self) -> list[str]:
        """One row after another: a store may be larger than the memory of the machine."""
        rows = self._database.rows("SELECT seq, CAST(id AS BLOB) FROM memories ORDER BY seq")
        bad = [id_.decode(errors="replace") for seq, id_ in rows if not self._is_sound(seq)]
        return [mismatch(id_) for id_ in bad]

    def _is_sound(self, seq: int) -> bool:
        try:
            rows = self._database.rows(f"{LIVE} WHERE m.seq = ?", (seq,))
        except StoreDamaged:
            return False
        return all(intact(row, self._shared) for row in rows)

    def close(self) -> None:
        self._database.close()


def _written(key: Key) -> str:
    return "/".join(part for part in key if part)


def _only_mine(path: str) -> None:
    """The file is its owner's alone; a file system without modes is left as it is."""
    if os.name == "posix" and os.stat(path).st_mode & 0o077:
        os.chmod(path, 0o600)


def _back_up(database: Database, version: int) -> None:
    """A whole copy beside the file before its schema changes; one per version, the newest."""
    folder = os.path.join(os.path.dirname(database.path), "backups")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.join(folder, f"store.v{version}.db")
    partial = f"{target}.partial"
    os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
    source = apsw.Connection(database.path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        source.execute("VACUUM INTO ?", (partial,))
    finally:
        source.close(True)
    os.replace(partial, target)
