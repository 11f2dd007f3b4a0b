"""`index/index.db`: the one file of a root's derived rows, and what its indexes share.

Format owned: the tables `meta`, `cursors`, `facets`, `sources`; each index owns its own tables.
The file belongs to one store (by identity): found beside another one, or damaged, or made by
another version of this format, it is thrown away and built again from the truth.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import apsw

from camillo.database import Database, Migration, reset
from camillo.errors import StoreDamaged, StoreError, StoreTooNew
from camillo.indexes._facets import drop_unused
from camillo.indexes._passages import LoadedPassages

__all__ = ["FTS_TOKENISER", "Cursor", "IndexFile", "match"]

FORMAT = 3

_PATIENCE = 5  # seconds

# Tokens are made by text/tokens.py and joined by spaces: FTS5 only has to split there. Every ASCII
# sign but the space is a token character; all others are to the `ascii` tokeniser anyway.
_SIGNS = "".join(chr(c) for c in range(33, 127) if not chr(c).isalnum() and chr(c) not in "'\"")
FTS_TOKENISER = f"tokenize=\"ascii tokenchars '{_SIGNS}'\""

_SHARED = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE cursors(name TEXT PRIMARY KEY, seq INTEGER NOT NULL, version INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE facets(rowid INTEGER PRIMARY KEY, namespace TEXT NOT NULL, scope TEXT NOT NULL,
    session TEXT NOT NULL, kind TEXT NOT NULL, wing TEXT NOT NULL, room TEXT NOT NULL,
    UNIQUE(namespace, scope, session, kind, wing, room));
CREATE TABLE sources(rowid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
"""


class IndexFile:
    """Opens `path` for the store with this identity; makes it anew when it is not that store's."""

    def __init__(self, path: str, store_identity: str, schemas: Sequence[str]) -> None:
        self.path = path
        self.passages = LoadedPassages(lambda: self.database)
        self._identity = store_identity
        self._migrations: tuple[Migration, ...] = (self._make(schemas),)
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        except FileExistsError as error:
            folder = os.path.dirname(path)
            raise StoreError(f"{folder} must be a folder: move what is there away") from error
        try:
            self.database = Database(path, self._migrations)
        except (StoreDamaged, StoreTooNew):
            self._begin_anew()
            return
        try:
            stale = self._stale()
        except (StoreDamaged, apsw.SQLError):
            stale = True
        if stale:
            self.rebuild()
        else:
            self._opened = _inode(path)

    def is_there(self) -> bool:
        """Is the open file still the one at its path? Anyone may delete it at any time, and
        another process makes a damaged one anew."""
        return self._opened == _inode(self.path)

    def rebuild(self) -> None:
        """Throw the rows away and begin an empty file."""
        self.database.close()
        self._begin_anew()

    def _begin_anew(self) -> None:
        reset(self.path)
        self.database = Database(self.path, self._migrations)
        self._opened = _inode(self.path)

    def compact(self) -> None:
        """Nothing of what was erased stays in the file. Raises StoreBusy after a few seconds."""
        with self.database.patience(_PATIENCE):
            drop_unused(self.database)
        self.database.compact()

    def close(self) -> None:
        self.database.close()

    def _stale(self) -> bool:
        rows = self.database.rows("SELECT key, value FROM meta")
        held = dict(rows)
        return (held.get("store"), held.get("format")) != (self._identity, FORMAT)

    def _make(self, schemas: Sequence[str]) -> Migration:
        def make(connection: apsw.Connection) -> None:
            connection.execute(_SHARED).fetchall()
            connection.execute(
                "INSERT INTO meta VALUES ('store', ?), ('format', ?)", (self._identity, FORMAT)
            )
            for schema in schemas:
                connection.execute(schema).fetchall()

        return make


def _inode(path: str) -> tuple[int, int] | None:
    try:
        held = os.stat(path)
    except OSError:
        return None
    return held.st_dev, held.st_ino


class Cursor:
    """How far one index has come, and by which version of its rules."""

    def __init__(self, file: IndexFile, name: str, version: int) -> None:
        self._file = file
        self._name = name
        self._version = version

    def get(self) -> int:
        row = self._file.database.rows("SELECT seq FROM cursors WHERE name = ?", (self._name,))
        return int(row[0][0]) if row else 0

    def current(self) -> bool:
        """Were the rows made by this version of the rules?"""
        row = self._file.database.rows("SELECT version FROM cursors WHERE name = ?", (self._name,))
        return not row or row[0][0] == self._version

    def move(self, connection: apsw.Connection, seq: int) -> None:
        """Inside the transaction that writes the rows."""
        connection.execute(
            "INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT(name) "
            "DO UPDATE SET seq = excluded.seq, version = excluded.version",
            (self._name, seq, self._version),
        )


def match(tokens: Sequence[str]) -> str:
    """An FTS5 query for passages that hold any of the tokens."""
    return " OR ".join('"' + token.replace('"', '""') + '"' for token in tokens)
