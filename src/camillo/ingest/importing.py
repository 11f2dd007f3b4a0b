"""Memories of other tools become memories of a root: named, linked, compared with what is there,
written. Notes become notes; of a kind that is none, as `conversation`, rows of the store.

Nothing is asked twice: a memory is known again by the file that it came from (and its name in it),
or by its title and text. What was changed here since stays as it is. Format owned:
`extra["import"]`, with `from` (the format), `hash` (what was imported), and `item` (which one of
its file).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, Protocol

from camillo.errors import CamilloError, Refused, StoreError
from camillo.ingest._imported_links import Links
from camillo.ingest._present import MARK, LeftAlone, Planned, Present
from camillo.ingest.importers.note import Found, LeftOut, NoteImporter
from camillo.model import NOT_NOTES, Author, Memory, replace
from camillo.notebook import Notebook
from camillo.ports import Store

__all__ = ["MARK", "Imported", "Item", "import_notes"]

_BATCH = 50  # notes that are written together, where they are rows
_ROWS = 500  # rows that are written together, as they are read
_PENDING = 4000  # changes after which the indexes catch up meanwhile

# Of oc's frontmatter, without a field of a memory: what an import sets and a person would change.
_SHOWN = ("highlight", "category_desc")

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
    """What became of one memory. `source` is where it was read, `reason` why it is not here, or
    what of it could not be used."""

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


def import_notes(
    target: Target,
    importer: NoteImporter,
    path: str,
    *,
    by: Author,
    clock: Callable[[], float],
    tell: Callable[[int, int | None, str], None] = lambda done, total, what: None,
    taken: Literal["number", "skip"] = "number",
    elsewhere: Callable[[str], str] = lambda where: "",
    dry_run: bool = False,
) -> Imported:
    """Everything that `importer` finds at `path`. A name that another note has gets a number after
    it, or the note is skipped. What `elsewhere` has a reason for, by where it was read, is counted
    and does not come in. May be interrupted and run again. `dry_run` writes nothing.

    Raises NotFound, StoreError; what is wrong with one memory is in its item.
    """
    done = Imported()
    present = Present(target)
    writer = _Writer(target, importer.name, done, by, int(clock() * 1000), dry_run)
    found: list[Found] = []
    rows: list[Found] = []
    for number, each in enumerate(_read(importer, path, elsewhere, done), 1):
        if each.memory.kind not in NOT_NOTES:
            found.append(each)
        else:
            rows.append(each)
            if len(rows) == _ROWS:
                writer.put_rows(_planned(present.plan_rows(rows), done))
                rows.clear()
        tell(number, None, "read")
    writer.put_rows(_planned(present.plan_rows(rows), done))
    plans = _planned(present.plan(found, number_names=taken == "number"), done)
    writer.save_notes(plans, Links(plans, present.ids), tell)
    return done


def _read(
    importer: NoteImporter, path: str, elsewhere: Callable[[str], str], done: Imported
) -> Iterator[Found]:
    for each in importer.read(path):
        reason = elsewhere(each.where)
        if isinstance(each, LeftOut) and each.status == "counted":
            reason = each.reason
        if reason:
            done.counted[reason] = done.counted.get(reason, 0) + 1
        elif isinstance(each, Found):
            yield each
        elif each.status != "counted":
            done.items.append(Item("", each.status, each.where, each.reason))


def _planned(plans: Iterator[Planned | LeftAlone], done: Imported) -> list[Planned]:
    """Those that come in, or are here; the others are told."""
    kept = []
    for plan in plans:
        if isinstance(plan, Planned):
            kept.append(plan)
        else:
            done.items.append(Item("", plan.status, plan.found.where, plan.reason))
    return kept


# --- writing ----------------------------------------------------------------------------------


class _Writer:
    """Writes, and says in `done` what became of each."""

    def __init__(
        self, target: Target, format: str, done: Imported, by: Author, now: int, dry_run: bool
    ) -> None:
        self._target = target
        self._format = format
        self._done = done
        self._by = by
        self._now = now
        self._dry_run = dry_run
        self._pending = 0

    def put_rows(self, plans: Sequence[Planned]) -> None:
        memories = [replace(plan.found.memory, id=plan.id) for plan in plans]
        self._write(plans, memories, together=True)

    def save_notes(
        self, plans: Sequence[Planned], links: Links, tell: Callable[[int, int | None, str], None]
    ) -> None:
        # Each file has a transaction of its own: what is known of a file is noted outside of the
        # store, and must not be there before the note's row is.
        together = self._target.notebook is None
        linked = [links.resolved(plan) for plan in plans]
        for each in linked:
            self._done.links += each.links
            self._done.loose += each.loose
        for start in range(0, len(plans), _BATCH):
            memories = [each.memory for each in linked[start : start + _BATCH]]
            self._write(plans[start : start + _BATCH], memories, together=together)
            tell(start + len(memories), len(plans), "notes")

    def _write(
        self, plans: Sequence[Planned], memories: Sequence[Memory], *, together: bool
    ) -> None:
        if together and plans and not self._dry_run:
            with self._target.store.transaction(bulk=True):
                items = list(map(self._item, plans, memories))
        else:
            items = list(map(self._item, plans, memories))
        self._done.items += items
        self._pending += sum(item.status in ("stored", "updated") for item in items)
        if self._pending >= _PENDING and not self._dry_run:
            self._pending = self._target.catch_up()

    def _item(self, plan: Planned, memory: Memory) -> Item:
        where, problem = plan.found.where, "; ".join(plan.found.problems)
        try:
            status, reason = self._written(plan, _marked(memory, plan.found, self._format))
        except StoreError:
            raise  # not this note's fault: it would be the same with the next
        except CamilloError as error:
            return Item("", "failed", where, str(error))
        return Item(plan.id, status, where, reason or problem)

    def _written(self, plan: Planned, memory: Memory) -> tuple[Status, str]:
        held = plan.held or plan.twin
        if held is None:
            return self._save(self._new(memory), None), ""
        row = self._target.store.get([held.key._replace(scope=self._target.scope)])[0]
        if row is None:  # a second copy in the same import: nothing else is planned without a row
            return ("deduplicated", "") if self._dry_run else ("failed", "its twin was not written")
        hash_ = _fingerprint(memory)
        former = row.extra.get(MARK, {}).get("hash")
        here = _fingerprint(row)
        if plan.twin or row.archived or hash_ in (former, here):
            return "deduplicated", ""
        if former != here:
            return "skipped", "it was changed here since it was imported, and in its source too"
        return self._save(_over(row, memory, self._now), row), ""

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

        if self._dry_run:
            return "updated" if row else "stored"
        notebook = self._target.notebook
        if notebook is None or memory.kind in NOT_NOTES:
            return _status(self._target.store.put([memory], self._by, bulk=True)[0].status)
        return _status(notebook.save(memory.key, change, self._by).outcome.status)


def _over(row: Memory, memory: Memory, now: int) -> Memory:
    """The memory as its source has it now, in the place that it has here."""
    extra = {key: value for key, value in row.extra.items() if key != "relations"}
    return replace(
        memory,
        scope=row.scope,
        session=row.session,
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


def _fingerprint(memory: Memory) -> str:
    """16 hex digits over what an import sets and a person would change."""
    shown = memory.extra.get("frontmatter", {})
    said = (
        memory.body, memory.title, memory.summary, memory.kind, memory.tags, memory.aliases,
        sorted(memory.edges), memory.pinned, memory.happened_at,
    )  # fmt: skip
    more = (memory.load_when, memory.superseded_by, *(shown.get(key) for key in _SHOWN))
    text = json.dumps((*said, *filter(None, more)), ensure_ascii=False)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
