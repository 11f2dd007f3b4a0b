"""A SQLite file of another program, read without leaving a trace: nothing of it is changed, and
nothing is put beside it.

A file alone is opened as one that nobody changes; that it was not is checked afterwards. What has a
write-ahead log or a journal beside it would be opened with files of SQLite's own, so it is copied
first, and the copy is read.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from camillo.errors import SourceUnreadable

if TYPE_CHECKING:
    import apsw

__all__ = ["is_database", "opened"]

_MAGIC = b"SQLite format 3\0"
_BESIDE = ("-wal", "-journal")
_LOG_HEAD = 32  # bytes of a write-ahead log that change when it starts anew
_TRIES = 5
_CHANGED = "was written while it was read: run this again"


def is_database(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


@contextmanager
def opened(path: str) -> Iterator[apsw.Connection]:
    """Raises SourceUnreadable for a file that is no database, is damaged, or is being written."""
    import apsw  # only this format needs it

    try:
        if any(_size(path + end) for end in _BESIDE):
            with TemporaryDirectory(prefix="camillo-") as folder:
                connection = _connected(_copied(path, folder), immutable=False)
                try:
                    yield connection
                finally:
                    connection.close()
            return
        before = _stamp(path)
        connection = _connected(path, immutable=True)
        try:
            yield connection
        finally:
            connection.close()
        if _stamp(path) != before or any(_size(path + end) for end in _BESIDE):
            raise SourceUnreadable(_CHANGED)
    except apsw.Error as error:
        raise SourceUnreadable(f"cannot be read: {error}") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceUnreadable(f"cannot be read: {reason}") from error


def _connected(path: str, *, immutable: bool) -> apsw.Connection:
    import apsw

    if immutable:
        address = f"{Path(path).absolute().as_uri()}?immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    else:
        address, flags = path, apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(address, flags=flags)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)  # a stranger's triggers and views
    return connection


def _copied(path: str, folder: str) -> str:
    """A copy that is one state of the database, with what lies beside it."""
    copy = os.path.join(folder, "copy.db")
    for _ in range(_TRIES):
        before = _state(path)
        for end in ("", *_BESIDE):
            try:
                shutil.copyfile(path + end, copy + end)
            except FileNotFoundError:
                if not end:
                    raise
                Path(copy + end).unlink(missing_ok=True)
        if _state(path) == before:
            return copy
    raise SourceUnreadable(_CHANGED)


def _state(path: str) -> tuple[object, ...]:
    """What stays the same while a log only grows: its pages count as far as they are whole."""
    try:
        with open(f"{path}-wal", "rb") as log:
            head = log.read(_LOG_HEAD)
    except FileNotFoundError:
        head = b""
    return _stamp(path), head, _stamp(f"{path}-journal")


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _size(path: str) -> int:
    return _stamp(path)[1]
