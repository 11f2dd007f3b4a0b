"""The oc dialect: `<room>/<slug>.md`, one folder deep, beside the pages that oc compiles of them.

A note is called by its path without the ending, since two rooms may hold one slug; what replaces it
is named by its path too. Times are milliseconds. The blank line below the frontmatter is no part of
the body. `ROOT.md`, `index.md` and what lies higher or deeper are no notes, nor is anything in
`index` and `backups`, which camillo keeps in the same folder and which may be deleted.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from camillo.engines.markdown._editing import check_edges, edited, made
from camillo.engines.markdown._fields import Fields
from camillo.engines.markdown._heading import heading
from camillo.engines.markdown._names import CONFLICT, check_new
from camillo.errors import InvalidValue, NoteBroken
from camillo.model import Edge, Memory, Place
from camillo.text.printable import printable
from camillo.text.rules import RULES
from camillo.text.yaml_edit import REMOVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["OcDialect"]

# In the order in which a new note has them. `highlight` has no field of a memory: it stays among
# the keys as read.
_KEYS = (
    "id", "kind", "title", "summary", "highlight", "created", "updated", "load_when", "pinned",
    "supersedes", "superseded_by",
)  # fmt: skip
_LOADS = ("load_when", "loadWhen")  # the first that says something counts
_OURS = frozenset({*_KEYS, *_LOADS}) - {"highlight"}

_PAGES = ("index.md", "ROOT.md")

# Where a note without a room goes, by its kind. A proposed rule is none until a person says so.
_ELSE = "facts"
_ROOMS = {"rule": RULES, "user": "prefs", "feedback": "prefs"}

_ROOM = "[a-z0-9][a-z0-9._-]{0,31}"
_SLUG = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_ID = r"[^/.\0-\x1f\x7f][^/\0-\x1f\x7f]*"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_DEEPEST = 3  # the last level of headings that oc takes for a title
_BLANK = r"\r?\n"


class OcDialect:
    name = "oc"
    fields = frozenset(
        {"id", "body", "kind", "title", "summary", "place", "edges", "load_when", "pinned",
         "created", "updated", "superseded_by", "extra"}
    )  # fmt: skip
    locks = False
    kinds: tuple[str, ...] = ()
    relations: tuple[str, ...] = ("supersedes",)
    marks_superseded = True
    usage = ".state.json"
    listing = ""
    not_rooms = frozenset({"index", "backups"})

    def is_note(self, path: str) -> bool:
        room, _, name = path.rpartition("/")
        if not room or not name.endswith(".md") or name[0] == "." or name in _PAGES:
            return False
        if not self.enters(room):
            return False
        return ".conflict-" not in name or re.fullmatch(CONFLICT, name) is None

    def enters(self, folder: str) -> bool:
        return folder[:1] != "." and "/" not in folder and folder.lower() not in self.not_rooms

    def parse(self, path: str, content: bytes) -> Memory:
        if printable(path) != path:
            raise NoteBroken(f"{printable(path)}: the name of this file is no UTF-8", path, 1)
        return _read(Fields(path, content))

    def render(self, memory: Memory, former: bytes | None = None) -> bytes:
        if former is None:
            memory = memory._replace(id="/".join(_home(memory)))
            _check_links(memory)
            return made(_fields(memory), f"\n{memory.body}" if memory.body else "")
        fields = Fields(f"{memory.id}.md", former)
        changes = _changes(fields, _read(fields), memory)
        return edited(former, changes, _below(fields, changes, memory.body))

    def path_of(self, memory: Memory) -> str:
        room, slug = _home(memory)
        if not re.fullmatch(_ROOM, room):
            raise InvalidValue(
                f"{room!r} is no room of oc: it has at most 32 of a to z, 0 to 9, '.', '_' and "
                "'-', and starts with a letter or a digit"
            )
        if not re.fullmatch(_SLUG, slug):
            raise InvalidValue(
                f"{slug!r} is no name of a note of oc: it has at most 64 of A to Z, a to z, 0 to 9,"
                " '.', '_' and '-', and starts with a letter or a digit"
            )
        path = f"{room}/{slug}.md"
        check_new(path)
        if not self.enters(room):
            raise InvalidValue(f"{room!r} is a folder of camillo's own, not a room")
        if slug.lower() in ("index", "root") or not self.is_note(path):
            raise InvalidValue(f"{slug!r} is the name of a page, not of a note; choose another")
        return path

    def id_of(self, name: str, room: str) -> str:
        return f"{room}/{name}" if room and "/" not in name else name

    def line(self, memory: Memory, path: str) -> str:
        return ""


# --- reading ------------------------------------------------------------------------------------


def _read(fields: Fields) -> Memory:
    room = normalize("NFC", fields.room)  # the same in NFC and NFD, whichever its folder has
    id_ = f"{room}/{fields.stem}" if room else fields.stem
    _, body = _parts(fields)
    memory = Memory(
        id=id_,
        body=body,
        kind=_kind(fields, room),
        title=fields.text("title") or heading(body, _DEEPEST) or fields.stem,
        summary=fields.text("summary"),
        place=Place(room=room),
        edges=_edges(fields, id_),
        load_when=_load_when(fields),
        pinned=_pinned(fields),
        created=_time(fields, "created"),
        updated=_time(fields, "updated"),
        superseded_by=_superseded_by(fields, id_),
    )
    extra: dict[str, Any] = {}
    if others := fields.others(_OURS):
        extra["frontmatter"] = others
    if fields.problems:
        extra["problems"] = fields.problems
    return memory._replace(extra=extra)


def _parts(fields: Fields) -> tuple[str, str]:
    """The blank line below the frontmatter, or "", and the body."""
    blank = re.match(_BLANK, fields.body) if fields.has_frontmatter else None
    return (blank[0], fields.body[blank.end() :]) if blank else ("", fields.body)


def _kind(fields: Fields, room: str) -> str:
    said = fields.text("kind")
    if not said:
        return "rule" if room == RULES else "fact"
    return "rule" if said.strip().lower() == "rule" else said


def _load_when(fields: Fields) -> tuple[str, ...]:
    """As oc has it, a comma of either kind separates; `、` does not."""
    key = _load_key(fields)
    if isinstance(fields.values.get(key), list | dict):
        return fields.texts(key)
    texts = (text.strip() for text in re.split("[,，]", fields.text(key)))
    return tuple(dict.fromkeys(filter(None, texts)))


def _load_key(fields: Fields) -> str:
    return next((key for key in _LOADS if fields.values.get(key) is not None), _LOADS[0])


def _pinned(fields: Fields) -> bool:
    """Only what oc takes for pinned, or the two would differ in what they list."""
    value = fields.values.get("pinned")
    if value in (None, "", False, "false"):
        return False
    if value is True or value == "true":
        return True
    fields.report(f"pinned is {value!r}, and oc pins for true alone; not pinned", "pinned")
    return False


def _time(fields: Fields, key: str) -> int:
    """Also of a number in text, and of one with a fraction, as Node has the time of a file."""
    value = fields.values.get(key)
    if isinstance(value, str) and re.fullmatch(_NUMBER, value.strip()):
        value = float(value)
    if isinstance(value, float) and abs(value) < 2**63 and not 1e7 <= value < 1e8:  # 20260131
        return int(value)
    return fields.time(key)


def _edges(fields: Fields, id_: str) -> tuple[Edge, ...]:
    """What `supersedes` says, a path or a list of them."""
    value = fields.values.get("supersedes")
    entries = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
    found = [_named(fields, "supersedes", said, id_, at) for at, said in entries]
    return tuple(Edge("supersedes", target) for target in dict.fromkeys(found) if target)


def _superseded_by(fields: Fields, id_: str) -> str:
    return _named(fields, "superseded_by", fields.values.get("superseded_by"), id_)


def _named(fields: Fields, key: str, said: Any, id_: str, item: int | None = None) -> str:
    """The id that a path stands for; "" for none, and told when something else is said."""
    target = _id_said(said, id_)
    if target and target != id_:
        return target
    if said not in (None, ""):
        wrong = "names this note itself" if target else f"{said!r} is no path of a note"
        fields.report(f"{key}: {wrong}; left out", key, item)
    return ""


def _id_said(said: Any, id_: str) -> str:
    """`facts/w1.md` as `facts/w1`; a name alone is meant in the room of the note that says it."""
    if not isinstance(said, str):
        return ""
    room, slash, slug = said.strip().removesuffix(".md").rpartition("/")
    target = f"{normalize('NFC', room) if slash else id_.rpartition('/')[0]}/{slug}"
    return target if _is_id(target) else ""


def _is_id(text: str) -> bool:
    return re.fullmatch(f"{_ID}/{_ID}", text) is not None


# --- writing ------------------------------------------------------------------------------------


def _home(memory: Memory) -> tuple[str, str]:
    """Room and slug: what the id says, else the room of the memory, else that of its kind."""
    room, slash, slug = memory.id.rpartition("/")
    if not slash:
        room = normalize("NFC", memory.place.room) or _ROOMS.get(memory.kind, _ELSE)
    return room, slug


def _fields(memory: Memory) -> dict[str, Any]:
    room, slug = _home(memory)
    others = _others(memory)
    said: dict[str, Any] = {
        "id": f"{room}/{slug}.md",
        "kind": memory.kind,
        "title": memory.title if memory.title != (heading(memory.body, _DEEPEST) or slug) else "",
        "summary": memory.summary,
        "highlight": others.pop("highlight", ""),
        "created": memory.created,
        "updated": memory.updated,
        "load_when": list(memory.load_when),
        "pinned": memory.pinned,
        "supersedes": _one_or_all(_paths(memory)),
        "superseded_by": _path(memory.superseded_by),
    }
    return {key: said[key] for key in _KEYS if said[key]} | others


def _others(memory: Memory) -> dict[str, Any]:
    others = memory.extra.get("frontmatter", {})
    return {key: value for key, value in others.items() if key not in _OURS}


def _changes(fields: Fields, then: Memory, now: Memory) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for key in ("kind", "summary", "created", "updated", "pinned"):
        if getattr(now, key) != getattr(then, key):
            changes[key] = getattr(now, key) or REMOVE
    if now.title != then.title:
        derived = heading(now.body, _DEEPEST) or fields.stem
        changes["title"] = REMOVE if now.title in ("", derived) else now.title
    if now.load_when != then.load_when:
        if now.load_when:
            changes[_load_key(fields)] = list(now.load_when)
        else:
            changes |= dict.fromkeys(_LOADS, REMOVE)  # or the other would count
    if (now.edges, now.superseded_by) != (then.edges, then.superseded_by):
        _check_links(now)
    if now.edges != then.edges:
        changes["supersedes"] = _superseding(fields.values.get("supersedes"), then, now)
    if now.superseded_by != then.superseded_by:
        changes["superseded_by"] = _path(now.superseded_by) or REMOVE
    before = _others(then)
    for key, value in _others(now).items():
        if key not in before or value != before[key]:
            changes[key] = REMOVE if key == "highlight" and not value else value
    return changes


def _superseding(present: Any, then: Memory, now: Memory) -> Any:
    """What `supersedes` says, changed; entries that say nothing stay where they are."""
    held = present if isinstance(present, list) else [present] if present else []
    said = [_id_said(each, then.id) for each in held]
    gone = {edge.target for edge in then.edges} - {edge.target for edge in now.edges}
    kept = [each for each, target in zip(held, said, strict=True) if target not in gone]
    wanted = kept + [path for path in _paths(now) if _id_said(path, then.id) not in said]
    if isinstance(present, list):
        return wanted or REMOVE
    return _one_or_all(wanted) or REMOVE


def _paths(memory: Memory) -> list[str]:
    return [_path(edge.target) for edge in dict.fromkeys(memory.edges)]


def _path(id_: str) -> str:
    return f"{id_}.md" if id_ else ""


def _one_or_all(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _check_links(memory: Memory) -> None:
    check_edges(memory.id, memory.edges, (), _is_id)
    if memory.superseded_by and not _is_id(memory.superseded_by):
        raise InvalidValue(
            f"{memory.id!r}: {memory.superseded_by!r} is no name of a note here: ROOM/NAME makes "
            "one"
        )


def _below(fields: Fields, changes: dict[str, Any], body: str) -> str:
    """What stands below the frontmatter: the blank line that is there, and the body. A body that
    begins with a blank line needs one above it, or it would lose its own."""
    above, _ = _parts(fields)
    has = fields.has_frontmatter or any(value is not REMOVE for value in changes.values())
    first = re.match(_BLANK, body) if has and not above else None
    return f"{first[0] if first else above}{body}"
