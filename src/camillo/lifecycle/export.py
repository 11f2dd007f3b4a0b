"""Writing the notes of a root into a folder of another dialect.

A file that is there already is compared, and changed only when that is asked for: then the lines
that differ, as any edit. Done twice it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from camillo.errors import CamilloError, NotFound, StoreError
from camillo.model import Memory
from camillo.notebook.listing import list_note
from camillo.notes.convert import Fitted, Names, fitted, own_keys, same
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
    content = made.content
    status: Literal["written", "changed"] = "written"
    if former is not None:
        there = dialect.parse(made.path, former)
        if _says(there, made.memory, dialect.fields):
            if not dry_run:  # one that was killed may have written the note alone
                list_note(folder, there, made.path)
            return Exported(id_, "unchanged", made.path, made.lost)
        if not overwrite:
            reason = f"{made.path} says something else; --overwrite changes it"
            return Exported(id_, "differs", made.path, made.lost, reason)
        content = dialect.render(made.memory, former)
        status = "changed"
    if not dry_run:
        folder.write(made.path, content, former)
        list_note(folder, dialect.parse(made.path, content), made.path)
    return Exported(id_, status, made.path, made.lost)


def _says(there: Memory, wanted: Memory, fields: frozenset[str]) -> bool:
    """Does the file say what one made anew would? Keys of its own do not count."""
    compared = fields - {"extra", "edges"}
    if any(getattr(there, name) != getattr(wanted, name) for name in compared):
        return False
    if set(there.edges) != set(wanted.edges):
        return False
    theirs = own_keys(there)
    return all(same(theirs.get(key), value) for key, value in own_keys(wanted).items())
