"""Remakes src/camillo/text/collation.bin from the shared libraries of ICU 78 (Unicode 17).

`python tools/make_collation.py LIBICUUC LIBICUI18N`: asks the root collator for the elements of
each character and contraction, and the normaliser for decompositions and classes of marks. The
wheel icukit-pyicu 78.3.1 is one that holds both libraries.
"""

import ctypes
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from camillo.text._collation_file import HAN, IMPLICIT, PATH, pack

__all__ = ["main"]

VERSION = "_78"  # ends the name of each function of ICU
POINTS = range(0x110000)
HANGUL = range(0xAC00, 0xAC00 + 11172)
# First bytes of ICU's primary weights (CLDR, FractionalUCA.txt): ideographs in the order of radical
# and strokes, then what is not assigned, then U+FFFD and U+FFFF.
HAN_LEADS = range(0xFA, 0xFE)
UNASSIGNED_LEAD, LAST_LEAD = 0xFE, 0xFF
COMMON = 0x0500  # the secondary or tertiary weight of most characters
NO_CASE = 0x3F3F  # of the tertiary weight

Element = tuple[int, int, int]  # primary, secondary, tertiary weight, as ICU has them


class Told(NamedTuple):
    """What ICU says. Elements are of what does not decompose."""

    points: dict[int, list[Element]]
    contractions: dict[str, list[Element]]
    han: dict[int, int]  # primary weight -> unified ideograph, in order
    decompositions: dict[int, str]  # in full; Hangul has a rule
    marks: dict[int, int]  # code point -> combining class other than 0


def main(arguments: list[str]) -> int:
    packed = pack(_columns(_told(_Icu(*arguments))))
    Path(PATH).write_bytes(packed)
    print(PATH, len(packed))
    return 0


class _Icu:
    """The few functions of ICU's C interface that are needed here."""

    def __init__(self, common: str, collation: str) -> None:
        self._common, self._i18n = ctypes.CDLL(common), ctypes.CDLL(collation)
        self._error = ctypes.c_int(0)
        self._collator = self._opened(self._i18n, "ucol_open", b"", self._status())
        walk = (self._collator, _units(""), 0, self._status())
        self._walk = self._opened(self._i18n, "ucol_openElements", *walk)
        self._nfd = self._opened(self._common, "unorm2_getNFDInstance", self._status())

    def elements(self, text: str) -> list[Element]:
        """The iterator gives an element in one or two halves; two bits mark the second."""
        units = _units(text)
        self._i18n["ucol_setText" + VERSION](self._walk, units, len(units), self._status())
        found: list[Element] = []
        for half in self._halves():
            if half & 0xC0 == 0xC0:
                p, s, t = found.pop()
                found.append((p | half >> 16, s | half >> 8 & 0xFF, t | half & 0x3F))
            else:
                found.append((half & 0xFFFF0000, half & 0xFF00, half << 8 & 0xFF00))
        return [(p, s, t & NO_CASE) for p, s, t in found if p or s or t]

    def contractions(self) -> Iterator[str]:
        chosen = self._opened(self._common, "uset_openEmpty")
        find = self._i18n["ucol_getContractionsAndExpansions" + VERSION]
        find(self._collator, chosen, None, ctypes.c_byte(1), self._status())
        unused, text = ctypes.byref(ctypes.c_int32()), _units(" " * 32)
        for at in range(self._common["uset_getItemCount" + VERSION](chosen)):
            given = (unused, unused, text, len(text), self._status())
            length = self._common["uset_getItem" + VERSION](chosen, at, *given)
            yield _text(text, length)

    def decomposition(self, point: int) -> str:
        """In full, or nothing."""
        text = _units(" " * 32)
        find = self._common["unorm2_getDecomposition" + VERSION]
        return _text(text, find(self._nfd, point, text, len(text), self._status()))

    def mark_class(self, point: int) -> int:
        find = self._common["unorm2_getCombiningClass" + VERSION]
        find.restype = ctypes.c_uint8
        found: int = find(self._nfd, point)
        return found

    def _halves(self) -> Iterator[int]:
        after = self._i18n["ucol_next" + VERSION]
        while (half := after(self._walk, self._status())) != -1:
            yield half & 0xFFFFFFFF

    def _opened(self, library: ctypes.CDLL, name: str, *given: object) -> ctypes.c_void_p:
        function = library[name + VERSION]
        function.restype = ctypes.c_void_p
        return ctypes.c_void_p(function(*given))

    def _status(self) -> object:
        if self._error.value > 0:
            raise RuntimeError(f"ICU reports error {self._error.value}")
        return ctypes.byref(self._error)


def _units(text: str) -> "ctypes.Array[ctypes.c_uint16]":
    coded = text.encode("utf-16-le", "surrogatepass")
    return (ctypes.c_uint16 * (len(coded) // 2)).from_buffer_copy(coded)


def _text(units: "ctypes.Array[ctypes.c_uint16]", length: int) -> str:
    return bytes(units)[: 2 * max(length, 0)].decode("utf-16-le")


def _told(icu: _Icu) -> Told:
    decomposed = {point: text for point in POINTS if (text := icu.decomposition(point))}
    rest = {p: icu.elements(chr(p)) for p in POINTS if p not in decomposed and p not in HANGUL}
    han = {elements[0][0]: point for point, elements in rest.items() if _is_han(elements)}
    # Texts are decomposed before contractions are looked for.
    contractions = [
        text for text in icu.contractions() if decomposed.keys().isdisjoint(map(ord, text))
    ]
    return Told(
        {
            point: found
            for point, found in rest.items()
            if not _is_han(found) and not _is_unassigned(found)
        },
        {text: icu.elements(text) for text in sorted(contractions)},
        dict(sorted(han.items())),
        {point: text for point, text in decomposed.items() if point not in HANGUL},
        {point: found for point in POINTS if (found := icu.mark_class(point))},
    )


def _is_han(elements: list[Element]) -> bool:
    """A unified ideograph: what is compatible with one has another tertiary weight."""
    return [(p >> 24 in HAN_LEADS, s, t) for p, s, t in elements] == [(True, COMMON, COMMON)]


def _is_unassigned(elements: list[Element]) -> bool:
    return [p >> 24 for p, _, _ in elements] == [UNASSIGNED_LEAD]


def _columns(told: Told) -> dict[str, Sequence[int]]:
    rows = [*told.points.values(), *told.contractions.values()]
    primary, secondary, tertiary = zip(*(element for row in rows for element in row), strict=True)
    composed, han = told.decompositions, sorted(told.han.values())
    runs, run_rows = _runs(list(told.points))
    han_runs, han_run_rows = _runs(han)
    ranks = {point: rank for rank, point in enumerate(told.han.values())}
    numbers = _primary_numbers(primary, told.han)
    return {
        "runs": runs,
        "run_rows": run_rows,
        "row_starts": _starts(rows),
        "primary": [numbers[weight] for weight in primary],
        "secondary": _numbered(secondary),
        "tertiary": _numbered(tertiary),
        "contraction_starts": _starts(told.contractions),
        "contractions": _code_points(told.contractions),
        "composed": list(composed),
        "decomposition_starts": _starts(composed.values()),
        "decompositions": _code_points(composed.values()),
        "marks": list(told.marks),
        "mark_classes": list(told.marks.values()),
        "han_runs": han_runs,
        "han_run_rows": han_run_rows,
        "han_ranks": [ranks[point] for point in han],
    }


def _primary_numbers(weights: Iterable[int], han: dict[int, int]) -> dict[int, int]:
    """ICU's weight -> ours; 0 is none."""
    known = sorted({0, *weights} - han.keys())
    plain = [weight for weight in known if weight >> 24 < LAST_LEAD]
    last = known[len(plain) :]
    return {
        **{weight: number for number, weight in enumerate(plain)},
        **{weight: HAN + rank for rank, weight in enumerate(han)},
        **{weight: IMPLICIT + len(POINTS) + number for number, weight in enumerate(last)},
    }


def _runs(points: list[int]) -> tuple[list[int], list[int]]:
    """The first of each run of code points, and its row; the last has no code points."""
    rows = [row for row, point in enumerate(points) if not row or points[row - 1] != point - 1]
    return [*(points[row] for row in rows), points[-1] + 1], [*rows, len(points)]


def _starts(rows: Iterable[Sequence[object]]) -> list[int]:
    return list(accumulate(map(len, rows), initial=0))


def _numbered(weights: Sequence[int]) -> list[int]:
    """Each weight's number among those that occur, from 1."""
    numbers = {weight: number for number, weight in enumerate(sorted(set(weights)), start=1)}
    if 0 in numbers:
        raise ValueError("an element without a secondary or tertiary weight")
    return [numbers[weight] for weight in weights]


def _code_points(texts: Iterable[str]) -> list[int]:
    return [ord(character) for text in texts for character in text]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
