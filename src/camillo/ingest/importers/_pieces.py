"""The text of a `MEMORY.md` in pieces, and what dreaming put into a page. Pure text.

`- **key**: text` is an entry, as NullClaw writes it; everything else stays together under its
heading of the first two levels. A dreaming block is what OpenClaw makes of its own searches: it
stands between two marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["Line", "Piece", "awake", "lines_of", "pieces"]

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_ENTRY = re.compile(r"[-*+] \*\*(?P<key>[^*]{1,200})\*\*:(?:[ \t](?P<text>.*))?\Z")
_ENDS_ENTRY = re.compile(r"[-*+][ \t]|\d+[.)][ \t]|#{1,6}[ \t]|```|~~~|<!--")
_DREAM = re.compile(r"<!--\s*openclaw:dreaming:([\w-]+):(start|end)\s*-->")
_SLEEP = re.compile(r"#{1,6}[ \t]+(?:Light|REM|Deep) Sleep[ \t]*\Z")


class Line(NamedTuple):
    """`number` counts from 1 in its file; `raw` lacks only the line feed."""

    number: int
    raw: str

    @property
    def text(self) -> str:
        return self.raw.removesuffix("\r")

    @property
    def heading(self) -> tuple[int, str]:
        """Level and text of a heading of the first two levels, else (0, "")."""
        text = self.text
        level = len(text) - len(text.lstrip("#"))
        if not 1 <= level <= 2 or text[level : level + 1] not in (" ", "\t"):
            return 0, ""
        said = text[level:].strip()
        closed = said.rstrip("#")
        said = closed.strip() if closed[-1:] in (" ", "\t") else said
        return (level, said) if said else (0, "")


class Piece(NamedTuple):
    """An entry with its key, or (`key` is "") what stands under a heading, with the heading.
    `heading` is "" for an entry under no heading but the page's own."""

    key: str
    heading: str
    lines: list[Line]

    @property
    def text(self) -> str:
        """Word for word, without blank lines around it."""
        said = [number for number, line in enumerate(self.lines) if line.text.strip()]
        text = "\n".join(line.raw for line in self.lines[said[0] : said[-1] + 1])
        return text.removesuffix("\r") if self.key else f"{text}\n"


def lines_of(body: str, first: int = 1) -> list[Line]:
    lines = body.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [Line(number, raw) for number, raw in enumerate(lines, first)]


# --- dreaming -----------------------------------------------------------------------------------


def awake(lines: Sequence[Line]) -> tuple[list[Line], list[int]]:
    """The lines without dreaming blocks, and where those start. One whose end is missing goes to
    the next heading."""
    ends = _ends(lines)
    kept: list[Line] = []
    starts: list[int] = []
    fences, at = _Fences(), 0
    while at < len(lines):
        line = lines[at]
        mark = None if fences.hold(line.text) else _DREAM.search(line.text)
        if mark is None:
            kept.append(line)
        elif mark[2] == "start":
            starts.append(line.number)
            _drop_heading(kept)
            at = ends[at] if at in ends else _next_heading(lines, at) - 1
        at += 1
    return kept, starts


def _ends(lines: Sequence[Line]) -> dict[int, int]:
    """Where the blocks end that start at these places, if before another of their sort starts."""
    ends: dict[int, int] = {}
    open_: dict[str, int] = {}
    for at, line in enumerate(lines):
        mark = _DREAM.search(line.text)
        if mark and mark[2] == "start":
            open_[mark[1]] = at
        elif mark and mark[1] in open_:
            ends[open_.pop(mark[1])] = at
    return ends


def _next_heading(lines: Sequence[Line], at: int) -> int:
    below = range(at + 1, len(lines))
    return next((number for number in below if lines[number].heading[0]), len(lines))


def _drop_heading(kept: list[Line]) -> None:
    """The heading that dreaming puts above its block."""
    at = len(kept) - 1
    while at >= 0 and not kept[at].text.strip():
        at -= 1
    if at >= 0 and _SLEEP.match(kept[at].text):
        del kept[at:]


# --- pieces -------------------------------------------------------------------------------------


def pieces(lines: Sequence[Line]) -> Iterator[Piece]:
    """In order, but for the entries of a section, which come before what else stands in it."""
    for number, (heading, level, section) in enumerate(_sections(lines)):
        under = "" if number <= 1 and level == 1 else heading
        rest: list[Line] = []
        for each in _entries(section):
            if isinstance(each, Line):
                rest.append(each)
            else:
                yield each._replace(heading=under)
        if any(line.text.strip() for line in (rest[1:] if heading else rest)):
            yield Piece("", heading, rest)


def _sections(lines: Sequence[Line]) -> Iterator[tuple[str, int, list[Line]]]:
    """(heading, level, lines) of what stands before the first heading, and of each section."""
    heading, level = "", 0
    held: list[Line] = []
    fences = _Fences()
    for line in lines:
        found = (0, "") if fences.hold(line.text) else line.heading
        if found[0]:
            yield heading, level, held
            (level, heading), held = found, []
        held.append(line)
    yield heading, level, held


def _entries(lines: Sequence[Line]) -> Iterator[Piece | Line]:
    """Entries, and the lines that belong to none."""
    fences = _Fences()
    at = 0
    while at < len(lines):
        line = lines[at]
        found = None if fences.hold(line.text) else _ENTRY.match(line.text)
        if found and not found["key"].strip():
            found = None
        end = _end_of_entry(lines, at + 1) if found else at
        text = [Line(line.number, (found["text"] or "").strip()) if found else line]
        text += lines[at + 1 : end]
        if found and any(each.text.strip() for each in text):
            yield Piece(found["key"].strip(), "", text if text[0].text else text[1:])
            at = end
        else:
            yield line
            at += 1


def _end_of_entry(lines: Sequence[Line], at: int) -> int:
    """Where an item of a list ends that goes on at this line: as Markdown has it, lines go on until
    a blank one, and after that where they are indented."""
    end, blank = at, False
    for number in range(at, len(lines)):
        text = lines[number].text
        if not text.strip():
            blank = True
            continue
        indented = text[:1] in " \t"
        if _ENDS_ENTRY.match(text) or (blank and not indented):
            break
        end = number + 1
    return end


class _Fences:
    """Which lines stand in code, told one after another."""

    def __init__(self) -> None:
        self._open = ""

    def hold(self, line: str) -> bool:
        """Is this line in code, or does it begin or end some?"""
        mark = _FENCE.match(line)
        if mark and not self._open:
            self._open = mark[1]
            return True
        held = bool(self._open)
        if mark and held and mark[1].startswith(self._open):
            self._open = ""
        return held
