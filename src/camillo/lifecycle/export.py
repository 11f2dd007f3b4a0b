"""Writing the notes of a root into a folder of another dialect.

A file that is there already is compared, and changed only when that is asked for: then the lines
that differ, as any edit. Done twice it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from camillo.errors import CamilloError, NotFound, StoreError
from camillo.lifecycle.listing import list_note
from camillo.model import Memory
from camillo.notes.convert import Fitted, Names, fitted
from camillo.ports import NoteFolder
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

__all__ = ["Exported", "export_notes"]


class Exported(NamedTuple):
    """What became of one note. `lost` is what the dialect has no place for."""

    id: str
    status: Literal["written", "changed", "unchanged", "differs", "failed"]
    path: str
    lost: list[str]
    reason: str = ""


def export_notes(
    notes: Sequence[Memory],
    folder: NoteFolder,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    told: Callable[[int], None] = lambda done: None,
) -> list[Exported]:
    """Raises StoreError where the folder as a whole cannot be written; what is wrong with one note
    is in its reply."""
    names = Names(folder.dialect)
    for memory in notes:
        names.give(memory)
    done = []
    for memory in notes:
        try:
            made = fitted(memory, names, folder.dialect)
            done.append(_one(memory.id, made, folder, overwrite, dry_run))
        except StoreError:
            raise
        except CamilloError as error:
            done.append(Exported(memory.id, "failed", "", [], str(error)))
        told(1)
    return done


def _one(
    id_: str, made: Fitted, folder: NoteFolder, overwrite: bool, dry_run: bool
) -> Exported:  # fmt: skip
    dialect = folder.dialect
    try:
        former: bytes | None = folder.read(made.path)
    except NotFound:
        former = None
    if former is None:
        status: Literal["written", "changed"] = "written"
    else:
        there = dialect.parse(made.path, former)
        if _says(there, made.memory, dialect.fields):
            return Exported(id_, "unchanged", made.path, made.lost)
        if not overwrite:
            reason = f"{made.path} says something else; --overwrite changes it"
            return Exported(id_, "differs", made.path, made.lost, reason)
        status = "changed"
    content = dialect.render(made.memory, former)
    if not dry_run:
        folder.write(made.path, content, former)
        list_note(folder, dialect.parse(made.path, content), made.path)
    return Exported(id_, status, made.path, made.lost)


def _says(there: Memory, wanted: Memory, fields: frozenset[str]) -> bool:
    """Does the file hold what it would be given? Keys of its own do not count."""
    held = {name: getattr(wanted, name) for name in fields - {"extra", "title"}}
    said = {name: getattr(there, name) for name in held}
    if "edges" in held:
        held["edges"], said["edges"] = set(wanted.edges), set(there.edges)
    frontmatter = wanted.extra.get("frontmatter", {})
    theirs = there.extra.get("frontmatter", {})
    same = all(theirs.get(key) == value for key, value in frontmatter.items())
    return same and said == held
