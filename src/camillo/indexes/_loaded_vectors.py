"""The vectors of one model in memory, as they come: what a process that searches often keeps."""

from __future__ import annotations

from camillo.indexes._passages import Columns
from camillo.indexes._vector_bytes import unpacked
from camillo.records import NamedTuple

TYPE_CHECKING = False  # NumPy is imported where it computes
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy import bool_, float32, int8
    from numpy.typing import NDArray

__all__ = ["LoadedVectors", "Vectors"]


class Vectors(NamedTuple):
    """One state of a model's vectors: row i belongs to passage i of the columns, where `there`.
    What comes later may be written where nothing is yet."""

    columns: Columns
    there: NDArray[bool_]
    scales: NDArray[float32]
    codes: NDArray[int8]


class LoadedVectors:
    """All vectors of one model in memory, as they come."""

    def __init__(self, columns: Columns, dim: int) -> None:
        from camillo.numeric import np

        self.columns = columns
        self.stamp: tuple[Any, ...] = ()
        self.removed = -1  # the counter `vectors_removed` when they were read
        self.newest = 0  # the last vector that was looked at
        self.upto = int(columns.rows[-1]) if len(columns.rows) else 0  # the last passage likewise
        self.there = np.zeros(len(columns.rows), np.bool_)
        self.scales = np.zeros(len(columns.rows), np.float32)
        self.codes = np.zeros((len(columns.rows), dim), np.int8)

    def extend(self, columns: Columns) -> None:
        """Passages were appended; they have no vectors yet."""
        from camillo.numeric import np

        more = len(columns.rows) - len(self.columns.rows)
        if more:
            self.there = np.concatenate([self.there, np.zeros(more, np.bool_)])
            self.scales = np.concatenate([self.scales, np.zeros(more, np.float32)])
            fresh = np.zeros((more, self.codes.shape[1]), np.int8)
            self.codes = np.concatenate([self.codes, fresh])
        self.columns = columns

    def take(self, rows: Sequence[int], vectors: Sequence[bytes]) -> None:
        """The vectors of these passages, as they are kept."""
        from camillo.numeric import np

        if not rows:
            return
        places = np.searchsorted(self.columns.rows, rows)
        self.codes[places], self.scales[places] = unpacked(vectors)
        self.there = self.there.copy()  # another thread may be at work on the former state
        self.there[places] = True

    def state(self) -> Vectors:
        return Vectors(self.columns, self.there, self.scales, self.codes)
