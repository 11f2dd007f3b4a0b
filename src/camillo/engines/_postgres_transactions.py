"""Transactions of one space: who may write beside whom, and the numbers that changes take.

A number is that of the transaction, with the place in it in its last 20 bits: nobody waits for one.
Single writes share a lock that a whole `transaction` takes alone; the same lock tells the feed who
is still writing. What is written is left to others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from camillo.engines._postgres_connections import Connections, is_lost, together
from camillo.engines._postgres_schema import FAMILY, ORDINAL_BITS, lock_number
from camillo.errors import InvalidValue, StoreBusy, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from camillo.engines._postgres_connections import Connection

    Result = TypeVar("Result")

__all__ = ["ALONE", "BASE", "Crossed", "Transaction", "Transactions"]

ALONE = "SELECT pg_advisory_xact_lock(%s::integer, %s::integer)"
# What numbers of this transaction begin with.
BASE = (
    "SELECT (pg_current_xact_id()::text::bigint + (SELECT value::bigint FROM meta "
    f"WHERE key = 'offset')) << {ORDINAL_BITS}"
)
_SHARED = "SELECT pg_advisory_xact_lock_shared(%s::integer, %s::integer)"
_TRIES = 6  # of a write that others crossed …
_PATIENT = 3  # … of which so many are made beside others
_MOST_CHANGES = 1 << ORDINAL_BITS


class Crossed(Exception):
    """Another writer was first with the same new key."""


class Transaction:
    """One that is open: its connection, and how many numbers of it are taken."""

    __slots__ = ("base", "connection", "taken")

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.base = 0
        self.taken = 0

    def take_number(self) -> int:
        self.taken += 1
        if self.taken >= _MOST_CHANGES:
            raise InvalidValue(
                f"more than {_MOST_CHANGES - 1} changes in one transaction: write it in parts"
            )
        return self.base + self.taken


class Transactions:
    """Those of one store, at most one a thread. `opened` is called before anything is asked of the
    server, `after` when one was committed."""

    def __init__(
        self,
        connections: Connections,
        space: str,
        opened: Callable[[], object],
        after: Callable[[], None],
    ) -> None:
        self._connections = connections
        self._where = connections.where
        self._lock = (FAMILY, lock_number(space, "write"))
        self._opened = opened
        self._after = after
        self._local = threading.local()

    def held(self) -> Transaction | None:
        """This thread's open transaction."""
        return getattr(self._local, "held", None)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """In the transaction that is open, or on its own."""
        held = self.held()
        if held is None:
            self._opened()
            return self._connections.run(work)
        with self._connections.translated():
            return work(held.connection)

    def write(self, work: Callable[[Transaction], Result], bulk: bool) -> Result:
        """What `work` says, in the transaction that is open or in one of its own, beside others."""
        held = self.held()
        with self._connections.translated():
            if held is not None:
                self._must_be_sound(held)
                return work(held)
            for attempt in range(_TRIES):
                try:
                    with self._begun(_SHARED if attempt < _PATIENT else ALONE, bulk) as held:
                        result = work(held)
                    self._after()
                    return result
                except (errors.DeadlockDetected, errors.SerializationFailure):
                    if attempt == _TRIES - 1:
                        raise
                except Crossed:
                    pass
        raise StoreBusy(f"{self._where}: others kept writing the same memories; try again")

    @contextmanager
    def alone(self, *, bulk: bool = False) -> Iterator[Connection]:
        """A transaction that keeps all other writers out; a part of the one that is open."""
        held = self.held()
        with self._connections.translated():
            if held is None:
                with self._begun(ALONE, bulk) as held:
                    yield held.connection
                self._after()
            else:
                self._must_be_sound(held)
                with held.connection.transaction():  # a savepoint
                    yield held.connection

    @contextmanager
    def _begun(self, lock: str, bulk: bool) -> Iterator[Transaction]:
        self._opened()
        begin: list[tuple[str, Sequence[Any]]] = [
            ("BEGIN", ()),
            (f"SET LOCAL synchronous_commit = {'off' if bulk else 'on'}", ()),
            (lock, self._lock),
        ]
        with self._connection(begin) as connection:
            held = self._local.held = Transaction(connection)
            try:
                yield held
                self._commit(connection)
            finally:
                self._local.held = None

    @contextmanager
    def _connection(self, begin: Sequence[tuple[str, Sequence[Any]]]) -> Iterator[Connection]:
        """One with a transaction begun; the server may have cut one that had been kept."""
        with self._connections.lent() as (connection, kept):
            try:
                together(connection, begin)
            except psycopg.OperationalError as error:
                if not kept or not is_lost(connection, error):
                    raise
            else:
                yield connection
                return
        with self._connections.lent(fresh=True) as (connection, _):
            together(connection, begin)
            yield connection

    def _commit(self, connection: Connection) -> None:
        if connection.info.transaction_status == TransactionStatus.INERROR:
            raise StoreError(f"{self._where}: a statement failed, so the transaction was undone")
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            if not is_lost(connection, error):
                raise
            raise StoreError(
                f"{self._where}: the connection was lost before the write was acknowledged: all of "
                "it may be there or nothing; read it again before you write it again"
            ) from None

    def _must_be_sound(self, held: Transaction) -> None:
        if held.connection.info.transaction_status != TransactionStatus.INTRANS:
            raise StoreError(f"{self._where}: the transaction is over; what it wrote was undone")
