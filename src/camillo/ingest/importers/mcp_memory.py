"""The memory server of MCP: a file of entities and relations, one JSON object a line.

An entity becomes a note, its observations bullet lines; relations become edges. Read as well: lines
without a `type`, observations as objects, entities that come again (their observations are joined),
and one JSON object that holds both lists.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from camillo.errors import InvalidValue, NotFound
from camillo.ingest.importers._pages import listed, millis, plain
from camillo.ingest.importers.note import RELATED, Found, LeftOut, Link, relation_of
from camillo.model import Memory, Origin
from camillo.text.printable import printable

__all__ = ["McpMemoryImporter"]

_NAMES = ("memory.jsonl", "memory.json")
_TEXTS = ("text", "content", "observation", "contents")
_CREATED = ("createdAt", "created_at", "_savedAt", "timestamp", "created")
_UPDATED = ("updatedAt", "updated_at", "lastModified")
_LARGEST = 1 << 30  # bytes
_LONGEST = 4 * 1024 * 1024  # characters of a line


class _Item(NamedTuple):
    line: int
    said: dict[str, Any]


class McpMemoryImporter:
    name = "mcp-memory"
    default = ""

    def recognises(self, path: str) -> bool:
        """By its first entity or relation."""
        try:
            items = _items(_file(path))
            return any(isinstance(each, _Item) and _sort(each.said) for each in items)
        except (InvalidValue, NotFound, OSError):
            return False

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        file = _file(path)
        source = printable(os.path.realpath(file))
        changed = os.stat(file).st_mtime_ns // 1_000_000
        entities: dict[str, list[_Item]] = {}
        relations: list[_Item] = []
        for item in _items(file):
            if isinstance(item, LeftOut):
                yield item
            elif _sort(item.said) == "entity":
                entities.setdefault(item.said["name"], []).append(item)
            elif _sort(item.said) == "relation":
                relations.append(item)
            else:
                yield LeftOut(f"{source}:{item.line}", "neither entity nor relation", "failed")
        links = yield from _links(relations, entities, source)
        for name, items in entities.items():
            yield _found(name, items, tuple(links.get(name, ())), source, changed)


def _file(path: str) -> str:
    """The file itself, or the one that a folder holds."""
    if not os.path.isdir(path):
        if not os.path.isfile(path):
            raise NotFound(f"there is no file {printable(path)}: give the path of memory.jsonl")
        return path
    for name in _NAMES:
        if os.path.isfile(os.path.join(path, name)):
            return os.path.join(path, name)
    raise NotFound(f"there is no {' or '.join(_NAMES)} in {printable(path)}")


def _items(file: str) -> Iterator[_Item | LeftOut]:
    source = printable(os.path.realpath(file))
    if os.path.getsize(file) > _LARGEST:
        raise InvalidValue(f"{source} has more than {_LARGEST:,} bytes: split it")
    whole = _whole(file)
    if whole is not None:
        yield from whole
        return
    with open(file, encoding="utf-8-sig", errors="replace") as lines:
        for number in range(1, _LARGEST):
            line = lines.readline(_LONGEST)
            if not line:
                return
            if line.strip():
                yield _read_line(line, number, source)


def _read_line(line: str, number: int, source: str) -> _Item | LeftOut:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        return LeftOut(f"{source}:{number}", f"no JSON: {error}", "failed")
    if not isinstance(said, dict):
        return LeftOut(f"{source}:{number}", "no JSON object", "failed")
    return _Item(number, plain(said))


def _whole(file: str) -> list[_Item] | None:
    """Of a file that is one object with both lists; None for one with an object a line."""
    with open(file, encoding="utf-8-sig", errors="replace") as text:
        if not text.read(4096).lstrip().startswith(("{", "[")):
            return None
        text.seek(0)
        first = text.readline(_LONGEST)
        if _parses(first):
            said = json.loads(first)
            if not isinstance(said, dict) or "entities" not in said:
                return None
        elif os.path.getsize(file) > 64 * 1024 * 1024:
            return None
        text.seek(0)
        try:
            said = json.load(text)
        except (ValueError, RecursionError):
            return None
    if isinstance(said, list):
        return [_Item(1, plain(each)) for each in said if isinstance(each, dict)]
    if not isinstance(said, dict) or not isinstance(said.get("entities"), list):
        return None
    both = [*said["entities"], *(said.get("relations") or [])]
    return [_Item(1, plain(each)) for each in both if isinstance(each, dict)]


def _parses(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _sort(said: dict[str, Any]) -> str:
    """`entity`, `relation`, or "" for what is neither; the keys tell, a `type` may be missing."""
    if said.get("type") not in (None, "", "entity", "relation"):
        return ""
    if all(isinstance(said.get(key), str) and said[key].strip() for key in ("from", "to")):
        return "relation"
    name = said.get("name")
    return "entity" if isinstance(name, str) and name.strip() else ""


def _links(
    relations: list[_Item], entities: dict[str, list[_Item]], source: str
) -> Generator[LeftOut, None, dict[str, list[Link]]]:
    """Yields those that start nowhere; returns the others by the entity that they start from."""
    links: dict[str, list[Link]] = {}
    folded = {name.casefold(): name for name in reversed(entities)}
    for line, said in relations:
        start = said["from"] if said["from"] in entities else folded.get(said["from"].casefold())
        word = str(said.get("relationType") or "")
        where = f"{source}:{line}"
        if start is None:
            reason = f"relation {word!r} starts at {said['from']!r}, which is no entity here"
            yield LeftOut(where, reason)
            continue
        relation = relation_of(word)
        link = Link(said["to"], relation or RELATED, "" if relation else word, where)
        links.setdefault(start, []).append(link)
    return links


def _found(
    name: str, items: list[_Item], links: tuple[Link, ...], source: str, changed: int
) -> Found:
    observations = listed(text for item in items for text in _observations(item.said))
    kinds = listed(str(item.said.get("entityType") or "") for item in items)
    problems = [
        "an observation is no text; left out" for item in items if _odd_observations(item.said)
    ]
    said = {key: value for item in items for key, value in item.said.items()}
    memory = Memory(
        id=name,
        body="".join(f"- {_indented(text)}\n" for text in observations),
        title=" ".join(name.split()),
        origin=Origin(source, line_start=items[0].line, line_end=items[-1].line),
        tags=kinds,
        created=millis(said, *_CREATED) or changed,
        updated=millis(said, *_UPDATED) or changed,
    )
    return Found(memory, name, (name,), links, tuple(problems))


def _observations(said: dict[str, Any]) -> Iterator[str]:
    given = said.get("observations")
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, dict):
            each = next((each[key] for key in _TEXTS if isinstance(each.get(key), str)), None)
        if isinstance(each, str):
            yield each


def _odd_observations(said: dict[str, Any]) -> bool:
    given = said.get("observations")
    count = len(given) if isinstance(given, list) else int(given is not None)
    return count != sum(1 for _ in _observations(said))


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
