"""The schema of `store.db`, as numbered migrations. Format owned: store.db.

A row of `memories` is one version of one memory; its `seq` is the number of the change that wrote
it. A new version takes a new number and the old row moves to `retired`, which keeps its text until
the indexes have taken it back and is a tombstone after that. `owners` and `places` hold the values
that thousands of rows share; the view `readable` joins them for people.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import apsw

from camillo.database import Migration

__all__ = ["COLUMNS", "MIGRATIONS"]

# The columns of one version, in the order in which rows are read and written.
COLUMNS = (
    "id", "owner", "place", "title", "summary", "body", "part", "line_start", "line_end",
    "byte_start", "byte_end", "happened_at", "created", "updated", "expires", "archived",
    "superseded_by", "pinned", "trust", "written_by", "detail", "hash",
)  # fmt: skip

_VERSION = """
    id TEXT NOT NULL,
    owner INTEGER NOT NULL REFERENCES owners(rowid),
    place INTEGER NOT NULL REFERENCES places(rowid),
    title TEXT, summary TEXT, body TEXT,
    part INTEGER, line_start INTEGER, line_end INTEGER, byte_start INTEGER, byte_end INTEGER,
    happened_at TEXT, created INTEGER NOT NULL, updated INTEGER, expires INTEGER, archived INTEGER,
    superseded_by TEXT, pinned INTEGER, trust TEXT, written_by TEXT,
    detail TEXT,
    hash BLOB NOT NULL
"""

_FIRST = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE owners(rowid INTEGER PRIMARY KEY, namespace TEXT NOT NULL, scope TEXT NOT NULL,
    session TEXT NOT NULL, UNIQUE(namespace, scope, session));
CREATE TABLE sources(rowid INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE places(rowid INTEGER PRIMARY KEY, kind TEXT NOT NULL, wing TEXT NOT NULL,
    room TEXT NOT NULL, hall TEXT NOT NULL, source INTEGER REFERENCES sources(rowid));
CREATE UNIQUE INDEX places_all ON places(source, kind, wing, room, hall);
CREATE TABLE memories(seq INTEGER PRIMARY KEY, {_VERSION}, UNIQUE(id, owner));
CREATE INDEX memories_place ON memories(place, part);
CREATE TABLE retired(seq INTEGER PRIMARY KEY, former INTEGER NOT NULL, {_VERSION});
CREATE INDEX retired_kept ON retired(seq) WHERE body IS NOT NULL;
CREATE TABLE journal(number INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL,
    via TEXT NOT NULL, what TEXT NOT NULL, key TEXT NOT NULL, count INTEGER NOT NULL);
CREATE VIEW readable AS
    SELECT m.seq, o.namespace, o.scope, o.session, m.id, p.kind, p.wing, p.room, p.hall,
        s.name AS source, m.part, m.line_start, m.line_end, m.title, m.summary, m.body,
        m.happened_at, datetime(m.created / 1000, 'unixepoch') AS created
    FROM memories m JOIN owners o ON o.rowid = m.owner JOIN places p ON p.rowid = m.place
    LEFT JOIN sources s ON s.rowid = p.source;
"""


def _first(connection: apsw.Connection) -> None:
    connection.execute(_FIRST).fetchall()
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [("store_id", os.urandom(16).hex()), ("next_seq", 1)],
    )


MIGRATIONS: Sequence[Migration] = (_first,)
