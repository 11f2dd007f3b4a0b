"""The commonplace dialect: one flat folder of `<name>.md`, readable and writable by commonplace 0.7
at the same time.

Keys are name, description, type, relations, supersedes and pinned; a note that we make has the
bytes that commonplace gives it. Where commonplace would refuse a file, the note is kept and told
what is wrong, in `extra["problems"]`; a file without a frontmatter is no note here.
"""

from __future__ import annotations

import re

from camillo.engines.markdown._editing import check_edges, edge_entries, edge_lists, edited, made
from camillo.engines.markdown._fields import Fields
from camillo.engines.markdown._names import CONFLICT, check_new
from camillo.errors import InvalidValue, NoteBroken
from camillo.model import Memory
from camillo.text.printable import printable
from camillo.text.yaml_edit import REMOVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CommonplaceDialect"]

_TYPES = ("user", "feedback", "project", "reference")
_RELATIONS = ("related-to", "builds-on", "contradicts", "child-of")
_KEYS = frozenset({"name", "description", "type", "relations", "supersedes", "pinned"})
_ELSE = "reference"  # of a note that says no type


class CommonplaceDialect:
    name = "commonplace"
    fields = frozenset({"id", "body", "kind", "summary", "edges", "pinned", "extra"})
    locks = True
    kinds: tuple[str, ...] = _TYPES
    relations: tuple[str, ...] = (*_RELATIONS, "supersedes")
    marks_superseded = False
    usage = ""
    listing = ""
    not_rooms: frozenset[str] = frozenset()

    def is_note(self, path: str) -> bool:
        return path.endswith(".md") and path[:1] != "." and "/" not in path and not _conflict(path)

    def enters(self, folder: str) -> bool:
        return not folder

    def parse(self, path: str, content: bytes) -> Memory:
        fields = Fields(path, content)
        if not fields.has_frontmatter:
            raise NoteBroken(
                f"{printable(path)}: a commonplace note starts with a line '---'",
                printable(path),
                1,
            )
        name = _text(fields, "name") or printable(fields.stem)
        kind = _text(fields, "type")
        if kind and kind not in _TYPES:
            fields.report(f"type {kind!r} is none of {', '.join(_TYPES)}", "type")
        memory = Memory(
            id=name,
            body=fields.body,
            kind=kind or _ELSE,
            title=name,
            summary=_text(fields, "description"),
            edges=fields.edges(name, _RELATIONS, _is_name),
            pinned=fields.flag("pinned"),
        )
        return memory._replace(extra=_extra(fields))

    def render(self, memory: Memory, former: bytes | None = None) -> bytes:
        if former is None:
            _check_kind(memory.kind)
            check_edges(memory.id, memory.edges, _RELATIONS, _is_name)
            return made(_fields(memory), memory.body)
        then = self.parse(f"{memory.id}.md", former)
        changes = _changes(then, memory)
        if memory.edges != then.edges:
            check_edges(memory.id, memory.edges, _RELATIONS, _is_name)
            now = Fields("", former).values
            changes |= edge_lists(now, then.edges, memory.edges, _RELATIONS, _is_name)
        return edited(former, changes, memory.body)

    def path_of(self, memory: Memory) -> str:
        if not _is_name(memory.id):
            raise InvalidValue(
                f"{memory.id!r} is no name in a commonplace folder: "
                "lower-case letters a to z, digits and '_' make one"
            )
        path = f"{memory.id}.md"
        check_new(path)
        return path

    def id_of(self, name: str, room: str) -> str:
        return name

    def line(self, memory: Memory, path: str) -> str:
        return ""


def _conflict(path: str) -> bool:
    return ".conflict-" in path and re.fullmatch(CONFLICT, path) is not None


def _is_name(text: str) -> bool:
    return re.fullmatch("[a-z0-9_]+", text) is not None


def _text(fields: Fields, key: str) -> str:
    """A field that commonplace wants as text, and refuses a note without."""
    text = fields.text(key)
    if "\0" in text:
        fields.report(f"{key} holds a NUL; left out", key)
        text = text.replace("\0", "")
    if not isinstance(fields.values.get(key), str):
        fields.report(f"{key} is no text, so that commonplace skips this note", key)
    return text


def _extra(fields: Fields) -> dict[str, Any]:
    others = fields.others(_KEYS)
    extra: dict[str, Any] = {"frontmatter": others} if others else {}
    return {**extra, "problems": fields.problems} if fields.problems else extra


def _fields(memory: Memory) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "name": memory.id, "description": memory.summary, "type": memory.kind
    }  # fmt: skip
    edges = tuple(dict.fromkeys(memory.edges))
    for key in ("relations", "supersedes"):
        if entries := edge_entries(key, edges):
            fields[key] = entries
    if memory.pinned:
        fields["pinned"] = True
    return fields | _others(memory)


def _others(memory: Memory) -> dict[str, Any]:
    others = memory.extra.get("frontmatter", {})
    return {key: value for key, value in others.items() if key not in _KEYS}


def _changes(then: Memory, now: Memory) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if now.id != then.id:
        changes["name"] = now.id
    if now.summary != then.summary:
        changes["description"] = now.summary
    if now.kind != then.kind:
        _check_kind(now.kind)
        changes["type"] = now.kind
    if now.pinned != then.pinned:
        changes["pinned"] = now.pinned or REMOVE
    before = _others(then)
    return changes | {
        key: value
        for key, value in _others(now).items()
        if key not in before or value != before[key]
    }


def _check_kind(kind: str) -> None:
    if kind not in _TYPES:
        raise InvalidValue(f"{kind!r} is no type of a commonplace note; known: {', '.join(_TYPES)}")
