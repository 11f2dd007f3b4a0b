"""Which program laid out a folder of notes, by what lies in it: names, and the heads of some pages.

Only looked at: nothing is followed, and what cannot be read says nothing. What is in a note is its
dialect's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from camillo.records import NamedTuple
from camillo.text.frontmatter import FrontmatterError, read
from camillo.text.frontmatter_lines import by_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["form_of", "is_commonplace", "is_workspace", "only_open_pages", "template_folders"]

_LOOKED_AT = 50  # pages whose heads tell
_HEAD = 64 * 1024  # bytes of a page
_TYPES = ("user", "feedback", "project", "reference")
_PLAN, _INDEX, _DAYS, _OPEN_PAGES, _VAULT = "ROOT.md", "MEMORY.md", "memory", "okf", ".obsidian"
_PAGES = frozenset({"root.md", "index.md", "readme.md", "memory.md"})
_NOT_ROOMS = frozenset({"index", "backups"})  # camillo's own, in a folder of notes

# Files that tell an agent of the OpenClaw family what it is: no other folder of notes has two.
_SIGNS = frozenset({"SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md", "USER.md"})
_AGENTS = _SIGNS | {"AGENTS.md"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d).*\.md\Z")
_LISTED = re.compile(r"^\s*[-*+]\s+\[[^\]\n]+\]\([^)/\n]+\.md\)", re.MULTILINE)

_OF_COMMONPLACE = re.compile("[a-z0-9_]+")
_OF_CAMILLO = frozenset({"name", "description", "type"})
_TIMES = frozenset(
    {"created", "updated"}
)  # keys that camillo gives a note, and commonplace does not


class _Tree(NamedTuple):
    """The names in a folder, its pages without those that list others, and the rooms with pages."""

    folder: str
    names: frozenset[str]
    flat: tuple[str, ...]
    rooms: dict[str, tuple[str, ...]]


def form_of(folder: str) -> str:
    """The dialect of its notes; camillo's own reads what is none of the others."""
    tree = _tree(folder)
    if _VAULT in tree.names:
        return "camillo"
    for form, looks_so in (
        ("nullclaw", _is_agents),
        ("oc", _is_oc),
        ("commonplace", _is_commonplace),
        ("claude", _is_claude),
    ):
        if looks_so(tree):
            return form
    # An index that lists nothing, beside no page of its own, holds the memories itself.
    alone = _INDEX in tree.names and not tree.flat and not tree.rooms
    return "nullclaw" if alone else "camillo"


def is_workspace(folder: str) -> bool:
    """An agent's of the OpenClaw family, by pages of days below `memory`, or by what it is told to
    be."""
    names, _ = _entries(folder)
    signs = len(names & _SIGNS) + (_INDEX in names and bool(names & _SIGNS))
    return signs > 1 or any(map(_DAY.match, _entries(os.path.join(folder, _DAYS))[0]))


def only_open_pages(folder: str) -> bool:
    """Does it hold pages of the Open Knowledge Format below `okf`, and no others?"""
    return _holds_only(_tree(folder), {_OPEN_PAGES})


def is_commonplace(folder: str) -> bool:
    """By a sidecar, or by nothing but flat notes called by their files, with the keys that each
    note of commonplace has."""
    return _is_commonplace(_tree(folder))


def template_folders(folder: str) -> frozenset[str]:
    """The folders of templates in a vault of Obsidian, as its plugins name them, case folded; none
    in another folder."""
    settings = os.path.join(folder, _VAULT)
    if not os.path.isdir(settings):
        return frozenset()
    import json

    found = {"templates", "template"}
    for name, key in (
        ("templates.json", "folder"),
        ("plugins/templater-obsidian/data.json", "templates_folder"),
    ):
        try:
            with open(os.path.join(settings, name), encoding="utf-8") as file:
                named = json.load(file).get(key)
        except (OSError, ValueError, AttributeError):
            continue  # no such plugin
        if isinstance(named, str) and named.strip("/"):
            found.add(named.strip("/").casefold())
    return frozenset(found)


# --- forms --------------------------------------------------------------------------------------


def _is_agents(tree: _Tree) -> bool:
    if _INDEX in tree.names and (tree.names & _AGENTS or {_DAYS, _OPEN_PAGES} & tree.rooms.keys()):
        return True
    if _holds_only(tree, {_DAYS, _OPEN_PAGES}):
        return _OPEN_PAGES in tree.rooms or is_workspace(tree.folder)
    return bool(tree.names & _AGENTS) and is_workspace(tree.folder)


def _is_oc(tree: _Tree) -> bool:
    """By a note that names its own path, or by a plan over notes that are not camillo's."""
    notes = [f"{room}/{name}" for room, names in tree.rooms.items() for name in names]
    heads = list(_heads(tree.folder, notes))
    if any(fields.get("id") == path for path, fields in heads):
        return True
    if _PLAN not in tree.names or tree.flat:
        return False
    if os.path.basename(tree.folder) == ".memory":
        return True
    led = "<!-- auto:begin" in _text(os.path.join(tree.folder, _PLAN))
    return led and bool(heads) and not any(_OF_CAMILLO & fields.keys() for _, fields in heads)


def _is_commonplace(tree: _Tree) -> bool:
    if any(name.endswith(".embedding") for name in tree.names):
        return True
    if tree.rooms or not tree.flat or {_PLAN, _INDEX} & tree.names:
        return False
    return all(_has_its_keys(path, fields) for path, fields in _heads(tree.folder, tree.flat))


def _has_its_keys(path: str, fields: dict[str, Any]) -> bool:
    stem = path.removesuffix(".md")
    return (
        fields.get("name") == stem
        and _OF_COMMONPLACE.fullmatch(stem) is not None
        and isinstance(fields.get("description"), str)
        and fields.get("type") in _TYPES
        and not _TIMES & fields.keys()
    )


def _is_claude(tree: _Tree) -> bool:
    """By an index that lists pages beside it, or by pages as Claude Code writes them."""
    if tree.rooms:
        return _INDEX in tree.names and _lists_pages(tree)
    if _INDEX in tree.names:
        return bool(tree.flat) or _lists_pages(tree)
    heads = [fields.get("metadata") for _, fields in _heads(tree.folder, tree.flat)]
    return any(isinstance(said, dict) and said.get("type") in _TYPES for said in heads)


def _lists_pages(tree: _Tree) -> bool:
    return _LISTED.search(_text(os.path.join(tree.folder, _INDEX))) is not None


def _holds_only(tree: _Tree, rooms: set[str]) -> bool:
    """Pages in these rooms, and nowhere else."""
    return not tree.flat and bool(tree.rooms) and tree.rooms.keys() <= rooms


# --- what is there ------------------------------------------------------------------------------


def _tree(folder: str) -> _Tree:
    names, folders = _entries(folder)
    rooms = {}
    for name in sorted(folders):
        if name[0] != "." and name.lower() not in _NOT_ROOMS:
            rooms[name] = _pages_in(os.path.join(folder, name))
    return _Tree(folder, names, _pages(names), {name: held for name, held in rooms.items() if held})


def _pages_in(room: str) -> tuple[str, ...]:
    """Those in a room; where it holds none but rooms, those in these, by their paths."""
    names, folders = _entries(room)
    if pages := _pages(names):
        return pages
    return tuple(
        f"{inner}/{name}"
        for inner in sorted(folders)
        for name in _pages(_entries(os.path.join(room, inner))[0])
    )


def _pages(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        name for name in sorted(names)
        if name.endswith(".md") and name[0] != "." and name.lower() not in _PAGES
    )  # fmt: skip


def _entries(folder: str) -> tuple[frozenset[str], frozenset[str]]:
    """All names in a folder, and those of folders."""
    try:
        with os.scandir(folder) as entries:
            there = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
    except OSError:
        return frozenset(), frozenset()
    return frozenset(name for name, _ in there), frozenset(name for name, below in there if below)


def _heads(folder: str, paths: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The first pages with the fields of their frontmatter; {} where there is none."""
    for path in islice(paths, _LOOKED_AT):
        content = _head(os.path.join(folder, *path.split("/")))
        try:
            yield path, dict(read(content).fields)
        except FrontmatterError:
            yield path, _by_lines(content)


def _by_lines(content: bytes) -> dict[str, Any]:
    try:
        return dict(by_lines(content)[0])
    except (ValueError, FrontmatterError):
        return {}


def _text(path: str) -> str:
    return _head(path).decode("utf-8", "replace")


def _head(path: str) -> bytes:
    """The beginning of an ordinary file; nothing of what is none."""
    try:
        if os.path.islink(path) or not os.path.isfile(path):
            return b""
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""
