"""Closets: pointer lines from what a source is about to the drawers that hold it.

This file owns the line, `topic|entities|→ids` or `topic|entities|YYYY-MM-DD:Lx-Ly|→ids`, its
escapes, the packing of lines into closets and the ids of closets. What makes a topic is left to
`topics`, what makes a name to `entities`; storing and searching closets is an index's work.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from camillo.text.entities import find_entities
from camillo.text.topics import Place, Topic, find_quotes, find_topics, lowered, next_mention

__all__ = [
    "CLOSET_VERSION",
    "ClosetLine",
    "ClosetRules",
    "DrawerSpan",
    "closet_id",
    "closet_lines",
    "pack",
    "parse_line",
    "pointers",
    "render_line",
]

# Raised whenever the same text would give other lines; an older one means: mine the source again.
CLOSET_VERSION = 1

_STEM_CHARS = 40


@dataclass(frozen=True, slots=True)
class ClosetRules:
    """How much of a source becomes lines. `window` 0 reads all of it."""

    topics: int = 12
    quotes: int = 3
    entities: int = 5
    ids_per_line: int = 3
    closet_chars: int = 1_500
    window: int = 0
    definitions: bool = True


class DrawerSpan(NamedTuple):
    """A drawer and the characters and lines of the source that it holds."""

    id: str
    start: int
    end: int
    line_start: int
    line_end: int


class ClosetLine(NamedTuple):
    """One pointer: what stands where, on which day."""

    topic: str
    entities: tuple[str, ...]
    date: str | None
    line_start: int | None
    line_end: int | None
    ids: tuple[str, ...]


def closet_lines(
    text: str,
    drawers: Sequence[DrawerSpan],
    *,
    wing: str,
    room: str,
    stem: str,
    date: str | None,
    rules: ClosetRules = ClosetRules(),
    source_name: str = "",
) -> list[ClosetLine]:
    """The lines of one source: topics, then quotations, or one line `wing/room/stem`.

    `source_name` decides what is read: headings in prose, definitions in code. Of an ISO `date`
    with a time the day is kept.
    Without drawers there is nothing to point at, and no line.
    """
    if not drawers:
        return []
    seen = text[: rules.window] if rules.window else text
    day = date[:10] if date else None
    topics = find_topics(
        seen, source_name=source_name, limit=rules.topics, definitions=rules.definitions
    )
    quotes = find_quotes(seen, source_name=source_name, limit=rules.quotes)
    entities = find_entities(seen, rules.entities)
    shelf = _Shelf(drawers, lowered(seen), rules.ids_per_line)
    if not topics and not quotes:
        name = f"{wing}/{room}/{stem[:_STEM_CHARS]}"
        return [_line(name, entities, day, shelf.drawers[:1], shelf.first_ids())]
    named = [(topic.text, topic) for topic in topics]
    named += [(f'"{quote.text}"', quote) for quote in quotes]
    return [
        _line(name, entities, day, shelf.at(topic.places[0]), shelf.ids(topic))
        for name, topic in named
    ]


def _line(
    topic: str,
    entities: tuple[str, ...],
    date: str | None,
    where: Sequence[DrawerSpan],
    ids: Iterable[str],
) -> ClosetLine:
    line_start = min(drawer.line_start for drawer in where)
    line_end = max(drawer.line_end for drawer in where)
    return ClosetLine(" ".join(topic.split()), entities, date, line_start, line_end, tuple(ids))


class _Shelf:
    """The drawers of one source by position, overlaps and gaps allowed."""

    def __init__(self, drawers: Sequence[DrawerSpan], low: str, ids_per_line: int) -> None:
        self.drawers = sorted(drawers, key=lambda drawer: drawer.start)
        self._low = low
        self._limit = max(1, ids_per_line)
        self._starts = [drawer.start for drawer in self.drawers]
        self._reach = list(accumulate((drawer.end for drawer in self.drawers), max))

    def first_ids(self) -> list[str]:
        return [drawer.id for drawer in self.drawers[: self._limit]]

    def ids(self, topic: Topic) -> list[str]:
        """Where the topic was found first, then its other places, then where it is mentioned."""
        ids: dict[str, None] = {}
        for place in topic.places:
            ids.update((drawer.id, None) for drawer in self.at(place))
            if len(ids) >= self._limit:
                return list(ids)[: self._limit]
        phrase, at = lowered(topic.text), topic.places[0][1]
        while len(ids) < min(self._limit, len(self.drawers)):
            mention = next_mention(self._low, phrase, at)
            if mention is None:
                break
            holding = self.at(mention)
            ids.update((drawer.id, None) for drawer in holding)
            at = max(mention[1], *(drawer.end for drawer in holding))
        return list(ids)[: self._limit]

    def at(self, place: Place) -> list[DrawerSpan]:
        """The drawers with the whole place; where it crosses a border, those with a part of it.

        For a place in a gap between drawers, the next one.
        """
        start, end = place
        low, high = bisect_right(self._reach, start), bisect_right(self._starts, end - 1)
        touching = [drawer for drawer in self.drawers[low:high] if drawer.end > start]
        whole = [drawer for drawer in touching if drawer.start <= start and end <= drawer.end]
        return whole or touching or [self.drawers[min(high, len(self.drawers) - 1)]]


# Lines. A backslash keeps the next separator; U+2424 and U+240D stand for line ends, so that an
# old line with a Windows path in it (`c:\new`) still reads as it was written.

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "|": "\\|", "→": "\\→", ";": "\\;", ",": "\\,", "\n": "\\␤", "\r": "\\␍"}
)
_TOPIC_ESCAPES = str.maketrans({"\\": "\\\\", "|": "\\|", "→": "\\→", "\n": "\\␤", "\r": "\\␍"})
_ESCAPED = r"\\([\\|→;,␤␍])"
_LINE_ENDS = {"␤": "\n", "␍": "\r"}
_DATED = r"(?a)(\d{4}-\d\d-\d\d):L(\d+)-L(\d+)"


def render_line(line: ClosetLine) -> str:
    """The line as stored: four fields where date and lines are known, else three."""
    fields = [
        line.topic.translate(_TOPIC_ESCAPES),
        ";".join(entity.translate(_ESCAPES) for entity in line.entities),
    ]
    if line.date and line.line_start is not None and line.line_end is not None:
        fields.append(f"{line.date}:L{line.line_start}-L{line.line_end}")
    return "|".join(fields) + "|→" + ",".join(name.translate(_ESCAPES) for name in line.ids)


def parse_line(text: str) -> ClosetLine | None:
    """A line of either form, ours or an older one without escapes; `None` without a pointer."""
    *head, tail = _fields(text.rstrip("\r\n"), "→")
    if not head:
        return None
    fields = _fields("→".join(head), "|")
    if len(fields) > 1 and not fields[-1]:
        fields.pop()
    dated = re.fullmatch(_DATED, fields[-1]) if len(fields) > 2 else None
    if dated:
        fields.pop()
    # An unescaped bar of an older line belongs to its topic.
    entities = _fields(fields.pop(), ";") if len(fields) > 1 else []
    return ClosetLine(
        _unescaped("|".join(fields)),
        tuple(_unescaped(entity) for entity in entities if entity),
        dated[1] if dated else None,
        int(dated[2]) if dated else None,
        int(dated[3]) if dated else None,
        tuple(_unescaped(name) for name in _fields(tail, ",") if name),
    )


def _fields(text: str, mark: str) -> list[str]:
    """The parts of a text between unescaped marks, still escaped."""
    if "\\" not in text:
        return text.split(mark)
    field = re.compile(rf"(?s)((?:[^\\{mark}]|\\.|\\\Z)*+)(?:[{mark}]|\Z)")
    parts: list[str] = []
    at = 0
    while at <= len(text):
        found = field.match(text, at)
        assert found is not None
        parts.append(found[1])
        if found.end() == found.end(1):
            break
        at = found.end()
    return parts


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return re.sub(_ESCAPED, lambda match: _LINE_ENDS.get(match[1], match[1]), text)


def pointers(closet_text: str) -> list[str]:
    """The drawer ids of a closet in order, each once."""
    lines = (parse_line(line) for line in closet_text.split("\n"))
    return list(dict.fromkeys(name for line in lines if line for name in line.ids))


# Closets


def pack(lines: Sequence[str], limit: int = 1_500) -> list[str]:
    """Closets of at most `limit` characters; a line is never split, a longer one stands alone."""
    closets: list[list[str]] = []
    size = 0
    for line in lines:
        if not closets or size + 1 + len(line) > limit:
            closets.append([line])
            size = len(line)
        else:
            closets[-1].append(line)
            size += 1 + len(line)
    return ["\n".join(closet) for closet in closets]


def closet_id(wing: str, room: str, source: str, number: int) -> str:
    """`closet_{wing}_{room}_{sha256 of the source, 24 digits}_{number}`, numbers from 01."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"closet_{wing}_{room}_{digest}_{number:02d}"
