"""The claude dialect: what Claude Code remembers of a project, one flat folder of pages and the
index `MEMORY.md`, a line `- [Title](file.md) — hook` a page, which is a page and no note.

A note is called by its file, to which the index links; `name` is its title. `type` stands at the
top, or inside `metadata` beside `node_type`, as newer versions write it: a key is changed where it
stands. A frontmatter that is no YAML is read line by line, and then cannot be edited.
"""

from __future__ import annotations

import re

from camillo.engines.markdown._editing import edited, made
from camillo.engines.markdown._fields import Fields
from camillo.engines.markdown._names import CONFLICT, check_new, check_slug
from camillo.errors import InvalidValue, NoteBroken
from camillo.model import Memory
from camillo.text.frontmatter import FrontmatterError
from camillo.text.frontmatter_lines import by_lines
from camillo.text.printable import printable
from camillo.text.yaml_edit import REMOVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ClaudeDialect"]

_TYPES = ("user", "feedback", "project", "reference")
_ELSE = "reference"  # of a page that says no type
_INDEX = "memory.md"
_KEYS = frozenset({"name", "description", "type", "metadata"})


class ClaudeDialect:
    name = "claude"
    fields = frozenset({"id", "body", "kind", "title", "summary", "extra"})
    locks = False
    kinds: tuple[str, ...] = _TYPES
    relations: tuple[str, ...] = ()
    marks_superseded = False
    usage = ""
    listing = "MEMORY.md"
    not_rooms: frozenset[str] = frozenset()

    def is_note(self, path: str) -> bool:
        if not path.endswith(".md") or path[:1] == "." or "/" in path or path.lower() == _INDEX:
            return False
        return ".conflict-" not in path or re.fullmatch(CONFLICT, path) is None

    def enters(self, folder: str) -> bool:
        return not folder

    def parse(self, path: str, content: bytes) -> Memory:
        if printable(path) != path:
            raise NoteBroken(f"{printable(path)}: the name of this file is no UTF-8", path, 1)
        try:
            fields = Fields(path, content)
        except NoteBroken:
            return _by_lines(path, content)
        metadata = fields.values.get("metadata")
        nested = metadata if isinstance(metadata, dict) else {}
        kind = fields.text("type") or str(nested.get("type") or "")
        if kind and kind not in _TYPES:
            fields.report(f"type {kind!r} is none of {', '.join(_TYPES)}", "type")
        extra = _extra(fields)
        return Memory(
            id=fields.stem,
            body=fields.body,
            kind=kind or _ELSE,
            title=fields.text("name") or fields.stem,
            summary=fields.text("description"),
            extra=extra,
        )

    def render(self, memory: Memory, former: bytes | None = None) -> bytes:
        if former is None:
            _check(memory)
            nested = {"node_type": "memory", "type": memory.kind}
            fields: dict[str, Any] = {"name": memory.title or memory.id}
            fields |= {"description": memory.summary, "metadata": nested}
            return made(fields | _others(memory), memory.body)
        path = f"{memory.id}.md"
        then = self.parse(path, former)
        if memory.kind != then.kind:
            _check(memory)
        return edited(former, _changes(then, memory, Fields(path, former)), memory.body)

    def path_of(self, memory: Memory) -> str:
        check_slug(memory.id)
        path = f"{memory.id}.md"
        check_new(path)
        if not self.is_note(path):
            raise InvalidValue(f"{memory.id!r} is the name of the index: choose another")
        return path

    def id_of(self, name: str, room: str) -> str:
        return name

    def line(self, memory: Memory, path: str) -> str:
        title = re.sub(r"[\[\]\s]+", " ", memory.title or memory.id).strip()
        hook = " ".join(memory.summary.split())
        return f"- [{title}]({path})" + (f" — {hook}" if hook else "")


def _by_lines(path: str, content: bytes) -> Memory:
    """A page that no YAML parser takes. Raises NoteBroken, the parser's, where lines do not help
    either."""
    try:
        said, body = by_lines(content)
    except (ValueError, FrontmatterError):
        Fields(path, content)
        raise
    stem = path.rpartition("/")[2].removesuffix(".md")
    problem = "line 1: this frontmatter is no YAML; read line by line, and not to be edited here"
    others = {key: value for key, value in said.items() if key not in (*_KEYS, "node_type")}
    return Memory(
        id=stem,
        body=body,
        kind=said.get("type", _ELSE),
        title=said.get("name", stem),
        summary=said.get("description", ""),
        extra={**({"frontmatter": others} if others else {}), "problems": [problem]},
    )


def _extra(fields: Fields) -> dict[str, Any]:
    others = fields.others(_KEYS)
    metadata = fields.values.get("metadata")
    if isinstance(metadata, dict):
        more = {key: value for key, value in metadata.items() if key not in ("type", "node_type")}
        others |= {key: value for key, value in more.items() if key not in others}
    extra: dict[str, Any] = {"frontmatter": others} if others else {}
    return {**extra, "problems": fields.problems} if fields.problems else extra


def _others(memory: Memory) -> dict[str, Any]:
    others = memory.extra.get("frontmatter", {})
    return {key: value for key, value in others.items() if key not in _KEYS}


def _changes(then: Memory, now: Memory, fields: Fields) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if now.title != then.title:
        changes["name"] = now.title or REMOVE
    if now.summary != then.summary:
        changes["description"] = now.summary or REMOVE
    if now.kind != then.kind:
        metadata = fields.values.get("metadata")
        if "type" not in fields.values and isinstance(metadata, dict):
            changes["metadata"] = {**metadata, "type": now.kind}
        else:
            changes["type"] = now.kind
    before = _others(then)
    return changes | {
        key: value
        for key, value in _others(now).items()
        if key not in before or value != before[key]
    }


def _check(memory: Memory) -> None:
    if memory.kind not in _TYPES:
        raise InvalidValue(
            f"{memory.kind!r} is no type of a page of Claude Code; known: {', '.join(_TYPES)}"
        )
