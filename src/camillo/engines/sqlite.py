"""The `sqlite` engine: memories in one `store.db`, with a gap-safe feed and a journal.

Layout in `_sqlite_schema.py`. It has no search of its own: the vault attaches the local indexes.
Numbers of changes are handed out inside BEGIN IMMEDIATE, so that none becomes visible late.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from camillo.database import BUSY_SECONDS, Database, legible
from camillo.engines._sqlite_schema import COLUMNS, MIGRATIONS
from camillo.engines._writable import check_writable
from camillo.errors import InvalidValue, StoreBusy, StoreDamaged
from camillo.model import (
    INTERNAL_KINDS,
    Author,
    Change,
    Edge,
    Filter,
    Health,
    JournalEntry,
    Key,
    Memory,
    Origin,
    Outcome,
    Page,
    Place,
    Session,
    replace,
)
from camillo.records import NamedTuple

try:  # `hashlib` loads OpenSSL (3 ms); this is the same function
    from _blake2 import blake2b
except ImportError:  # pragma: no cover
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SqliteStore"]

_SELECT = f"SELECT m.seq, {', '.join(f'm.{column}' for column in COLUMNS)}"
_JOIN = (
    " JOIN owners o ON o.rowid = m.owner JOIN places p ON p.rowid = m.place"
    " LEFT JOIN sources s ON s.rowid = p.source"
)
_OWNER = "SELECT rowid FROM owners WHERE namespace = ? AND scope = ? AND session = ?"
_LIVE = f"{_SELECT} FROM memories m"
_OWNER_OF = "SELECT namespace, scope, session FROM owners WHERE rowid = ?"
_PLACES_OF = (
    "SELECT p.rowid, p.kind, p.wing, p.room, p.hall, coalesce(s.name, '') FROM places p "
    "LEFT JOIN sources s ON s.rowid = p.source WHERE p.rowid IN "
)
_AT_ONCE = 500  # ids that one statement asks for
_INSERT = f"INSERT INTO memories(seq, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)})"
_RETIRE = (
    f"INSERT INTO retired(seq, former, {', '.join(COLUMNS)}) "
    f"SELECT ?, seq, {', '.join(COLUMNS)} FROM memories WHERE seq = ?"
)
_FORGET_TEXT = (
    "UPDATE retired SET title = NULL, summary = NULL, body = NULL, detail = NULL, hash = x'' "
    "WHERE seq <= ? AND body IS NOT NULL"
)
# 1: the log may hold text of retired versions; 2: the pages may, too, since some were deleted
_HOLDS_TEXT = "INSERT OR REPLACE INTO meta VALUES ('log_holds_text', ?)"
_RETIRED_TEXT = "SELECT 1 FROM retired WHERE body IS NOT NULL LIMIT 1"
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


class _Filed(NamedTuple):
    """A row of `places`, and the same as a part of what is hashed."""

    kind: str
    place: Place
    source: str
    hashed: str


_NOWHERE = _Filed("", Place(), "", "")


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
        self._owners: dict[tuple[Any, ...], int] = {}
        self._places: dict[tuple[Any, ...], int] = {}
        self._sources: dict[tuple[str], int] = {}
        # Rows that thousands of others name; none ever changes, so they are read once.
        self._owner_of: dict[int, tuple[str, str, str]] = {}
        self._filed: dict[int, _Filed] = {}
        self._next = 0
        self._open = False  # a transaction is running; only read with the lock held
        self._database = Database(path, MIGRATIONS, backup=_back_up, busy_seconds=busy_seconds)
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
                self._database.connection.execute(_HOLDS_TEXT, (2,))
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
                # rows that they name may have been undone
                for known in (
                    self._owners, self._places, self._sources, self._owner_of, self._filed
                ):  # fmt: skip
                    known.clear()
                raise

    @contextmanager
    def _numbered(self, connection: apsw.Connection) -> Iterator[None]:
        self._open = True
        try:
            self._next = self._database.value("SELECT value FROM meta WHERE key = 'next_seq'")
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
        owner = self._owner(memory.namespace, memory.scope, memory.session)
        content = self._content(memory, owner)
        digest = self._digest(content)
        found: list[Any] = connection.execute(
            "SELECT seq, hash, created FROM memories WHERE id = ? AND owner = ?",
            (memory.id, owner),
        ).fetchall()
        seq, former, created = found[0] if found else (0, None, 0)
        if former == digest:
            return Outcome("deduplicated", memory.key)
        now = int(self._clock() * 1000)
        if found:
            self._retire(seq)
        else:
            created = memory.created or now
        times = (created, (now if found else memory.updated) or None)
        row = (*content[:12], *times, *content[14:], digest)
        connection.execute(_INSERT, (self._take_number(), *row))
        return Outcome("updated" if found else "stored", memory.key)

    def _content(self, m: Memory, owner: int) -> tuple[Any, ...]:
        """The row of a memory without its hash, and without the times of writing."""
        origin = m.origin
        spot = origin[1:] if origin else (None,) * 5
        place = self._place(m.kind, *m.place, origin.source if origin else "")
        return (
            m.id, owner, place, m.title or None, m.summary or None, m.body, *spot,
            m.happened_at or None, None, None, m.expires or None,
            m.archived or None, m.superseded_by or None, int(m.pinned) or None,
            None if m.trust == "normal" else m.trust, m.written_by or None, _detail(m),
        )  # fmt: skip

    def _delete(self, key: Key) -> bool:
        seq = self._database.value(
            f"SELECT seq FROM memories WHERE id = ? AND owner = ({_OWNER})",
            [_asked(text) for text in (key.id, key.namespace, key.scope, key.session)],
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

    def _owner(self, *value: str) -> int:
        return self._interned(self._owners, "owners", ("namespace", "scope", "session"), value)

    def _place(self, kind: str, wing: str, room: str, hall: str, source: str) -> int:
        number = self._interned(self._sources, "sources", ("name",), (source,)) if source else None
        return self._interned(
            self._places,
            "places",
            ("source", "kind", "wing", "room", "hall"),
            (number, kind, wing, room, hall),
        )

    def _interned(
        self,
        known: dict[Any, int],
        table: str,
        columns: Sequence[str],
        value: tuple[Any, ...],
    ) -> int:
        """The row of a value that many memories share, made when it is new."""
        if value in known:
            return known[value]
        connection = self._database.connection
        where = " AND ".join(f"{column} IS ?" for column in columns)
        row = connection.execute(f"SELECT rowid FROM {table} WHERE {where}", value).get
        if row is None:
            marks = ", ".join("?" * len(columns))
            connection.execute(f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})", value)
            row = connection.last_insert_rowid()
        if len(known) > 50_000:
            known.clear()
        known[value] = int(row)
        return int(row)

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
                row = connection.execute(_OWNER, tuple(map(_asked, owner))).get
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
            sql = f"{_LIVE} WHERE m.owner = ? AND m.id IN ({', '.join('?' * len(some))})"
            try:
                rows = connection.execute(sql, (owner, *map(_asked, some))).fetchall()
            except UnicodeDecodeError as error:
                if len(some) == 1:
                    raise self._damaged(some[0]) from error
                for id_ in some:
                    yield from self._held(connection, owner, [id_])
            else:
                yield from self._all_checked(rows)

    def find(self, prefix: str, filter: Filter = Filter(), limit: int = 20) -> list[Key]:
        where, arguments = _where(filter)
        rows = self._database.rows(
            f"SELECT o.namespace, o.scope, o.session, m.id FROM memories m{_JOIN} "
            f"WHERE m.id >= ? AND m.id < ? AND {where} ORDER BY m.id <> ?, m.id, m.seq LIMIT ?",
            (_asked(prefix), _asked(_after(prefix)), *arguments, _asked(prefix), limit),
        )
        return [Key(*row) for row in rows]

    def scan(self, filter: Filter = Filter(), page: Page = Page()) -> Iterator[Memory]:
        where, arguments = _where(filter)
        rows = self._database.rows(
            f"{_LIVE}{_JOIN} WHERE {where} ORDER BY {_ORDERS[page.order]} LIMIT ? OFFSET ?",
            (*arguments, page.limit or -1, page.offset),
        )
        return map(self._checked, rows)

    def count(self, filter: Filter = Filter()) -> int:
        where, arguments = _where(filter)
        return int(
            self._database.value(f"SELECT count(*) FROM memories m{_JOIN} WHERE {where}", arguments)
        )

    def tally(self, field: str, filter: Filter = Filter()) -> dict[str, int]:
        if field not in _TALLIED:
            raise InvalidValue(f"cannot count by {field!r}; known: {', '.join(sorted(_TALLIED))}")
        where, arguments = _where(filter)
        rows = self._database.rows(
            f"SELECT {_TALLIED[field]}, count(*) FROM memories m{_JOIN} WHERE {where} "
            "GROUP BY 1 ORDER BY 2 DESC, 1",
            arguments,
        )
        return dict(rows)

    def _keys_of_source(self, source: str, namespace: str, scope: str) -> list[Key]:
        rows = self._database.rows(
            f"SELECT o.namespace, o.scope, o.session, m.id FROM memories m{_JOIN} "
            "WHERE p.source = (SELECT rowid FROM sources WHERE name = ?) "
            "AND p.kind = 'drawer' AND o.namespace = ? AND o.scope = ?",
            (source, namespace, scope),
        )
        return [Key(*row) for row in rows]

    def _all_checked(self, rows: Sequence[Sequence[Any]]) -> list[Memory]:
        self._learn({row[3] for row in rows})
        return [self._checked(row) for row in rows]

    def _checked(self, row: Sequence[Any]) -> Memory:
        memory = self._intact(row)
        if memory is None:
            raise self._damaged(row[1])
        return memory

    def _intact(self, row: Sequence[Any]) -> Memory | None:
        """The memory of a row that still says what its hash was made of."""
        try:
            return self._memory(row) if self._digest(row[1:-1]) == row[-1] else None
        except (ValueError, TypeError, AttributeError):  # `detail` is no JSON of ours any more
            return None

    def _memory(self, row: Sequence[Any]) -> Memory:
        (_, id_, owner, place, title, summary, body, part, line_start, line_end, byte_start,
         byte_end, happened_at, created, updated, expires, archived, superseded_by, pinned, trust,
         written_by, detail, _) = row  # fmt: skip
        filed = self._place_of(place)
        origin = None
        if filed.source:
            origin = Origin(filed.source, part, line_start, line_end, byte_start, byte_end)
        # By position, in the order of Memory's fields: twice as fast as by name.
        memory = Memory(
            id_, body, filed.kind, title or "", summary or "", *self._owned_by(owner),
            filed.place, origin, (), (), (), (), bool(pinned), trust or "normal",
            written_by or "", happened_at or "", created, updated or 0, expires or 0,
            archived or 0, superseded_by or "", {},
        )  # fmt: skip
        return _with_detail(memory, detail) if detail else memory

    def _digest(self, content: Sequence[Any]) -> bytes:
        """16 bytes over everything but the times of writing: equal content, equal digest.

        `content` is a row from `id` to `detail`. A NUL ends what cannot hold one (the id, what
        `repr` made); the body, which may, comes last.
        """
        (id_, owner, place, title, summary, body, part, line_start, line_end, byte_start, byte_end,
         happened_at, _, _, expires, archived, superseded_by, pinned, trust, written_by,
         detail) = content  # fmt: skip
        rare = ""  # what most rows leave empty
        if (
            title or summary or happened_at or expires or archived or superseded_by or pinned
            or trust or written_by or detail
        ):  # fmt: skip
            rare = repr(
                (title, summary, happened_at, expires, archived, superseded_by, pinned, trust,
                 written_by, detail)
            )  # fmt: skip
        text = (
            f"{self._owned_by(owner)}{self._place_of(place).hashed}{id_}\0"
            f"{part} {line_start} {line_end} {byte_start} {byte_end}{rare}\0{body}"
        )
        return blake2b(text.encode(), digest_size=16).digest()

    def _owned_by(self, owner: int) -> tuple[str, str, str]:
        held = self._owner_of.get(owner)
        if held is None:
            rows = self._database.rows(_OWNER_OF, (owner,))
            held = self._owner_of[owner] = rows[0] if rows else ("", "", "")
        return held

    def _place_of(self, place: int) -> _Filed:
        if place not in self._filed:
            self._learn({place})
        return self._filed.get(place, _NOWHERE)

    def _learn(self, places: Iterable[int]) -> None:
        """Read rows of `places` that are not known yet."""
        if len(self._filed) > 50_000:
            self._filed.clear()
        new = [place for place in places if place not in self._filed]
        if new:
            marks = ", ".join("?" * len(new))
            for number, kind, wing, room, hall, source in self._database.rows(
                f"{_PLACES_OF}({marks})", new
            ):
                hashed = repr((kind, wing, room, hall, source))
                self._filed[number] = _Filed(kind, Place(wing, room, hall), source, hashed)

    def _damaged(self, id_: str) -> StoreDamaged:
        return StoreDamaged(
            f"{self._database.path}: {_no_longer(id_)}; "
            "restore it from a backup, or mine its source again"
        )

    # --- feed ----------------------------------------------------------------------------------

    def changes(self, since: int, limit: int = 1000) -> list[Change]:
        with self._database.reading() as connection, legible(self._database.path):
            live: list[Any] = connection.execute(
                f"{_LIVE} WHERE m.seq > ? ORDER BY m.seq LIMIT ?", (since, limit)
            ).fetchall()
            gone: list[Any] = connection.execute(
                f"{_SELECT}, m.former FROM retired m WHERE m.seq > ? ORDER BY m.seq LIMIT ?",
                (since, limit),
            ).fetchall()
            self._learn({row[3] for row in (*live, *gone)})
        changes = [*map(self._put_change, live), *map(self._retirement, gone)]
        return sorted(changes, key=_number)[:limit]

    def last_change(self) -> int:
        return int(self._database.value("SELECT value FROM meta WHERE key = 'next_seq'")) - 1

    def waiting(self, since: int) -> int:
        return max(0, self.last_change() - since)

    def lacks(self) -> str:
        return ""

    def scrub(self, seen: int) -> bool:
        if not self.unclean():
            return True
        erased = self.erased()
        with self._database.write() as connection:
            connection.execute(_FORGET_TEXT, (seen,))
            connection.execute(_HOLDS_TEXT, (2 if erased else 1,))
        if erased:
            try:
                self._database.compact()
            except StoreBusy:
                return False
        if not self._database.empty_log():
            return False
        if not self._database.value(_RETIRED_TEXT):
            with self._database.write(durable=False) as connection:
                connection.execute("DELETE FROM meta WHERE key = 'log_holds_text'")
        return True

    def erased(self) -> bool:
        held = self._database.value("SELECT value FROM meta WHERE key = 'log_holds_text'")
        return bool(held == 2)

    def unclean(self) -> bool:
        held = self._database.value("SELECT 1 FROM meta WHERE key = 'log_holds_text'")
        return bool(held or self._database.value(_RETIRED_TEXT))

    def _put_change(self, row: Sequence[Any]) -> Change:
        memory = self._checked(row)
        return Change(row[0], memory.key, memory)

    def _retirement(self, row: Sequence[Any]) -> Change:
        key = Key(*self._owned_by(row[2]), row[1])
        former = self._memory(row[:-1]) if row[6] is not None else None
        return Change(row[0], key, None, row[-1], former)

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
        return [_no_longer(id_) for id_ in bad]

    def _is_sound(self, seq: int) -> bool:
        try:
            rows = self._database.rows(f"{_LIVE} WHERE m.seq = ?", (seq,))
        except StoreDamaged:
            return False
        return all(self._intact(row) for row in rows)

    def close(self) -> None:
        self._database.close()


def _where(filter: Filter) -> tuple[str, list[Any]]:
    """The filter as SQL over m, o and p."""
    clauses = ["1"]
    arguments: list[Any] = []

    def demand(clause: str, *values: Any) -> None:
        clauses.append(clause)
        arguments.extend(map(_asked, values))

    if filter.namespace is not None:
        demand("o.namespace = ?", filter.namespace)
    if filter.scope is not None:
        demand("o.scope = ?", filter.scope)
    _demand_session(filter.session, demand)
    if filter.kinds is not None:
        demand(f"p.kind IN ({', '.join('?' * len(filter.kinds))})", *filter.kinds)
    if not filter.internal:
        demand(f"p.kind NOT IN ({', '.join('?' * len(INTERNAL_KINDS))})", *sorted(INTERNAL_KINDS))
    for column, value in (("p.wing", filter.wing), ("p.room", filter.room)):
        if value is not None:
            demand(f"{column} = ?", value)
    if filter.source is not None:
        demand("p.source = (SELECT rowid FROM sources WHERE name = ?)", filter.source)
    if filter.under is not None:
        demand("s.name >= ? AND s.name < ?", filter.under, filter.under + "\U0010ffff")
    if filter.since:
        demand("m.happened_at >= ?", filter.since)
    if filter.before:
        demand("m.happened_at < ?", filter.before)
    if not filter.archived:
        demand("m.archived IS NULL")
    return " AND ".join(clauses), arguments


def _demand_session(session: Session, demand: Callable[..., None]) -> None:
    if session.mode == "global":
        demand("o.session = ''")
    elif session.mode == "only":
        demand("o.session = ?", session.id)
    elif session.mode == "with-global":
        demand("o.session IN ('', ?)", session.id)


def _with_detail(memory: Memory, detail: str) -> Memory:
    import json

    held = json.loads(detail)
    return replace(
        memory,
        edges=tuple(Edge(*edge) for edge in held.get("edges", ())),
        load_when=tuple(held.get("load_when", ())),
        tags=tuple(held.get("tags", ())),
        aliases=tuple(held.get("aliases", ())),
        extra=held.get("extra", {}),
    )


def _no_longer(id_: str) -> str:
    return f"the row of {id_!r} no longer matches its hash"


def _asked(text: str) -> str | bytes:
    """A text to compare with. Half a surrogate pair is in no row and cannot be handed to SQLite;
    bytes can, and are equal to no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def _after(prefix: str) -> str:
    """The first text above all that start with `prefix`; for an empty one, above all ids."""
    while prefix.endswith("\U0010ffff"):
        prefix = prefix[:-1]
    if not prefix:
        return "\U0010ffff" * 64
    following = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if 0xD800 <= following < 0xE000 else following)


def _detail(memory: Memory) -> str | None:
    """The fields that most memories lack, as one JSON object; None when all are empty."""
    if not (memory.edges or memory.load_when or memory.tags or memory.aliases or memory.extra):
        return None
    import json  # few memories have any of these

    held = {
        "edges": memory.edges,
        "load_when": memory.load_when,
        "tags": memory.tags,
        "aliases": memory.aliases,
        "extra": memory.extra,
    }
    return json.dumps(
        {name: value for name, value in held.items() if value}, ensure_ascii=False, sort_keys=True
    )


def _number(change: Change) -> int:
    return change.seq


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
