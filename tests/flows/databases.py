"""Databases as NullClaw and its relatives make them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

__all__ = ["held_open", "make_database"]

SCHEMA = (
    "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL, "
    "category TEXT NOT NULL DEFAULT 'core', session_id TEXT, created_at TEXT, updated_at TEXT)"
)


def make_database(path: Path, rows: Sequence[Sequence[object]], schema: str = SCHEMA) -> Path:
    """Of NullClaw's schema a row is (key, content, category, session, created, updated)."""
    connection = _filled(path, rows, schema)
    connection.close()
    return path


@contextmanager
def held_open(path: Path, rows: Sequence[Sequence[object]]) -> Iterator[Path]:
    """Meanwhile the program that wrote it runs: its rows stand in the write-ahead log."""
    connection = _filled(path, rows, SCHEMA, "PRAGMA journal_mode = wal")
    try:
        yield path
    finally:
        connection.close()


def _filled(
    path: Path, rows: Sequence[Sequence[object]], schema: str, first: str = ""
) -> apsw.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path))
    if first:
        connection.execute(first)
    connection.execute(schema)
    table = schema.split()[2]
    with connection:
        for number, row in enumerate(rows):
            values = (f"id-{number}", *row) if schema is SCHEMA else tuple(row)
            marks = ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)
    return connection
