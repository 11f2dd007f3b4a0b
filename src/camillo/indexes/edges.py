"""The `edges` index: who is linked to whom, and how. Part of `index/index.db`.

Format owned: `edges`, a row for each link that a memory carries: its authored relations, what it
supersedes, its `superseded_by` (`inward`: that link leads to the memory that carries it), and what
its body mentions. The other end is an id, meant in the namespace and scope of the memory, in its
session and then among the global ones: whether it is there is for the caller. That of a mention is
as it was written; `called` has a row for all that a note may be mentioned by, and what is meant is
told when it is asked, since notes come and go. Archived memories carry no links. Folding and
walking are the graph's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import apsw

from camillo.errors import StoreDamaged
from camillo.indexes._file import Cursor, IndexFile
from camillo.model import GLOBAL, INTERNAL_KINDS, Change, Health, Key, Memory
from camillo.ports import Store
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SCHEMA", "EdgeIndex", "Link"]

# Also run over a file that was made before there were edges: to throw that away would cost its
# vectors.
SCHEMA = """
CREATE TABLE IF NOT EXISTS edges(rowid INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    namespace TEXT NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL,
    relation TEXT NOT NULL, other TEXT NOT NULL, inward INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS edges_version ON edges(version);
CREATE INDEX IF NOT EXISTS edges_id ON edges(id);
CREATE INDEX IF NOT EXISTS edges_other ON edges(other);
CREATE INDEX IF NOT EXISTS edges_supersedes ON edges(relation) WHERE relation = 'supersedes';
CREATE TABLE IF NOT EXISTS called(rowid INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    namespace TEXT NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL,
    name TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS called_version ON called(version);
CREATE INDEX IF NOT EXISTS called_id ON called(id);
CREATE INDEX IF NOT EXISTS called_name ON called(name);
"""

_VERSION = 2  # of what becomes a row
_TABLES = ("edges", "called")
_AT_ONCE = 500  # ids that one statement asks for
_COLUMNS = "namespace, scope, session, id, relation, other, inward"
_SUPERSEDES, _MENTIONS = "supersedes", "mentions"
_NARROW = "commonplace"  # the form whose mentions are its own (text/mentions.py)
_NO_NOTES = INTERNAL_KINDS | {"drawer", "diary"}  # in these, brackets are just text
_LAST = {_SUPERSEDES: 1, _MENTIONS: 2}  # the order of a memory's links; all else comes before


class Link(NamedTuple):
    """`source` relation `target`. An end that was only named has the session of the one that named
    it; where no such memory is there, the global one of that id is meant."""

    source: Key
    relation: str
    target: Key


class EdgeIndex:
    """Links of one store. With `mentions` False, names in bodies are not links; `form` is that of
    the root's notes, by which a body is read."""

    name = "edges"

    def __init__(self, file: IndexFile, mentions: bool = True, form: str = "camillo") -> None:
        self._file = file
        self._mentions = mentions
        self._wide = mentions and form != _NARROW
        self._cursor = Cursor(file, self.name, 3 * _VERSION + mentions + self._wide)
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
            self._there = False  # the table may have been made in what was rolled back
            raise

    def _take(
        self, connection: apsw.Connection, changes: Sequence[Change], by_version: bool
    ) -> None:
        if not self._made():
            connection.execute(SCHEMA).fetchall()
        if not self._cursor.current():
            self.reset()
        seen, held = self.cursor(), self._holds_any()
        for change in changes:
            if change.seq > seen:
                if held:
                    _remove(connection, change, by_version)
                held |= self._add(connection, change)
                seen = change.seq
        self._cursor.move(connection, seen)

    def _add(self, connection: apsw.Connection, change: Change) -> bool:
        """The rows of a new version; were there any?"""
        memory = change.memory
        if memory is None or memory.archived or memory.kind in INTERNAL_KINDS:
            return False
        rows = [
            (change.seq, *memory.key, relation, other, inward)
            for relation, other, inward in self._links(memory)
        ]
        if rows:
            connection.executemany(
                f"INSERT INTO edges(version, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
            )
        names = self._names(memory)
        if names:
            connection.executemany(
                "INSERT INTO called(version, namespace, scope, session, id, name) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [(change.seq, *memory.key, name) for name in names],
            )
        return bool(rows or names)

    def _links(self, memory: Memory) -> list[tuple[str, str, int]]:
        """(relation, other end, inward), each once: relations, supersedes, mentions."""
        found = [(edge.relation, edge.target, 0) for edge in memory.edges]
        if self._mentions and memory.kind not in _NO_NOTES and "[[" in memory.body:
            from camillo.text.mentions import mentions, wikilinks  # a search reads no body

            read = wikilinks if self._wide else mentions
            found += [(_MENTIONS, name, 0) for name in read(memory.body) if name != memory.id]
        found.sort(key=lambda link: _LAST.get(link[0], 0))
        if memory.superseded_by:
            found.append((_SUPERSEDES, memory.superseded_by, 1))
        return list(dict.fromkeys(found))

    def _names(self, memory: Memory) -> list[str]:
        """All that a note may be mentioned by."""
        if not self._wide or memory.kind in _NO_NOTES:
            return []
        from camillo.text.mentions import called

        return list(called(memory.id, memory.place.room, memory.aliases))

    # --- asking --------------------------------------------------------------------------------

    def empty(self) -> bool:
        return not self._rows("SELECT 1 FROM edges LIMIT 1")

    def outbound(self, keys: Sequence[Key], relations: Sequence[str] | None = None) -> list[Link]:
        """The links out of these memories, in the order of `keys`, then of their memory."""
        found = self._at(keys, relations, carried=0)
        return self._told([Link(near, relation, far) for near, relation, far in found])

    def inbound(self, keys: Sequence[Key], relations: Sequence[str] | None = None) -> list[Link]:
        """The links into these memories, in the order of `keys`, then of their writing."""
        found = self._at(keys, relations, carried=1)
        return [Link(far, relation, near) for near, relation, far in found]

    def inbound_counts(self, keys: Sequence[Key]) -> dict[Key, int]:
        """How many authored links lead to each, without supersedes and mentions; one without any
        is left out."""
        asked = dict.fromkeys(keys)
        counts: dict[Key, int] = {}
        for ids in _portions({key.id for key in asked}):
            rows = self._rows(
                "SELECT namespace, scope, session, other, count(*) FROM edges "
                f"WHERE other IN ({_marks(ids)}) AND relation NOT IN (?, ?) AND id <> other "
                "GROUP BY namespace, scope, session, other",
                (*ids, _SUPERSEDES, _MENTIONS),
            )
            for row in rows:
                key = _meant(Key(*row[:4]), row[3], asked)
                if key is not None:
                    counts[key] = counts.get(key, 0) + row[4]
        return counts

    def superseders(self) -> list[Link]:
        """All links that say what supersedes what, from whichever end they were written."""
        return self._links_of("WHERE relation = 'supersedes'")

    def all_edges(self) -> list[Link]:
        return self._told(self._links_of(""))

    def _links_of(self, where: str) -> list[Link]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM edges {where} ORDER BY rowid")
        return list(dict.fromkeys(map(_link, rows)))

    def _at(
        self, keys: Sequence[Key], relations: Sequence[str] | None, *, carried: int
    ) -> Iterator[tuple[Key, str, Key]]:
        """(one of the keys, relation, the other end): links that they carry themselves are those
        with `inward` = `carried`, the others are carried by the other end."""
        asked = dict.fromkeys(keys)
        found: dict[Key, dict[tuple[str, Key], None]] = {key: {} for key in asked}
        for ids in _portions({key.id for key in asked}):
            names = self._named(ids) if carried else {}
            ends = [*ids, *names]
            sql = (
                f"SELECT {_COLUMNS} FROM edges WHERE (id IN ({_marks(ids)}) AND inward = ? "
                f"OR other IN ({_marks(ends)}) AND inward = ?)"
            )
            if relations is not None:
                sql += f" AND relation IN ({_marks(relations)})"
            arguments = (*ids, carried, *ends, 1 - carried, *(relations or ()))
            for *at, relation, other, inward in self._rows(sql + " ORDER BY rowid", arguments):
                owner = Key(*at)
                if relation == _MENTIONS:
                    other = names.get(other, other)
                if inward == carried:
                    if owner in found:
                        found[owner][relation, owner._replace(id=other)] = None
                    continue
                near = _meant(owner, other, asked)
                if near is not None and not _is_of_itself(owner, relation, near):
                    found[near][relation, owner] = None
        return ((near, *rest) for near, links in found.items() for rest in links)

    def _told(self, links: list[Link]) -> list[Link]:
        """With the ids that mentions mean in place of the names that were written."""
        if not self._wide:
            return links
        named = {link.target.id for link in links if link.relation == _MENTIONS}
        ids = self._ids(named)
        told = (
            link._replace(target=link.target._replace(id=ids[link.target.id]))
            if link.relation == _MENTIONS and link.target.id in ids
            else link
            for link in links
        )
        return list(dict.fromkeys(link for link in told if not _is_of_itself(*link)))

    def _named(self, ids: Sequence[str]) -> dict[str, str]:
        """By each other name that means one of these ids, the id."""
        sql = f"SELECT DISTINCT name FROM called WHERE id IN ({_marks(ids)}) AND name <> id"
        names = self._ids(row[0] for row in self._rows(sql, ids)) if self._wide else {}
        return {name: id_ for name, id_ in names.items() if id_ in ids}

    def _ids(self, names: Iterable[str]) -> dict[str, str]:
        """The ids that these names mean, of those that mean any."""
        from camillo.text.mentions import meant

        found: dict[str, str] = {}
        for some in _portions(names):
            sql = f"SELECT DISTINCT name, id FROM called WHERE name IN ({_marks(some)})"
            found.update(meant(self._rows(sql, some)))
        return found

    def _holds_any(self) -> bool:
        return any(self._rows(f"SELECT 1 FROM {table} LIMIT 1") for table in _TABLES)

    def _rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Any]:
        return self._file.database.rows(sql, arguments) if self._made() else []

    def _made(self) -> bool:
        """Has the file this table? One of an earlier camillo gets it with the next update."""
        if not self._there:
            sql = f"SELECT count(*) FROM sqlite_schema WHERE name IN ({_marks(_TABLES)})"
            self._there = self._file.database.value(sql, _TABLES) == len(_TABLES)
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
            count = len(self.all_edges())
        except StoreDamaged as error:
            problems.append(f"edges: {error}")
        return Health(self.name, tuple(problems), (("edges", str(count)),))

    def close(self) -> None:
        """The file is the vault's to close."""


def _remove(connection: apsw.Connection, change: Change, by_version: bool) -> None:
    """What this change retires. A store without a feed says only that a key has changed."""
    for table in _TABLES:
        if not by_version:
            connection.execute(
                f"DELETE FROM {table} WHERE id = ? AND namespace = ? AND scope = ? AND session = ?",
                (change.key.id, *change.key[:3]),
            )
        elif change.memory is None:
            connection.execute(f"DELETE FROM {table} WHERE version = ?", (change.former_seq,))


def _link(row: Sequence[Any]) -> Link:
    owner, relation, named, inward = Key(*row[:4]), row[4], row[5], row[6]
    other = owner._replace(id=named)
    return Link(other, relation, owner) if inward else Link(owner, relation, other)


def _is_of_itself(source: Key, relation: str, target: Key) -> bool:
    """Does a memory mention itself, by whatever name? That is no link."""
    return relation == _MENTIONS and source == target


def _meant(owner: Key, name: str, asked: Iterable[Key]) -> Key | None:
    """Which of the keys that were asked for `owner` means by a name."""
    own = owner._replace(id=name)
    if own in asked:
        return own
    everywhere = own._replace(session=GLOBAL)
    return everywhere if everywhere in asked else None


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _portions(ids: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(ids)
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]
