"""What a space tells of its changes, in the order of their numbers, and what it keeps of old text.

Shown is what lies below the oldest transaction of this space that still writes, so that nothing
appears late. Other spaces and other programs on the same server hold nothing up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psycopg import errors

from camillo.engines._postgres_connections import Connections, rows, together, value
from camillo.engines._postgres_rows import COLUMNS, read_text
from camillo.engines._postgres_schema import FAMILY, ORDINAL_BITS, lock_number
from camillo.engines._postgres_transactions import Transactions
from camillo.model import Change, JournalEntry, Key, Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.engines._postgres_connections import Connection

__all__ = ["Feed"]

_ALL = ", ".join(f"m.{column}" for column in COLUMNS)
_BODY = COLUMNS.index("body") + 1  # in a row that begins with the number
# What lies below this number can be told: each transaction that still writes here has a higher one.
# They are found by the lock that they hold; the snapshot is older than the look at the locks, so
# that one which is not among them is either done, or has begun since and has a number above it.
_SETTLE = f"""
SELECT set_config('camillo.settled', (((CASE WHEN pg_is_in_recovery()
    THEN pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    ELSE least(now.next, (SELECT min(now.next - x.age) FROM (
        SELECT (now.next - l.transactionid::text::bigint) & 4294967295 AS age
        FROM pg_locks w JOIN pg_locks l ON l.pid = w.pid AND l.locktype = 'transactionid'
            AND l.mode = 'ExclusiveLock' AND l.granted
        WHERE w.locktype = 'advisory' AND w.granted AND w.classid = {FAMILY} AND w.objid = %s
            AND w.objsubid = 2
            AND w.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        ) x WHERE x.age < 2147483648)) END)
    + (SELECT value::bigint FROM meta WHERE key = 'offset')) << {ORDINAL_BITS})::text, true)
FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next) now
"""
_SETTLED = "current_setting('camillo.settled')::bigint"
_NEXT = f"WHERE m.seq > %s AND m.seq < {_SETTLED} ORDER BY m.seq LIMIT %s"
_LAST = (
    f"SELECT greatest((SELECT max(seq) FROM memories WHERE seq < {_SETTLED}), "
    f"(SELECT max(seq) FROM retired WHERE seq < {_SETTLED}), 0)"
)
_WAITING = (
    f"SELECT (SELECT count(*) FROM memories WHERE seq > %s AND seq < {_SETTLED}) + "
    f"(SELECT count(*) FROM retired WHERE seq > %s AND seq < {_SETTLED})"
)
_LINES = (
    "SELECT number, at, who, via, what, key, count FROM journal "
    f"WHERE number > %s AND number < {_SETTLED} ORDER BY number LIMIT %s"
)
_FORGET_TEXT = (
    "UPDATE retired SET title = NULL, summary = NULL, body = NULL, detail = NULL, hash = NULL "
    "WHERE seq <= %s AND body IS NOT NULL"
)
_KEPT_TEXT = (
    "SELECT coalesce(bool_or(erased), false), count(*) FROM retired WHERE body IS NOT NULL "
    "UNION ALL SELECT true, 0 FROM meta WHERE key = 'unvacuumed'"
)
_VACUUMED = ("memories", "retired", "passages", "tallies", "terms")
_HELD_UP = (
    "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend' "
    "AND age(backend_xmin) >= age((%s::bigint & 4294967295)::text::xid))"
)


class Feed:
    """`checked` makes the memory of a row, or says that it is damaged."""

    def __init__(
        self,
        connections: Connections,
        transactions: Transactions,
        space: str,
        checked: Callable[[Sequence[Any]], Memory],
    ) -> None:
        self._connections = connections
        self._transactions = transactions
        self._lock = lock_number(space, "write") & 0xFFFFFFFF  # as pg_locks shows it
        self._checked = checked

    def changes(self, since: int, limit: int) -> list[Change]:
        live, gone = self._told([
            (f"SELECT m.seq, {_ALL} FROM memories m {_NEXT}", (since, limit)),
            (f"SELECT m.seq, {_ALL}, m.former FROM retired m {_NEXT}", (since, limit)),
        ])  # fmt: skip
        changes = [*map(self._put, live), *map(self._retirement, gone)]
        return sorted(changes, key=_number)[:limit]

    def last_change(self) -> int:
        (found,) = self._told([(_LAST, ())])
        return int(found[0][0])

    def waiting(self, since: int) -> int:
        (found,) = self._told([(_WAITING, (since, since))])
        return int(found[0][0])

    def journal(self, since: int, limit: int) -> list[JournalEntry]:
        (found,) = self._told([(_LINES, (since, limit))])
        return [
            JournalEntry(number, at, read_text(who), read_text(via), what, read_text(key), count)
            for number, at, who, via, what, key, count in found
        ]

    def _told(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[list[Any]]:
        """The rows of statements that ask for nothing at or above `_SETTLED`."""
        asked = [(_SETTLE, (self._lock,)), *statements]
        if self._transactions.held() is not None:
            return self._transactions.read(lambda c: together(c, asked))[1:]
        # Each statement has a snapshot of its own, newer than what it is held to.
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
        apart = [(begin, ()), *asked, ("COMMIT", ())]
        return self._transactions.read(lambda c: together(c, apart))[2:-1]

    def _put(self, row: Sequence[Any]) -> Change:
        memory = self._checked(row)
        return Change(row[0], memory.key, memory)

    def _retirement(self, row: Sequence[Any]) -> Change:
        former = self._checked(row[:-1]) if row[_BODY] is not None else None
        return Change(row[0], Key(*map(read_text, row[2:6])), None, row[-1], former)

    # --- former texts --------------------------------------------------------------------------

    def scrub(self, seen: int) -> bool:
        erased, kept = self.text_kept()
        if not erased and not kept:
            return True
        with self._connections.translated(), self._connections.lent() as (connection, _):
            with connection.transaction():
                if erased:
                    connection.execute(
                        "INSERT INTO meta VALUES ('unvacuumed', '') ON CONFLICT DO NOTHING"
                    )
                connection.execute(_FORGET_TEXT, (seen,))
                now = value(connection, "SELECT pg_current_xact_id()::text::bigint")
            return not erased or _vacuum(connection, now)

    def text_kept(self) -> tuple[bool, int]:
        """Was something erased since the last `scrub`; how many former texts are kept."""
        found = self._transactions.read(lambda c: rows(c, _KEPT_TEXT))
        return any(erased for erased, _ in found), sum(kept for _, kept in found)


def _vacuum(connection: Connection, now: int) -> bool:
    """Free the rows that went. False while another session may still see them."""
    if value(connection, _HELD_UP, (now,)):
        return False
    try:
        for table in _VACUUMED:
            connection.execute(f"VACUUM (TRUNCATE off) {table}".encode())
    except errors.LockNotAvailable:
        return False
    if not value(connection, "SELECT EXISTS (SELECT FROM retired WHERE body IS NOT NULL)"):
        connection.execute("DELETE FROM meta WHERE key = 'unvacuumed'")
    return True


def _number(change: Change) -> int:
    return change.seq
