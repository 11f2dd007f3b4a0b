"""What people call a note, and the id that it has or gets in a root.

In most forms that is its name; where notes are called by their paths a name alone is enough, as
long as one room has it.
"""

from __future__ import annotations

import re

from camillo.errors import Ambiguous, InvalidValue
from camillo.model import Filter, Memory, Place
from camillo.notes.names import slug, unique_name
from camillo.ops._lookup import keys_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.vault import OpenRoot

__all__ = ["check_name", "check_room", "free_id", "meant", "note_id"]

# What would lead out of a folder, or be cut short, on some system.
_PATHS = re.compile(r"[/\\\0-\x1f\x7f]|\A\.|\A[A-Za-z]:|%(?:2e|2f|5c|00)", re.IGNORECASE)


def check_name(name: str, *, by_path: bool = False) -> None:
    """Raises InvalidValue for a name that is a path, but for that of a note which is called by it.
    What a file may be called is its dialect's."""
    parts = name.split("/") if by_path else [name]
    if any(not part or _PATHS.search(part) for part in parts):
        raise InvalidValue(f"{name!r} is no name of a note: letters, digits, '-' and '_' make one")


def check_room(room: str) -> None:
    """Raises InvalidValue for a room that is no folder of a root: "a" and "a/b" are, "" is none."""
    if room and any(not part or _PATHS.search(part) for part in room.split("/")):
        raise InvalidValue(
            f"{room!r} is no room: letters, digits, '-' and '_' make one, as ops/deploy"
        )


def meant(root: OpenRoot, name: str) -> str:
    """The id of the note that somebody calls so; the name itself where there is none."""
    ids = list(dict.fromkeys(key.id for key in keys_of(root, name)))
    if len(ids) > 1:
        raise Ambiguous(f"{name!r} could be any of {', '.join(ids)}: give the room too")
    return ids[0] if ids else name


def note_id(root: OpenRoot, name: str, room: str | None, kind: str | None) -> str:
    """The id that a note of this name has, else that it would get, in this root."""
    if root.notebook is None or not root.notebook.by_path:
        check_name(name)
        return name
    check_name(name, by_path=True)
    known = meant(root, name) if not room else name
    if "/" in known:
        return known
    dialect = root.notebook.folder.dialect
    place = dialect.path_of(Memory(name, "", kind or "fact", place=Place(room=room or "")))
    return dialect.id_of(name, place.rpartition("/")[0])


def free_id(root: OpenRoot, title: str, room: str | None, kind: str | None) -> str:
    """An id made from a title that is free, and that a file of this root may have."""
    first = slug(title)
    if root.notebook is not None:
        try:
            root.notebook.folder.dialect.path_of(Memory(first, "", place=Place(room=room or "")))
        except InvalidValue:  # commonplace's and oc's names are Latin
            first = "note"
        if root.notebook.by_path:
            return _free_path(root, first, room, kind)
    taken = [key.id for key in root.store.find(first, Filter(None, archived=True), limit=1000)]
    return unique_name(first, [*taken, *_broken_names(root)])


def _free_path(root: OpenRoot, name: str, room: str | None, kind: str | None) -> str:
    assert root.notebook is not None
    dialect = root.notebook.folder.dialect
    place = dialect.path_of(Memory(name, "", kind or "fact", place=Place(room=room or "")))
    above = place.rpartition("/")[0]
    first = dialect.id_of(name, above)
    taken = [key.id for key in root.store.find(first, Filter(None, archived=True), limit=1000)]
    taken += _broken_names(root)
    return dialect.id_of(unique_name(name, [id_.rpartition("/")[2] for id_ in taken]), above)


def _broken_names(root: OpenRoot) -> list[str]:
    """What files are called that cannot be read as notes."""
    broken = root.notebook.broken() if root.notebook is not None else []
    return [each.path.rpartition("/")[2].removesuffix(".md") for each in broken]
