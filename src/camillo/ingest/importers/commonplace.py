"""commonplace: a flat folder of notes. As such it opens in place; this copies it into a root."""

from __future__ import annotations

import os
from collections.abc import Iterator

from camillo import registry
from camillo.errors import CamilloError, NotFound
from camillo.ingest.importers._pages import heading, listed
from camillo.ingest.importers.note import Found, LeftOut, Link
from camillo.layouts import is_commonplace
from camillo.model import Memory, Origin
from camillo.ports import NoteFolder, NoteStat
from camillo.text.printable import printable

__all__ = ["CommonplaceImporter"]

_KEYS = ("relations", "supersedes")


class CommonplaceImporter:
    name = "commonplace"
    default = "~/.commonplace/memory"

    def recognises(self, path: str) -> bool:
        """As an open folder of it, or by a note with relations or supersedes."""
        if not os.path.isdir(path):
            return False
        if is_commonplace(path):
            return True
        folder = registry.open_note_folder(self.name, path, False)
        notes = (_parsed(folder, name) for name in sorted(folder.scan()[0]))
        return any(isinstance(note, Memory) and note.edges for note in notes)

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        if not os.path.isdir(path):
            raise NotFound(f"there is no folder {printable(path)}: give the path of one")
        folder = registry.open_note_folder(self.name, path, False)
        notes, unreadable = folder.scan()
        for _ in unreadable:
            yield LeftOut(printable(path), "cannot be read", "failed")
        for name, stat in sorted(notes.items()):
            note = _parsed(folder, name)
            yield note if isinstance(note, LeftOut) else _found(note, folder.folder, name, stat)


def _parsed(folder: NoteFolder, name: str) -> Memory | LeftOut:
    path = printable(os.path.join(folder.folder, name))
    try:
        return folder.dialect.parse(name, folder.read(name))
    except CamilloError as error:
        line = getattr(error, "line", 0)
        return LeftOut(f"{path}:{line}" if line else path, str(error), "failed")


def _found(note: Memory, folder: str, name: str, stat: NoteStat) -> Found:
    problems = tuple(note.extra.get("problems", ()))
    others = {key: value for key, value in note.extra.items() if key != "problems"}
    path = printable(os.path.realpath(os.path.join(folder, name)))
    changed = stat.mtime_ns // 1_000_000
    memory = note._replace(
        title=heading(note.body) or note.id,
        edges=(),
        origin=Origin(path, line_start=1),
        created=changed,
        updated=changed,
        extra=others,
    )
    links = tuple(Link(edge.target, edge.relation) for edge in note.edges)
    known_as = listed([note.id, name.removesuffix(".md")])
    return Found(memory, known_as=known_as, links=links, problems=problems)
