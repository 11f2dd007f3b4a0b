"""Rows of the `tokens` index going in and out, and the counts that are kept of them: inside the
caller's transaction, and without NumPy, since a sweep takes none."""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

import apsw

from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SCALE", "Row", "add", "bytes_of", "checksum", "counted", "evict", "is_sound", "remove"]

SCALE, _ID = 2, 4  # bytes of a token, besides its codes
_AT_ONCE = 500  # rows that one statement takes

_COUNT = (
    "INSERT INTO token_df VALUES (?, ?, ?) "
    "ON CONFLICT(model, id) DO UPDATE SET df = df + excluded.df"
)


class Row(NamedTuple):
    """The tokens of one text, and the passage that they were made for."""

    passage: int
    hash: bytes
    tokens: int
    ids: bytes
    data: bytes


def bytes_of(dim: int) -> int:
    """What a token takes."""
    return dim // 2 + SCALE + _ID


def checksum(ids: bytes, data: bytes) -> int:
    return zlib.crc32(data, zlib.crc32(ids))


def is_sound(ids: Any, data: Any, count: Any, crc: Any, dim: int) -> bool:
    """Is this what was written? Overwritten rows may hold anything."""
    return (
        isinstance(count, int)
        and isinstance(ids, bytes)
        and isinstance(data, bytes)
        and len(ids) == _ID * count
        and len(ids) + len(data) == bytes_of(dim) * count
        and checksum(ids, data) == crc
    )


def add(connection: apsw.Connection, model: int, rows: Iterable[Row]) -> int:
    """Keep these; how many. That of a text which was forgotten meanwhile is not kept."""
    df: Counter[int] = Counter()
    texts = tokens = 0
    for row in rows:
        connection.execute(
            "INSERT OR IGNORE INTO tokens(model, hash, version, count, crc, ids, data) "
            "SELECT m.rowid, p.hash, p.version, ?, ?, ?, ? FROM passages p, token_models m "
            "WHERE p.rowid = ? AND p.hash = ? AND m.rowid = ?",
            (row.tokens, checksum(row.ids, row.data), row.ids, row.data, row.passage, row.hash,
             model),
        )  # fmt: skip
        if connection.changes():
            df.update(set(_numbers(row.ids)))
            texts, tokens = texts + 1, tokens + row.tokens
    connection.executemany(_COUNT, [(model, id_, count) for id_, count in df.items()])
    _resize(connection, model, texts, tokens)
    return texts


def evict(connection: apsw.Connection, model: int, most: int) -> None:
    """Take away the oldest, until no more than `most` tokens are left; what is as old as these is
    not for this index from then on."""
    over = int(_value(connection, "SELECT tokens FROM token_models WHERE rowid = ?", model)) - most
    if over <= 0:
        return
    going: list[int] = []
    floor = 0
    for rowid, version, count in connection.execute(
        "SELECT rowid, version, count FROM tokens WHERE model = ? ORDER BY version, rowid", (model,)
    ):
        going.append(rowid)
        floor, over = version, over - count
        if over <= 0:
            break
    remove(connection, going)
    connection.execute(
        "UPDATE token_models SET floor = max(floor, ?) WHERE rowid = ?", (floor, model)
    )


def remove(connection: apsw.Connection, rowids: Sequence[int]) -> None:
    """These rows go, and what they counted for. Of a damaged one that cannot be told: then all of
    its model is counted again."""
    df: Counter[tuple[int, int]] = Counter()
    sizes: dict[int, list[int]] = {}
    doubtful: set[int] = set()
    for start in range(0, len(rowids), _AT_ONCE):
        some = rowids[start : start + _AT_ONCE]
        marks = ", ".join("?" * len(some))
        held: list[Any] = connection.execute(
            "SELECT t.model, m.dim, t.count, t.crc, CAST(t.ids AS BLOB), CAST(t.data AS BLOB) "
            f"FROM tokens t JOIN token_models m ON m.rowid = t.model WHERE t.rowid IN ({marks})",
            some,
        ).fetchall()
        for model, dim, count, crc, ids, data in held:
            if is_sound(ids, data, count, crc, dim):
                df.update((model, id_) for id_ in set(_numbers(ids)))
                size = sizes.setdefault(model, [0, 0])
                size[0], size[1] = size[0] + 1, size[1] + count
            else:
                doubtful.add(model)
        connection.execute(f"DELETE FROM tokens WHERE rowid IN ({marks})", some)
    connection.executemany(_COUNT, [(model, id_, -n) for (model, id_), n in df.items()])
    # What stood in none but these would tell that they were here.
    connection.executemany("DELETE FROM token_df WHERE model = ? AND id = ? AND df <= 0", list(df))
    for model, (texts, tokens) in sizes.items():
        _resize(connection, model, -texts, -tokens)
    for model in doubtful:
        _count_again(connection, model)


def counted(rows: Iterable[tuple[int, bytes]]) -> tuple[int, int, Counter[int]]:
    """Texts, tokens, and in how many texts each token stands, of rows (count, ids)."""
    texts = tokens = 0
    df: Counter[int] = Counter()
    for count, ids in rows:
        texts, tokens = texts + 1, tokens + count
        df.update(set(_numbers(ids)))
    return texts, tokens, df


def _count_again(connection: apsw.Connection, model: int) -> None:
    rows: list[Any] = connection.execute(
        "SELECT count, CAST(ids AS BLOB) FROM tokens WHERE model = ? AND length(ids) = ? * count",
        (model, _ID),
    ).fetchall()
    texts, tokens, df = counted(rows)
    connection.execute("DELETE FROM token_df WHERE model = ?", (model,))
    connection.executemany(_COUNT, [(model, id_, count) for id_, count in df.items()])
    connection.execute(
        "UPDATE token_models SET texts = ?, tokens = ? WHERE rowid = ?", (texts, tokens, model)
    )


def _resize(connection: apsw.Connection, model: int, texts: int, tokens: int) -> None:
    connection.execute(
        "UPDATE token_models SET texts = texts + ?, tokens = tokens + ? WHERE rowid = ?",
        (texts, tokens, model),
    )


def _numbers(ids: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(ids) // _ID}i", ids)


def _value(connection: apsw.Connection, sql: str, *arguments: int) -> Any:
    return connection.execute(sql, arguments).get
