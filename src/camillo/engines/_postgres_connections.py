"""Connections to one PostgreSQL server, and its errors as ours.

Connections are opened when they are needed, kept for the next caller, and replaced when the server
has cut them. There is no thread behind them, so that nothing keeps a process alive. What is read or
written through them is left to others. A message never shows a password.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn, Ping, TransactionStatus

from camillo.errors import (
    CamilloError,
    InvalidValue,
    Refused,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Connection = psycopg.Connection[tuple[Any, ...]]
    Result = TypeVar("Result")

__all__ = ["Connections", "is_lost", "rows", "together", "value"]

# A connection that is lost is told once, by us.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

WAIT = 30  # seconds for a lock, or for a connection of this process to come free
_CONNECT = 10  # seconds
_IDLE = 4  # connections that are kept
_MOST = 16  # connections of one store at once
_PING = 2  # seconds
_CUT = "57"  # the class of errors by which a server sends its clients away

# The vector extension may lie in any schema; its operators have to be found.
_SETTINGS = f"""
SELECT set_config('search_path', concat_ws(', ', quote_ident(%s),
        (SELECT quote_ident(n.nspname) FROM pg_extension e
         JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector')), false),
    set_config('lock_timeout', '{WAIT}s', false), set_config('jit', 'off', false),
    set_config('hnsw.iterative_scan', 'relaxed_order', false)
"""


class Connections:
    """Those of one store. Threads may share them; `where` names the server for messages."""

    def __init__(self, dsn: str, space: str) -> None:
        try:
            given = conninfo_to_dict(dsn)
        except psycopg.ProgrammingError:
            raise InvalidValue(
                "memory.dsn is no address of a PostgreSQL server: write it as "
                "postgresql://user@host/database or 'host=… dbname=… user=…'"
            ) from None
        if _is_misread(dsn, given):
            raise InvalidValue(
                "memory.dsn cannot be read as it was meant: a port is a number, and a '/' or '@' "
                "in a user, password or database of it ends that part; write '/' as %2F and '@' as "
                "%40"
            )
        self._dsn = dsn
        self._secret = str(given.get("password") or "")
        self._options: dict[str, Any] = {
            "connect_timeout": _CONNECT, "application_name": "camillo", **given,
            "client_encoding": "utf8",
        }  # fmt: skip
        self._space = space
        self.where = _described(given)
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(_MOST)
        self._closed = False

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """What `work` reads. It runs again when a connection that had been kept turns out cut."""
        with self.translated():
            with self.lent() as (connection, kept):
                try:
                    return work(connection)
                except psycopg.OperationalError as error:
                    if not kept or not is_lost(connection, error):
                        raise
            with self.lent(fresh=True) as (connection, _):
                return work(connection)

    @contextmanager
    def lent(self, *, fresh: bool = False) -> Iterator[tuple[Connection, bool]]:
        """A connection, and whether it had been kept from before. `fresh`: those are given up."""
        if not self._free.acquire(timeout=WAIT):
            raise StoreBusy(f"{self.where}: {_MOST} connections are in use; try again")
        try:
            if fresh:
                self.drop_idle()
            connection = self._kept()
            kept = connection is not None
            if connection is None:
                connection = self._connect()
            try:
                yield connection, kept
            finally:
                self._take_back(connection)
        finally:
            self._free.release()

    def settle(self, connection: Connection) -> None:
        """The settings of a session; again, when the extension was created in it."""
        connection.execute(_SETTINGS.encode(), (self._space,))

    def close(self) -> None:
        self._closed = True
        self.drop_idle()

    def drop_idle(self) -> None:
        """Give up those that nobody uses; more are opened when they are needed."""
        with self._lock:
            dropped, self._idle = self._idle, []
        for connection in dropped:
            connection.close()

    @contextmanager
    def translated(self) -> Iterator[None]:
        """PostgreSQL's errors as ours, with the server and the way out."""
        try:
            yield
        except psycopg.Error as error:
            raise self._ours(error) from _without_secrets(error, self._secret)

    def _kept(self) -> Connection | None:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                if not connection.closed:
                    return connection
        return None

    def _connect(self) -> Connection:
        if self._closed:
            raise StoreError(f"{self.where}: the store is closed")
        try:
            connection = psycopg.connect(autocommit=True, prepare_threshold=2, **self._options)
        except psycopg.Error as error:
            said = f"cannot open {self.where}: {self._said(error)}"
            if self._answers_later(error):
                raise StoreBusy(f"{said}; try again in a moment") from None
            raise StoreError(
                f"{said}; check that the server runs, and memory.dsn or CAMILLO_DSN: its host, "
                "database, user and password"
            ) from None
        try:
            self.settle(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _answers_later(self, error: psycopg.Error) -> bool:
        """Is the server starting, ending or recovering (57P03)? Its message may be in any language,
        and libpq hides the code from who was turned away, but its ping looks at it."""
        if isinstance(error, errors.ConnectionTimeout):
            return False
        asked = make_conninfo("", **{**self._options, "connect_timeout": _PING})
        return PGconn.ping(asked.encode()) == Ping.REJECT

    def _take_back(self, connection: Connection) -> None:
        # What psycopg prepared in a transaction that failed may be gone, and it does not know that.
        if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
            connection.close()
        with self._lock:
            if not self._closed and not connection.closed and len(self._idle) < _IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _said(self, error: psycopg.Error) -> str:
        """The server's own first words: what follows them may quote rows."""
        text = error.diag.message_primary or str(error).strip() or type(error).__name__
        line = text.splitlines()[-1].strip() if error.sqlstate is None else text
        return line.replace(self._secret, "…") if self._secret else line

    def _ours(self, error: psycopg.Error) -> CamilloError:
        said = f"{self.where}: {self._said(error)}"
        match error:
            case errors.InsufficientPrivilege():
                return Refused(f"{said}; have its owner GRANT this to the user, or use another one")
            case errors.ReadOnlySqlTransaction():
                return StoreFull(f"{said}; this server can only be read: use its primary")
            case errors.DiskFull() | errors.OutOfMemory():
                return StoreFull(f"{said}; make room on the server, then run it again")
            case (
                errors.LockNotAvailable() | errors.QueryCanceled() | errors.DeadlockDetected()
                | errors.SerializationFailure() | errors.TooManyConnections()
            ):  # fmt: skip
                return StoreBusy(f"{said}; try again, or end what is writing to it")
            case errors.DataCorrupted() | errors.IndexCorrupted():
                return StoreDamaged(f"{said}; restore a backup of the server")
            case errors.UndefinedTable() | errors.InvalidSchemaName():
                return StoreError(f"{said}; tables of {self._space!r} are gone: open it again")
            case psycopg.OperationalError() if error.sqlstate is None or is_cut(error):
                return StoreError(f"{said}; the connection was lost: try again")
        return StoreError(said)


def rows(connection: Connection, sql: str, arguments: Sequence[Any] = ()) -> list[Any]:
    """All rows of one statement."""
    with connection.cursor(binary=True) as cursor:
        cursor.execute(sql.encode(), arguments)
        return cursor.fetchall() if cursor.description else []


def value(connection: Connection, sql: str, arguments: Sequence[Any] = ()) -> Any:
    """The first column of the first row, or None."""
    found = rows(connection, sql, arguments)
    return found[0][0] if found else None


def together(
    connection: Connection, statements: Sequence[tuple[str, Sequence[Any]]]
) -> list[list[Any]]:
    """The rows of each statement, in one round trip."""
    with connection.pipeline():
        cursors = [connection.cursor(binary=True) for _ in statements]
        for cursor, (sql, arguments) in zip(cursors, statements, strict=True):
            cursor.execute(sql.encode(), arguments)
    return [cursor.fetchall() if cursor.description else [] for cursor in cursors]


def is_lost(connection: Connection, error: psycopg.Error) -> bool:
    """Is it the connection that ended, rather than a statement that failed?"""
    return connection.closed or is_cut(error)


def is_cut(error: psycopg.Error) -> bool:
    return (error.sqlstate or "").startswith(_CUT) and not isinstance(error, errors.QueryCanceled)


def _is_misread(dsn: str, given: dict[str, Any]) -> bool:
    """Is a part of a password where host, port or database belong? In a URL its first `@` or `/`
    ends it. A path and what was written as %40 are meant."""
    if not all(port.strip().isdecimal() for port in str(given.get("port") or 0).split(",") if port):
        return True
    if not dsn.startswith(("postgresql://", "postgres://")):
        return "@" in str(given.get("host") or "")[1:] and given["host"][0] != "/"
    others = [str(value) for key, value in given.items() if key not in ("user", "password")]
    return any("@" in value and value[0] != "/" and value in dsn for value in others)


def _described(given: dict[str, Any]) -> str:
    host = given.get("host") or given.get("hostaddr") or "the local server"
    port = f":{given['port']}" if given.get("port") else ""
    return f"database {given.get('dbname') or given.get('user') or ''!r} of {host}{port}"


def _without_secrets(error: psycopg.Error, secret: str) -> psycopg.Error | None:
    """As a cause it would be printed with a traceback."""
    return None if secret and secret in str(error) else error
