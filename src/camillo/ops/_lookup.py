"""Finding the memories that ids, short ids or a filter name; shared by operations that take ids."""

from __future__ import annotations

import os
from collections.abc import Sequence

from camillo.errors import Ambiguous, InvalidValue, NotFound, nearest
from camillo.model import Filter, Key, Memory, Session, short_id
from camillo.text.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = [
    "find_memory",
    "make_filter",
    "path_of",
    "path_text",
    "source_of",
    "source_text",
    "unknown_places",
]

_SHORTEST = 4  # characters of an id that we made, at least


def find_memory(vault: Vault, id: str, scope: str | None = None) -> tuple[OpenRoot, Memory]:
    """The one memory with this id or beginning of an id. Raises NotFound, Ambiguous."""
    if not id or "\0" in id:
        raise InvalidValue(f"{id!r} is no id; `camillo list --ids` shows them")
    filter = Filter(None, archived=True)
    found: list[tuple[OpenRoot, Key]] = []
    for root in vault.roots(scope):  # type: ignore[arg-type]
        keys = root.store.find(id, filter, limit=20)
        exact = [key for key in keys if key.id == id]
        if not exact and len(id) < _SHORTEST:
            continue
        found += [(root, key) for key in exact or keys]
    if len(found) > 1:
        shown = ", ".join(f"{key.id} ({key.scope})" for _, key in found[:5])
        raise Ambiguous(f"{id!r} could be any of {shown}: give more of the id, or --scope")
    for root, key in found:
        memory = root.store.get([key])[0]
        if memory is not None:
            return root, memory
    raise NotFound(f"nothing has the id {id!r}; `camillo list --ids` shows what there is")


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
    wing, room, source = (each and printable(each) for each in (wing, room, source))
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
    for root in vault.roots(scope):  # type: ignore[arg-type]
        if root.store.count(Filter(None, source=name, archived=True, internal=True)):
            return name
    return printable(path_of(vault, text))


def unknown_places(
    roots: Sequence[OpenRoot], wing: str | None, room: str | None, kinds: Sequence[str] = ()
) -> list[str]:
    """In words, which wing, room or kind of a filter does not exist, with the nearest that does."""
    notes = []
    asked = [("wing", wing), ("room", room), *(("kind", kind) for kind in kinds)]
    for field, value in asked:
        if value is None:
            continue
        known = {name for root in roots for name in root.store.tally(field, Filter(None))}
        if value not in known:
            close = nearest(value, known)
            hint = f"; did you mean {close!r}?" if close else ""
            notes.append(f"there is no {field} {value!r}{hint}")
    return notes


def source_text(memory: Memory) -> str:
    """The file that a memory came from; of a note its own, seen from its root."""
    if memory.origin is not None:
        return memory.origin.source
    return str(memory.extra.get("file", ""))


def path_text(memory: Memory) -> str:
    """Where a memory came from, for people: `file:first-last`, a note's file, or its short id."""
    origin = memory.origin
    if origin is None:
        return source_text(memory) or short_id(memory.id)
    return f"{origin.source}:{origin.line_start}-{origin.line_end}"


def _is_date(text: str) -> bool:
    """Dates are compared as texts: only the form in which they are kept will do."""
    from datetime import datetime

    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return text[4:5] == text[7:8] == "-" and text[5:7].isdecimal()
