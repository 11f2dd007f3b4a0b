"""Postings in memory: where a token stands, for a process that searches often.

They are read from the full-text table when a token is first asked for, extended when passages are
added, and thrown away when some have gone. The least recently asked go first when there are many.
"""

from __future__ import annotations

from collections.abc import Sequence

from camillo.indexes._file import IndexFile
from camillo.indexes._passages import Columns, numbers
from camillo.model import Filter
from camillo.numeric import np
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import bool_, float32, int32, int64
    from numpy.typing import NDArray

__all__ = ["Occurrences", "Postings"]

_MOST = 8_000_000  # passages of tokens that are kept in memory: 8 bytes each
_BESIDE = 64  # what a token costs beside its passages, counted in passages
_TABLE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.occurrences USING fts5vocab(main, words, instance)"
)
_DOCS = "SELECT doc FROM temp.occurrences WHERE term = ? AND doc > ?"


class _Posting(NamedTuple):
    """One token's passages by their places in the columns, how often it stands in each, and the
    last row that was looked at."""

    places: NDArray[int32]
    counts: NDArray[float32]
    upto: int


class Occurrences:
    """Of one state of the file: its passages in order of row, their lengths in words, and for each
    token that was asked for the places of its passages with its counts there."""

    def __init__(self, file: IndexFile, columns: Columns, of: dict[str, _Posting]) -> None:
        self._file = file
        self._columns = columns
        self._of = of

    @property
    def rows(self) -> NDArray[int64]:
        return self._columns.rows

    @property
    def words(self) -> NDArray[float32]:
        return self._columns.words

    def of(self, token: str) -> tuple[NDArray[int32], NDArray[float32]]:
        posting = self._of[token]
        return posting.places, posting.counts

    def admitted(self, filter: Filter) -> NDArray[bool_] | None:
        """Which passages the filter admits; None when all are."""
        return self._columns.admitted(self._file.database, filter)


class Postings:
    """Of one index file."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._generation = 0
        self._held: dict[str, _Posting] = {}  # the least recently asked first
        self._size = 0

    def occurrences(self, tokens: Sequence[str]) -> Occurrences:
        database = self._file.database
        with database.lock:
            database.rows(_TABLE)  # before the reading, whose end would undo it
            with database.reading():
                columns = self._file.passages.current()
                if columns.generation != self._generation:
                    self._held.clear()
                    self._generation, self._size = columns.generation, 0
                found = {token: self._posting(token, columns) for token in tokens}
            self._shrink(len(found))
        return Occurrences(self._file, columns, found)

    def _shrink(self, least: int) -> None:
        """Let go of what was asked for least recently, but for the last so many."""
        while self._size > _MOST and len(self._held) > least:
            self._size -= _cost(self._held.pop(next(iter(self._held))))

    def _posting(self, token: str, columns: Columns) -> _Posting:
        last = int(columns.rows[-1]) if len(columns.rows) else 0
        held = self._held.pop(token, None)
        if held is None or held.upto < last:
            self._size -= _cost(held) if held else 0
            held = self._read(token, held, columns, last)
            self._size += _cost(held)
        self._held[token] = held
        return held

    def _read(self, token: str, held: _Posting | None, columns: Columns, last: int) -> _Posting:
        docs = numbers(self._file.database, _DOCS, (token, held.upto if held else 0))
        rows, counts = np.unique(docs, return_counts=True)
        places = np.searchsorted(columns.rows, rows).astype(np.int32)
        fresh = _Posting(places, counts.astype(np.float32), last)
        if held is None:
            return fresh
        return _Posting(
            np.concatenate([held.places, fresh.places]),
            np.concatenate([held.counts, fresh.counts]),
            last,
        )


def _cost(posting: _Posting) -> int:
    return len(posting.places) + _BESIDE
