"""Bringing note files that may have changed into the store: which differ, what each is called, and
what is to be known of it. Reading and writing are the notebook's, what a file says its dialect's.
"""

from __future__ import annotations

from collections.abc import Mapping

from camillo.errors import CamilloError, NoteBroken, NotFound, SourceUnreadable
from camillo.model import Author, Key, Memory, replace
from camillo.ports import KnownFile, NoteStat
from camillo.text.blake2 import blake2b
from camillo.text.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.notebook.book import Notebook

__all__ = ["BY_HAND", "FILE", "TWIN", "Batch", "digest", "known_file", "problems_of"]

FILE = "file"  # in a row's `extra`: the note's path in its folder
TWIN = "~"  # between a name and its number, where several files have one name
BY_HAND = Author("", "files")
_UNSEEN = NoteStat(-1, -1)  # of a file that could not be read: it is tried again at each look
_WAS_FORGOTTEN = "its text was forgotten and stays out: remember it again, or delete the file"


class Batch:
    """Some files that may differ from what was read of them, and what is to be known of each."""

    def __init__(self, notebook: Notebook, stats: Mapping[str, NoteStat]) -> None:
        self._book = notebook
        self._stats = stats
        self.read()

    def read(self) -> None:
        book, stats = self._book, self._stats
        self.records: list[KnownFile] = []
        self._former: dict[str, KnownFile] = book.files.known(list(stats))
        self.differing: dict[str, bytes] = {}
        for path, stat in stats.items():
            held = self._former.get(path)
            try:
                content = book.folder.read(path)
            except NotFound:  # gone meanwhile: the next look says so
                continue
            except CamilloError as error:
                seen = _UNSEEN if isinstance(error, SourceUnreadable) else stat
                key = held.key if held else None
                self.records.append(KnownFile(path, seen, b"", key, (_told(error, path),), True))
                continue
            if held is None or held.hash != digest(content):
                self.differing[path] = content
            elif held.stat != stat:
                self.records.append(held._replace(stat=stat))

    def put(self, gone: set[str]) -> None:
        """Bring those that differ into the store. `gone` files hold no note any more."""
        book = self._book
        parsed = self._parsed()
        moving = gone | parsed.keys()
        taken: set[Key] = {key for each in self.records if (key := each.key)}
        memories: dict[str, Memory] = {}
        for path in sorted(parsed, key=lambda path: self._rank(path, parsed[path])):
            memories[path] = self._named(parsed[path], path, taken, moving)
            taken.add(memories[path].key)
        rows = book.store.get([memory.key for memory in memories.values()])
        carried = [
            book.carried(self._dated(memory, path), row)
            for (path, memory), row in zip(memories.items(), rows, strict=True)
        ]
        book.store.put(carried, BY_HAND, bulk=True)
        renamed = {
            key
            for path in parsed
            if (held := self._former.get(path)) and (key := held.key) and key not in taken
        }
        book.store.delete(sorted(renamed), BY_HAND, bulk=True)
        self.records += [
            known_file(path, self._stats[path], self.differing[path], each.key, problems_of(each))
            for path, each in memories.items()
        ]

    def _parsed(self) -> dict[str, Memory]:
        """The notes of those that differ; a broken one is told, and keeps the row that it had. One
        whose text was forgotten is told, and stays out."""
        book, parsed = self._book, {}
        forgotten = book.forgotten()
        for path, content in self.differing.items():
            try:
                memory = book.placed(book.folder.dialect.parse(path, content), path)
                if forgotten.hides(memory) and book.store.get([memory.key])[0] is None:
                    self.records.append(
                        known_file(path, self._stats[path], content, None, (_WAS_FORGOTTEN,))
                    )
                else:
                    parsed[path] = memory
            except NoteBroken as error:
                held = self._former.get(path)
                key = held.key if held else None
                self.records.append(
                    known_file(path, self._stats[path], content, key, (_told(error, path),), True)
                )
        return parsed

    def _dated(self, memory: Memory, path: str) -> Memory:
        """A note that does not say when it was made is as old as its file."""
        at = self._stats[path].mtime_ns // 1_000_000
        return replace(memory, created=memory.created or at, updated=memory.updated or at)

    def _rank(self, path: str, memory: Memory) -> tuple[bool, str]:
        """Who had its name before keeps it."""
        held = self._former.get(path)
        return held is None or held.key != memory.key, path

    def _named(self, memory: Memory, path: str, taken: set[Key], moving: set[str]) -> Memory:
        """Two files with one name are two memories: the later gets a number after its name."""
        named, number = memory, 1
        while named.key in taken or self._is_elsewhere(named.key, path, moving):
            number += 1
            name = f"{memory.id}{TWIN}{number}"
            problem = f"another file has the name {memory.id!r} too: this one is {name}"
            problems = [problem, *memory.extra.get("problems", ())]
            named = replace(memory, id=name, extra={**memory.extra, "problems": problems})
        return named

    def _is_elsewhere(self, key: Key, path: str, moving: set[str]) -> bool:
        """Is this note in a file that does not change now?"""
        book = self._book
        paths = {held.path for held in book.files.holding(key)}
        if not paths:  # the table is new; a row says where it was
            row = book.store.get([key])[0]
            where = row.extra.get(FILE) if row else None
            return bool(where) and where != path and book.is_there(str(where))
        return any(other not in moving and book.is_there(other) for other in paths - {path})


def known_file(
    path: str,
    stat: NoteStat,
    content: bytes,
    key: Key | None,
    problems: tuple[str, ...],
    broken: bool = False,
) -> KnownFile:
    return KnownFile(path, stat, digest(content), key, problems, broken)


def problems_of(memory: Memory) -> tuple[str, ...]:
    """What of a note could not be used, in words."""
    return tuple(map(str, memory.extra.get("problems") or ()))


def _told(error: CamilloError, path: str) -> str:
    """The message without the file's name, which stands beside it; with the line, if it has one."""
    said = str(error)
    for name in (printable(path), repr(printable(path))):
        said = said.removeprefix(name).removeprefix(":").lstrip()
    line = error.line if isinstance(error, NoteBroken) else 0
    return f"line {line}: {said}" if line else said


def digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()
