"""Notes of other tools become notes of a root: named, linked, compared with what is there, written.

Nothing is asked twice: a note is known again by the file that it came from (and its name in it), or
by its title and text. What was changed here since stays as it is. Format owned: `extra["import"]`,
with `from` (the format), `hash` (what was imported), and `item` (which one of its file).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, Protocol

from camillo.errors import CamilloError, Refused, StoreError
from camillo.forgotten import Forgotten
from camillo.ingest.importers.note import RELATED, Found, NoteImporter
from camillo.model import (
    INTERNAL_KINDS,
    NOT_NOTES,
    Author,
    Edge,
    Filter,
    Key,
    Memory,
    replace,
)
from camillo.notebook import Notebook
from camillo.notes.names import slug, unique_name
from camillo.ports import Store
from camillo.text.mentions import mentions
from camillo.text.normalise import normalise

__all__ = ["MARK", "Imported", "Item", "import_notes"]

MARK = "import"  # in a memory's `extra`

_BATCH = 50  # notes that are written together, where they are rows
_PENDING = 4000  # changes after which the indexes catch up meanwhile
_NUMBER = re.compile(r"_\d+\Z")

Status = Literal["stored", "updated", "deduplicated", "forgotten", "skipped", "failed"]


class Target(Protocol):
    """The root that is imported into."""

    @property
    def scope(self) -> str: ...

    @property
    def store(self) -> Store: ...

    @property
    def notebook(self) -> Notebook | None: ...

    def catch_up(self, *, at_most: int | None = None) -> int: ...


class Item(NamedTuple):
    """What became of one note. `source` is where it was read, `reason` why it is not here, or what
    of it could not be used."""

    id: str
    status: Status
    source: str
    reason: str = ""


@dataclass(slots=True)
class Imported:
    """`counted` says how many files were no notes, by reason; `loose` which links lead nowhere."""

    items: list[Item] = field(default_factory=list)
    counted: dict[str, int] = field(default_factory=dict)
    links: int = 0
    loose: list[str] = field(default_factory=list)

    def count(self, status: Status) -> int:
        return sum(item.status == status for item in self.items)


class _Held(NamedTuple):
    """A note of the root: what an imported one is compared with."""

    key: Key
    archived: bool


class _Planned(NamedTuple):
    """A note with the name that it has or gets here."""

    found: Found
    id: str
    held: _Held | None  # the one that came from the same place
    twin: _Held | None  # one that says the same


def import_notes(
    target: Target,
    importer: NoteImporter,
    path: str,
    *,
    by: Author,
    clock: Callable[[], float],
    tell: Callable[[int, int | None, str], None] = lambda done, total, what: None,
    taken: Literal["number", "skip"] = "number",
    dry_run: bool = False,
) -> Imported:
    """Everything that `importer` finds at `path`. A name that another note has gets a number after
    it, or the note is skipped. May be interrupted and run again. `dry_run` writes nothing.

    Raises NotFound, StoreError; what is wrong with one note is in its item.
    """
    done = Imported()
    found = _read(importer, path, done, tell)
    root = _Root(target)
    plans = list(_plan(found, root, done, taken))
    linked = _Links(plans, root)
    work: list[_Work] = []
    for plan in plans:
        memory = _marked(linked.resolved(plan, done), plan.found, importer.name)
        work.append(_Work(plan, memory))
    _write(target, work, done, by, int(clock() * 1000), tell, dry_run)
    return done


def _read(
    importer: NoteImporter,
    path: str,
    done: Imported,
    tell: Callable[[int, int | None, str], None],
) -> list[Found]:
    found: list[Found] = []
    for each in importer.read(path):
        if isinstance(each, Found):
            found.append(each)
            tell(len(found), None, "read")
        elif each.status == "counted":
            done.counted[each.reason] = done.counted.get(each.reason, 0) + 1
        else:
            done.items.append(Item("", each.status, each.where, each.reason))
    return found


# --- which note of the root it is -------------------------------------------------------------


class _Root:
    """What the root holds already, by place of origin, by text and by name."""

    def __init__(self, target: Target) -> None:
        self.forgotten = Forgotten(target.store, target.scope)
        self.by_origin: dict[tuple[str, str], _Held] = {}
        self.by_text: dict[bytes, _Held] = {}
        self.names: dict[str, set[str]] = {}  # without their number, folded -> names
        self.ids: set[str] = set()
        kinds = set(target.store.tally("kind", Filter(None, archived=True)))
        kinds -= NOT_NOTES | INTERNAL_KINDS
        filter = Filter("", target.scope, kinds=tuple(sorted(kinds)), archived=True)
        for memory in target.store.scan(filter):
            held = _Held(memory.key, bool(memory.archived))
            if memory.origin:
                self.by_origin[memory.origin.source, _item_of(memory)] = held
            self.by_text.setdefault(_text_hash(memory), held)
            self.take(memory.id)

    def take(self, name: str) -> None:
        self.ids.add(name)
        self.names.setdefault(_stem(name), set()).add(_folded(name))

    def free_name(self, wanted: str) -> str:
        name = unique_name(wanted, self.names.get(_stem(slug(wanted)), ()))
        if not self.has(name):
            return name
        return unique_name(wanted, self.ids)  # a long one, that is cut to take its number

    def has(self, name: str) -> bool:
        return _folded(name) in self.names.get(_stem(name), ())

    def hides(self, memory: Memory) -> bool:
        """Was this text erased, or a part of it that was mined from the same file?"""
        source = memory.origin.source if memory.origin else ""
        return self.forgotten.hides(memory) or bool(self.forgotten.spans(source, memory.body))


def _plan(
    found: Iterable[Found], root: _Root, done: Imported, taken: Literal["number", "skip"]
) -> Iterable[_Planned]:
    for each in found:
        memory = each.memory
        source = memory.origin.source if memory.origin else ""
        if root.hides(memory):
            done.items.append(Item("", "forgotten", each.where, "its text was erased here"))
            continue
        held = root.by_origin.get((source, each.item))
        twin = None if held else root.by_text.get(_text_hash(memory))
        here = held or twin
        if here is not None:
            yield _Planned(each, here.key.id, held, twin)
            continue
        if taken == "skip" and root.has(slug(memory.id)):
            reason = f"another note has the name {slug(memory.id)!r}"
            done.items.append(Item("", "skipped", each.where, reason))
            continue
        name = root.free_name(memory.id)
        root.take(name)
        root.by_text.setdefault(
            _text_hash(memory), _Held(Key("", "", "", name), False)
        )  # a second copy in the same import
        yield _Planned(each, name, None, None)


# --- links ------------------------------------------------------------------------------------


class _Links:
    """What the source calls its notes, and what they are called here."""

    def __init__(self, plans: Iterable[_Planned], root: _Root) -> None:
        self._root = root
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        nearest = sorted(plans, key=lambda plan: plan.found.where.count("/"))
        for rank in range(max((len(plan.found.known_as) for plan in nearest), default=0)):
            for plan in nearest:
                for name in plan.found.known_as[rank : rank + 1]:
                    self._exact.setdefault(name, plan.id)
                    self._folded.setdefault(_folded(name), plan.id)

    def resolved(self, plan: _Planned, done: Imported) -> Memory:
        """The note under its name, with its links as edges."""
        memory = plan.found.memory
        said = mentions(memory.body)
        edges: dict[Edge, None] = {}
        words: list[dict[str, str]] = []
        plainly: dict[Edge, None] = {}
        loose: dict[str, None] = {}
        for link in plan.found.links:
            target = self._target(link.target)
            if not target:
                where = link.where or plan.found.where
                loose[f"{where}: {link.target}"] = None
            elif target == plan.id:
                continue
            elif link.relation == RELATED and not link.said:
                plainly[Edge(RELATED, target)] = None
            else:
                edges[Edge(link.relation, target)] = None
                if link.said:
                    words.append({"to": target, "type": link.said})
        linked = {edge.target for edge in edges} | set(said)
        edges |= {edge: None for edge in plainly if edge.target not in linked}
        done.links += len(edges)
        done.loose += loose
        extra = {**memory.extra, **({"relations": words} if words else {})}
        return replace(memory, id=plan.id, edges=(*memory.edges, *edges), extra=extra)

    def _target(self, name: str) -> str:
        """The note here that a link of the source leads to; "" for none. A path leads to a page of
        its last name too, as Obsidian has it."""
        for wanted in dict.fromkeys((name, name.rpartition("/")[2])):
            found = self._exact.get(wanted) or self._folded.get(_folded(wanted))
            if found:
                return found
        return name if name in self._root.ids else ""


# --- writing ----------------------------------------------------------------------------------


class _Work(NamedTuple):
    plan: _Planned
    memory: Memory


def _write(
    target: Target,
    work: Sequence[_Work],
    done: Imported,
    by: Author,
    now: int,
    tell: Callable[[int, int | None, str], None],
    dry_run: bool,
) -> None:
    pending = 0
    for start in range(0, len(work), _BATCH):
        batch = work[start : start + _BATCH]
        writer = _Writer(target, by, now, dry_run)
        if dry_run or target.notebook is not None:
            # Each file has a transaction of its own: what is known of a file is noted outside of
            # the store, and must not be there before the note's row is.
            items = [writer.item(each) for each in batch]
        else:
            with target.store.transaction(bulk=True):
                items = [writer.item(each) for each in batch]
        done.items += items
        pending += sum(item.status in ("stored", "updated") for item in items)
        if pending >= _PENDING:
            pending = target.catch_up()
        tell(start + len(batch), len(work), "notes")


class _Writer:
    def __init__(self, target: Target, by: Author, now: int, dry_run: bool) -> None:
        self._target = target
        self._by = by
        self._now = now
        self._dry_run = dry_run

    def item(self, work: _Work) -> Item:
        where, problem = work.plan.found.where, "; ".join(work.plan.found.problems)
        try:
            status, reason = self._done(work)
        except StoreError:
            raise  # not this note's fault: it would be the same with the next
        except CamilloError as error:
            return Item("", "failed", where, str(error))
        return Item(work.plan.id, status, where, reason or problem)

    def _done(self, work: _Work) -> tuple[Status, str]:
        held = work.plan.held or work.plan.twin
        if held is None:
            return self._save(self._new(work.memory), None), ""
        row = self._target.store.get([held.key._replace(scope=self._target.scope)])[0]
        if row is None:  # a second copy in the same import: nothing else is planned without a row
            return ("deduplicated", "") if self._dry_run else ("failed", "its twin was not written")
        hash_ = _fingerprint(work.memory)
        former = row.extra.get(MARK, {}).get("hash")
        here = _fingerprint(row)
        if work.plan.twin or row.archived or hash_ in (former, here):
            return "deduplicated", ""
        if former != here:
            return "skipped", "it was changed here since it was imported, and in its source too"
        return self._save(_over(row, work.memory, self._now), row), ""

    def _new(self, memory: Memory) -> Memory:
        return replace(
            memory,
            scope=self._target.scope,
            created=memory.created or self._now,
            updated=memory.updated or self._now,
        )

    def _save(self, memory: Memory, row: Memory | None) -> Status:
        def change(now: Memory | None) -> Memory:
            if now and _fingerprint(now) == _fingerprint(memory):
                return now  # another process imports the same
            if (now and _fingerprint(now)) != (row and _fingerprint(row)):
                raise Refused(f"{memory.id!r} was written meanwhile: run this again")
            return memory

        notebook = self._target.notebook
        if self._dry_run:
            return "updated" if row else "stored"
        if notebook is None:
            return _status(self._target.store.put([memory], self._by, bulk=True)[0].status)
        return _status(notebook.save(memory.key, change, self._by).outcome.status)


def _over(row: Memory, memory: Memory, now: int) -> Memory:
    """The note as its source has it now, in the place that it has here."""
    extra = {key: value for key, value in row.extra.items() if key != "relations"}
    return replace(
        memory,
        scope=row.scope,
        place=row.place,
        created=row.created,
        updated=now,
        extra={**extra, **memory.extra},
    )


def _status(said: str) -> Status:
    return "updated" if said == "updated" else "stored" if said == "stored" else "deduplicated"


def _marked(memory: Memory, found: Found, format: str) -> Memory:
    mark: dict[str, Any] = {"from": format, "hash": _fingerprint(memory)}
    if found.item:
        mark["item"] = found.item
    return replace(memory, extra={**memory.extra, MARK: mark})


def _item_of(memory: Memory) -> str:
    mark = memory.extra.get(MARK)
    return str(mark.get("item", "")) if isinstance(mark, dict) else ""


def _fingerprint(memory: Memory) -> str:
    """16 hex digits over what an import sets and a person would change."""
    said = (
        memory.body, memory.title, memory.summary, memory.kind, memory.tags, memory.aliases,
        sorted(memory.edges), memory.pinned, memory.happened_at,
    )  # fmt: skip
    text = json.dumps(said, ensure_ascii=False)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _text_hash(memory: Memory) -> bytes:
    text = f"{normalise(memory.title)}\0{normalise(memory.body)}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())


def _stem(name: str) -> str:
    return _NUMBER.sub("", _folded(name))
