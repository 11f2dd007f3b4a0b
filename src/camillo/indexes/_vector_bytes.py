"""A vector as `index/index.db` keeps it: int8 with one scale. Format owned: the column `data`.

The scale comes first (float32, little-endian), then one byte for each dimension.
"""

from __future__ import annotations

import zlib

TYPE_CHECKING = False  # NumPy is imported where it computes: to check a vector takes none
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy import float32, int8
    from numpy.typing import NDArray

__all__ = ["is_sound", "packed", "product", "quantised", "unpacked"]

_SCALE = 4  # bytes


def quantised(vectors: NDArray[float32]) -> tuple[NDArray[int8], NDArray[float32]]:
    """int8 codes (n, dim) and scales (n,) with codes * scale ≈ vectors."""
    from camillo.numeric import np

    scales = np.abs(vectors).max(axis=1) / 127
    safe = np.where(scales > 0, scales, 1).astype(np.float32)
    codes = np.rint(vectors / safe[:, None]).astype(np.int8)
    return codes, scales.astype(np.float32)


def packed(vectors: NDArray[float32]) -> list[bytes]:
    """Each vector as it is kept."""
    codes, scales = quantised(vectors)
    return [
        scale.tobytes() + row.tobytes()
        for scale, row in zip(scales.astype("<f4"), codes, strict=True)
    ]


def unpacked(kept: Sequence[bytes]) -> tuple[NDArray[int8], NDArray[float32]]:
    """Codes and scales of kept vectors of one dimension, of which there is at least one."""
    from camillo.numeric import np

    together = np.frombuffer(b"".join(kept), np.uint8).reshape(len(kept), -1)
    return together[:, _SCALE:].view(np.int8), together[:, :_SCALE].copy().view("<f4")[:, 0]


def product(kept: bytes, vector: NDArray[float32]) -> float:
    """The scalar product of a kept vector with another: of unit vectors the cosine."""
    from camillo.numeric import np

    scale = np.frombuffer(kept, "<f4", 1)[0]
    codes = np.frombuffer(kept, np.int8, offset=_SCALE).astype(np.float32)
    return float(scale * (codes @ vector))


def is_sound(data: Any, crc: Any, dim: Any) -> bool:
    """Is this what was written? Overwritten rows may hold anything."""
    return isinstance(data, bytes) and len(data) - _SCALE == dim and zlib.crc32(data) == crc
