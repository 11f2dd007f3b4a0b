"""Token vectors as codes of four bits, and the best matches among them. Format owned: the columns
`ids` and `data` of the table `tokens`.

`ids` are int32, little-endian. `data` is for each token its scale (float16, little-endian), and
then for each token dim / 2 bytes: the low half of byte j is the code of dimension j, the high half
that of j + dim / 2. A component is (code - 7½) times the scale, so that the largest is met exactly.
"""

from __future__ import annotations

from camillo.indexes._token_rows import SCALE
from camillo.numeric import np
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import float32, int64, uint8
    from numpy.typing import NDArray

    from camillo.ports import TokenVectors

__all__ = ["Codes", "best_matches", "packed", "quantised", "unpacked"]

_MIDDLE = 7.5
_BLOCK = 4096  # tokens that are compared together: their float copy stays in the cache


class Codes(NamedTuple):
    """Tokens one after the other: `codes` uint8 (t, dim / 2), `scales` float32 (t,)."""

    codes: NDArray[uint8]
    scales: NDArray[float32]


def quantised(vectors: NDArray[float32]) -> Codes:
    """No component is off by more than half a step, a fifteenth of the vector's largest, and what
    the rounding of the scale adds."""
    largest = np.abs(vectors).max(axis=1, initial=0)
    scales = (largest / _MIDDLE).astype("<f2").astype(np.float32)
    steps = np.where(scales > 0, scales, 1)[:, None]
    levels = np.clip(np.rint(vectors / steps + _MIDDLE), 0, 15).astype(np.uint8)
    half = vectors.shape[1] // 2
    return Codes(levels[:, :half] | np.left_shift(levels[:, half:], 4, dtype=np.uint8), scales)


def packed(tokens: TokenVectors) -> tuple[bytes, bytes]:
    """`ids` and `data` of a text's tokens, as they are kept."""
    codes, scales = quantised(tokens.vectors)
    return tokens.ids.astype("<i4").tobytes(), scales.astype("<f2").tobytes() + codes.tobytes()


def unpacked(kept: Sequence[bytes], counts: Sequence[int], dim: int) -> Codes:
    """The tokens of several texts, whose `data` and counts these are."""
    scales = b"".join(data[: SCALE * n] for data, n in zip(kept, counts, strict=True))
    codes = b"".join(data[SCALE * n :] for data, n in zip(kept, counts, strict=True))
    return Codes(
        np.frombuffer(codes, np.uint8).reshape(-1, dim // 2),
        np.frombuffer(scales, "<f2").astype(np.float32),
    )


def best_matches(
    query: NDArray[float32], kept: Codes, starts: NDArray[int64], counts: NDArray[int64]
) -> NDArray[float32]:
    """float32 (n, q): for each run of `counts` > 0 tokens from `starts` on, the best cosine of each
    token of the query (q, dim)."""
    ends = np.cumsum(counts)
    found = np.empty((len(query), int(ends[-1]) if len(ends) else 0), np.float32)
    places = np.repeat(starts - (ends - counts), counts) + np.arange(found.shape[1])
    weights, offset = _turned(query)
    floats = np.empty((min(_BLOCK, len(places)), query.shape[1]), np.float32)
    for start in range(0, len(places), _BLOCK):
        some = places[start : start + _BLOCK]
        block = floats[: len(some)]
        _spread(kept.codes.take(some, axis=0), block)
        found[:, start : start + len(some)] = weights @ block.T
    found += offset
    found *= kept.scales.take(places)
    maxima: NDArray[float32] = np.maximum.reduceat(found, ends - counts, axis=1).T
    return maxima


def _spread(codes: NDArray[uint8], into: NDArray[float32]) -> None:
    """The low halves, then the bytes as they are: with the query turned to suit, that saves
    shifting the high halves down."""
    half = codes.shape[1]
    into[:, :half] = codes & 15
    into[:, half:] = codes


def _turned(query: NDArray[float32]) -> tuple[NDArray[float32], NDArray[float32]]:
    """Weights (q, dim) for what `_spread` gives, and what is to be added (q, 1): a byte is its low
    half and 16 times its high one, and codes are counted from their middle."""
    half = query.shape[1] // 2
    low, high = query[:, :half], query[:, half:] / 16
    offset = -_MIDDLE * query.sum(axis=1, keepdims=True)
    return np.concatenate([low - high, high], axis=1), offset
