"""What an importer of notes hands over: a note as its source has it, or why there is none.

Names and links are still those of the source. Which name a note gets here, where its links lead and
whether it is kept already is for `ingest/importing.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

from camillo.model import Memory

__all__ = [
    "RELATED",
    "SUPERSEDED",
    "Found",
    "LeftOut",
    "Link",
    "NoteImporter",
    "Source",
    "relation_of",
]

RELATED = "related-to"
SUPERSEDED = "superseded-by"  # of a link alone: the older note says which one is newer

_RELATIONS = {
    RELATED: ("related-to", "relates-to", "related", "see-also", "links-to", "link"),
    "builds-on": ("builds-on", "extends", "based-on"),
    "contradicts": ("contradicts", "conflicts-with"),
    "child-of": ("child-of", "part-of", "parent", "up"),
    "supersedes": ("supersedes", "replaces"),
}
_OURS = {name: ours for ours, names in _RELATIONS.items() for name in names}


class Link(NamedTuple):
    """`target` as the source writes it. `said` is the source's word for a relation that is none of
    ours, `where` the line of a link that is worth telling when it leads nowhere."""

    target: str
    relation: str = RELATED
    said: str = ""
    where: str = ""


class Found(NamedTuple):
    """A memory; one of a kind that is no note (`NOT_NOTES`) becomes a row of the store. `memory.id`
    is the name that a note should have, not yet a safe or a free one; its origin says where it was
    read. `item` tells it from others of the same file."""

    memory: Memory
    item: str = ""
    known_as: tuple[str, ...] = ()  # what links of the source call it
    links: tuple[Link, ...] = ()
    problems: tuple[str, ...] = ()  # what could not be used of it; the rest stands

    @property
    def where(self) -> str:
        """`file`, or `file:line` of one among several."""
        origin = self.memory.origin
        if origin is None:
            return self.item
        return f"{origin.source}:{origin.line_start}" if self.item else origin.source


class LeftOut(NamedTuple):
    """Something that becomes no note. `counted` are told by their number alone: attachments,
    templates. `failed` could not be read."""

    where: str
    reason: str
    status: Literal["counted", "skipped", "failed"] = "skipped"


class Source(NamedTuple):
    """A place that holds notes of a format, and how many files that are likely some."""

    path: str
    files: int


class NoteImporter(Protocol):
    """Reads one format. Changes nothing of what it reads, and follows no link out of it."""

    name: str
    default: str  # where it is looked for when no path is named; "" = a path has to be named

    def recognises(self, path: str) -> bool:
        """By what is there, never by a name alone."""
        ...

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        """Every note, in an order that is the same each time. What is broken is handed over as
        LeftOut with its place, and does not end the reading."""
        ...


def relation_of(word: str) -> str:
    """Which relation of ours a source's word means; "" for none."""
    return _OURS.get("-".join(word.casefold().replace("_", " ").split()), "")
