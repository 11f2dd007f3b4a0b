"""The `outline` index: what notes there are, in the order of their pages. Part of `index/index.db`.

Format owned: `outline`, a row for each note that is not archived, with the key that SQL orders it
by; `outline_rooms`, the rooms whose pages have to be looked at, with the last change in each;
`outline_pages`, a digest of each page as it was when that was done. Texts of pages are not its.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from camillo.errors import StoreDamaged
from camillo.indexes._file import Cursor, IndexFile
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Change, Health, Key, Memory
from camillo.ports import Entry, Room, Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SCHEMA", "OutlineIndex"]

# Also run over a file that was made before there was an outline: to throw that away would cost its
# vectors.
SCHEMA = """
CREATE TABLE IF NOT EXISTS outline(version INTEGER PRIMARY KEY, namespace TEXT NOT NULL,
    scope TEXT NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL, path TEXT NOT NULL,
    room TEXT NOT NULL, title TEXT NOT NULL, summary TEXT NOT NULL, highlight TEXT NOT NULL,
    description TEXT NOT NULL, kind TEXT NOT NULL, load_when TEXT NOT NULL, pinned INTEGER NOT NULL,
    rule INTEGER NOT NULL, superseded_by TEXT NOT NULL, created INTEGER NOT NULL,
    updated INTEGER NOT NULL, room_key BLOB NOT NULL, sort_key BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS outline_room ON outline(room, sort_key);
CREATE INDEX IF NOT EXISTS outline_id ON outline(id);
CREATE INDEX IF NOT EXISTS outline_standing ON outline(rule) WHERE rule OR pinned;
CREATE TABLE IF NOT EXISTS outline_rooms(room TEXT PRIMARY KEY, seq INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outline_pages(path TEXT PRIMARY KEY, digest BLOB NOT NULL)
    WITHOUT ROWID;
"""

_VERSION = 1  # of what becomes a row, and of the order
_NO_NOTES = INTERNAL_KINDS | NOT_NOTES
_TABLES = ("outline", "outline_rooms", "outline_pages")
_COLUMNS = (
    "namespace, scope, session, id, path, room, title, summary, highlight, description, kind, "
    "load_when, pinned, rule, superseded_by, created, updated"
)
_INSERT = (
    f"INSERT INTO outline(version, {_COLUMNS}, room_key, sort_key) VALUES ({', '.join('?' * 20)})"
)
_MARK = (
    "INSERT INTO outline_rooms VALUES (?, ?) "
    "ON CONFLICT(room) DO UPDATE SET seq = max(seq, excluded.seq)"
)
_IN_ORDER = "ORDER BY sort_key, path, id"


class OutlineIndex:
    """The outline of one store."""

    name = "outline"

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._cursor = Cursor(file, self.name, _VERSION)
        self._there = False

    def cursor(self) -> int:
        """0 when the rows were made by other rules: then all is taken in again."""
        return self._cursor.get() if self._made() and self._cursor.current() else 0

    # --- taking in -----------------------------------------------------------------------------

    def update(self, changes: Sequence[Change], store: Store) -> None:
        try:
            with self._file.database.write(durable=False) as connection:
                self._take(connection, changes, "feed" in store.capabilities)
        except BaseException:
            self._there = False  # the tables may have been made in what was rolled back
            raise

    def _take(
        self, connection: apsw.Connection, changes: Sequence[Change], by_version: bool
    ) -> None:
        if not self._made():
            connection.execute(SCHEMA).fetchall()
        if not self._cursor.current():
            self.reset()
        seen, held = self.cursor(), not self._empty()
        touched: dict[str, int] = {}
        for change in changes:
            if change.seq > seen:
                seen, memory = change.seq, change.memory
                if held and not _was_no_note(change):
                    touched |= dict.fromkeys(_removed(connection, change, by_version), seen)
                if memory is not None and memory.kind not in _NO_NOTES and not memory.archived:
                    connection.execute(_INSERT, row := _row(memory, seen))
                    touched[row[6]] = seen
                    held = True
        for room, at in touched.items():
            _mark(connection, room, at)
        self._cursor.move(connection, seen)

    # --- asking --------------------------------------------------------------------------------

    def rooms(self) -> list[Room]:
        """The rooms that hold notes, in order."""
        # SQLite takes a column beside min() from the row that has it.
        described = self._rows(
            "SELECT room, description, min(sort_key) FROM outline WHERE description <> '' "
            "GROUP BY room"
        )
        said = {room: description for room, description, _ in described}
        found = self._rows(
            "SELECT room, count(*), sum(pinned), sum(rule), summary, min(sort_key) FROM outline "
            "GROUP BY room ORDER BY room_key, room"
        )
        return [Room._make((*row[:4], said.get(row[0], ""), row[4])) for row in found]

    def entries(self, room: str) -> list[Entry]:
        """The notes of a room, by the name of their file, in order."""
        return self._entries(f"WHERE room = ? {_IN_ORDER}", (room,))

    def routes(self) -> list[tuple[str, Entry]]:
        """Every `load_when` with its note, in no order."""
        entries = self._entries("WHERE load_when <> ''")
        return [(when, entry) for entry in entries for when in entry.load_when]

    def standing(self) -> list[Entry]:
        """The hard rules and the pinned notes, rules first, each in the order of their paths."""
        from camillo.text.collation import sort_key

        found = self._entries("WHERE rule OR pinned")
        return sorted(found, key=lambda entry: (not entry.rule, sort_key(entry.path), entry.path))

    def stale(self) -> list[str]:
        """The rooms whose notes changed since `compiled` was told of them; "" also where a room
        emptied, of which nothing is kept."""
        return [row[0] for row in self._rows("SELECT room FROM outline_rooms ORDER BY room")]

    def pages(self) -> dict[str, bytes]:
        """By path, the digest of each page that `compiled` was told of."""
        return dict(self._rows("SELECT path, digest FROM outline_pages"))

    def compiled(self, rooms: Sequence[str], seen: int, pages: Mapping[str, bytes]) -> None:
        """The pages of these rooms say what `cursor` = `seen` has; a change after it counts. Of
        `pages` these are the digests now, b"" for one that is gone."""
        with self._file.database.write(durable=False) as connection:
            connection.executemany(
                "DELETE FROM outline_rooms WHERE room = ? AND seq <= ?",
                [(room, seen) for room in rooms],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO outline_pages VALUES (?, ?)", list(pages.items())
            )
            connection.execute("DELETE FROM outline_pages WHERE digest = x''")

    def _entries(self, where: str, arguments: Sequence[object] = ()) -> list[Entry]:
        found = self._rows(f"SELECT {_COLUMNS} FROM outline {where}", arguments)
        return [_entry(row) for row in found]

    def _empty(self) -> bool:
        return not self._rows("SELECT 1 FROM outline LIMIT 1")

    def _rows(self, sql: str, arguments: Sequence[object] = ()) -> list[Any]:
        return self._file.database.rows(sql, arguments) if self._made() else []

    def _made(self) -> bool:
        """Has the file these tables? One of an earlier camillo gets them with the next update."""
        if not self._there:
            sql = "SELECT 1 FROM sqlite_schema WHERE name = 'outline_pages'"
            self._there = bool(self._file.database.value(sql))
        return self._there

    # --- care ----------------------------------------------------------------------------------

    def reset(self) -> None:
        with self._file.database.write(durable=False) as connection:
            for table in _TABLES if self._made() else ():
                connection.execute(f"DELETE FROM {table}")
            self._cursor.move(connection, 0)

    def check(self) -> Health:
        """Reads every row."""
        problems: list[str] = []
        count = 0
        try:
            for table in _TABLES if self._made() else ():
                found = self._rows(f"PRAGMA integrity_check({table})")
                problems += [str(row[0]) for row in found if row[0] != "ok"]
            count = len(self._entries(""))
        except (StoreDamaged, ValueError) as error:
            problems.append(f"outline: {error}")
        return Health(self.name, tuple(problems), (("notes", str(count)),))

    def close(self) -> None:
        """The file is the vault's to close."""


def _was_no_note(change: Change) -> bool:
    """Is it known that what this change retires has no row here? So it is with most drawers."""
    return change.former is not None and change.former.kind in _NO_NOTES


def _removed(connection: apsw.Connection, change: Change, by_version: bool) -> list[str]:
    """The rooms of the rows that this change retires. A store without a feed says only that a key
    has changed."""
    if not by_version:
        found = connection.execute(
            "DELETE FROM outline WHERE id = ? AND namespace = ? AND scope = ? AND session = ? "
            "RETURNING room",
            (change.key.id, *change.key[:3]),
        ).fetchall()
    elif change.memory is None:
        found = connection.execute(
            "DELETE FROM outline WHERE version = ? RETURNING room", (change.former_seq,)
        ).fetchall()
    else:
        return []
    return [str(row[0]) for row in found]


def _mark(connection: apsw.Connection, room: str, seq: int) -> None:
    """Notes of this room came or went. Of one that emptied not even the name may stay."""
    if not connection.execute("SELECT 1 FROM outline WHERE room = ? LIMIT 1", (room,)).fetchall():
        connection.execute("DELETE FROM outline_rooms WHERE room = ?", (room,))
        room = ""
    connection.execute(_MARK, (room, seq))


def _row(memory: Memory, version: int) -> tuple[Any, ...]:
    from camillo.text.collation import sort_key
    from camillo.text.rules import is_rule
    from camillo.text.summary import derived

    path = str(memory.extra.get("file") or "")
    room = path.rpartition("/")[0] if path else memory.place.room
    slug = path.rpartition("/")[2].removesuffix(".md") or memory.id
    said = memory.extra.get("frontmatter") or {}
    return (
        version, *memory.key, path, room, memory.title,
        memory.summary if memory.summary.strip() else derived(memory.body, slug),
        _text(said, "highlight"), _text(said, "category_desc"), memory.kind,
        _joined(memory.load_when), memory.pinned, is_rule(room, memory.kind),
        memory.superseded_by, memory.created, memory.updated, sort_key(room), sort_key(slug),
    )  # fmt: skip


def _text(said: Mapping[str, Any], key: str) -> str:
    """What a key says; "" for what is no single value."""
    value = said.get(key)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""


def _joined(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    import json

    return json.dumps(texts, ensure_ascii=False)


def _entry(row: Sequence[Any]) -> Entry:
    load_when: tuple[str, ...] = ()
    if row[11]:
        import json

        load_when = tuple(json.loads(row[11]))
    flags = bool(row[12]), bool(row[13])
    return Entry._make((Key(*row[:4]), *row[4:11], load_when, *flags, *row[14:]))
