"""The tables of one space (a PostgreSQL schema), as numbered migrations. Format owned: they.

`memories` holds one row a memory, readable as it is; its `seq` is the number of the change that
wrote it. A new version takes a new number and the old one moves to `retired`, which keeps its text
until the indexes have taken it back. `passages` is narrow: the words of a passage lie beside it,
as numbers (`_postgres_words.py`). `facets`, `sessions` and `sources` hold what many passages share.

To upgrade needs no copy of the database first: a migration is one transaction, tables and rows
alike, so one that fails or is killed leaves the former version as it was. A newer one is refused.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from hashlib import blake2b

import psycopg

from camillo.engines._postgres_connections import Connections, rows, value
from camillo.engines._postgres_rows import COLUMNS, TYPES
from camillo.errors import InvalidValue, StoreError, StoreTooNew
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.engines._postgres_connections import Connection

__all__ = [
    "FAMILY",
    "MIGRATIONS",
    "ORDINAL_BITS",
    "Opened",
    "check_space",
    "lock_number",
    "open_space",
]

FAMILY = 0x63616D69  # "cami": the first half of every advisory lock
ORDINAL_BITS = 20  # of a change's number; the rest is its transaction's
OLDEST_SERVER = 140000
OLDEST_VECTOR = (0, 8)  # iterative scans

_NEEDS_C = {"text": 'text COLLATE "C"'}
_ALWAYS = {"key", "namespace", "scope", "session", "id", "kind", "wing", "room", "hall", "created"}
_VERSION = ",\n    ".join(
    f"{column} {_NEEDS_C.get(type_, type_)}{' NOT NULL' if column in _ALWAYS else ''}"
    for column, type_ in zip(COLUMNS, TYPES, strict=True)
)

_FIRST = f"""
CREATE TABLE meta(key text PRIMARY KEY, value text NOT NULL);
CREATE TABLE memories(
    seq bigint PRIMARY KEY,
    {_VERSION},
    UNIQUE (key)
);
CREATE INDEX memories_id ON memories(left(id, 100) COLLATE "C");
CREATE INDEX memories_source ON memories(left(source, 200) COLLATE "C") WHERE source IS NOT NULL;
CREATE INDEX memories_created ON memories(created);
CREATE TABLE retired(
    seq bigint PRIMARY KEY,
    former bigint NOT NULL,
    erased boolean NOT NULL,
    {_VERSION}
);
CREATE INDEX retired_kept ON retired(seq) WHERE body IS NOT NULL;
CREATE TABLE journal(number bigint PRIMARY KEY, at bigint NOT NULL, who text NOT NULL,
    via text NOT NULL, what text NOT NULL, key text NOT NULL, count bigint NOT NULL);

CREATE TABLE facets(number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE, namespace text NOT NULL, scope text NOT NULL, kind text NOT NULL,
    wing text NOT NULL, room text NOT NULL);
CREATE TABLE sessions(number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE, name text NOT NULL);
CREATE TABLE sources(number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest bytea NOT NULL UNIQUE, name text COLLATE "C" NOT NULL);
CREATE INDEX sources_name ON sources(left(name, 200) COLLATE "C");
CREATE SEQUENCE passage_rows;
CREATE TABLE passages("row" bigint PRIMARY KEY, seq bigint NOT NULL, number integer NOT NULL,
    facet integer NOT NULL, session integer NOT NULL, source integer NOT NULL,
    words integer NOT NULL, archived boolean NOT NULL, id text NOT NULL,
    happened_at text COLLATE "C", hash bytea NOT NULL, held integer NOT NULL,
    tokens bigint[] NOT NULL) WITH (toast_tuple_target = 128);
ALTER TABLE passages ALTER COLUMN id SET STORAGE MAIN, ALTER COLUMN hash SET STORAGE MAIN,
    ALTER COLUMN happened_at SET STORAGE MAIN, ALTER COLUMN tokens SET STATISTICS 0;
CREATE INDEX passages_seq ON passages(seq);
CREATE INDEX passages_hash ON passages(hash);
CREATE INDEX passages_facet ON passages(facet);
CREATE INDEX passages_session ON passages(session);
CREATE INDEX passages_source ON passages(source);
CREATE INDEX passages_tokens ON passages USING gin(tokens) WITH (fastupdate = off);
CREATE TABLE terms(key bigint PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 80);
CREATE TABLE totals(passages bigint NOT NULL, words bigint NOT NULL);
INSERT INTO totals VALUES (0, 0);
CREATE TABLE tallies(passages bigint NOT NULL, words bigint NOT NULL,
    keys bigint[] NOT NULL, counts bigint[] NOT NULL);
CREATE TABLE models(number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE, dim integer NOT NULL, made_with text NOT NULL,
    complete boolean NOT NULL DEFAULT false);
CREATE TABLE wanting(model integer NOT NULL, "row" bigint NOT NULL, PRIMARY KEY (model, "row"));
CREATE TABLE freed(hash bytea NOT NULL);
"""


def _first(connection: Connection, space: str) -> None:
    connection.execute(_FIRST.encode())
    # Rows that follow each other: the lock is held for the moment of the call alone.
    lock = f"{FAMILY}, {lock_number(space, 'rows')}"
    connection.execute(
        f"""
CREATE FUNCTION take_rows(n bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE first bigint;
BEGIN
    PERFORM pg_catalog.pg_advisory_lock({lock});
    first := pg_catalog.nextval('"{space}".passage_rows');
    IF n > 1 THEN
        PERFORM pg_catalog.setval('"{space}".passage_rows', first + n - 1);
    END IF;
    PERFORM pg_catalog.pg_advisory_unlock({lock});
    RETURN first;
END $$""".encode()
    )
    for key, text in (("store", os.urandom(16).hex()), ("offset", "0"), ("home", "")):
        connection.execute("INSERT INTO meta VALUES (%s, %s)", (key, text))


MIGRATIONS: Sequence[Callable[[Connection, str], None]] = (_first,)


class Opened(NamedTuple):
    """What was found: the store's name, what the server is, the version of its extension (`vector`:
    searches by meaning can be answered), and by which rules the words were made."""

    identity: str
    server: str
    extension: str
    vector: bool
    rules: str
    read_only: bool


class _Found(NamedTuple):
    encoding: str
    version: int
    server: str
    made: bool
    extension: str | None
    creatable: bool


_LOOK = """
SELECT current_setting('server_encoding'), current_setting('server_version_num')::integer,
    current_setting('server_version'), to_regclass(%s) IS NOT NULL,
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    NOT pg_is_in_recovery() AND has_database_privilege(current_database(), 'CREATE') AND EXISTS (
        SELECT FROM pg_available_extensions a
        JOIN pg_available_extension_versions v ON v.name = a.name AND v.version = a.default_version
        WHERE a.name = 'vector' AND (v.trusted OR NOT v.superuser
            OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)))
"""
# Where these tables are: another cluster, a copy of the database, or a restored dump differ.
_HOME = """
SELECT (SELECT oid FROM pg_database WHERE datname = current_database())::text || '/'
    || 'memories'::regclass::oid::text
"""
_CLUSTER = "SELECT system_identifier::text FROM pg_control_system()"
_MAY_ASK = "SELECT has_function_privilege('pg_control_system()', 'EXECUTE')"
_AHEAD = f"""
SELECT greatest((SELECT max(seq) FROM memories), (SELECT max(seq) FROM retired),
    (SELECT max(number) FROM journal), 0) >> {ORDINAL_BITS}
"""


def lock_number(space: str, what: str) -> int:
    """The second half of an advisory lock."""
    return zlib.crc32(f"{space}/{what}".encode()) - 2**31


def check_space(space: str) -> str:
    plain = space.isascii() and space.replace("_", "a").isalnum() and not space[:1].isdigit()
    if not plain or len(space) > 63 or space.startswith("pg_") or space != space.lower():
        raise InvalidValue(
            f"{space!r} cannot name a PostgreSQL schema here: use up to 63 small letters, digits "
            "and underscores, beginning with a letter and not with pg_"
        )
    return space


def open_space(connections: Connections, connection: Connection, space: str) -> Opened:
    """Bring the tables up to date; several processes may do it at once. Raises StoreTooNew."""
    found = _look(connection, space)
    where = connections.where
    if found.encoding != "UTF8":
        raise StoreError(f"{where} is encoded in {found.encoding}: make one with ENCODING 'UTF8'")
    if found.version < OLDEST_SERVER:
        raise StoreError(f"{where} is PostgreSQL {found.server}: upgrade it to 14 or newer")
    version = _version(connection, where) if found.made else 0
    if version < len(MIGRATIONS):
        _migrate(connection, space, where)
    if found.extension is None and found.creatable:
        found = found._replace(extension=_create_extension(connections, connection, space))
    cluster = value(connection, _CLUSTER) if value(connection, _MAY_ASK) else ""
    home = f"{cluster}/{value(connection, _HOME)}"
    _come_home(connection, space, home)
    store = value(connection, "SELECT value FROM meta WHERE key = 'store'")
    identity = blake2b(f"{store} {home}".encode(), digest_size=16).hexdigest()
    vector = found.extension is not None and _release(found.extension) >= OLDEST_VECTOR
    rules = value(connection, "SELECT value FROM meta WHERE key = 'rules'")
    read_only = _is_read_only(connection)
    return Opened(identity, found.server, found.extension or "", vector, rules or "", read_only)


def _look(connection: Connection, space: str) -> _Found:
    return _Found(*rows(connection, _LOOK, (f'"{space}".meta',))[0])


def _version(connection: Connection, where: str) -> int:
    held = value(connection, "SELECT value FROM meta WHERE key = 'version'")
    version = int(held or 0)
    if version > len(MIGRATIONS):
        raise StoreTooNew(
            f"{where} has tables of version {version}, this camillo knows up to "
            f"{len(MIGRATIONS)}: upgrade camillo, or use another space"
        )
    return version


def _migrate(connection: Connection, space: str, where: str) -> None:
    with connection.transaction():
        _lock(connection, lock_number(space, "open"))
        _lock(connection, lock_number(space, "write"))
        if value(connection, "SELECT to_regnamespace(%s) IS NULL", (f'"{space}"',)):
            connection.execute(f'CREATE SCHEMA "{space}"'.encode())
        made = value(connection, "SELECT to_regclass(%s) IS NOT NULL", (f'"{space}".meta',))
        version = _version(connection, where) if made else 0
        for migration in MIGRATIONS[version:]:
            migration(connection, space)
        connection.execute(
            "INSERT INTO meta VALUES ('version', %s) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (str(len(MIGRATIONS)),),
        )


def _create_extension(connections: Connections, connection: Connection, space: str) -> str | None:
    """Its version; None when it could not be created after all."""
    schema = "public"
    if not value(connection, "SELECT coalesce(has_schema_privilege(to_regnamespace('public')::oid,"
                 " 'CREATE'), false)"):  # fmt: skip
        schema = space
    try:
        with connection.transaction():
            _lock(connection, lock_number("", "extension"))
            connection.execute(f'CREATE EXTENSION IF NOT EXISTS vector SCHEMA "{schema}"'.encode())
    except psycopg.Error:
        if connection.closed:
            raise
    connections.settle(connection)
    version = value(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    return None if version is None else str(version)


def _come_home(connection: Connection, space: str, home: str) -> None:
    """Numbers come from the server's transactions. Where these have smaller ones than the rows do,
    as after a dump was restored elsewhere, all numbers from now on are raised above them."""
    ahead = f"({_AHEAD}) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + " \
        "(SELECT value::bigint FROM meta WHERE key = 'offset')"  # fmt: skip
    held = rows(connection, f"SELECT value, {ahead} FROM meta WHERE key = 'home'")
    if held == [(home, False)] or _is_read_only(connection):
        return
    with connection.transaction():
        _lock(connection, lock_number(space, "open"))
        _lock(connection, lock_number(space, "write"))
        if value(connection, f"SELECT {ahead}"):
            connection.execute(
                f"UPDATE meta SET value = (({_AHEAD}) + 1 "
                "- pg_snapshot_xmin(pg_current_snapshot())::text::bigint)::text "
                "WHERE key = 'offset'".encode()
            )
        connection.execute("UPDATE meta SET value = %s WHERE key = 'home'", (home,))


def _is_read_only(connection: Connection) -> bool:
    sql = "SELECT pg_is_in_recovery() OR NOT has_table_privilege('meta', 'UPDATE')"
    return bool(value(connection, sql))


def _lock(connection: Connection, number: int) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(%s::integer, %s::integer)", (FAMILY, number))


def _release(version: str) -> tuple[Any, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
