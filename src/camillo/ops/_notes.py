"""What the operations on notes share: finding one, writing one, and the graph around them."""

from __future__ import annotations

import re
from collections.abc import Callable

from camillo.errors import Ambiguous, InvalidValue, NotFound, UnknownSource
from camillo.model import GLOBAL, INTERNAL_KINDS, NOT_NOTES, Author, Filter, Key, Memory, Page
from camillo.notes.scopes import default_scope
from camillo.ops._lookup import keys_of, which
from camillo.ops._pages import keep_pages, list_in
from camillo.ops._scope import nearest_root
from camillo.ops.embed import embed_note
from camillo.ops.report import Report
from camillo.text.rules import is_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.graph.edges import Graph
    from camillo.vault import OpenRoot, Vault

__all__ = [
    "absent",
    "check_date",
    "circles",
    "exists_in",
    "find_note",
    "find_source",
    "graph_around",
    "milliseconds",
    "must_exist",
    "root_for",
    "usual_kind",
    "words_of",
    "write_note",
]

_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ].+)?)?)?")


def check_date(option: str, date: str | None) -> None:
    """Raises InvalidValue unless it is ISO 8601, as precise as is known: 2026, 2026-05 …"""
    from datetime import datetime

    try:
        if date and _DATE.fullmatch(date):
            datetime.fromisoformat(date + "0001-01-01"[len(date) :])
            return
    except ValueError:
        pass
    if date is not None:
        raise InvalidValue(f"{option} must be a date like 2027-01-31, not {date!r}")


def milliseconds(option: str, date: str | None) -> int | None:
    """The beginning of a date; 0 for "", which is none."""
    if not date:
        return None if date is None else 0
    check_date(option, date)
    from datetime import UTC, datetime

    moment = datetime.fromisoformat(date + "0001-01-01"[len(date) :])
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)


def words_of(given: tuple[str, ...], *, comma: bool = False) -> tuple[str, ...] | None:
    """What a list is to be, each once, at a `comma` several; None where nothing was given, so that
    "" makes it empty."""
    parts = (part for each in given for part in (each.split(",") if comma else [each]))
    return tuple(dict.fromkeys(filter(None, map(str.strip, parts)))) if given else None


def root_for(vault: Vault, scope: str | None, kind: str, name: str = "") -> OpenRoot:
    """Where a note of this kind goes: to the root that is named, else to that of its scope which
    has the name already, else to camillo's own, else to a store of another form that is the only
    one of its scope."""
    named = scope or default_scope(kind, project_open=any(vault.roots("project")))
    if named not in ("user", "project"):
        return next(iter(vault.roots(named)))
    there = [root for root in vault.roots() if root.scope == named and root.root.writable]
    if name and len(there) > 1:
        holding = [root for root in there if keys_of(root, name)]
        there = holding if len(holding) == 1 else there
    own = [root for root in there if root.root.form == "camillo"]
    if not there and named == "project":
        vault.new_root("project")
    return (own or there or [vault.root(named, create=True)])[0]


def usual_kind(root: OpenRoot, room: str) -> str:
    """Of a note that says none: what its room makes it, else the one that says least."""
    kinds = root.notebook.folder.dialect.kinds if root.notebook is not None else ()
    if kinds:
        return kinds[-1]
    return "rule" if is_rule(room, "") else "fact"


def find_note(vault: Vault, name: str, scope: str | None) -> tuple[OpenRoot, Memory]:
    """The one note of this name. Raises NotFound, Ambiguous."""
    found = []
    for root in vault.roots(scope):
        found += [(root, memory) for memory in root.store.get(keys_of(root, name)) if memory]
    if not found:
        raise NotFound(f"no memory is called {name!r}; `camillo list` shows what there is")
    if len(near := nearest_root(found, scope)) > 1:
        raise Ambiguous(which(name, [(root, memory.key) for root, memory in found]))
    root, memory = near[0]
    if memory.kind in NOT_NOTES:
        raise InvalidValue(f"{name!r} is a {memory.kind}, kept word for word: it is not rewritten")
    return root, memory


def absent(root: OpenRoot, name: str) -> NotFound:
    """Why a name is in no graph: there is none, or it is archived."""
    if any(memory and memory.archived for memory in root.store.get(keys_of(root, name))):
        return NotFound(
            f"{name!r} is archived, so no links are walked there: "
            f"`camillo archive {name} --undo` brings it back"
        )
    return NotFound(f"no memory {name!r} in the {root.scope} scope")


def find_source(vault: Vault, name: str, scope: str | None) -> tuple[OpenRoot, Memory]:
    """As `find_note`, for the note that a link leads from. Raises UnknownSource for none."""
    try:
        return find_note(vault, name, scope)
    except NotFound:
        raise UnknownSource(f"no memory {name!r} that a link could lead from") from None


def write_note(
    vault: Vault,
    root: OpenRoot,
    key: Key,
    change: Callable[[Memory | None], Memory],
    via: str,
    expect: str = "",
    *,
    follow: bool = True,
    move: bool = False,
) -> Report:
    """Write what `change` makes of a note as it is now; the report has one result. Vectors `follow`
    where the text may be another; with `move` its file goes where its room is."""
    by = Author(vault.author.who, via)
    seen: list[Memory | None] = [None, None]

    def watched(now: Memory | None) -> Memory:
        seen[:] = now, change(now)
        return seen[1]  # type: ignore[return-value]

    more: list[str] = []
    if root.notebook is not None:
        saved = root.notebook.save(key, watched, by, expect=expect, move=move)
        outcome = saved.outcome
        where = {"path": saved.path, "folder": root.root.folder, "hash": saved.hash}
        more += list_in(root, saved.path, seen[1], seen[0])
    else:
        if expect:
            raise InvalidValue("--expect compares a file's bytes, and notes are no files here")
        with root.store.transaction():
            memory = change(root.store.get([key])[0])
            outcome, where = root.store.put([memory], by)[0], {}
    root.catch_up()
    root.scrub()
    more += keep_pages(vault, root)
    reply = {"id": outcome.key.id, "status": outcome.status, "scope": root.scope, **where}
    more += embed_note(vault, root) if follow else []
    return Report(results=[reply], degraded=more)


def exists_in(root: OpenRoot) -> Callable[[Key], bool]:
    """Is there a memory with this key?"""
    return lambda key: root.store.get([key])[0] is not None


def must_exist(now: Memory | None, key: Key) -> Memory:
    if now is None:
        raise UnknownSource(f"no memory {key.id!r} in the {key.scope} scope any more")
    return now


def circles(root: OpenRoot, key: Key | None = None) -> list[str]:
    """In words, which memories supersede one another; with a key only those around it."""
    links = root.edges.superseders()
    if not links:
        return []
    from camillo.graph.edges import graph_of
    from camillo.graph.folding import fold

    named = {end for link in links for end in (link.source, link.target)}
    ends = sorted(named | {end._replace(session=GLOBAL) for end in named})
    found = fold(graph_of(each for each in root.store.get(ends) if each and not each.archived))
    return [
        f"{' and '.join(repr(each.id) for each in circle)} supersede each other: all stay visible"
        for circle in found.cycles
        if key is None or key in circle
    ]


def graph_around(root: OpenRoot) -> Graph:
    """All notes of a root with their links and mentions."""
    from camillo.config import mentions_wanted
    from camillo.graph.edges import graph_of
    from camillo.text.mentions import reader

    kinds = set(root.store.tally("kind", Filter(None))) - NOT_NOTES - INTERNAL_KINDS
    notes = list(root.store.scan(Filter(None, kinds=tuple(sorted(kinds))), Page(order="id")))
    named = ((note.id, note.place.room, note.aliases) for note in notes)
    return graph_of(notes, reader(root.root.form, named) if mentions_wanted() else None)
