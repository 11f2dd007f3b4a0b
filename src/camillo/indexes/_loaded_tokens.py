"""The token vectors of one model in memory: those that were asked for, as they are kept.

A search compares some hundred passages, so nothing is read before it is asked for. What a process
that searches often keeps is bounded: past 64 MB of codes all is let go, and read anew as asked.
"""

from __future__ import annotations

from camillo.indexes._passages import Columns
from camillo.indexes._token_codes import Codes, unpacked
from camillo.numeric import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy import int64
    from numpy.typing import NDArray

__all__ = ["LoadedTokens"]

_MOST = 64 * 1024 * 1024  # bytes of codes
_FIRST = 4096  # tokens that there is room for at first
_UNKNOWN, _NONE = -1, -2  # in place of where a passage's tokens begin


class LoadedTokens:
    """By place in the columns. A memory is its passages, which follow each other."""

    def __init__(self, columns: Columns, dim: int) -> None:
        self.dim = dim
        self.stamp: tuple[Any, ...] = ()
        self.damaged: list[int] = []  # rows that were found so
        self._starts = np.empty(0, np.int64)
        self._counts = np.empty(0, np.int64)
        self._used = 0
        self._held = self._room(_FIRST)
        self.follow(columns)

    def follow(self, columns: Columns) -> None:
        """Passages were appended, or got tokens."""
        more = len(columns.rows) - len(self._starts)
        self._starts = np.concatenate([self._starts, np.full(more, _UNKNOWN)])
        self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
        self._starts[self._starts == _NONE] = _UNKNOWN
        self.columns = columns
        first = columns.numbers == 0
        first[:1] = True
        self.memories = np.cumsum(first) - 1  # by place
        self.firsts = np.append(np.flatnonzero(first), len(first))  # by memory, and the end

    def unknown(self, places: NDArray[int64]) -> NDArray[int64]:
        """Those that have yet to be asked for."""
        found: NDArray[int64] = places[self._starts[places] == _UNKNOWN]
        return found

    def take(
        self,
        asked: NDArray[int64],
        rows: Sequence[int],
        counts: Sequence[int],
        kept: Sequence[bytes],
    ) -> None:
        """Of the places that were asked for these rows have tokens."""
        fresh = sum(counts)
        self._make_room(fresh)
        self._starts[asked] = _NONE
        if not rows:
            return
        places = np.searchsorted(self.columns.rows, rows)
        ends = self._used + np.cumsum(counts)
        self._starts[places], self._counts[places] = ends - counts, counts
        codes, scales = unpacked(kept, counts, self.dim)
        held, end = self._held, self._used + fresh
        held.codes[self._used : end], held.scales[self._used : end] = codes, scales
        self._used = end

    def of(self, places: NDArray[int64]) -> tuple[Codes, NDArray[int64], NDArray[int64]]:
        """The tokens of all, and of each place where its own begin and how many; -1 for none."""
        counts = self._counts[places]
        starts = np.where((self._starts[places] >= 0) & (counts > 0), self._starts[places], -1)
        return self._held, starts, counts

    def fits(self, counts: Sequence[int]) -> bool:
        """Is there room for so many more?"""
        wanted: int = self._used + sum(counts)
        return wanted * (self.dim // 2) <= _MOST

    def forget(self) -> None:
        """Others may be at work on what is let go: it is not written over."""
        self._starts[:] = _UNKNOWN
        self._used = 0
        self._held = self._room(_FIRST)

    def _make_room(self, fresh: int) -> None:
        wanted = self._used + fresh
        if wanted <= len(self._held.scales):
            return
        room = self._room(max(wanted, 2 * len(self._held.scales)))
        room.codes[: self._used] = self._held.codes[: self._used]
        room.scales[: self._used] = self._held.scales[: self._used]
        self._held = room

    def _room(self, tokens: int) -> Codes:
        return Codes(np.empty((tokens, self.dim // 2), np.uint8), np.empty(tokens, np.float32))
