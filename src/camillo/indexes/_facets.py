"""`facets` and `sources`: what filters ask, once for all rows that share it."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from camillo.model import Filter, Memory, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["facet_clause", "facet_of", "source_of"]


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
