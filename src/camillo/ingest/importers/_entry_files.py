"""Files of entries, in the three forms that NullClaw has: its database, the snapshot that is one
JSON array, and what `export-jsonl` writes, one JSON object a line. Read as they come, whatever
their size; what is wrong with one entry is told, and the others go on."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from camillo.errors import InvalidValue, SourceUnreadable
from camillo.ingest.importers._foreign_database import is_database, opened
from camillo.ingest.importers._internal import milliseconds
from camillo.ingest.importers._pages import plain
from camillo.ingest.importers.note import LeftOut
from camillo.text.printable import printable

if TYPE_CHECKING:
    import apsw

__all__ = ["Entry", "entries", "holds_entries"]

_LONGEST = 4 * 1024 * 1024  # bytes, or characters, of an entry
_CHUNK = 1024 * 1024
_HEAD = 4096
_LOOKED_AT = 50  # objects that tell what a file holds
_BETWEEN = re.compile(r"[\s,]*")
_SCHEMA = 1  # the one version of `export-jsonl`

# What a column may be called, in the order in which they are looked for.
_KEYS = ("key", "id", "name")
_TEXTS = ("content", "value", "text", "memory")
_CATEGORIES = ("category", "kind", "type")
_SESSIONS = ("session_id", "session")
_CREATED = ("created_at", "timestamp", "created")
_UPDATED = ("updated_at", "updated")
_TABLES = ("memories", "lancedb_memories", "memory", "entries", "kg_entities")
_MESSAGES = "messages"
_NONE = "NULL"


class Entry(NamedTuple):
    """`number` is its line, its place in the array, or its row. Times in milliseconds, 0 = none."""

    number: int
    key: str
    text: str
    category: str = ""
    session: str = ""
    created: int = 0
    updated: int = 0


def holds_entries(path: str) -> bool:
    """By structure: a table with the columns, or one of the first objects has a key and a text."""
    try:
        if is_database(path):
            with opened(path) as connection:
                return bool(_table(connection))
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            first = islice(_objects(file), _LOOKED_AT)
            return any(_is_entry(each[1]) for each in first if not isinstance(each, _Broken))
    except (OSError, ValueError, SourceUnreadable):
        return False


def entries(path: str) -> Iterator[Entry | LeftOut]:
    """All of a file, in its order. What is damaged is told. Raises InvalidValue for a database of
    something else."""
    source = printable(os.path.realpath(path))
    try:
        if is_database(path):
            with opened(path) as connection:
                yield from _rows(connection, source)
        else:
            with open(path, encoding="utf-8-sig", errors="replace") as file:
                for each in _objects(file):
                    yield _told(each, source) if isinstance(each, _Broken) else _said(each, source)
    except (OSError, ValueError, SourceUnreadable) as error:  # InvalidValue is no ValueError
        yield LeftOut(source, str(error), "failed")


# --- JSON ---------------------------------------------------------------------------------------


class _Broken(NamedTuple):
    number: int
    reason: str


def _objects(file: TextIO) -> Iterator[tuple[int, Any] | _Broken]:
    """The elements of an array, or what each line holds. Raises ValueError for what is neither."""
    start = file.read(_HEAD).lstrip()[:1]
    file.seek(0)
    if start == "[":
        yield from enumerate(_elements(file), 1)
    elif start == "{":
        yield from _lines(file)
    else:
        raise ValueError("neither a database nor JSON")


def _lines(file: TextIO) -> Iterator[tuple[int, Any] | _Broken]:
    number = 0
    while line := file.readline(_LONGEST):
        number += 1
        if len(line) == _LONGEST and not line.endswith("\n"):
            while (rest := file.readline(_LONGEST)) and not rest.endswith("\n"):
                pass
            yield _Broken(number, f"a line of more than {_LONGEST:,} characters")
        elif line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                yield _Broken(number, f"no JSON: {error}")


def _elements(file: TextIO) -> Iterator[Any]:
    """Raises ValueError where the array is broken."""
    decode = json.JSONDecoder().raw_decode
    held, at, count = file.read(_CHUNK).lstrip(), 1, 0
    while True:
        found = _BETWEEN.match(held, at)
        at = found.end() if found else at
        if held[at : at + 1] == "]":
            return
        try:
            value, end = decode(held, at)
        except (ValueError, RecursionError):
            end = len(held)  # broken, or not all of it is here
        if end < len(held):
            count += 1
            yield value
            at = end
            continue
        more = file.read(_CHUNK)
        if not more or len(held) - at > _LONGEST:
            raise ValueError(f"no JSON after entry {count}")
        held, at = held[at:] + more, 0


def _told(broken: _Broken, source: str) -> LeftOut:
    return LeftOut(f"{source}:{broken.number}", broken.reason, "failed")


def _said(each: tuple[int, Any], source: str) -> Entry | LeftOut:
    number, said = each
    where = f"{source}:{number}"
    if not isinstance(said, dict):
        return LeftOut(where, "no JSON object", "failed")
    if said.get("schema_version", _SCHEMA) != _SCHEMA:
        version = said["schema_version"]
        return LeftOut(where, f"schema_version {version!r} is not known; {_SCHEMA} is", "failed")
    if not _is_entry(said):
        return LeftOut(where, "no entry: it has no key or no content", "failed")
    said = plain(said)
    created = milliseconds(said.get("timestamp") or said.get("created_at"))
    updated = milliseconds(said.get("updated_at"))
    category, session = (str(said.get(name) or "") for name in ("category", "session_id"))
    return Entry(number, said["key"], said["content"], category, session, created, updated)


def _is_entry(said: Any) -> bool:
    return isinstance(said, dict) and all(
        isinstance(said.get(name), str) for name in ("key", "content")
    )


# --- databases ----------------------------------------------------------------------------------


class _Table(NamedTuple):
    """SQL for each column, `NULL` for one that is not there."""

    name: str
    rowid: str
    text: str
    key: str
    category: str
    session: str
    created: str
    updated: str


def _table(connection: apsw.Connection) -> _Table | None:
    """The table that holds entries: by its name, and by its columns."""
    for name in _TABLES:
        columns = _columns(connection, name)
        text = _first(_TEXTS, columns)
        if text != _NONE:
            rowid = _rowid(connection, name)
            named = (_KEYS, _CATEGORIES, _SESSIONS, _CREATED, _UPDATED)
            key, *others = (_first(each, columns) for each in named)
            return _Table(name, rowid, text, rowid if key == _NONE else key, *others)
    return None


def _columns(connection: apsw.Connection, table: str) -> set[str]:
    """In lower case; none for what is no ordinary table."""
    rows = connection.execute(
        "SELECT lower(c.name) FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = "
        "'table' AND lower(s.name) = ? AND s.sql NOT LIKE 'CREATE VIRTUAL%'",
        (table,),
    )
    return {str(name) for (name,) in rows}


def _first(names: Sequence[str], columns: Container[str]) -> str:
    return next((f'"{name}"' for name in names if name in columns), _NONE)


def _rowid(connection: apsw.Connection, table: str) -> str:
    import apsw

    try:
        connection.execute(f'SELECT rowid FROM "{table}" LIMIT 1').fetchall()
    except apsw.SQLError:  # a table WITHOUT ROWID
        return _NONE
    return "rowid"


def _rows(connection: apsw.Connection, source: str) -> Iterator[Entry | LeftOut]:
    table = _table(connection)
    if table is None:
        raise InvalidValue(f"{source} is a database without a table of memories, as `memories`")
    encoding = str(connection.pragma("encoding")).lower()
    for count, row in enumerate(connection.execute(_select(table)), 1):
        number, bytes_, text, *others = row
        where = f"{source}:{number or count}"
        if bytes_ is None:
            yield LeftOut(where, "no text")
        elif text is None:
            reason = f"{bytes_:,} bytes are too many for a memory ({_LONGEST:,})"
            yield LeftOut(where, reason, "failed")
        else:
            text, key, category, session, created, updated = (
                plain(each.decode(encoding, "replace")) if each is not None else ""
                for each in (text, *others)
            )
            at, then = milliseconds(created), milliseconds(updated)
            yield Entry(number or count, key, text, category, session, at, then)
    yield from _messages(connection, source)


def _select(table: _Table) -> str:
    """As bytes, since texts of other programs need not be Unicode. A conversation's messages come
    one after another, as they were written."""
    size = f"length(CAST({table.text} AS BLOB))"
    text = f"CASE WHEN {size} <= {_LONGEST} THEN CAST({table.text} AS BLOB) END"
    others = ", ".join(f"CAST({column} AS BLOB)" for column in table[3:])
    return (
        f'SELECT {table.rowid}, {size}, {text}, {others} FROM "{table.name}" '
        f"ORDER BY {table.session}, {table.rowid}, {table.key}"
    )


def _messages(connection: apsw.Connection, source: str) -> Iterator[LeftOut]:
    """The protocol of its conversations, which is no memory."""
    import apsw

    try:
        count = connection.execute(f"SELECT count(*) FROM {_MESSAGES}").fetchone()
    except apsw.SQLError:  # there is none
        return
    for _ in range(count[0] if count else 0):
        yield LeftOut(source, "message of a conversation", "counted")
