"""Entries as memories. Those that are `core`, `daily` or of somebody's own category become notes,
those of a `conversation` rows; entries in which NullClaw keeps its own books are counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from camillo.ingest.importers._agent_pages import about_user, curated
from camillo.ingest.importers._entry_files import Entry
from camillo.ingest.importers._internal import (
    INSTRUCTIONS,
    is_autosaved,
    is_bookkeeping,
    iso,
    time_in,
)
from camillo.ingest.importers._pages import Page, listed, room_of
from camillo.ingest.importers.note import Found, LeftOut
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Memory, Origin, Place
from camillo.notes.names import slug

__all__ = ["memories_in"]

_CORE, _DAILY, _CONVERSATION = "core", "daily", "conversation"
_RESERVED = INTERNAL_KINDS | {"drawer", "note", ""}
_LONGEST_KIND = 64
_PAGES = {"USER.md": about_user, "MEMORY.md": curated}
_ARCHIVED = "archive:conversation:"  # before the key of a message that was put away in chunks
_MADE = re.compile(r"(?:autosave_(?:user|assistant)|conv)_\d")  # says no more than when
_ROLE = re.compile(r"autosave_(user|assistant)_")


def memories_in(
    entries: Iterable[Entry | LeftOut], source: str, changed: int
) -> Iterator[Found | LeftOut]:
    """`source` is the file that they are from, `changed` when that was written (milliseconds)."""
    seen: set[str] = set()
    for entry in entries:
        if isinstance(entry, LeftOut):
            yield entry
            continue
        where = f"{source}:{entry.number}"
        if not entry.text.strip():
            yield LeftOut(where, "no text")
        elif is_bookkeeping(entry.key, entry.text):
            yield LeftOut(where, "bookkeeping", "counted")
        elif entry.key.startswith(INSTRUCTIONS):
            yield from _page(entry, source, changed)
        else:
            yield _found(entry, _item(entry, seen), source, changed)


def _item(entry: Entry, seen: set[str]) -> str:
    """One text for each key and session, and for each time that the two come again."""
    session, key = entry.session, entry.key
    item = base = f"s:{len(session)}:{session}:{key}" if session else f"g:{key}"
    number = 1
    while item in seen:
        number += 1
        item = f"{base} ({number})"
    seen.add(item)
    return item


def _found(entry: Entry, item: str, source: str, changed: int) -> Found:
    key, kind = entry.key.strip(), _kind(entry)
    message = key.removeprefix(_ARCHIVED)
    at = time_in(message) or entry.created or entry.updated
    title = " ".join(key.split())
    memory = Memory(
        id=key or f"entry {entry.number}",
        body=entry.text,
        kind=kind,
        title=title,
        session=entry.session,
        place=Place(room=room_of(kind.replace("/", " "))),
        origin=Origin(source, line_start=entry.number, line_end=entry.number),
        aliases=listed([key]) if slug(key) != key else (),
        happened_at=iso(at)[:10] if kind == _DAILY else "",
        created=at or changed,
        updated=entry.updated or at or changed,
    )
    if kind in NOT_NOTES:
        role = _ROLE.match(message)
        memory = memory._replace(
            title="" if _MADE.match(message) else title,
            place=Place(),
            aliases=(),
            happened_at=iso(at),
            extra={"role": role[1]} if role else {},
        )
    return Found(memory, item, listed([key]))


def _kind(entry: Entry) -> str:
    """The category, but never one of what is no note here. Archived chunks of a conversation are
    one again."""
    said = entry.category.strip()
    if is_autosaved(entry.key) or entry.key.startswith(_ARCHIVED):
        return _CONVERSATION
    if said.casefold() in _RESERVED or not said.isprintable() or len(said) > _LONGEST_KIND:
        return _CORE
    return said


def _page(entry: Entry, source: str, changed: int) -> Iterator[Found | LeftOut]:
    """A file of the workspace that is kept as an entry: two of them hold memories."""
    name = entry.key.removeprefix(INSTRUCTIONS)
    if name not in _PAGES:
        yield LeftOut(f"{source}:{entry.number}", "instructions", "counted")
        return
    at = entry.updated or entry.created or changed
    lines = entry.text.count("\n") + (not entry.text.endswith("\n"))
    for each in _PAGES[name](Page(source, name, {}, entry.text, at, lines)):
        if isinstance(each, Found):
            origin = Origin(source, line_start=entry.number, line_end=entry.number)
            memory = each.memory._replace(origin=origin)
            yield each._replace(memory=memory, item=f"g:{entry.key} {each.item}".strip())
        else:
            yield each
