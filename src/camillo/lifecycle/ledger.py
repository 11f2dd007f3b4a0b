"""The ledger of a copy: which key has which content, on either side, without the contents.

Rows lie in a temporary database that SQLite moves to the disk when it grows and that is gone with
its connection, so that a store of millions is compared in bounded memory. What content is, and
what a difference means, is left to `copy.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import apsw

from camillo.model import Key

__all__ = ["Entry", "Ledger", "Side"]

Side = Literal["source", "target"]

_SCHEMA = """
CREATE TABLE entries(namespace, scope, session, id, side, kind, digest,
    PRIMARY KEY(namespace, scope, session, id, side)) WITHOUT ROWID
"""
_KEY = "namespace, scope, session, id"
_OTHER = (
    "SELECT o.digest FROM entries o WHERE o.namespace = e.namespace AND o.scope = e.scope "
    "AND o.session = e.session AND o.id = e.id AND o.side = ?"
)


class Entry(NamedTuple):
    """One memory on one side; `digest` is that of its content."""

    key: Key
    kind: str
    digest: bytes


class Ledger:
    """Both sides of a copy. Keys are in the order of their code points, field by field."""

    def __init__(self) -> None:
        self._connection = apsw.Connection("")  # a file without a name
        self._connection.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF").fetchall()
        self._connection.execute(_SCHEMA)
        self._connection.execute("BEGIN")  # never ended: nobody else reads it

    def note(self, side: Side, entries: Iterable[Entry]) -> None:
        """These are there; a later entry of one key takes the place of the former."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*key, side, kind, digest) for key, kind, digest in entries],
        )

    def drop(self, side: Side, keys: Iterable[Key]) -> None:
        """These are not there, or are not to be compared."""
        self._connection.executemany(
            "DELETE FROM entries WHERE namespace = ? AND scope = ? AND session = ? AND id = ? "
            "AND side = ?",
            [(*key, side) for key in keys],
        )

    def has(self, side: Side, key: Key) -> bool:
        """Is there an entry of this key?"""
        sql = (
            "SELECT 1 FROM entries WHERE namespace = ? AND scope = ? AND session = ? AND id = ? "
            "AND side = ?"
        )
        return self._connection.execute(sql, (*key, side)).get is not None

    def counts(self, side: Side) -> Counter[str]:
        """By kind, how many of the source's keys are on this side."""
        return self._by_kind(f"side = ? AND ({_OTHER}) IS NOT NULL", side)

    def surplus(self) -> Counter[str]:
        """By kind, how many are only in the target."""
        return self._by_kind(f"side = ? AND ({_OTHER}) IS NULL", "target")

    def digest(self, side: Side) -> str:
        """128 bits over key and content digest of the source's keys on this side, in key order, as
        32 hex digits; the same for equal content, whichever engines hold it."""
        total = blake2b(digest_size=16)
        sql = f"SELECT {_KEY}, digest FROM entries e WHERE side = ? AND ({_OTHER}) IS NOT NULL"
        for *key, digest in self._connection.execute(f"{sql} ORDER BY {_KEY}", (side, "source")):
            total.update(repr(tuple(key)).encode() + digest)
        return total.hexdigest()

    def differing(self) -> Iterator[Key]:
        """Keys of the source that the target lacks or has with another content, in key order."""
        sql = f"SELECT {_KEY} FROM entries e WHERE side = 'source' AND ({_OTHER}) IS NOT digest"
        for row in self._connection.execute(f"{sql} ORDER BY {_KEY}", ("target",)):
            yield Key(*row)

    def _by_kind(self, where: str, side: Side) -> Counter[str]:
        sql = f"SELECT kind, count(*) FROM entries e WHERE {where} GROUP BY kind"
        rows: list[Any] = self._connection.execute(sql, (side, "source")).fetchall()
        return Counter(dict(rows))

    def close(self) -> None:
        self._connection.close(True)
