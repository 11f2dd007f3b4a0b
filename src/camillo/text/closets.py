"""Closets: pointer lines from what a source is about to the drawers that hold it.

This file makes the lines of a source. How a line is written is left to `pointers` (its names are
here too), what makes a topic to `topics`, what makes a name to `entities`; storing and searching
closets is an index's work.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from camillo.records import NamedTuple
from camillo.text.entities import find_entities
from camillo.text.pointers import (
    CLOSET_VERSION,
    ClosetLine,
    ClosetRules,
    closet_id,
    pack,
    parse_line,
    pointers,
    render_line,
)
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

_STEM_CHARS = 40


class DrawerSpan(NamedTuple):
    """A drawer and the characters and lines of the source that it holds."""

    id: str
    start: int
    end: int
    line_start: int
    line_end: int


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
