"""`collation.bin`: the weights of ICU's root collation, as columns of integers.

    size of each packed column, 4 bytes little-endian | the columns, in the order of COLUMNS

A column is integers of 4 bytes, the lowest bytes of all first, then all second ones …, packed by
zlib. Derived from the root collation of CLDR 48 through ICU 78 (Unicode 17) by
tools/make_collation.py. © 1991-2025 Unicode, Inc., under the Unicode License V3.
"""

from __future__ import annotations

import os
import sys
import zlib
from array import array
from itertools import accumulate, pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["COLUMNS", "HAN", "IMPLICIT", "PATH", "Columns", "pack"]

PATH = os.path.join(os.path.dirname(__file__), "collation.bin")
# Runs of code points, each with its first and the row of that; rows of elements, each with the
# first of them: those of the code points, then those of the contractions. An element is a primary,
# a secondary and a tertiary weight. `starts` are where a row begins in the column after it.
COLUMNS = (
    *("runs", "run_rows", "row_starts", "primary", "secondary", "tertiary"),
    *("contraction_starts", "contractions"),
    *("composed", "decomposition_starts", "decompositions"),
    *("marks", "mark_classes"),
    *("han_runs", "han_run_rows", "han_ranks"),
)
# A primary weight below HAN is a rank; from there on the rank of a unified ideograph is added, and
# from IMPLICIT on a code point that has no weight of its own, or a number above all code points.
HAN = 0xFC_0000
IMPLICIT = 0xFE00_0000

_WIDTH = 4


class Columns(dict[str, "array[int]"]):
    """The columns by name, each unpacked when it is first asked for."""

    def __init__(self, packed: bytes) -> None:
        start = _WIDTH * len(COLUMNS)
        ends = accumulate(_integers(packed[:start]), initial=start)
        self._packed = packed
        self._ends = dict(zip(COLUMNS, pairwise(ends), strict=True))

    def __missing__(self, name: str) -> array[int]:
        start, end = self._ends[name]
        planes = zlib.decompress(self._packed[start:end])
        size = len(planes) // _WIDTH
        whole = bytearray(len(planes))
        for place in range(_WIDTH):
            whole[place::_WIDTH] = planes[place * size : (place + 1) * size]
        self[name] = column = _integers(whole)
        return column


def pack(columns: Mapping[str, Sequence[int]]) -> bytes:
    packed = [_packed(columns[name]) for name in COLUMNS]
    return b"".join((_bytes(map(len, packed)), *packed))


def _packed(column: Iterable[int]) -> bytes:
    whole = _bytes(column)
    return zlib.compress(b"".join(whole[place::_WIDTH] for place in range(_WIDTH)), 9)


def _integers(coded: bytes | bytearray) -> array[int]:
    integers = array("I")
    integers.frombytes(coded)
    if sys.byteorder == "big":
        integers.byteswap()
    return integers


def _bytes(integers: Iterable[int]) -> bytes:
    coded = array("I", integers)
    if sys.byteorder == "big":
        coded.byteswap()
    return coded.tobytes()
