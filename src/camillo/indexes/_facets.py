"""`facets` and `sources`: what filters ask, once for all rows that share it."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from camillo.database import Database
from camillo.model import Filter, Memory, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["drop_unused", "facet_clause", "facet_of", "source_of"]

_DROP = """
DELETE FROM {table} WHERE rowid NOT IN (
    SELECT {column} FROM passages WHERE {column} IS NOT NULL UNION SELECT {column} FROM closets)
"""


def facet_of(connection: apsw.Connection, memory: Memory) -> int:
    """The row that holds what filters ask, shared by all memories with the same values."""
    value = (
        memory.namespace, memory.scope, memory.session, memory.kind, memory.place.wing,
        memory.place.room,
    )  # fmt: skip
    return _row(
        connection, "facets", ["namespace", "scope", "session", "kind", "wing", "room"], value
    )


def source_of(connection: apsw.Connection, memory: Memory) -> int | None:
    if memory.origin is None:
        return None
    return _row(connection, "sources", ["name"], (memory.origin.source,))


def drop_unused(database: Database) -> None:
    """Values that no row has any more go, as the name of a room whose last note was forgotten.
    Nobody keeps the number of one from one write to the next."""
    with database.lock:
        # Else SQLite would read all passages for each row that goes.
        database.connection.pragma("foreign_keys", False)
        try:
            with database.write(durable=False) as connection:
                for table, column in (("facets", "facet"), ("sources", "source")):
                    connection.execute(_DROP.format(table=table, column=column))
        finally:
            database.connection.pragma("foreign_keys", True)


def facet_clause(filter: Filter) -> tuple[str, list[Any]]:
    """What the filter asks of a facet `f`, as SQL."""
    clauses: list[str] = []
    arguments: list[Any] = []
    for column in ("namespace", "scope"):
        value = getattr(filter, column)
        if value is not None:
            clauses.append(f"f.{column} = ?")
            arguments.append(value)
    for column in ("wing", "room"):
        value = getattr(filter, column)
        if value is not None:
            clauses.append(f"f.{column} = ?")
            arguments.append(value)
    if filter.kinds is not None:
        clauses.append(f"f.kind IN ({', '.join('?' * len(filter.kinds))})")
        arguments.extend(filter.kinds)
    sessions = _sessions(filter.session)
    if sessions is not None:
        clauses.append(f"f.session IN ({', '.join('?' * len(sessions))})")
        arguments.extend(sessions)
    return " AND ".join(clauses) or "1", arguments


def _sessions(session: Session) -> tuple[str, ...] | None:
    values = {
        "any": None,
        "global": ("",),
        "only": (session.id,),
        "with-global": ("", session.id),
    }
    return values[session.mode]


def _row(
    connection: apsw.Connection, table: str, columns: Sequence[str], value: Sequence[str]
) -> int:
    where = " AND ".join(f"{column} = ?" for column in columns)
    row = connection.execute(f"SELECT rowid FROM {table} WHERE {where}", value).get
    if row is None:
        marks = ", ".join("?" * len(columns))
        connection.execute(f"INSERT INTO {table}({', '.join(columns)}) VALUES ({marks})", value)
        row = connection.last_insert_rowid()
    return int(row)
