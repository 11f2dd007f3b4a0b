"""A note as another dialect can hold it, and what is lost on the way. Pure.

The text stays as it is, byte for byte; names that change are told, since `[[names]]` in texts are
not rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from camillo.errors import InvalidValue, Refused
from camillo.model import Memory, Place, replace
from camillo.notes.names import slug, unique_name
from camillo.ports import Dialect
from camillo.records import NamedTuple

__all__ = ["Fitted", "Names", "fitted", "only_here", "own_keys", "same"]

_OURS = ("file", "problems", "import")  # keys of `extra` that say where a note is, or came from
# Fields that say where a memory lies and not what it is, or that a file need not repeat.
_SILENT = frozenset({"id", "scope", "namespace", "edges", "kind", "place", "extra", "trust"})
_NOT_KEPT = (*_OURS, "frontmatter")
_NO_TEXT = "no UTF-8"  # in the words of the problem that a reader tells
_ROOM_CHARS = 32
_NAMELESS = "note"


class Fitted(NamedTuple):
    """`content` is the file of the note, made anew, and `memory` what a reader makes of that;
    `lost` says in words what the dialect has no place for."""

    memory: Memory
    path: str
    content: bytes
    lost: list[str]


class Names:
    """The names that notes have in the other folder: their own where it may have them."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._taken: dict[str, set[str]] = {}
        self.ids: dict[str, str] = {}  # former id -> new
        self.rooms: dict[str, str] = {}  # former id -> room

    def give(self, memory: Memory) -> None:
        """A note's id and room in the other folder; each id once, also where a file system looks
        away from case and normal form."""
        room = self._room(memory)
        last = memory.id.rpartition("/")[2]
        taken = self._taken.setdefault(room if self._id("x", room) != "x" else "", set())
        for wanted in (last, slug(last), slug(memory.title), _NAMELESS):
            if not self._fits(wanted, room):
                continue
            name = wanted if wanted.casefold() not in taken else unique_name(wanted, taken)
            if self._fits(name, room):
                break
        taken.add(name.casefold())
        self.ids[memory.id] = self._id(name, room)
        self.rooms[memory.id] = room

    def _id(self, name: str, room: str) -> str:
        return self._dialect.id_of(name, room)

    def _room(self, memory: Memory) -> str:
        room = memory.place.room
        if "place" not in self._dialect.fields:
            return ""
        flat = re.sub(r"[^a-z0-9._-]+", "-", room.lower()).strip("-._")[:_ROOM_CHARS]
        for wanted in (room, flat):
            if self._fits(_NAMELESS, wanted):
                return self._placed(wanted, memory)
        return self._placed("", memory)

    def _placed(self, room: str, memory: Memory) -> str:
        """The room that the dialect itself would choose, where none is said."""
        trial = replace(memory, id=self._id(_NAMELESS, room), place=Place(room=room))
        try:
            return self._dialect.path_of(trial).rpartition("/")[0]
        except (InvalidValue, Refused):
            return room

    def _fits(self, name: str, room: str) -> bool:
        trial = Memory(self._id(name, room), "", place=Place(room=room))
        try:
            return self._dialect.is_note(self._dialect.path_of(trial))
        except (InvalidValue, Refused):
            return False


def fitted(memory: Memory, names: Names, dialect: Dialect) -> Fitted:
    """The note under its new name, as the dialect's file says it. Its name was given before, and
    those of all notes that it links to. Raises InvalidValue, Refused, NoteBroken."""
    lost: list[str] = []
    id_, room = names.ids[memory.id], names.rooms[memory.id]
    kind = memory.kind
    if dialect.kinds and kind not in dialect.kinds:
        kind = dialect.kinds[-1]
        lost.append(f"kind {memory.kind!r} becomes {kind!r}")
    edges = tuple(
        edge._replace(target=names.ids.get(edge.target, edge.target))
        for edge in memory.edges
        if edge.relation in dialect.relations
    )
    if len(edges) < len(memory.edges):
        gone = len(memory.edges) - len(edges)
        lost.append(f"{gone} link{'s' if gone > 1 else ''}")
    extra: Mapping[str, object] = {
        key: value for key, value in memory.extra.items() if key not in _OURS
    }
    made = replace(
        memory,
        id=id_,
        kind=kind,
        edges=edges,
        extra=extra,
        superseded_by=names.ids.get(memory.superseded_by, memory.superseded_by),
        place=replace(memory.place, room=room),
    )
    lost += [f"{name} {_shown(value)}" for name, value in _unheld(made, dialect)]
    if memory.place.room not in (room, room.partition("/")[2]):
        lost.append(f"room {memory.place.room!r}" + (f" becomes {room!r}" if room else ""))
    if id_.rpartition("/")[2] != memory.id.rpartition("/")[2]:
        lost.append(f"name {memory.id!r} becomes {id_!r}")
    if any(_NO_TEXT in problem for problem in memory.extra.get("problems", ())):
        lost.append(f"bytes that are {_NO_TEXT}")
    path = dialect.path_of(made)
    content = dialect.render(made)
    said = dialect.parse(path, content)
    return Fitted(said, path, content, [*lost, *_unsaid(made, said, dialect)])


def only_here(memory: Memory, dialect: Dialect) -> bool:
    """Has this memory anything that its file cannot say, or no file at all?"""
    return bool(
        not memory.extra.get("file")
        or ("edges" not in dialect.fields and memory.edges)
        or ("place" not in dialect.fields and memory.place != Place())
        or _unheld(memory, dialect)
    )


def _unsaid(made: Memory, said: Memory, dialect: Dialect) -> Iterator[str]:
    """In words, what of the fields that the dialect has its file says otherwise, and which keys of
    the note's own it has not."""
    for name in sorted(dialect.fields - _SILENT - {"body", "created", "updated"}):
        value, now = getattr(made, name), getattr(said, name)
        if value and value != now:
            yield f"{name} {_shown(value)}" + (f" becomes {_shown(now)}" if now else "")
    for name in ("wing", "hall"):
        if (value := getattr(made.place, name)) and value != getattr(said.place, name):
            yield f"{name} {value!r}"
    for key, value in own_keys(made).items():
        if not same(value, own_keys(said).get(key)):
            yield f"key {key!r}"


def own_keys(memory: Memory) -> dict[str, object]:
    """What a note says under keys that are none of camillo's, and what camillo keeps for others."""
    kept = {key: value for key, value in memory.extra.items() if key not in _NOT_KEPT}
    return kept | dict(memory.extra.get("frontmatter", {}))


def same(one: object, other: object) -> bool:
    """Also of what is unlike itself, as `.nan`."""
    return one == other or repr(one) == repr(other)


def _shown(value: object) -> str:
    return ", ".join(map(repr, value)) if isinstance(value, tuple) else repr(value)


def _unheld(memory: Memory, dialect: Dialect) -> list[tuple[str, object]]:
    """Fields that say something, and for which the dialect has no key."""
    empty = Memory("", "")
    unsaid = _SILENT | dialect.fields | {"created", "updated"}
    found: list[tuple[str, object]] = []
    for name in Memory._fields:
        value = getattr(memory, name)
        if name in unsaid or value == getattr(empty, name):
            continue
        if name == "title" and value == memory.id.rpartition("/")[2]:
            continue
        found.append((name, value))
    return found
