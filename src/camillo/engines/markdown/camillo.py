"""The camillo dialect: `<room>/<slug>.md`, rooms to any depth, and every field of a memory.

Its keys are those of commonplace and more; all are optional, and a file without a frontmatter is a
note too. A missing name is the file's, a missing title the first heading or the name, a missing
type `fact`. Times are ISO 8601. `ROOT.md`, `index.md` and `README.md` are pages, not notes.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from camillo.engines.markdown._editing import check_edges, edge_entries, edge_lists, edited, made
from camillo.engines.markdown._fields import Fields, iso
from camillo.engines.markdown._heading import heading
from camillo.engines.markdown._names import CONFLICT, check_new, check_slug
from camillo.errors import InvalidValue, NoteBroken
from camillo.model import RELATIONS, Memory, Origin, Place
from camillo.text.printable import printable
from camillo.text.yaml_edit import REMOVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["KEYS", "CamilloDialect"]

# In the order in which a new note has them.
KEYS = (
    "name", "title", "description", "type", "tags", "aliases", "load_when", "relations",
    "supersedes", "superseded_by", "pinned", "happened_at", "created", "updated", "expires",
    "archived", "namespace", "session", "wing", "hall", "trust", "written_by", "origin", "extra",
)  # fmt: skip
_TEXTS = ("tags", "aliases", "load_when")
_TIMES = ("created", "updated", "expires", "archived")
_TEXT = ("superseded_by", "happened_at", "namespace", "session", "written_by")

_RELATIONS = tuple(name for name in RELATIONS if name not in ("supersedes", "mentions"))
_TRUSTS = ("normal", "untrusted", "quarantined")
_PAGES = frozenset({"root.md", "index.md", "readme.md"})
_OURS = ("file", "frontmatter", "problems")  # keys of `extra` that are no content


class CamilloDialect:
    name = "camillo"
    fields = frozenset(Memory._fields) - {"scope"}
    locks = False
    kinds: tuple[str, ...] = ()
    relations: tuple[str, ...] = (*_RELATIONS, "supersedes")
    marks_superseded = False
    usage = ""
    listing = ""
    not_rooms = frozenset({"index", "backups"})

    def is_note(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if not name.endswith(".md") or name[0] == "." or name.lower() in _PAGES:
            return False
        if len(name) != len(path) and not self.enters(path[: -len(name) - 1]):
            return False
        return ".conflict-" not in name or re.fullmatch(CONFLICT, name) is None

    def enters(self, folder: str) -> bool:
        if folder[:1] == "." or "/." in folder:
            return False
        return folder.partition("/")[0].lower() not in self.not_rooms

    def parse(self, path: str, content: bytes) -> Memory:
        fields = Fields(path, content)
        _check_unicode(path)
        name = _name(fields)
        memory = Memory(
            id=name,
            body=fields.body,
            kind=fields.text("type") or "fact",
            title=fields.text("title") or heading(fields.body) or name,
            summary=fields.text("description"),
            place=Place(
                _composed(fields.text("wing")), _composed(fields.room), fields.text("hall")
            ),
            origin=_origin(fields),
            edges=fields.edges(name, _RELATIONS, _is_target),
            pinned=fields.flag("pinned"),
            trust=_trust(fields),
        )
        more: dict[str, Any] = {key: fields.texts(key) for key in _TEXTS}
        more |= {key: fields.time(key) for key in _TIMES}
        more |= {key: fields.text(key) for key in _TEXT}
        return memory._replace(**more, extra=_extra(fields))

    def render(self, memory: Memory, former: bytes | None = None) -> bytes:
        if former is None:
            check_edges(memory.id, memory.edges, _RELATIONS, _is_target)
            return made(_fields(memory), memory.body)
        fields = Fields("", former)
        named = bool(fields.text("name"))
        then = self.parse(f"{memory.id}.md", former)
        changes = _changes(then, memory)
        if named and then.id != memory.id:
            changes["name"] = memory.id
        if memory.edges != then.edges:
            check_edges(memory.id, memory.edges, _RELATIONS, _is_target)
            changes |= edge_lists(fields.values, then.edges, memory.edges, _RELATIONS, _is_target)
        return edited(former, changes, memory.body)

    def path_of(self, memory: Memory) -> str:
        check_slug(memory.id)
        room = _composed(memory.place.room)
        path = f"{room}/{memory.id}.md" if room else f"{memory.id}.md"
        check_new(path)
        if not self.is_note(path):
            raise InvalidValue(f"{room!r} is a folder of camillo's own, not a room")
        return path

    def id_of(self, name: str, room: str) -> str:
        return name

    def line(self, memory: Memory, path: str) -> str:
        return ""


def _composed(name: str) -> str:
    """A room is the same in NFC and NFD, whichever its folder has."""
    return normalize("NFC", name)


def _check_unicode(path: str) -> None:
    if printable(path) != path:
        raise NoteBroken(
            f"{printable(path)}: the name of this file is no UTF-8; give it another",
            printable(path),
        )


def _name(fields: Fields) -> str:
    name = fields.text("name").strip()
    if re.search(r"[\0-\x1f\x7f]", name):
        fields.report("name holds a control character; the file's name is used", "name")
        name = ""
    return name or fields.stem


def _is_target(text: str) -> bool:
    return bool(text.strip()) and re.search(r"[\0-\x1f\x7f]", text) is None


def _trust(fields: Fields) -> str:
    trust = fields.text("trust") or "normal"
    if trust in _TRUSTS:
        return trust
    fields.report(f"trust {trust!r} is none of {', '.join(_TRUSTS)}; untrusted", "trust")
    return "untrusted"


def _origin(fields: Fields) -> Origin | None:
    said = fields.values.get("origin")
    if said is None:
        return None
    source = said.get("source") if isinstance(said, dict) else said
    if not isinstance(source, str) or not source:
        fields.report("origin names no source; left out", "origin")
        return None
    numbers = said if isinstance(said, dict) else {}
    read = {key: numbers.get(key) for key in Origin._fields[1:]}
    return Origin(source, **{key: n for key, n in read.items() if type(n) is int})


def _extra(fields: Fields) -> dict[str, Any]:
    said = fields.values.get("extra")
    if said is not None and not isinstance(said, dict):
        fields.report("extra is no mapping; left out", "extra")
        said = None
    extra = {key: value for key, value in (said or {}).items() if key not in _OURS}
    others = fields.others(frozenset(KEYS))
    if others:
        extra["frontmatter"] = others
    if fields.problems:
        extra["problems"] = fields.problems
    return extra


def _said(memory: Memory) -> dict[str, Any]:
    """Every key but name, title, relations and supersedes, as YAML has it; None for nothing to
    say."""
    wing, _, hall = memory.place
    own = {key: value for key, value in memory.extra.items() if key not in _OURS}
    said: dict[str, Any] = {
        "description": memory.summary,
        "type": memory.kind,
        "pinned": memory.pinned,
        "wing": wing,
        "hall": hall,
        "trust": memory.trust if memory.trust != "normal" else None,
        "origin": _origin_said(memory.origin),
        "extra": own,
    }
    said |= {key: list(getattr(memory, key)) for key in _TEXTS}
    said |= {key: iso(at) if (at := getattr(memory, key)) else None for key in _TIMES}
    said |= {key: getattr(memory, key) for key in _TEXT}
    return {key: value or None for key, value in said.items()}


def _origin_said(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {key: value for key, value in zip(Origin._fields, origin, strict=True) if value}


def _others(memory: Memory) -> dict[str, Any]:
    others = memory.extra.get("frontmatter", {})
    return {key: value for key, value in others.items() if key not in KEYS}


def _fields(memory: Memory) -> dict[str, Any]:
    fields = _said(memory) | {"name": memory.id}
    if memory.title != (heading(memory.body) or memory.id):
        fields["title"] = memory.title
    edges = tuple(dict.fromkeys(memory.edges))
    fields |= {key: edge_entries(key, edges) for key in ("relations", "supersedes")}
    said = {key: fields[key] for key in KEYS if fields.get(key)}
    return said | _others(memory)


def _changes(then: Memory, now: Memory) -> dict[str, Any]:
    before, after = _said(then), _said(now)
    changes = {
        key: REMOVE if value is None else value
        for key, value in after.items()
        if value != before[key]
    }
    if now.title != then.title:
        derived = heading(now.body) or now.id
        changes["title"] = REMOVE if now.title in ("", derived) else now.title
    others = _others(then)
    return changes | {
        key: value
        for key, value in _others(now).items()
        if key not in others or value != others[key]
    }
