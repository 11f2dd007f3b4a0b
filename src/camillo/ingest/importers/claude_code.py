"""Claude Code's memory: `projects/<project>/memory/*.md`, one page a memory, and an index.

MEMORY.md is the index: it becomes no note, but gives titles and summaries to pages that have none.
A frontmatter that is no YAML is read line by line, as other readers of these files do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from camillo.errors import NotFound
from camillo.ingest.importers._links import markdown_links, prose, wikilinks
from camillo.ingest.importers._pages import (
    Page,
    heading,
    kind_of,
    known_fields,
    listed,
    millis,
    origin_of,
    pages,
    read_page,
    text_of,
)
from camillo.ingest.importers.note import Found, LeftOut, Source
from camillo.layouts import is_commonplace
from camillo.model import Memory, Place
from camillo.text.frontmatter_lines import by_lines
from camillo.text.printable import printable

__all__ = ["ClaudeCodeImporter", "sources"]

_TYPES = ("user", "feedback", "project", "reference")
_ELSE = "reference"
_INDEX = "memory.md"
_AGENTS = frozenset({"SOUL.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"})  # OpenClaw's
_COMMONPLACE = frozenset({"relations", "supersedes"})  # keys that only its notes have
_LINE = re.compile(r"^\s*[-*+]\s+\[([^\]\n]+)\]\(([^)\n]+\.md)\)\s*(?:[-–—:]+\s*(.*\S))?\s*$")
_KNOWN = ("name", "title", "description", "type", "metadata", "created", "updated")


class ClaudeCodeImporter:
    name = "claude-code"
    default = "~/.claude/projects"

    def recognises(self, path: str) -> bool:
        return any(_is_memory(each.path) for each in sources(path))

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        """A memory folder, a project's folder, or the folder of all projects."""
        if not os.path.isdir(path):
            raise NotFound(f"there is no folder {printable(path)}: give the path of one")
        for source in sources(path):
            yield from _read_folder(source.path)


def sources(path: str) -> list[Source]:
    """The memory folders at or below a path, each once also where a link leads to it again."""
    below = [path, os.path.join(path, "memory")]
    try:
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries)
        below += [os.path.join(path, name, "memory") for name in names]
    except OSError:
        pass
    if os.path.basename(os.path.realpath(path)) != "memory":
        below = below[1:] if any(map(_pages_in, below[1:])) else below
    else:
        below = below[:1]
    folders = dict.fromkeys(os.path.realpath(folder) for folder in below)
    counted = ((folder, _pages_in(folder)) for folder in folders)
    return [Source(printable(folder), count) for folder, count in counted if count]


def _pages_in(folder: str) -> int:
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    return sum(name.endswith(".md") and name.lower() != _INDEX for name in names)


def _is_memory(folder: str) -> bool:
    """By its index, or by a page that says what type it is."""
    names = os.listdir(folder)
    if not _AGENTS.isdisjoint(names):
        return False
    if any(name.lower() == _INDEX for name in names):
        return True
    if is_commonplace(folder):
        return False
    found = False
    for each in pages(folder, _why_not):
        page = each if isinstance(each, LeftOut) else read_page(*each, mend=by_lines)
        if isinstance(page, Page):
            if not _COMMONPLACE.isdisjoint(page.fields):
                return False
            found = found or _said(page.fields, "type") in _TYPES
    return found


def _why_not(relative: str, folder: bool) -> str:
    if folder or relative.startswith("."):
        return "hidden" if relative.startswith(".") else "folder"
    return "index" if relative.lower() == _INDEX else ""


def _read_folder(folder: str) -> Iterator[Found | LeftOut]:
    hooks, wing = _index(folder), _wing(folder)
    for each in pages(folder, _why_not):
        page = each if isinstance(each, LeftOut) else read_page(*each, mend=by_lines)
        yield page if isinstance(page, LeftOut) else _found(page, wing, hooks)


def _found(page: Page, wing: str, hooks: dict[str, tuple[str, str]]) -> Found:
    fields, text = page.fields, prose(page.body)
    hook = hooks.get(page.relative, ("", ""))
    name = _said(fields, "name") or page.stem
    said = _said(fields, "type")
    kind, problems = kind_of(said, _ELSE), []
    if said and said not in _TYPES:
        problems.append(f"type {said!r} is none of {', '.join(_TYPES)}")
    metadata = fields.get("metadata")
    others = known_fields(fields, *_KNOWN)
    if isinstance(metadata, dict):
        others |= known_fields(metadata, "type", "node_type")
    memory = Memory(
        id=name,
        body=page.body,
        kind=kind,
        title=_said(fields, "title") or heading(page.body) or hook[0] or name,
        summary=_said(fields, "description") or hook[1],
        place=Place(wing),
        origin=origin_of(page),
        created=millis(fields, "created") or page.changed,
        updated=millis(fields, "updated") or page.changed,
        extra={"frontmatter": others} if others else {},
    )
    links = dict.fromkeys([*wikilinks(text), *markdown_links(text, "")])
    known_as = listed([page.stem, name])
    return Found(memory, known_as=known_as, links=tuple(links), problems=tuple(problems))


def _said(fields: dict[str, Any], key: str) -> str:
    """Newer pages have some keys inside `metadata`."""
    metadata = fields.get("metadata")
    return text_of(fields, key) or (text_of(metadata, key) if isinstance(metadata, dict) else "")


def _index(folder: str) -> dict[str, tuple[str, str]]:
    """File name → (title, summary), of the lines `- [Title](file.md) — when it matters`."""
    found: dict[str, tuple[str, str]] = {}
    for each in sorted(os.listdir(folder)):
        page = read_page(os.path.join(folder, each), each) if each.lower() == _INDEX else None
        if isinstance(page, Page):
            lines = filter(None, map(_LINE.match, page.body.splitlines()))
            found.update({line[2]: (line[1].strip(), line[3] or "") for line in lines})
    return found


def _wing(folder: str) -> str:
    """The project's name. `-home-ada-my-shop` says where it is, with `-` for each `/` and more: the
    folder that is there tells which."""
    coded = os.path.basename(os.path.dirname(folder))
    path = _decoded("/", coded.removeprefix("-").split("-")) if coded.startswith("-") else ""
    return printable(os.path.basename(path) or coded.strip("-"))


def _decoded(folder: str, words: list[str]) -> str:
    """The path below `folder` that these words may stand for; "" where none is there."""
    if not words:
        return folder
    for count in range(len(words), 0, -1):
        below = os.path.join(folder, "-".join(words[:count]))
        if os.path.isdir(below) and (found := _decoded(below, words[count:])):
            return found
    return ""
