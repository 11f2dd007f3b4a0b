"""Writes an ONNX file: a graph of operations over named weights, as protocol buffers.

Enough of the format (onnx.proto, IR version 8) for a transformer; it saves the conversion a library
of 30 MB. What the operations mean is left to who builds the graph.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence

from camillo.numeric import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

    from numpy.typing import ArrayLike

__all__ = ["Graph"]

_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
_OPERATORS = (("", 17), ("com.microsoft", 1))

Attribute = float | int | str | Sequence[int]


class Graph:
    """Nodes and weights in the order in which they are added; values are known by their names."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._weights: list[tuple[bytes, Any]] = []
        self._apart: tuple[str, Any] | None = None
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []

    def input(self, name: str, type: str, *shape: int | str) -> str:
        self._inputs.append(_bytes(11, _value(name, type, shape)))
        return name

    def output(self, value: str, name: str, type: str, *shape: int | str) -> None:
        self._nodes.append(_bytes(1, _node("Identity", (value,), (name,), "", {})))
        self._outputs.append(_bytes(12, _value(name, type, shape)))

    def weight(self, name: str, value: ArrayLike) -> str:
        array = np.asarray(value, order="C")
        dimensions = b"".join(_number(1, each) for each in array.shape)
        head = dimensions + _number(2, _TYPES[array.dtype.name]) + _bytes(8, name)
        self._weights.append((head, array))
        return name

    def weight_apart(self, name: str, array: Any, file: str) -> str:
        """A large weight in a file of its own beside the graph's; `write_apart` fills it.

        It is mapped, not read: rows that no text asks for take no memory.
        """
        facts = {"location": file, "offset": "0", "length": str(array.nbytes)}
        dimensions = b"".join(_number(1, each) for each in array.shape)
        entries = (_bytes(13, _bytes(1, key) + _bytes(2, value)) for key, value in facts.items())
        head = dimensions + _number(2, _TYPES[array.dtype.name]) + _bytes(8, name)
        self._nodes.append(_bytes(5, head + b"".join(entries) + _number(14, 1)))
        self._apart = (file, array)
        return name

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        """Add an operation with one output; returns the output's name."""
        name = f"{kind}_{len(self._nodes)}"
        self._nodes.append(_bytes(1, _node(kind, inputs, (name,), domain, attributes)))
        return name

    def write(self, path: str) -> list[str]:
        """Write the graph to `path` and a weight apart beside it; the names of the files.

        Weights go from where they are to the file, without a copy of all in between.
        """
        with open(path, "wb") as file:
            self._write(file)
            os.fsync(file.fileno())
        if self._apart is None:
            return [os.path.basename(path)]
        name, array = self._apart
        with open(os.path.join(os.path.dirname(path), name), "wb") as file:
            file.write(array.data)
            os.fsync(file.fileno())
        return [os.path.basename(path), name]

    def _write(self, file: BinaryIO) -> None:
        weights = [
            (_length(5, len(head) + len(_length(9, array.nbytes)) + array.nbytes), head, array)
            for head, array in self._weights
        ]
        small = [*self._nodes, _bytes(2, self._name), *self._inputs, *self._outputs]
        size = sum(map(len, small))
        for outer, head, array in weights:
            size += len(outer) + len(head) + len(_length(9, array.nbytes)) + array.nbytes
        file.write(_number(1, 8) + _bytes(2, "camillo"))
        for domain, version in _OPERATORS:
            file.write(_bytes(8, _bytes(1, domain) + _number(2, version)))
        file.write(_length(7, size))
        file.writelines(small)
        for outer, head, array in weights:
            file.write(outer + head + _length(9, array.nbytes))
            file.write(array.data if array.ndim else array.tobytes())


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _length(field: int, size: int) -> bytes:
    return _varint(field << 3 | 2) + _varint(size)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _length(field, len(raw)) + raw


def _node(
    kind: str, inputs: Iterable[str], outputs: Iterable[str], domain: str, attributes: Any
) -> bytes:
    return b"".join(
        (
            *(_bytes(1, each) for each in inputs),
            *(_bytes(2, each) for each in outputs),
            _bytes(4, kind),
            *(_bytes(5, _attribute(name, value)) for name, value in attributes.items()),
            _bytes(7, domain),
        )
    )


def _attribute(name: str, value: Attribute) -> bytes:
    head = _bytes(1, name)
    if isinstance(value, float):
        return head + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    if isinstance(value, int):
        return head + _number(3, value) + _number(20, 2)
    if isinstance(value, str):
        return head + _bytes(4, value) + _number(20, 3)
    return head + b"".join(_number(8, each) for each in value) + _number(20, 7)


def _value(name: str, type: str, shape: Iterable[int | str]) -> bytes:
    sides = (_bytes(2, each) if isinstance(each, str) else _number(1, each) for each in shape)
    dimensions = b"".join(_bytes(1, side) for side in sides)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, _TYPES[type]) + _bytes(2, dimensions)))
