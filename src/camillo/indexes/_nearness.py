"""How near passages are to one query, by the vectors of one model.

Exact: where codes nominate (`fast.py`), what they name is scored from the vectors themselves.
"""

from __future__ import annotations

from camillo.indexes._vector_bytes import product
from camillo.text.passages import text_hash

TYPE_CHECKING = False  # NumPy is imported where it computes
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import bool_, float32, intp
    from numpy.typing import NDArray

    from camillo.indexes._loaded_vectors import Vectors
    from camillo.indexes.fast import Codes
    from camillo.indexes.vectors import VectorIndex
    from camillo.model import Filter

__all__ = ["Nearness"]

_BLOCK = 1024  # rows that are scanned together: their float copy stays in the processor's cache
_MORE, _LEAST = 2, 200  # of k, and at all: how many codes nominate for the k nearest


class Nearness:
    """The cosines of one root's passages to one query. All of them are computed, or with codes
    those that are asked for, and of the passages that the codes nominate."""

    def __init__(
        self,
        index: VectorIndex,
        vectors: Vectors,
        asked: tuple[int, NDArray[float32]],
        codes: Codes | None = None,
    ) -> None:
        self._index = index
        self._vectors = vectors
        self._columns = vectors.columns
        self._there = vectors.there
        self._model, self._vector = asked
        self._codes = codes
        self._cosines = _cosines(vectors, self._vector) if codes is None else None

    def __len__(self) -> int:
        """How many passages have a vector."""
        return int(self._there.sum())

    def of(self, rows: Sequence[int]) -> list[float | None]:
        """The cosine of each passage by its row; None where it has no vector."""
        from camillo.numeric import np

        held = self._columns.rows
        if not len(held):
            return [None] * len(rows)
        at = np.searchsorted(held, rows).clip(max=len(held) - 1)
        known = self._there[at] & (held[at] == rows)
        found = zip(self._at(at).tolist(), known.tolist(), strict=True)
        return [cosine if there else None for cosine, there in found]

    def of_texts(self, texts: Sequence[str]) -> list[float | None]:
        """The cosine of each embedded text of a passage; None where it has no vector."""
        hashes = [text_hash(text) for text in texts]
        kept = self._index.kept(self._model, hashes)
        return [
            None if data is None else product(data, self._vector) for data in map(kept.get, hashes)
        ]

    def best(self, k: int, filter: Filter) -> list[tuple[int, float]]:
        """(row, cosine) of the k nearest passages that the filter admits, nearest first."""
        if not len(self):
            return []
        admitted = self._index.admitted(self._columns, filter)
        allowed = self._there if admitted is None else self._there & admitted
        places = self._nominated(k, allowed, everything=admitted is None)
        cosines = self._at(places)
        chosen = _best(cosines, k)
        rows = self._columns.rows[places[chosen]]
        return list(zip(rows.tolist(), cosines[chosen].tolist(), strict=True))

    def _nominated(self, k: int, allowed: NDArray[bool_], *, everything: bool) -> NDArray[intp]:
        """Places, rising, among which the k nearest of those allowed are."""
        from camillo.numeric import np

        wanted = max(_MORE * k, _LEAST)
        if self._codes is None or int(allowed.sum()) <= wanted:
            return np.flatnonzero(allowed)
        mask = None if everything else allowed
        rows = self._codes.nearest(self._vector, wanted, self._columns, mask)
        held = self._columns.rows
        at = np.searchsorted(held, rows).clip(max=len(held) - 1)
        # Another thread may have taken in what this state does not have.
        known: NDArray[intp] = at[allowed[at] & (held[at] == rows)]
        return np.sort(known)

    def _at(self, places: NDArray[intp]) -> NDArray[float32]:
        """The cosines of the passages at these places."""
        from camillo.numeric import np

        if self._cosines is not None:
            return self._cosines[places]
        codes = self._vectors.codes[places].astype(np.float32)
        cosines: NDArray[float32] = codes @ self._vector * self._vectors.scales[places]
        return cosines


def _cosines(vectors: Vectors, vector: NDArray[float32]) -> NDArray[float32]:
    from camillo.numeric import np

    scores = np.empty(len(vectors.codes), np.float32)
    buffer = np.empty((min(_BLOCK, len(scores)), len(vector)), np.float32)
    for start in range(0, len(scores), _BLOCK):
        codes = vectors.codes[start : start + _BLOCK]
        block = buffer[: len(codes)]
        np.copyto(block, codes)
        np.dot(block, vector, out=scores[start : start + len(codes)])
    scores *= vectors.scales
    return scores


def _best(scores: NDArray[float32], k: int) -> NDArray[intp]:
    """Places of the k highest, highest first; equal ones in order of place."""
    from camillo.numeric import np

    k = min(k, len(scores))
    if not k:
        return np.empty(0, np.intp)
    found = np.argpartition(-scores, k - 1)[:k]
    return found[np.lexsort((found, -scores[found]))]
