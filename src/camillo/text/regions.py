"""Parts of a page that a program writes, between marks in a page that people write. Pure.

Format owned: a line `<!-- auto:begin LABEL -->`, what is generated, a line `<!-- auto:end -->`.
oc writes its marks without ` -->`, so that a viewer hides what follows; both are read, closed ones
are written. A mark stands at the start of its line and outside of code. Where a region begins
before another one has ended, the text between was never generated: only the inner one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from camillo.records import NamedTuple

__all__ = ["Region", "block", "filled", "label_of", "regions", "with_region"]

_BEGIN, _END, _CLOSE = "<!-- auto:begin", "<!-- auto:end", "-->"

_MARK = r"<!-- auto:(?:begin(?=\s)|(end)(?=\s|-->|\Z))"
_MARGIN = r"\ufeff? {0,3}"  # before a mark that begins a line
_FENCE = rf"^{_MARGIN}(`{{3,}}|~{{3,}})([^\n]*)"
_UNSAFE = r"[<>\0-\x1f\x7f\x85\u2028\u2029]|\A\s|\s\Z|%(?=[0-9A-F]{2})"


class Region(NamedTuple):
    """Offsets in its text: of its label, of what is generated, of the mark that ends it, and of
    what follows the words of that mark."""

    label: str
    named: int
    inner: int
    outer: int
    end: int


def regions(text: str) -> list[Region]:
    """Those of a text, in order. One that has no end, or is begun again before, is none."""
    if _BEGIN not in text:
        return []
    found: list[Region] = []
    begun: Region | None = None
    late: Region | None = None  # as oc takes it, its end inside of a line
    for mark in _marks_outside_of_code(text):
        start = text.rfind("\n", 0, mark.start()) + 1
        first = re.fullmatch(_MARGIN, text[start : mark.start()]) is not None
        if mark[1] and begun and first:
            found.append(begun._replace(outer=start, end=mark.end()))
            begun = late = None
        elif mark[1] and begun:
            late = late or begun._replace(outer=mark.start(), end=mark.end())
        elif first and not mark[1]:
            found += [late] if late else []
            begun, late = _begun(text, mark.end()), None
    return found + ([late] if late else [])


def with_region(text: str, label: str, generated: str) -> str:
    """`text` with this in its first region of exactly this label; as it is where there is none."""
    for region in regions(text):
        if region.label == label:
            return filled(text, region, label, generated)
    return text


def filled(text: str, region: Region, label: str, generated: str) -> str:
    """`text` with this in one of its regions, under this label and between closed marks. Lines end
    as that which begins the region does."""
    newline = "\r\n" if text.endswith("\r\n", 0, region.inner) else "\n"
    lines = generated.replace("\r\n", "\n").replace("\n", newline)
    mark = text[region.named : region.inner].rstrip("\r\n")
    after = mark[mark.index(_CLOSE) :] if _CLOSE in mark else _CLOSE
    rest = text[region.end :]
    closing = "" if _CLOSE in rest.partition("\n")[0] else f" {_CLOSE}"
    return (
        f"{text[: region.named]}{label} {after}{newline}{lines}"
        f"{text[region.outer : region.end]}{closing}{rest}"
    )


def block(label: str, generated: str) -> str:
    """A new region."""
    return f"{_BEGIN} {label} {_CLOSE}\n{generated}{_END} {_CLOSE}\n"


def label_of(name: str) -> str:
    """The label for a name: itself, with `%XX` for what would end the mark or get lost in it."""
    return re.sub(_UNSAFE, lambda sign: "".join(f"%{byte:02X}" for byte in sign[0].encode()), name)


def _begun(text: str, at: int) -> Region | None:
    """A region without an end yet; None where its end stands on the same line, or no label."""
    line_end = text.find("\n", at)
    said = text[at:line_end]
    label = said.partition(_CLOSE)[0].strip(" \t\r")
    if line_end < 0 or not label or _END in said:
        return None
    return Region(label, text.index(label, at), line_end + 1, 0, 0)


def _marks_outside_of_code(text: str) -> Iterator[re.Match[str]]:
    marks = re.finditer(_MARK, text)
    if "```" not in text and "~~~" not in text:
        return marks
    events = [*marks, *re.finditer(_FENCE, text, re.MULTILINE)]
    return _outside_of_code(sorted(events, key=re.Match.start))


def _outside_of_code(events: Iterable[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The marks of these marks and fences."""
    fence = ""
    for each in events:
        if each[0].startswith("<"):
            if not fence:
                yield each
        elif not fence:
            fence = "" if each[1][0] == "`" and "`" in each[2] else each[1]
        elif each[1].startswith(fence) and not each[2].strip():
            fence = ""
