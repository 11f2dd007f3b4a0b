"""The `aliases` index: what memories are called, so that a question may call them by name. Part of
`index/index.db`.

Format owned: `aliases`, a row for each phrase that stands for a title or an alias, with its first
two words as `head`; `alias_words`, the words of these phrases that may be misspelled, by their
first two letters. Archived memories have no name here. What a phrase is says text/phrases.py, what
a name is worth the retrieval.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import apsw

from camillo.errors import StoreDamaged
from camillo.indexes._file import Cursor, IndexFile
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Change, Health, Key, Memory, short_id
from camillo.ports import Store
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SCHEMA", "AliasIndex", "Name"]

# Also run over a file that was made before there were names: to throw that away would cost its
# vectors.
SCHEMA = """
CREATE TABLE IF NOT EXISTS aliases(rowid INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    namespace TEXT NOT NULL, scope TEXT NOT NULL, session TEXT NOT NULL, id TEXT NOT NULL,
    head TEXT NOT NULL, phrase TEXT NOT NULL, titled INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS aliases_head ON aliases(head);
CREATE INDEX IF NOT EXISTS aliases_version ON aliases(version);
CREATE INDEX IF NOT EXISTS aliases_id ON aliases(id);
CREATE TABLE IF NOT EXISTS alias_words(rowid INTEGER PRIMARY KEY, version INTEGER NOT NULL,
    id TEXT NOT NULL, begins TEXT NOT NULL, word TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS alias_words_begins ON alias_words(begins, word);
CREATE INDEX IF NOT EXISTS alias_words_version ON alias_words(version);
CREATE INDEX IF NOT EXISTS alias_words_id ON alias_words(id);
"""

_VERSION = 1  # of what becomes a row
_AT_ONCE = 500  # heads that one statement asks for
_NAMELESS = INTERNAL_KINDS | NOT_NOTES
_TABLES = ("aliases", "alias_words")


class Name(NamedTuple):
    """A phrase that stands for a memory; `titled`: for its title, which is no alias of it too."""

    phrase: str
    key: Key
    titled: bool


class AliasIndex:
    """The names of one store's memories."""

    name = "aliases"

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
        seen, held = self.cursor(), not self.empty()
        for change in changes:
            if change.seq > seen:
                if held:
                    _remove(connection, change, by_version)
                held |= _add(connection, change)
                seen = change.seq
        self._cursor.move(connection, seen)

    # --- asking --------------------------------------------------------------------------------

    def empty(self) -> bool:
        return not self._rows("SELECT 1 FROM aliases LIMIT 1")

    def begun(self, heads: Iterable[str]) -> list[Name]:
        """The names that begin with one of these: with a word, where that is all of the name, else
        with two and a space between them."""
        found: list[Name] = []
        for asked in _portions(heads):
            rows = self._rows(
                "SELECT phrase, titled, namespace, scope, session, id FROM aliases "
                f"WHERE head IN ({', '.join('?' * len(asked))}) ORDER BY rowid",
                asked,
            )
            found += [Name(row[0], Key(*row[2:]), bool(row[1])) for row in rows]
        return found

    def near(self, word: str) -> list[str]:
        """The words of names that this folded word may be a slip for."""
        from camillo.text.phrases import begins, is_near

        rows = self._rows(
            "SELECT DISTINCT word FROM alias_words WHERE begins = ? "
            "AND length(word) BETWEEN ? AND ? ORDER BY word",
            (begins(word), len(word) - 1, len(word) + 1),
        )
        return [row[0] for row in rows if is_near(word, row[0])]

    def _rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Any]:
        return self._file.database.rows(sql, arguments) if self._made() else []

    def _made(self) -> bool:
        """Has the file these tables? One of an earlier camillo gets them with the next update."""
        if not self._there:
            sql = "SELECT 1 FROM sqlite_schema WHERE name = 'alias_words'"
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
            count = len(self._rows("SELECT head, phrase, titled, id FROM aliases"))
        except StoreDamaged as error:
            problems.append(f"aliases: {error}")
        return Health(self.name, tuple(problems), (("names", str(count)),))

    def close(self) -> None:
        """The file is the vault's to close."""


def _add(connection: apsw.Connection, change: Change) -> bool:
    """The rows of a new version; were there any?"""
    memory = change.memory
    if memory is None or memory.archived or memory.kind in _NAMELESS:
        return False
    from camillo.text.phrases import phrases, readings, spelled  # a store of drawers needs none

    read = [(readings(name), titled) for name, titled in _names(memory)]
    names = {words: titled for name, titled in read for words in phrases(name)}
    connection.executemany(
        "INSERT INTO aliases(version, namespace, scope, session, id, head, phrase, titled) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (change.seq, *memory.key, " ".join(words[:2]), " ".join(words), titled)
            for words, titled in names.items()
        ],
    )
    words = {word: begins for name, _ in read if phrases(name) for word, begins in spelled(name)}
    connection.executemany(
        "INSERT INTO alias_words(version, id, begins, word) VALUES (?, ?, ?, ?)",
        [(change.seq, memory.id, begins, word) for word, begins in words.items()],
    )
    return bool(names)


def _names(memory: Memory) -> Iterator[tuple[str, bool]]:
    """Its title, or what its file is called where it has none, and its aliases; each with whether
    it is only a title. A phrase of both comes last as an alias."""
    yield memory.title or (memory.id if short_id(memory.id) == memory.id else ""), True
    yield from ((alias, False) for alias in memory.aliases)


def _remove(connection: apsw.Connection, change: Change, by_version: bool) -> None:
    """What this change retires. A store without a feed says only that a key has changed."""
    if by_version:
        for table in _TABLES if change.memory is None else ():
            connection.execute(f"DELETE FROM {table} WHERE version = ?", (change.former_seq,))
        return
    versions = connection.execute(
        "DELETE FROM aliases WHERE id = ? AND namespace = ? AND scope = ? AND session = ? "
        "RETURNING version",
        (change.key.id, *change.key[:3]),
    ).fetchall()
    for version in set(versions):
        connection.execute(
            "DELETE FROM alias_words WHERE version = ? AND id = ?", (*version, change.key.id)
        )


def _portions(values: Iterable[str]) -> Iterator[list[str]]:
    ordered = sorted(set(values))
    for start in range(0, len(ordered), _AT_ONCE):
        yield ordered[start : start + _AT_ONCE]
