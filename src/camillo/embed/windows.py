"""Texts as models can take them: without lone surrogates, and in windows where they are long.

Windows are equal pieces, so that the last one is no scrap; their vectors are averaged by length.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

from camillo.numeric import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["averaged", "unit", "valid", "windows"]

Piece = TypeVar("Piece", bound=Sequence[object])


def valid(text: str) -> str:
    """`text`, with U+FFFD for each half of a broken surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def windows(whole: Piece, limit: int) -> list[Piece]:
    """`whole` in the fewest pieces of at most `limit` items, as equal as can be."""
    count = -(-len(whole) // limit) or 1
    edges = [len(whole) * at // count for at in range(count + 1)]
    return [whole[start:end] for start, end in pairwise(edges)]  # type: ignore[misc]


def averaged(
    vectors: NDArray[float32], lengths: Sequence[int], counts: Sequence[int]
) -> NDArray[float32]:
    """One vector (not of unit length) for each run of `counts` vectors, weighted by `lengths`."""
    if len(vectors) == len(counts):
        return vectors
    weights = np.maximum(np.array(lengths, np.float32), 1)
    starts = np.cumsum([0, *counts[:-1]])
    sums: NDArray[float32] = np.add.reduceat(vectors * weights[:, None], starts, axis=0)
    sums /= np.add.reduceat(weights, starts)[:, None]
    return sums


def unit(vectors: NDArray[float32]) -> NDArray[float32]:
    """The vectors at length 1; a zero vector stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: NDArray[float32] = np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return result
