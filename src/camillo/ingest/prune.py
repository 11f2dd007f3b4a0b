"""Links of a folder's notes that lead to no note of it, taken out of their files.

Only the lines of the links change, through the dialect's own edit: pinned, unknown keys, comments
and order stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from camillo.errors import CamilloError, NoteChanged
from camillo.model import Memory, replace
from camillo.ports import NoteFolder

__all__ = ["Pruned", "prune"]

_TRIES = 3


@dataclass(slots=True)
class Pruned:
    """`files`: name of a note → how many links went; `failed`: path → why it could not be
    written."""

    files: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)


def prune(folder: NoteFolder, *, dry_run: bool = False) -> Pruned:
    """Take dangling links out of every note. A folder or note that cannot be read may hold the
    target of any link: then nothing is taken out."""
    pruned = Pruned()
    notes, unreadable = folder.scan()
    read, names = {}, set()
    for path in sorted(notes):
        stem = path.rpartition("/")[2].removesuffix(".md")
        try:
            read[path] = folder.dialect.parse(path, folder.read(path))
            names.add(read[path].id)
        except CamilloError:
            names.add(stem)  # broken, but there
    if unreadable:
        return pruned
    for path, memory in read.items():
        gone = _dangling(memory, names)
        if not gone:
            continue
        try:
            if not dry_run:
                _rewrite(folder, path, names)
            pruned.files[memory.id] = pruned.files.get(memory.id, 0) + gone
        except CamilloError as error:
            pruned.failed[path] = str(error)
    return pruned


def _dangling(memory: Memory, names: set[str]) -> int:
    return sum(edge.target not in names for edge in memory.edges)


def _rewrite(folder: NoteFolder, path: str, names: set[str]) -> None:
    """Read again under the lock, and again when an editor saves meanwhile."""
    for tries_left in reversed(range(_TRIES)):
        with folder.locked(path):
            former = folder.read(path)
            memory = folder.dialect.parse(path, former)
            kept = tuple(edge for edge in memory.edges if edge.target in names)
            try:
                content = folder.dialect.render(replace(memory, edges=kept), former)
                folder.write(path, content, former)
                return
            except NoteChanged:
                if not tries_left:
                    raise
