"""The nullclaw dialect: a workspace with `MEMORY.md`, `memory/<day>….md`, and pages of the Open
Knowledge Format below `okf/`.

Each file is a note. `MEMORY.md` is of kind `core`, as is a file below `memory/` whose name begins
with no day; one that does is `daily`, a page what its `type` says; entries `- **key**: text` stay
in the text, word for word. New notes are pages, since an entry has one line only. Other files
(`SOUL.md`, `AGENTS.md` …) are the agent's instructions and no memories, nor is what a machine keeps
in `memory/.dreams`.
"""

from __future__ import annotations

import re

from camillo.engines.markdown._editing import edited, made
from camillo.engines.markdown._fields import Fields, iso
from camillo.engines.markdown._names import CONFLICT, check_new, check_slug
from camillo.errors import NoteBroken
from camillo.model import Memory, Place
from camillo.text.dates import leading_moment
from camillo.text.printable import printable
from camillo.text.yaml_edit import REMOVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["NullclawDialect"]

_CORE = ("MEMORY.md", "memory.md")
_DAYS = "memory"
_PAGES = "okf"
_INDEXES = ("index.md", "readme.md")
_KEYS = frozenset({"type", "title", "description", "tags", "timestamp"})
_DEEPEST = 8  # folders below okf/ that NullClaw reads
_OF_PAGES = "okf:"  # what NullClaw puts before the type of a page


class NullclawDialect:
    name = "nullclaw"
    fields = frozenset(
        {"id", "body", "kind", "title", "summary", "place", "tags", "happened_at", "extra"}
    )
    locks = False
    kinds: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    marks_superseded = False
    usage = ""
    listing = ""
    not_rooms: frozenset[str] = frozenset()

    def is_note(self, path: str) -> bool:
        above, _, name = path.rpartition("/")
        if not name.endswith(".md") or name[0] == "." or not self.enters(above):
            return False
        if ".conflict-" in name and re.fullmatch(CONFLICT, name):
            return False
        if not above:
            return name in _CORE
        return above.partition("/")[0] == _DAYS or name.lower() not in _INDEXES

    def enters(self, folder: str) -> bool:
        if folder[:1] == "." or "/." in folder:
            return False
        top = folder.partition("/")[0]
        return top in ("", _DAYS) or (top == _PAGES and folder.count("/") <= _DEEPEST)

    def parse(self, path: str, content: bytes) -> Memory:
        if printable(path) != path:
            raise NoteBroken(f"{printable(path)}: the name of this file is no UTF-8", path, 1)
        fields = Fields(path, content)
        happened = leading_moment(fields.stem) if path.startswith(f"{_DAYS}/") else ""
        said = fields.text("type")
        stamp = fields.time("timestamp")
        extra: dict[str, Any] = {}
        if others := fields.others(_KEYS):
            extra["frontmatter"] = others
        if fields.problems:
            extra["problems"] = fields.problems
        return Memory(
            id=path.removesuffix(".md"),
            body=fields.body,
            kind=said.removeprefix(_OF_PAGES) or _kind_of(path, happened),
            title=fields.text("title") or fields.stem,
            summary=fields.text("description"),
            place=Place(room=fields.room),
            tags=fields.texts("tags"),
            happened_at=happened or (str(iso(stamp))[:10] if stamp else ""),
            extra=extra,
        )

    def render(self, memory: Memory, former: bytes | None = None) -> bytes:
        if former is None:
            fields: dict[str, Any] = {"type": memory.kind, "title": memory.title or memory.id}
            fields |= {"description": memory.summary, "tags": list(memory.tags)}
            written = iso(memory.created) if memory.created else None
            fields["timestamp"] = _day(memory) if memory.happened_at else written
            said = {key: value for key, value in fields.items() if value}
            return made(said | _others(memory), memory.body)
        then = self.parse(f"{memory.id}.md", former)
        return edited(former, _changes(then, memory), memory.body)

    def path_of(self, memory: Memory) -> str:
        *rooms, name = memory.id.removeprefix(f"{_PAGES}/").split("/")
        check_slug(name)
        if not rooms and memory.place.room not in ("", _PAGES):
            rooms = memory.place.room.removeprefix(f"{_PAGES}/").split("/")
        path = "/".join([_PAGES, *rooms, f"{name}.md"])
        check_new(path)
        return path

    def id_of(self, name: str, room: str) -> str:
        if "/" in name or name in ("MEMORY", "memory"):
            return name
        below = room.removeprefix(_PAGES).strip("/")
        return "/".join(filter(None, (_PAGES, below, name)))

    def line(self, memory: Memory, path: str) -> str:
        return ""


def _kind_of(path: str, happened: str) -> str:
    """Of a file that says no type."""
    if happened:
        return "daily"
    return "core" if path in _CORE or path.startswith(f"{_DAYS}/") else "reference"


def _day(memory: Memory) -> str | None:
    """When it happened, where that is known to the day."""
    return memory.happened_at if len(memory.happened_at) >= len("2026-05-01") else None


def _others(memory: Memory) -> dict[str, Any]:
    others = memory.extra.get("frontmatter", {})
    return {key: value for key, value in others.items() if key not in _KEYS}


def _changes(then: Memory, now: Memory) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if now.kind != then.kind:
        changes["type"] = now.kind
    if now.title != then.title:
        changes["title"] = now.title or REMOVE
    if now.summary != then.summary:
        changes["description"] = now.summary or REMOVE
    if now.tags != then.tags:
        changes["tags"] = list(now.tags) or REMOVE
    if now.happened_at != then.happened_at:
        changes["timestamp"] = _day(now) or REMOVE
    before = _others(then)
    return changes | {
        key: value
        for key, value in _others(now).items()
        if key not in before or value != before[key]
    }
