"""Markdown pages in a tree of folders, and what their frontmatter says, read with patience."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from camillo.errors import InvalidValue, NotFound
from camillo.ingest.importers.note import LeftOut
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Origin
from camillo.notes.names import slug
from camillo.text.dates import content_date
from camillo.text.frontmatter import FrontmatterError, read, readable
from camillo.text.printable import printable

__all__ = [
    "Page",
    "day_of",
    "heading",
    "kind_of",
    "known_fields",
    "listed",
    "millis",
    "origin_of",
    "pages",
    "plain",
    "read_page",
    "room_of",
    "text_of",
    "texts_of",
]

_LARGEST = 4 * 1024 * 1024  # bytes that a note may have here
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HEADING = re.compile(r"(?m)\A\s*#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*\r?$")
_NOT_ROOMS = frozenset({"index", "backups"})


class Page(NamedTuple):
    """A file as it was read. `relative` has `/` between names; times in milliseconds."""

    path: str
    relative: str
    fields: dict[str, Any]
    body: str
    changed: int
    lines: int

    @property
    def stem(self) -> str:
        return self.relative.rpartition("/")[2].removesuffix(".md")

    @property
    def folder(self) -> str:
        return self.relative.rpartition("/")[0]


def pages(
    top: str, why_not: Callable[[str, bool], str] = lambda relative, folder: ""
) -> Iterator[tuple[str, str] | LeftOut]:
    """(path, relative) of every Markdown file below `top`, folder by folder in the order of their
    names. `why_not(relative, is_folder)` says what is left out and counted. Links are not followed.
    Raises NotFound."""
    if not os.path.isdir(top):
        raise NotFound(f"there is no folder {printable(top)}: give the path of one")
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        found: list[os.DirEntry[str]] = []
        try:
            with os.scandir(os.path.join(top, *folder.split("/"))) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield LeftOut(printable(os.path.join(top, folder)), _reason(error), "failed")
        below = []
        for entry in found:
            relative = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            reason = why_not(relative, is_folder)
            if reason:
                yield LeftOut(printable(entry.path), reason, "counted")
            elif is_folder:
                below.append(relative)
            elif entry.is_symlink():
                yield LeftOut(printable(entry.path), "a link, not followed", "counted")
            elif entry.name.endswith(".md"):
                yield entry.path, printable(relative)
            else:
                yield LeftOut(printable(entry.path), "no Markdown", "counted")
        waiting += reversed(below)


def read_page(
    path: str, relative: str, mend: Callable[[bytes], tuple[dict[str, Any], str]] | None = None
) -> Page | LeftOut:
    """`mend` reads a frontmatter that is no YAML, where a format has such; raises ValueError."""
    try:
        content, status = _content(path)
    except OSError as error:
        return LeftOut(printable(path), _reason(error), "failed")
    except InvalidValue as error:
        return LeftOut(printable(path), str(error), "failed")
    try:
        note = read(content)
        fields, body = dict(note.fields), note.body
    except FrontmatterError as error:
        try:
            if mend is None:
                raise ValueError
            fields, body = mend(content)
        except (ValueError, FrontmatterError):
            return LeftOut(f"{printable(path)}:{error.line}", str(error), "failed")
    lines = content.count(b"\n") + (not content.endswith(b"\n"))
    return Page(path, relative, plain(fields), body, status.st_mtime_ns // 1_000_000, lines)


def origin_of(page: Page) -> Origin:
    return Origin(printable(os.path.realpath(page.path)), line_start=1, line_end=page.lines)


def heading(body: str) -> str:
    """The heading that a text begins with, or ""."""
    found = _HEADING.match(body)
    return found[1].strip() if found else ""


def room_of(folder: str) -> str:
    """A folder of the source as a room: safe names, and none that camillo has for itself."""
    rooms = [slug(name) for name in folder.split("/") if name]
    if rooms and rooms[0] in _NOT_ROOMS:
        rooms[0] += "_notes"
    return "/".join(rooms)


def kind_of(said: str, otherwise: str = "fact") -> str:
    """The kind that a source's type means: the type itself, but never one of what is no note."""
    kind = said.strip().casefold()
    taken = NOT_NOTES | INTERNAL_KINDS | {"note", ""}
    return otherwise if kind in taken or not kind.isprintable() else kind


def text_of(fields: dict[str, Any], *keys: str) -> str:
    """The first of these keys that holds a text."""
    values = (fields.get(key) for key in keys)
    texts = (str(each).strip() for each in values if isinstance(each, str | int | float))
    return next(filter(None, texts), "")


def texts_of(fields: dict[str, Any], *keys: str) -> tuple[str, ...]:
    """What these keys list, each once; one text counts as several between commas."""
    found: list[Any] = []
    for key in keys:
        value = fields.get(key)
        if isinstance(value, list):
            found += value
        elif isinstance(value, str | int | float):
            found += str(value).split(",")
    return listed(str(each) for each in found if isinstance(each, str | int | float))


def listed(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def millis(fields: dict[str, Any], *keys: str) -> int:
    """The first of these keys that is a date; 0 for none."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value if abs(value) >= 10**11 else value * 1000
        if isinstance(value, str) and (moment := _moment(value)) is not None:
            return (moment - _EPOCH) // timedelta(milliseconds=1)
    return 0


def day_of(name: str, fields: dict[str, Any], *keys: str) -> str:
    """The day that a note speaks of: that of a key, else the one in its name; "" for none."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and (day := content_date("", value)[0]):
            return day
    return content_date(name, "")[0] or ""


def known_fields(fields: dict[str, Any], *known: str) -> dict[str, Any]:
    """The keys that mean nothing here, as they are kept."""
    return {key: value for key, value in fields.items() if key not in known and value is not None}


def _moment(text: str) -> datetime | None:
    """Of an ISO date or time, also with a zone's name in brackets after it, else of the day that a
    text names. UTC where no zone is said."""
    plain, _, zone = text.strip().removesuffix("]").partition("[")
    try:
        moment = datetime.fromisoformat(plain)
    except ValueError:
        day = content_date("", plain)[0]
        if not day:
            return None
        moment = datetime.fromisoformat(day)
    return moment if moment.tzinfo else moment.replace(tzinfo=_zone(zone))


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name) if name else UTC
    except (ValueError, OSError, KeyError):  # no such zone here
        return UTC


def _content(path: str) -> tuple[bytes, os.stat_result]:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InvalidValue("no ordinary file")
        if status.st_size > _LARGEST:
            raise InvalidValue(
                f"{status.st_size:,} bytes are too many for a note ({_LARGEST:,}): mine it"
            )
        return file.read(_LARGEST + 1), status


def _reason(error: OSError) -> str:
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def plain(value: Any) -> Any:
    """As a store can hold it: text that is Unicode, no number that is none."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {readable(str(key)): plain(each) for key, each in value.items()}
    return value
