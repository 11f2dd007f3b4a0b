"""The pages of an agent's workspace that hold memories, as OpenClaw and NullClaw lay them out.

`MEMORY.md` becomes a memory for each entry and each section, a page below `memory` one memory, with
its day where its name has one, and `USER.md` what is known of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from camillo.ingest.importers._internal import is_bookkeeping
from camillo.ingest.importers._links import markdown_links, prose, wikilinks
from camillo.ingest.importers._pages import (
    Page,
    day_of,
    kind_of,
    known_fields,
    listed,
    millis,
    origin_of,
    room_of,
    text_of,
    texts_of,
)
from camillo.ingest.importers._pieces import Line, Piece, awake, lines_of, pieces
from camillo.ingest.importers.note import Found, LeftOut, Link
from camillo.model import Memory, Origin, Place
from camillo.notes.names import slug
from camillo.text.dates import leading_moment

__all__ = ["about_user", "curated", "logged", "open_page"]

_CORE, _DAILY = "core", "daily"

_TITLE = re.compile(r"\A\s*#[ \t]+([^\n]*[^\s#])")
_OKF = "okf:"  # before a page's type, where NullClaw keeps it as a category
_OKF_KEYS = ("type", "title", "description", "tags", "timestamp")
_DREAMS = "dreaming"


def curated(page: Page) -> Iterator[Found | LeftOut]:
    """`MEMORY.md`: an entry under its key, a section under its heading."""
    lines, starts = awake(_lines(page))
    yield from _dreams(page, starts)
    seen: dict[str, int] = {}
    for piece in pieces(lines):
        if piece.key and is_bookkeeping(piece.key, ""):
            yield LeftOut(f"{_source(page)}:{piece.lines[0].number}", "bookkeeping", "counted")
            continue
        name = f"{piece.heading}: {piece.key}" if piece.key and piece.heading else piece.key
        item = name or f"# {piece.heading}"
        seen[item] = seen.get(item, 0) + 1
        item += f" ({seen[item]})" if seen[item] > 1 else ""
        yield _piece(page, piece, name, item)


def _piece(page: Page, piece: Piece, name: str, item: str) -> Found:
    title = piece.key or piece.heading or page.stem
    others = known_fields(page.fields)
    first, last = piece.lines[0].number, piece.lines[-1].number
    memory = Memory(
        id=name or title,
        body=piece.text,
        kind=_CORE,
        title=title,
        summary=piece.heading if piece.key else "",
        place=Place(room=_CORE),
        origin=Origin(_source(page), line_start=first, line_end=last),
        aliases=listed([piece.key]) if slug(name) != piece.key else (),
        created=page.changed,
        updated=page.changed,
        extra={"frontmatter": others} if others else {},
    )
    return Found(memory, item, listed([title, name]), _links(piece.text, ""))


def logged(page: Page) -> Iterator[Found | LeftOut]:
    """A page below `memory`: of a day, or about something."""
    lines, starts = awake(_lines(page))
    yield from _dreams(page, starts)
    body = page.body
    if starts:
        body = "".join(f"{line.raw}\n" for line in lines)
        if not any(line.text.strip() and not line.heading[0] for line in lines):
            yield LeftOut(_source(page), "nothing but dreaming", "counted")
            return
    below = page.folder.partition("/")[2]
    happened = leading_moment(page.stem)
    kind = _DAILY if happened else kind_of(text_of(page.fields, "type"), _CORE)
    room = kind if happened or not below else room_of(below)
    count = f"{len(starts)} block{'s' if len(starts) > 1 else ''} of dreaming left out"
    yield _whole(page, body, kind, room, happened, (count,) if starts else ())


def about_user(page: Page) -> Iterator[Found]:
    """`USER.md`."""
    yield _whole(page, page.body, "user", "", "", ())


def open_page(page: Page) -> Iterator[Found]:
    """A page of the Open Knowledge Format."""
    fields = page.fields
    said = text_of(fields, "type").removeprefix(_OKF)
    found = _whole(page, page.body, kind_of(said, "reference"), room_of(page.folder), "", ())
    at = millis(fields, "timestamp")
    others = known_fields(fields, *_OKF_KEYS)
    memory = found.memory._replace(
        title=text_of(fields, "title") or found.memory.title,
        summary=text_of(fields, "description"),
        tags=texts_of(fields, "tags"),
        happened_at=day_of("", fields, "timestamp"),
        created=at or page.changed,
        updated=at or page.changed,
        extra={"frontmatter": others} if others else {},
    )
    yield found._replace(memory=memory)


def _whole(
    page: Page, body: str, kind: str, room: str, happened: str, problems: tuple[str, ...]
) -> Found:
    heading = _TITLE.match(body)
    others = known_fields(page.fields)
    memory = Memory(
        id=page.stem,
        body=body,
        kind=kind,
        title=heading[1].strip() if heading else page.stem,
        place=Place(room=room),
        origin=origin_of(page),
        happened_at=happened,
        created=page.changed,
        updated=page.changed,
        extra={"frontmatter": others} if others else {},
    )
    known_as = listed([page.relative.removesuffix(".md"), page.stem, memory.title])
    return Found(memory, "", known_as, _links(body, page.folder), problems)


def _links(body: str, folder: str) -> tuple[Link, ...]:
    text = prose(body)
    return tuple(dict.fromkeys([*wikilinks(text), *markdown_links(text, folder)]))


def _dreams(page: Page, starts: list[int]) -> Iterator[LeftOut]:
    for number in starts:
        yield LeftOut(f"{_source(page)}:{number}", _DREAMS, "counted")


def _lines(page: Page) -> list[Line]:
    lines = lines_of(page.body)
    above = page.lines - len(lines)
    return [line._replace(number=line.number + above) for line in lines]


def _source(page: Page) -> str:
    return origin_of(page).source
