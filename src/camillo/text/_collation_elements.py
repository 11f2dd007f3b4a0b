"""The collation elements of a text: Unicode's algorithm (UTS #10) as ICU carries it out.

An element is a primary, a secondary and a tertiary weight, as numbers that compare like ICU's.
Texts are decomposed by the table's own data, so that the Unicode version of the Python at hand
does not matter. Weights become bytes elsewhere.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import pairwise

from camillo.text._collation_file import HAN, IMPLICIT, Columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterator

    Element = tuple[int, int, int]

__all__ = ["COMMON", "Elements"]

COMMON = (1, 2)  # secondary and tertiary weight of most characters; small kana have a tertiary of 1
_HANGUL, _HANGUL_LAST = 0xAC00, 0xD7A3
_VOWELS, _FINALS = 21, 28
_LEADS_MANY = 20  # contractions: letters after a vowel that is written before them


class Elements:
    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._ranges = columns["runs"], columns["run_rows"]
        self._starts = columns["row_starts"]

    def of(self, text: str) -> list[Element]:
        if len(text) == 1 and (element := self.ideograph(ord(text))):
            return [element]
        whole = _paired(text) if any("\ud800" <= char <= "\udfff" for char in text) else text
        return [element for row in self._rows(self._decomposed(whole)) for element in row]

    def ideograph(self, point: int) -> Element | None:
        if point < 0x3400:
            return None
        row = _row(self._columns["han_runs"], self._columns["han_run_rows"], point)
        return None if row < 0 else (HAN + self._columns["han_ranks"][row], *COMMON)

    def parted(self, text: str) -> Iterator[str]:
        """The text cut where what stands before and after has elements of its own."""
        start, leads = 0, True
        for at, character in enumerate(text):
            if not (leads or self.continues(character)):
                yield text[start:at]
                start = at
            leads = self.leads(character)
        yield text[start:]

    def leads(self, character: str) -> bool:
        """May it change what follows?"""
        return character in self._joints[0] or "\ud800" <= character <= "\udbff"

    def continues(self, character: str) -> bool:
        """May it change what it follows?"""
        first = self._decompositions.get(character, character)[0]
        return first in self._joints[1] or first in self._marks

    def _rows(self, chars: list[str]) -> Iterator[list[Element]]:
        at = 0
        while at < len(chars):
            found, at = self._longest(chars, at)
            if found in self._prefixes:
                found = self._with_later_marks(found, chars, at)
            row = self._contractions.get(found)
            yield self._row(row) if row is not None else self._single(found)

    def _longest(self, chars: list[str], at: int) -> tuple[str, int]:
        """The longest contraction that begins here, or the character; and what comes next."""
        found, end = chars[at], at + 1
        tried, after = found, end
        while tried in self._prefixes and after < len(chars):
            tried += chars[after]
            after += 1
            if tried in self._contractions:
                found, end = tried, after
        return found, end

    def _with_later_marks(self, found: str, chars: list[str], at: int) -> str:
        """With marks that continue the contraction, past others of lower classes (UTS #10, S2.1).
        They are taken out of `chars`."""
        skipped = 0
        while at < len(chars) and (its_class := self._marks.get(chars[at], 0)):
            if its_class > skipped and found + chars[at] in self._contractions:
                found += chars.pop(at)
            else:
                skipped = its_class
                at += 1
        return found

    def _single(self, character: str) -> list[Element]:
        point = ord(character)
        row = _row(*self._ranges, point)
        if row >= 0:
            return self._row(row)
        return [self.ideograph(point) or (IMPLICIT + point, *COMMON)]

    def _row(self, row: int) -> list[Element]:
        columns = self._columns
        primary, secondary, tertiary = columns["primary"], columns["secondary"], columns["tertiary"]
        places = range(self._starts[row], self._starts[row + 1])
        return [(primary[at], secondary[at], tertiary[at]) for at in places]

    def _decomposed(self, text: str) -> list[str]:
        """In canonical decomposition and order (NFD)."""
        chars = [part for char in text for part in self._parts(char)]
        marks = self._marks
        at = 0
        while at < len(chars):
            start = at
            while at < len(chars) and chars[at] in marks:
                at += 1
            if at - start > 1:
                chars[start:at] = sorted(chars[start:at], key=marks.__getitem__)
            at += 1
        return chars

    def _parts(self, character: str) -> str:
        point = ord(character)
        if not _HANGUL <= point <= _HANGUL_LAST:
            return self._decompositions.get(character, character)
        syllable, final = divmod(point - _HANGUL, _FINALS)
        first, vowel = divmod(syllable, _VOWELS)
        jamo = chr(0x1100 + first) + chr(0x1161 + vowel)
        return jamo + chr(0x11A7 + final) if final else jamo

    @cached_property
    def _decompositions(self) -> dict[str, str]:
        texts = self._texts("decomposition_starts", "decompositions")
        return dict(zip(map(chr, self._columns["composed"]), texts, strict=True))

    @cached_property
    def _marks(self) -> dict[str, int]:
        marks = map(chr, self._columns["marks"])
        return dict(zip(marks, self._columns["mark_classes"], strict=True))

    @cached_property
    def _contractions(self) -> dict[str, int]:
        """Contraction -> its row, after those of the code points."""
        texts = self._texts("contraction_starts", "contractions")
        return {text: row for row, text in enumerate(texts, start=self._ranges[1][-1])}

    @cached_property
    def _prefixes(self) -> frozenset[str]:
        return frozenset(text[:at] for text in self._contractions for at in range(1, len(text)))

    @cached_property
    def _joints(self) -> tuple[frozenset[str], frozenset[str]]:
        """Characters that lead, and characters that continue a contraction: one of two is in."""
        after: dict[str, list[str]] = {}
        for text in self._contractions:
            after.setdefault(text[0], []).append(text[1:])
        leading = frozenset(first for first, rest in after.items() if len(rest) > _LEADS_MANY)
        others = (
            char for first in after.keys() - leading for rest in after[first] for char in rest
        )
        return leading, frozenset(others)

    def _texts(self, starts: str, points: str) -> Iterator[str]:
        whole = "".join(map(chr, self._columns[points]))
        return (whole[start:end] for start, end in pairwise(self._columns[starts]))


def _row(runs: array[int], rows: array[int], point: int) -> int:
    """The row of a code point, or -1."""
    run = bisect_right(runs, point) - 1
    if run < 0 or run + 1 == len(runs):
        return -1
    row = rows[run] + point - runs[run]
    return row if row < rows[run + 1] else -1


def _paired(text: str) -> str:
    """With surrogates that make a pair as one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
