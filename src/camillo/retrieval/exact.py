"""BM25 of every passage at once, where the index can say where each token stands.

The same formula as `bm25.py`, over columns instead of over texts: nothing has to be nominated, and
no text is read to be scored. A term counts as often as the most frequent of its forms.
"""

from __future__ import annotations

from collections.abc import Sequence

from camillo.model import Filter
from camillo.numeric import np
from camillo.retrieval.bm25 import K1, B
from camillo.retrieval.candidate import Counts
from camillo.text.tokens import Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import bool_, float32, int32
    from numpy.typing import NDArray

    from camillo.ports import Occurrences

__all__ = ["Scores"]


class Scores:
    """BM25 of each passage for weighted terms, on 0 to 1 as `bm25.rank` gives it."""

    def __init__(
        self,
        occurrences: Occurrences,
        terms: Sequence[Term],
        weights: Sequence[float],
        average: float,
    ) -> None:
        self._occurrences = occurrences
        self._terms = [
            [occurrences.of(form) for form in dict.fromkeys(term.forms)] for term in terms
        ]
        self._scores = np.zeros(len(occurrences.rows), np.float32)
        most = sum(weights)
        if most > 0 and average > 0:
            self._add(weights, most, average)

    def _add(self, weights: Sequence[float], most: float, average: float) -> None:
        lengths = self._occurrences.words
        count = np.zeros(len(lengths), np.float32)
        for forms, weight in zip(self._terms, weights, strict=True):
            for places, counts in forms:
                count[places] = np.maximum(count[places], counts)
            for places, _ in forms:  # a place is done once: then its count is nothing
                tf = count[places]
                count[places] = 0
                saturation = K1 * (1 - B + B / average * lengths[places])
                self._scores[places] += weight / most * tf / (tf + saturation)

    def best(self, k: int, filter: Filter) -> list[tuple[int, float]]:
        """(row, score) of the k best passages that the filter admits and that hold a term, best
        first."""
        scores = self._scores
        admitted = self._occurrences.admitted(filter)
        if admitted is not None:
            scores = np.where(admitted, scores, 0)
        places = np.flatnonzero(scores)
        if len(places) > k:
            places = places[np.argpartition(-scores[places], k - 1)[:k]]
        places = places[np.lexsort((places, -scores[places]))]
        rows = self._occurrences.rows[places].tolist()
        return list(zip(rows, scores[places].tolist(), strict=True))

    def of(self, rows: Sequence[int]) -> list[float]:
        """The score of each passage by its row; 0 for one that came after this state."""
        places, known = self._places(rows)
        found = np.zeros(len(rows), np.float32)
        found[known] = self._scores[places]
        scores: list[float] = found.tolist()
        return scores

    def counts(self, rows: Sequence[int]) -> list[Counts]:
        """How often each term stands in each of these passages; likewise."""
        places, known = self._places(rows)
        tf = np.zeros((len(rows), len(self._terms)), np.int64)
        words = np.zeros(len(rows), np.int64)
        words[known] = self._occurrences.words[places]
        for term, forms in enumerate(self._terms):
            tf[known, term] = _at(places, forms)
        return list(map(Counts, tf.tolist(), words.tolist()))

    def _places(self, rows: Sequence[int]) -> tuple[NDArray[int32], NDArray[bool_]]:
        """Where those of the passages are that are here, and which are."""
        held = self._occurrences.rows
        asked = np.asarray(rows, np.int64)
        places = np.searchsorted(held, asked).astype(np.int32)
        known = places < len(held)
        known[known] = held[places[known]] == asked[known]
        return places[known], known


def _at(
    places: NDArray[int32], forms: Sequence[tuple[NDArray[int32], NDArray[float32]]]
) -> NDArray[float32]:
    found = np.zeros(len(places), np.float32)
    for there, counts in forms:
        if len(there):
            at = np.searchsorted(there, places).clip(max=len(there) - 1)
            found = np.maximum(found, np.where(there[at] == places, counts[at], 0))
    return found
