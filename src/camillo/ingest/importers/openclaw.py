"""OpenClaw: an agent's workspace. `MEMORY.md`, the pages below `memory`, `USER.md`; and what an
agent of its family keeps beside them in a database.

The other files of the workspace tell the agent what to do: they are counted. So is what a machine
keeps in `memory/.dreams`, and what dreaming wrote: it is made of the agent's own searches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

from camillo.errors import InvalidValue, NotFound
from camillo.ingest.importers._agent_pages import about_user, curated, logged, open_page
from camillo.ingest.importers._entries import memories_in
from camillo.ingest.importers._entry_files import Entry, entries, holds_entries
from camillo.ingest.importers._pages import Page, pages, read_page
from camillo.ingest.importers.note import Found, LeftOut
from camillo.layouts import is_workspace
from camillo.text.frontmatter import FrontmatterError, readable, to_text
from camillo.text.frontmatter_lines import by_lines
from camillo.text.printable import printable

__all__ = ["OpenclawImporter", "databases", "holds_database", "read_workspace", "rows_of"]

_CORE, _USER, _DAYS, _OKF = "memory.md", "user.md", "memory", "okf"
_INSTRUCTIONS = frozenset(
    f"{name}.md"
    for name in ("agents", "boot", "bootstrap", "config", "heartbeat", "identity", "soul", "tools")
)
_DREAMS = ("dreams.md", "memory/dreaming")
_STATE = "memory/.dreams"

# The full ones first: a snapshot holds a part of what the database does.
_DATABASES = ("memory.db", "brain.db", "memory/brain.db", "MEMORY_SNAPSHOT.json")


class OpenclawImporter:
    name = "openclaw"
    default = "~/.openclaw/workspace"

    def recognises(self, path: str) -> bool:
        return is_workspace(path)

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        if not os.path.isdir(path):
            raise NotFound(
                f"there is no folder {printable(path)}: give the agent's workspace, which holds "
                "MEMORY.md"
            )
        yield from read_workspace(path)


def read_workspace(path: str) -> Iterator[Found | LeftOut]:
    """Its pages, then its databases. Raises NotFound for a folder that holds neither."""
    held = databases(path)
    beside = tuple(os.path.join(printable(path), name) for name in _DATABASES)
    pages_read = 0
    for each in pages(path, _why_not):
        if not isinstance(each, LeftOut):
            pages_read += 1
            yield from _read(*each)
        elif not each.where.startswith(beside):
            yield each
    if not pages_read and not held:
        raise NotFound(
            f"there is no MEMORY.md, no {_DAYS}/ and no memory.db in {printable(path)}: give the "
            "agent's workspace, or a file"
        )
    yield from _rows_in(held)


def holds_database(path: str) -> bool:
    return any(map(holds_entries, databases(path)))


def databases(path: str) -> list[str]:
    """Files of a workspace that may hold entries, the fullest first."""
    found = (os.path.join(path, *name.split("/")) for name in _DATABASES)
    return [each for each in found if os.path.isfile(each) and not os.path.islink(each)]


def rows_of(path: str) -> Iterator[Found | LeftOut]:
    """The memories of one file of entries. Raises InvalidValue for a database of something else."""
    yield from _memories(path, entries(path))


def _rows_in(paths: Sequence[str]) -> Iterator[Found | LeftOut]:
    """One that stands in an earlier file too counts once."""
    earlier: set[bytes] = set()
    for path in paths:
        try:
            yield from _memories(path, _once(entries(path), earlier))
        except InvalidValue as error:
            yield LeftOut(printable(path), str(error))


def _memories(path: str, found: Iterator[Entry | LeftOut]) -> Iterator[Found | LeftOut]:
    changed = os.stat(path).st_mtime_ns // 1_000_000
    yield from memories_in(found, printable(os.path.realpath(path)), changed)


def _once(found: Iterator[Entry | LeftOut], earlier: set[bytes]) -> Iterator[Entry | LeftOut]:
    here: set[bytes] = set()
    for each in found:
        if isinstance(each, Entry):
            text = f"{len(each.key)}:{each.key}{each.text}".encode("utf-8", "surrogatepass")
            hash_ = blake2b(text, digest_size=16).digest()
            if hash_ in earlier:
                yield LeftOut("", "in another file too", "counted")
                continue
            here.add(hash_)
        yield each
    earlier |= here


def _why_not(relative: str, folder: bool) -> str:
    name = relative.rpartition("/")[2]
    if relative == _STATE:
        return "machine state"
    if name.startswith("."):
        return "hidden"
    if relative.casefold() in _DREAMS:
        return "dreaming"
    if "/" in relative:
        return "page" if relative.casefold() in ("okf/index.md", "okf/readme.md") else ""
    if folder:
        return "" if name in (_DAYS, _OKF) else "folder of the workspace"
    if name.casefold() in _INSTRUCTIONS:
        return "instructions"
    return "" if name.casefold() in (_CORE, _USER) or not name.endswith(".md") else "no memory"


def _read(path: str, relative: str) -> Iterator[Found | LeftOut]:
    page = read_page(path, relative, mend=_whole)
    if isinstance(page, LeftOut):
        yield page
        return
    yield from _reader(page)(page)


def _reader(page: Page) -> Callable[[Page], Iterator[Found | LeftOut]]:
    top = page.relative.partition("/")[0]
    if top in (_DAYS, _OKF):
        return logged if top == _DAYS else open_page
    return about_user if top.casefold() == _USER else curated


def _whole(content: bytes) -> tuple[dict[str, object], str]:
    """Of pages that have no frontmatter: a line `---` at the start divides."""
    try:
        fields, body = by_lines(content)
        return dict(fields), body
    except (ValueError, FrontmatterError):
        return {}, readable(to_text(content))
