"""How near the tokens of one question come to those of passages (MaxSim, Khattab and Zaharia 2020).

Memories are compared whole: what is computed of one is kept for as long as the question is, since
it is a neighbour of several.
"""

from __future__ import annotations

from camillo.indexes._token_codes import best_matches
from camillo.numeric import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

    from camillo.indexes._loaded_tokens import LoadedTokens
    from camillo.indexes.tokens import TokenIndex

__all__ = ["Closeness"]

_FAR = -np.inf  # of what has no tokens


class Closeness:
    """`vectors` (q, dim) are those tokens of the question that are compared."""

    def __init__(
        self,
        index: TokenIndex,
        model: int,
        vectors: NDArray[float32],
        weights: NDArray[float32],
        asked: int,
    ) -> None:
        self._index = index
        self._model = model
        self._vectors = vectors
        self.weights = weights
        self.asked = asked
        self._generation = 0  # of the columns that memories are numbered by
        self._known = np.empty(0, np.int64)  # memories, rising, and of each its maxima
        self._maxima = np.empty((0, len(vectors)), np.float32)

    def maxima(self, rows: Sequence[int]) -> NDArray[float32]:
        with self._index.loaded(self._model, self._vectors.shape[1]) as loaded:
            places, there = _places(loaded, rows)
            if not there.any():
                return self._nothing(rows)
            memories = loaded.memories[places]
            self._index.load(loaded, self._model, places)
            codes, starts, counts = loaded.of(places)
            # Of a memory with one passage, and of one that is kept as a whole, all is compared.
            alone = (starts >= 0) & (loaded.columns.numbers[places] > 0)
            found = self._of(loaded, memories[~alone])
        result = np.full((len(places), len(self._vectors)), _FAR, np.float32)
        result[~alone] = found
        if alone.any():
            result[alone] = best_matches(self._vectors, codes, starts[alone], counts[alone])
        return _seen(result, there)

    def around(self, rows: Sequence[int], reach: int, step: float) -> NDArray[float32]:
        offsets = np.arange(-reach, reach + 1)
        with self._index.loaded(self._model, self._vectors.shape[1]) as loaded:
            places, there = _places(loaded, rows)
            if not there.any():
                return self._nothing(rows)
            near = loaded.memories[places][:, None] + offsets
            beside = self._beside(loaded, near)
            near = near.clip(0, max(0, len(loaded.firsts) - 2))
            wanted, at = np.unique(near[beside], return_inverse=True)
            found = self._of(loaded, wanted)
        index = np.zeros(near.shape, np.int64)
        index[beside] = at
        result = np.full((len(places), len(self._vectors)), _FAR, np.float32)
        for column, offset in enumerate(offsets.tolist()):
            some = beside[:, column]
            values = found[index[some, column]] - np.float32(step * abs(offset))
            result[some] = np.maximum(result[some], values)
        return _seen(result, there)

    def _nothing(self, rows: Sequence[int]) -> NDArray[float32]:
        return np.full((len(rows), len(self._vectors)), np.nan, np.float32)

    def _beside(self, loaded: LoadedTokens, near: NDArray[int64]) -> NDArray[bool_]:
        """Which of the memories around one, which stands in the middle, are of its session."""
        middle = near.shape[1] // 2
        beside: NDArray[bool_] = (near >= 0) & (near < len(loaded.firsts) - 1)
        facets = loaded.columns.facets[loaded.firsts[near.clip(0, len(loaded.firsts) - 2)]]
        values, at = np.unique(facets, return_inverse=True)
        sessions = self._index.sessions(values.tolist())[at.reshape(facets.shape)]
        own = sessions[:, middle, None]
        beside &= (sessions == own) & (own >= 0)
        beside[:, middle] = True
        return beside

    def _of(self, loaded: LoadedTokens, memories: NDArray[int64]) -> NDArray[float32]:
        """(n, q) the maxima of each of these memories over all that is kept of it."""
        if loaded.columns.generation != self._generation:
            self._generation = loaded.columns.generation
            self._known, self._maxima = self._known[:0], self._maxima[:0]
        fresh = np.setdiff1d(memories, self._known)
        if len(fresh):
            known = np.concatenate([self._known, fresh])
            order = np.argsort(known)
            maxima = np.concatenate([self._maxima, self._computed(loaded, fresh)])
            self._known, self._maxima = known[order], maxima[order]
        found: NDArray[float32] = self._maxima[np.searchsorted(self._known, memories)]
        return found

    def _computed(self, loaded: LoadedTokens, memories: NDArray[int64]) -> NDArray[float32]:
        firsts = loaded.firsts[memories]
        lengths = loaded.firsts[memories + 1] - firsts
        owners = np.repeat(np.arange(len(memories)), lengths)
        places = np.arange(len(owners)) + np.repeat(
            firsts - (np.cumsum(lengths) - lengths), lengths
        )
        self._index.load(loaded, self._model, places)
        codes, starts, counts = loaded.of(places)
        kept = starts >= 0
        maxima = np.full((len(memories), len(self._vectors)), _FAR, np.float32)
        if kept.any():
            matches = best_matches(self._vectors, codes, starts[kept], counts[kept])
            of, begins = np.unique(owners[kept], return_index=True)
            maxima[of] = np.maximum.reduceat(matches, begins, axis=0)
        return maxima


def _places(loaded: LoadedTokens, rows: Sequence[int]) -> tuple[NDArray[int64], NDArray[bool_]]:
    """Where passages stand, and which of them are there; any place for one that is not."""
    held, asked = loaded.columns.rows, np.asarray(rows, np.int64)
    if not len(held):
        return asked, np.zeros(len(asked), np.bool_)
    places = np.searchsorted(held, asked).clip(max=len(held) - 1)
    return places, held[places] == asked


def _seen(maxima: NDArray[float32], there: NDArray[bool_]) -> NDArray[float32]:
    """NaN in place of what has no tokens."""
    maxima[~there | np.isneginf(maxima).all(axis=1)] = np.nan
    return maxima
