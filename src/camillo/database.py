"""One SQLite file, opened properly: pragmas, migrations, write transactions, errors of our own.

The engines and indexes that keep their rows in SQLite share this; what the rows mean is theirs.
Every write is BEGIN IMMEDIATE: a deferred transaction that reads before it writes fails at once
when another process has written in between, whatever the busy timeout says.
"""

from __future__ import annotations

import os
import time
from _thread import RLock  # the same lock as `threading` gives, which takes 1 ms to import
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from camillo.errors import StoreBusy, StoreDamaged, StoreError, StoreFull, StoreTooNew

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["APPLICATION_ID", "Database", "Migration", "legible", "reset", "translated"]

APPLICATION_ID = 0x63616D69  # "cami"
BUSY_SECONDS = 30
PAGE_BYTES = 8192  # rows of 800 characters fill pages of 4096 badly

# Takes the connection inside an open transaction and brings the schema one version further.
Migration = Callable[[apsw.Connection], None]

# There was no room for the index of the write-ahead log, which processes share.
_NO_SHARED_MEMORY = frozenset(
    (apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP, apsw.SQLITE_IOERR_SHMOPEN)
)
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afpfs", "fuse.sshfs", "9p", "ceph"})


class Database:
    """A file, its connection and its lock. Safe to call from several threads; one runs at a time.

    Raises StoreTooNew for a file that a newer camillo made, StoreDamaged for one that is no
    database or is damaged, StoreBusy after `busy_seconds` of waiting, StoreFull when nothing can
    be written, StoreError for a database of another program. `lock` may be held to keep other
    threads out over several calls. `backup` is called before each migration of a file that holds
    something, with the write lock held: it reads the file through a connection of its own.
    """

    def __init__(
        self,
        path: str,
        migrations: Sequence[Migration],
        *,
        backup: Callable[[Database, int], None] | None = None,
        create: bool = True,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self.path = path
        self.lock = RLock()
        self._busy_seconds = busy_seconds
        self._depth = 0
        self._writing = False
        self._synchronous = ""
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        with translated(path):
            if create:
                _create_private(path)
            try:
                self._connect(path, flags, "NORMAL", migrations, backup)
            except apsw.IOError as error:
                if getattr(error, "extendedresult", 0) not in _NO_SHARED_MEMORY:
                    raise
                # A full disk: what is there can be read by one process at a time.
                self._connect(path, flags, "EXCLUSIVE", migrations, backup)
            except (apsw.ReadOnlyError, apsw.CantOpenError):
                if not _is_settled(path):
                    raise
                flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
                self._connect(_immutable(path), flags, "NORMAL", migrations, backup)

    def rows(self, sql: str, arguments: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
        """All rows of one statement."""
        with self.lock, translated(self.path), legible(self.path):
            return self.connection.execute(sql, arguments).fetchall()

    def value(self, sql: str, arguments: Sequence[Any] | dict[str, Any] = ()) -> Any:
        """The first column of the first row, or None."""
        with self.lock, translated(self.path), legible(self.path):
            return self.connection.execute(sql, arguments).get

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[apsw.Connection]:
        """A write transaction; inside another one it joins that. `durable` waits for the disk."""
        with self.lock, translated(self.path):
            if self._depth:
                self._must_be_writing()
                yield self.connection
                return
            self._set_synchronous("FULL" if durable else "NORMAL")
            self._begin()
            self._depth = 1
            self._writing = True
            try:
                yield self.connection
                self._must_be_writing()
                self.connection.execute("COMMIT")
            except BaseException:
                self._rollback()
                raise
            finally:
                self._depth = 0
                self._writing = False

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Several reads that see one state of the file."""
        with self.lock, translated(self.path):
            if self._depth:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            self._depth = 1
            try:
                yield self.connection
            finally:
                self._depth = 0
                self._rollback()

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Inside, wait no longer than this for another process."""
        with self.lock:
            self.connection.set_busy_timeout(int(seconds * 1000))
            try:
                yield
            finally:
                try:
                    self.connection.set_busy_timeout(int(self._busy_seconds * 1000))
                except apsw.ConnectionClosedError:  # it was damaged, and was opened anew
                    pass

    def empty_log(self) -> bool:
        """Move the write-ahead log into the file and cut it to nothing; False while a reader of
        another process still needs it."""
        with self.patience(0.5), translated(self.path):
            if self.connection.pragma("journal_mode") != "wal":
                return True
            try:
                rows = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except apsw.BusyError:
                return False
            return bool(rows[0][0] == 0)

    def compact(self) -> None:
        """Build the file anew, page by page. Only this rids it of deleted text for good: SQLite
        zeroes what it frees, but not the old copies of rows that it moved inside a page."""
        with self.patience(5), translated(self.path):
            self.connection.execute("VACUUM")

    def close(self) -> None:
        with self.lock:
            self.connection.close(True)

    def _connect(
        self,
        name: str,
        flags: int,
        locking: str,
        migrations: Sequence[Migration],
        backup: Callable[[Database, int], None] | None,
    ) -> None:
        self.connection = apsw.Connection(name, flags=flags)
        try:
            if locking != "NORMAL":
                self.connection.execute(f"PRAGMA locking_mode={locking}").fetchall()
            self._prepare(migrations, backup)
        except BaseException:
            self.connection.close(True)
            raise

    def _prepare(
        self,
        migrations: Sequence[Migration],
        backup: Callable[[Database, int], None] | None,
    ) -> None:
        connection = self.connection
        connection.set_busy_timeout(int(self._busy_seconds * 1000))
        connection.execute(
            "PRAGMA secure_delete=ON; PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY;"
            "PRAGMA cache_size=-16000"
        ).fetchall()
        version = self._version()
        self._must_be_ours(version)
        if version > len(migrations):
            raise StoreTooNew(
                f"{self.path} has schema {version}, this camillo knows up to {len(migrations)}: "
                "upgrade camillo, or point it at another folder"
            )
        if version < len(migrations):
            self._make_ready()
            self._migrate(migrations, backup)

    def _version(self) -> int:
        return int(self.connection.pragma("user_version"))

    def _make_ready(self) -> None:
        """What must be set before the first page is written; eight processes may do it at once."""
        self.connection.execute(
            f"PRAGMA page_size={PAGE_BYTES}; PRAGMA auto_vacuum=INCREMENTAL"
        ).fetchall()
        mode = "DELETE" if _on_network(self.path) else "WAL"
        deadline = time.monotonic() + self._busy_seconds
        while True:  # a change of journal mode does not wait for the busy timeout
            try:
                self.connection.pragma("journal_mode", mode)
                return
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _migrate(
        self,
        migrations: Sequence[Migration],
        backup: Callable[[Database, int], None] | None,
    ) -> None:
        filled = self._version() > 0  # a new file is brought up to date without copies
        while True:
            with self.write():
                version = self._version()
                if version >= len(migrations):
                    return
                if filled and backup:  # inside, or another process might migrate it meanwhile
                    backup(self, version)
                migrations[version](self.connection)
                self.connection.pragma("application_id", APPLICATION_ID)
                self.connection.pragma("user_version", version + 1)

    def _must_be_ours(self, version: int) -> None:
        """A database of another program is left alone."""
        filled = version or self.connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").get
        # Read last: it is written together with the first tables and the first version.
        if filled and self.connection.pragma("application_id") != APPLICATION_ID:
            raise StoreError(
                f"{self.path} is the database of another program: point camillo at another folder"
            )

    def _must_be_writing(self) -> None:
        """SQLite undoes a transaction by itself when the disk is full; what is written after that
        would be kept line by line. A write inside `reading` would be lost."""
        if not self._writing or not self.connection.in_transaction:
            raise StoreError(
                f"{self.path}: the write transaction is over; what it wrote was undone"
                if self._writing
                else f"{self.path}: cannot write while reading; end the reading first"
            )

    def _set_synchronous(self, level: str) -> None:
        if self._synchronous != level:
            self.connection.execute(f"PRAGMA synchronous={level}")
            self._synchronous = level

    def _begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def _rollback(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


def reset(path: str) -> None:
    """Empty a database file in place, whatever is in it. Other processes may have it open: to
    delete it under them would leave them with each other's logs."""
    with translated(path):
        connection = apsw.Connection(path)
        try:
            connection.set_busy_timeout(BUSY_SECONDS * 1000)
            try:  # the schema must have been looked at: sqlite3_db_config, RESET_DATABASE
                connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
            except (apsw.CorruptError, apsw.NotADBError):
                pass
            connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
            connection.execute("VACUUM").fetchall()
            connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)
            # It starts at 1 again: another process would take the tables that it counts up to for
            # those that it knew under that number, and look for them in other pages.
            fresh = int.from_bytes(os.urandom(4), "little") >> 2
            connection.execute(f"PRAGMA schema_version = {fresh}").fetchall()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.close(True)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """SQLite's errors as ours, with the file and the way out."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(
            f"{path} is held by another process: try again, or end what is writing to it"
        ) from error
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise StoreDamaged(
            f"{path} is damaged ({error}): keep a copy, then restore the last backup beside it",
            path,
        ) from error
    except apsw.FullError as error:
        raise StoreFull(f"no room to write {path}: free some space, then run it again") from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise StoreFull(f"{path} cannot be written ({error}): check its permissions") from error
    except (apsw.IOError, apsw.CantOpenError) as error:
        raise StoreError(_io_message(path, error)) from error


@contextmanager
def legible(path: str) -> Iterator[None]:
    """Around reads alone: overwritten bytes are often no UTF-8 any more."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise StoreDamaged(
            f"{path} is damaged (a text in it is no text any more): keep a copy, then restore the "
            "last backup beside it",
            path,
        ) from error


def _io_message(path: str, error: Exception) -> str:
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"{folder} is not there: check that its disk is mounted"
    return f"{path} cannot be read or written ({error}): check the disk and its permissions"


def _create_private(path: str) -> None:
    """SQLite gives its log the mode of the file: a new one is its owner's alone from the start."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        pass  # it is there already, or SQLite is about to say what is wrong


def _is_settled(path: str) -> bool:
    """Is this a file that nobody can write, with all of its log taken in? Then it can be read
    without the files that processes share."""
    try:
        logged = os.path.getsize(path + "-wal")
    except OSError:
        logged = 0
    return os.path.isfile(path) and not os.access(path, os.W_OK) and not logged


def _immutable(path: str) -> str:
    from urllib.parse import quote

    return f"file:{quote(os.path.abspath(path), errors='surrogateescape')}?immutable=1"


def _on_network(path: str) -> bool:
    """Is the file on a network file system, where WAL's shared memory does not work?"""
    best, kind = "", ""
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                fields = line.split()
                point = fields[1].replace("\\040", " ")
                inside = os.path.abspath(path).startswith(point.rstrip("/") + "/")
                if len(point) >= len(best) and inside:
                    best, kind = point, fields[2]
    except OSError:
        return False
    return kind in _NETWORK
