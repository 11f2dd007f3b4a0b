"""What people call a note, and the id that it has or gets in a root.

In most forms that is its name; where notes are called by their paths a name alone is enough, as
long as one room has it.
"""

from __future__ import annotations

import re

from camillo.errors import Ambiguous, InvalidValue, Refused
from camillo.model import GLOBAL, Filter, Key, Memory, Place
from camillo.notes.names import slug, unique_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.vault import OpenRoot

__all__ = ["check_name", "free_id", "keys_of", "meant", "note_id"]

# What would lead out of a folder, or be cut short, on some system.
_PATHS = re.compile(r"[/\\\0-\x1f\x7f]|\A\.|\A[A-Za-z]:|%(?:2e|2f|5c|00)", re.IGNORECASE)


def check_name(name: str, *, by_path: bool = False) -> None:
    """Raises Refused for a name that is a path, but for that of a note which is called by it. What
    a file may be called is its dialect's."""
    parts = name.split("/") if by_path else [name]
    if any(not part or _PATHS.search(part) for part in parts):
        raise Refused(f"{name!r} is no name of a note: letters, digits, '-' and '_' make one")


def keys_of(root: OpenRoot, name: str) -> list[Key]:
    """The memories of this name: the one of no session, else one in each; where notes are called by
    their paths, those whose file has it."""
    keys = [key for key in root.store.find(name, Filter(None, archived=True)) if key.id == name]
    if not keys and root.notebook is not None and "/" not in name:
        keys = root.notebook.named(name)
    return [key for key in keys if key.session == GLOBAL] or keys


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
    return unique_name(first, taken)


def _free_path(root: OpenRoot, name: str, room: str | None, kind: str | None) -> str:
    assert root.notebook is not None
    dialect = root.notebook.folder.dialect
    place = dialect.path_of(Memory(name, "", kind or "fact", place=Place(room=room or "")))
    above = place.rpartition("/")[0]
    first = dialect.id_of(name, above)
    taken = [key.id for key in root.store.find(first, Filter(None, archived=True), limit=1000)]
    return dialect.id_of(unique_name(name, [id_.rpartition("/")[2] for id_ in taken]), above)
