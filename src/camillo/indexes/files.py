"""Which note files were read, and as what they looked then. Part of `index/index.db`.

Format owned: the table `files`, its `problems` one a line, and `notes_scanned` in `meta`: when the
folder was last looked through (nanoseconds since 1970). Derived: without it every file is read
again, as it is where an earlier camillo made the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from camillo.indexes._file import IndexFile
from camillo.model import Key
from camillo.ports import KnownFile, NoteStat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

__all__ = ["SCHEMA", "NoteFiles"]

# Also run over a file that was made before there were notes: to throw that away would cost its
# vectors.
SCHEMA = """
CREATE TABLE IF NOT EXISTS files(path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL, hash BLOB NOT NULL, namespace TEXT, scope TEXT, session TEXT, id TEXT,
    problems TEXT NOT NULL, broken INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_id ON files(id);
CREATE INDEX IF NOT EXISTS files_broken ON files(path) WHERE broken;
"""


class NoteFiles:
    """The files of one root."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._there = False

    def held(self) -> AbstractContextManager[Any]:
        """Keeps other threads out of the index. Whoever also locks the store takes this first, as
        every catch-up does: in the other order two threads would wait for each other."""
        return self._file.database.lock

    def stats(self) -> dict[str, tuple[int, int]]:
        """(mtime_ns, size) of each by path: what a look through the folder is compared with."""
        rows = self._rows("SELECT path, mtime_ns, size FROM files")
        return {path: (mtime_ns, size) for path, mtime_ns, size in rows}

    def scanned(self) -> int:
        if not self._made():
            return 0
        value = self._file.database.value("SELECT value FROM meta WHERE key = 'notes_scanned'")
        return int(value or 0)

    def any(self) -> bool:
        return bool(self._rows("SELECT 1 FROM files LIMIT 1"))

    def known(self, paths: Sequence[str]) -> dict[str, KnownFile]:
        found: dict[str, KnownFile] = {}
        for start in range(0, len(paths), 500):
            some = paths[start : start + 500]
            sql = f"SELECT * FROM files WHERE path IN ({', '.join('?' * len(some))})"
            found.update({row[0]: _known(row) for row in self._rows(sql, some)})
        return found

    def holding(self, key: Key) -> list[KnownFile]:
        """The files in which this note was found: one, two for a moment after it was moved."""
        rows = self._rows(
            "SELECT * FROM files WHERE id = ? AND namespace = ? AND scope = ? AND session = ? "
            "ORDER BY path",
            (key.id, key.namespace, key.scope, key.session),
        )
        return [_known(row) for row in rows]

    def named(self, name: str) -> list[Key]:
        """The notes whose id is a path that ends in this name."""
        rows = self._rows(
            "SELECT DISTINCT namespace, scope, session, id FROM files "
            "WHERE substr(id, -length(?1)) = ?1 ORDER BY id",
            (f"/{name}",),
        )
        return [Key(*row) for row in rows]

    def problems(self) -> list[KnownFile]:
        """The files of which something could not be read."""
        sql = "SELECT * FROM files WHERE problems <> '' ORDER BY path"
        return [_known(row) for row in self._rows(sql)]

    def broken(self) -> list[KnownFile]:
        """Those that cannot be read as notes."""
        return [_known(row) for row in self._rows("SELECT * FROM files WHERE broken ORDER BY path")]

    def record(
        self, read: Iterable[KnownFile], gone: Iterable[str] = (), scanned: int | None = None
    ) -> None:
        """These were read, those are no longer there."""
        with self._file.database.write(durable=False) as connection:
            if not self._made():
                connection.execute("DROP TABLE IF EXISTS files").fetchall()
                connection.execute("DELETE FROM meta WHERE key = 'notes_scanned'").fetchall()
                connection.execute(SCHEMA).fetchall()
            connection.executemany("DELETE FROM files WHERE path = ?", [(path,) for path in gone])
            connection.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (each.path, *each.stat, each.hash, *(each.key or (None,) * 4),
                     "\n".join(map(_on_one_line, each.problems)), each.broken)
                    for each in read
                ],
            )  # fmt: skip
            if scanned is not None:
                connection.execute(
                    "INSERT OR REPLACE INTO meta VALUES ('notes_scanned', ?)", (scanned,)
                )

    def _rows(self, sql: str, arguments: Sequence[object] = ()) -> list[Any]:
        return self._file.database.rows(sql, arguments) if self._made() else []

    def _made(self) -> bool:
        """Is the table there, as we have it?"""
        if not self._there:
            sql = "SELECT 1 FROM pragma_table_info('files') WHERE name = 'broken'"
            self._there = bool(self._file.database.value(sql))
        return self._there


def _known(row: Sequence[object]) -> KnownFile:
    path, mtime_ns, size, hash_, *key, said, broken = row
    named = Key(*key) if key[3] is not None else None  # type: ignore[arg-type]
    problems = tuple(filter(None, str(said).split("\n")))
    return KnownFile(path, NoteStat(mtime_ns, size), hash_, named, problems, bool(broken))  # type: ignore[arg-type]


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ")
