"""Which mined files are gone: only those whose folder could be read and does not hold them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from camillo.ingest.sources import SourceRecord, on_disk
from camillo.model import Author, Filter, replace
from camillo.ports import Store

__all__ = ["Vanished", "vanished"]


@dataclass(slots=True)
class Vanished:
    """What was found about the sources of one store."""

    scope: str
    known: int = 0  # records that were looked at, and those that were marked before
    present: int = 0
    gone: list[SourceRecord] = field(default_factory=list)
    unsure: list[tuple[str, str]] = field(default_factory=list)

    def mark(self, store: Store, by: Author, now: int) -> None:
        """Put the drawers of what is gone away; the records say so, for the next mine."""
        with store.transaction(bulk=True):
            for record in self.gone:
                filter = Filter(scope=self.scope, source=record.name, kinds=("drawer",))
                drawers = [replace(drawer, archived=now) for drawer in store.scan(filter)]
                store.put(drawers, by, bulk=True)
                store.put([record._replace(missing=now).memory(self.scope)], by, bulk=True)


def vanished(store: Store, scope: str, under: str | None, *, emptied: bool) -> Vanished:
    """Look for the files of all records, or of those at or below `under`.

    A mined folder that is missing, unreadable, or has none of its files left (unless `emptied`)
    says nothing about its files: its disk may not be mounted.
    """
    found = Vanished(scope)
    by_folder: dict[str, list[SourceRecord]] = {}
    filter = Filter(scope=scope, kinds=("source",), internal=True)
    for record in map(SourceRecord.of, store.scan(filter)):
        inside = under is None or (record.name + os.sep).startswith(under.rstrip(os.sep) + os.sep)
        found.known += inside
        if inside and not record.missing:
            by_folder.setdefault(record.folder, []).append(record)
    for folder, records in sorted(by_folder.items()):
        _look(folder, records, found, emptied)
    return found


def _look(folder: str, records: list[SourceRecord], found: Vanished, emptied: bool) -> None:
    top = on_disk(folder)
    states = {record.name: _state(on_disk(record.name), top) for record in records}
    gone = [record for record in records if states[record.name] == "gone"]
    reason = _unreadable(top)
    if not reason and gone and len(gone) == len(records) and not emptied:
        reason = "none of its files is left: is its disk mounted? (--emptied if they were deleted)"
    if reason:
        found.unsure.append((folder, reason))
        return
    found.gone += gone
    found.present += sum(state == "present" for state in states.values())
    found.unsure += [(name, state) for name, state in states.items() if " " in state]


def _state(path: str, top: str) -> str:
    """present, gone, or in words why it cannot be told."""
    try:
        if stat.S_ISREG(os.lstat(path).st_mode):
            return "present"
        return "gone"  # a folder or a link has its name now
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        return f"cannot look: {(error.strerror or str(error)).lower()}"
    folder = os.path.dirname(path)
    while len(folder) > len(top) and not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    reason = _unreadable(folder)
    return f"cannot look: {reason}" if reason else "gone"


def _unreadable(folder: str) -> str:
    """Why a folder cannot be listed; "" when it can."""
    try:
        with os.scandir(folder) as entries:
            next(entries, None)
        return ""
    except OSError as error:
        return f"{folder} is unreadable: {(error.strerror or str(error)).lower()}"
