"""Finding the memories that ids, short ids or a filter name; shared by operations that take ids."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from unicodedata import normalize

from camillo.errors import Ambiguous, InvalidValue, NoteBroken, NotFound, nearest
from camillo.model import (
    GLOBAL,
    INTERNAL_KINDS,
    NOT_NOTES,
    Filter,
    Key,
    Memory,
    Session,
    short_id,
)
from camillo.ops._scope import choices, nearest_root
from camillo.text.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = [
    "NOTHING_KEPT",
    "any_note",
    "broken_file",
    "find_memory",
    "keys_of",
    "make_filter",
    "note_path",
    "path_of",
    "path_text",
    "source_of",
    "source_text",
    "superseded",
    "unknown_places",
    "unread",
    "which",
]

NOTHING_KEPT = "nothing is kept yet: `camillo mine PATH` or `camillo remember TEXT` begins"

_NOTE = "note"  # in a filter, every kind of note
_SHORTEST = 4  # characters of an id that we made, at least


def find_memory(vault: Vault, id: str, scope: str | None = None) -> tuple[OpenRoot, Memory]:
    """The one memory with this id, or with this beginning of an id that we made; a name is taken
    whole, since its beginning may be the name of another, that is gone. Raises NotFound, Ambiguous.
    """
    if not id or "\0" in id:
        raise InvalidValue(f"{id!r} is no id; `camillo list --ids` shows them")
    whole: list[tuple[OpenRoot, Key]] = []
    begun: list[tuple[OpenRoot, Key]] = []
    names: list[str] = []
    for root in vault.roots(scope):
        whole += [(root, key) for key in keys_of(root, id)]
        for key in root.store.find(id, Filter(None, archived=True), limit=20):
            if short_id(key.id) == key.id:
                names.append(key.id)
            elif len(id) >= _SHORTEST:
                begun.append((root, key))
    found = list(nearest_root(whole, scope)) or begun
    if len(found) > 1:
        raise Ambiguous(which(id, found, "" if whole else "more of the id"))
    for root, key in found:
        memory = root.store.get([key])[0]
        if memory is not None:
            return root, memory
    for root in vault.roots(scope):
        if broken := broken_file(root, id):
            raise NoteBroken(f"{broken[0]} cannot be read as a note: {broken[1]}", broken[0])
    meant = f"did you mean {names[0]!r}? " if names else ""
    raise NotFound(f"nothing has the id {id!r}; {meant}`camillo list --ids` shows what there is")


def keys_of(root: OpenRoot, name: str) -> list[Key]:
    """The memories of this name: the one of no session, else one in each; where notes are called by
    their paths, those whose file has it. Such a name is as whole as an id."""
    keys = [key for key in root.store.find(name, Filter(None, archived=True)) if key.id == name]
    if not keys and "/" not in name and root.has_notes and root.notebook is not None:
        keys = root.notebook.named(name)
    return [key for key in keys if key.session == GLOBAL] or keys


def broken_file(root: OpenRoot, name: str) -> tuple[str, str] | None:
    """The path of a file of this name that cannot be read as a note, and why."""
    if not root.has_notes or root.notebook is None:
        return None
    for each in root.notebook.broken():
        stem = each.path.removesuffix(".md")
        own = stem if "/" in name and root.notebook.by_path else stem.rpartition("/")[2]
        if name in (each.path, own):
            return os.path.join(root.root.folder, each.path), "; ".join(each.problems)
    return None


def unread(roots: Iterable[OpenRoot]) -> list[str]:
    """In words, how many files of these roots cannot be read as notes."""
    books = [root.notebook for root in roots if root.has_notes]
    count = sum(len(book.broken()) for book in books if book is not None)
    if not count:
        return []
    files = "1 file" if count == 1 else f"{count:,} files"
    return [f"{files} cannot be read as a note: `camillo roots` says which and why"]


def which(name: str, found: Sequence[tuple[OpenRoot, Key]], more: str = "") -> str:
    """Of several, in words, which there are and what chooses one."""
    shown = ", ".join(f"{key.id} ({root.name})" for root, key in found[:5])
    by_room = len({key.id for _, key in found}) > 1 and "/" in found[0][1].id
    ways = [way for way in (more, "the room too" if by_room else "", choices(found)) if way]
    way = ", or ".join(ways) or "one of them another name"
    return f"{name!r} could be any of {shown}: give {way}"


def make_filter(
    *,
    wing: str | None = None,
    room: str | None = None,
    kind: tuple[str, ...] = (),
    session: str | None = None,
    source: str | None = None,
    since: str = "",
    before: str = "",
    archived: bool = False,
) -> Filter:
    """The filter that a command's options describe. `session` "" means memories of no session."""
    wanted = Session()
    if session is not None:
        wanted = Session("only", printable(session)) if session else Session("global")
    wing, room = (each and normalize("NFC", printable(each)) for each in (wing, room))
    source = source and printable(source)
    for name, day in (("since", since), ("before", before)):
        if day and not _is_date(day):
            raise InvalidValue(f"--{name} must be a date like 2026-05-21, not {day!r}")
    return Filter(
        session=wanted,
        kinds=tuple(map(printable, kind)) or None,
        wing=wing,
        room=room,
        source=source,
        since=since,
        before=before,
        archived=archived,
    )


def any_note(roots: Sequence[OpenRoot], kinds: tuple[str, ...]) -> tuple[str, ...]:
    """These kinds; `note` among them stands for every kind of note that there is."""
    if _NOTE not in kinds:
        return kinds
    filter = Filter(None, archived=True)
    found = {kind for root in roots for kind in root.store.tally("kind", filter)}
    found -= NOT_NOTES | INTERNAL_KINDS
    return tuple(sorted({*kinds} - {_NOTE} | found)) or (_NOTE,)


def path_of(vault: Vault, text: str) -> str:
    """The absolute path that was meant, links resolved. Raises InvalidValue for what is none."""
    try:
        return os.path.realpath(os.path.join(vault.cwd, os.path.expanduser(text)))
    except (ValueError, OSError) as error:
        raise InvalidValue(f"{text!r} cannot be a path: {error}") from None


def source_of(vault: Vault, text: str | None, scope: str | None) -> str | None:
    """The source that was meant: a name as it is kept, else a path seen from here."""
    if text is None:
        return None
    name = printable(text)
    for root in vault.roots(scope):
        if root.store.count(Filter(None, source=name, archived=True, internal=True)):
            return name
    return printable(path_of(vault, text))


def unknown_places(
    roots: Sequence[OpenRoot], wing: str | None, room: str | None, kinds: Sequence[str] = ()
) -> list[str]:
    """In words, which wing, room or kind of a filter does not exist, with the nearest that does,
    and all kinds that do."""
    notes = []
    wing, room = (each and normalize("NFC", each) for each in (wing, room))
    asked = [("wing", wing), ("room", room), *(("kind", kind) for kind in kinds)]
    for field, value in asked:
        if value is None:
            continue
        known = {name for root in roots for name in root.store.tally(field, Filter(None))}
        if value not in known:
            close = nearest(value, known)
            hint = f"; did you mean {close!r}?" if close else ""
            notes.append(f"there is no {field} {value!r}{hint}")
            if field == "kind" and known:
                notes[-1] += f"{'' if hint else ';'} there are {', '.join(sorted(known))}"
    return notes


def superseded(root: OpenRoot) -> Mapping[Key, Key]:
    """Who stands for whom in a root, as it is now; also for what is archived."""
    try:
        root.refresh()
        return _newest(root)
    except Exception as error:
        if not root.mend(error):
            raise
        root.refresh()
        return _newest(root)


def _newest(root: OpenRoot) -> Mapping[Key, Key]:
    newest = root.superseded(root.store.get)
    links = [link for link in root.edges.superseders() if link.target not in newest]
    ends = [end for link in links for end in (link.source, link.target)]
    away = {each.key: bool(each.archived) for each in root.store.get(ends) if each is not None}
    archived = {
        link.target: newest.get(link.source, link.source)
        for link in links
        if away.get(link.target) is True and away.get(link.source) is False
    }
    return {**newest, **archived}


def source_text(memory: Memory) -> str:
    """The file that a memory came from; of a note its own, seen from its root."""
    if memory.origin is not None:
        return memory.origin.source
    return note_path(memory)


def note_path(memory: Memory) -> str:
    """The file of a note, seen from its root; "" where it has none."""
    return str(memory.extra.get("file", ""))


def path_text(memory: Memory) -> str:
    """Where a memory is, for people: a note's own file, `file:first-last` of the source that it
    was cut from, or its short id."""
    origin = memory.origin
    if note_path(memory) or origin is None:
        return note_path(memory) or short_id(memory.id)
    return f"{origin.source}:{origin.line_start}-{origin.line_end}"


def _is_date(text: str) -> bool:
    """Dates are compared as texts: only the form in which they are kept will do."""
    from datetime import datetime

    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return text[4:5] == text[7:8] == "-" and text[5:7].isdecimal()
