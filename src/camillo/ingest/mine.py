"""Mine a folder: walk, read, chunk, file; everything verbatim, every skipped file with its reason.

Files are prepared outside any transaction and written in small batches, so that other processes
wait for milliseconds only and an interruption loses at most the file in hand.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple, Protocol

from camillo.config import MineSettings, environment
from camillo.errors import InvalidValue, StoreBusy, StoreDamaged, StoreFull
from camillo.forgotten import Forgotten
from camillo.ingest.places import Placing
from camillo.ingest.sources import SourceRecord
from camillo.ingest.walk import Found, Skipped, WalkRules, display, walk
from camillo.model import Author, Filter, Memory, Origin, drawer_id, replace
from camillo.ports import Store
from camillo.text.chunk import Chunk, chunk
from camillo.text.dates import content_date
from camillo.text.decode import Decoded, decode
from camillo.text.printable import printable

__all__ = ["MineReport", "Target", "mine"]

_BATCH_DRAWERS = 256
_BATCH_FILES = 64
_PENDING = 4000  # changes after which the indexes catch up while a mine still runs
_READS = 3  # attempts at a file that changes while it is read

Tell = Callable[[int, "int | None", str], None]


class Target(Protocol):
    """The root that is mined into."""

    @property
    def store(self) -> Store: ...

    def catch_up(self, *, at_most: int | None = None) -> int: ...

    def behind(self) -> int: ...

    def scrub(self) -> bool: ...


class SkippedFile(NamedTuple):
    path: str
    reason: str


@dataclass(slots=True)
class MineReport:
    """What one mine did. Files are counted once each; drawers as the store answered."""

    wing: str = ""
    folder: str = ""
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    drawers_new: int = 0
    drawers_unchanged: int = 0
    drawers_gone: int = 0
    forgotten: int = 0
    withheld: list[str] = field(default_factory=list)  # file:lines that hold a forgotten text
    wings: set[str] = field(default_factory=set)  # where the files are filed, former places kept
    bytes: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    failed: list[SkippedFile] = field(default_factory=list)
    behind: int = 0


class _Prepared(NamedTuple):
    """A file that was read and cut, ready to be filed; `drawers` is None when only its stamps are
    new."""

    source: Memory
    drawers: list[Memory] | None
    damaged: bool = False  # a row of it in the store: all of them are written again


class Unreadable(NamedTuple):
    reason: str
    failed: bool


def mine(
    target: Target,
    folder: str,
    placing: Placing,
    settings: MineSettings,
    rules: str,
    *,
    scope: Literal["user", "project"] = "user",
    by: Author = Author(via="mine"),
    tell: Tell = lambda done, total, what: None,
    clock: Callable[[], float] = time.time,
    dry_run: bool = False,
    count_first: bool = False,
) -> MineReport:
    """File everything readable under `folder`. Raises InvalidValue when there is no such path.

    A file counts as unchanged by (mtime, size), then by its hash; `rules` and the versions of
    chunker, tokeniser, normaliser and closets are part of that. `count_first` walks twice, so that
    `tell` knows how many files there are.
    """
    if not os.path.lexists(folder):
        raise InvalidValue(f"there is no {folder}: give the path of a folder or a file")
    total = _file_count(folder, settings) if count_first else None
    work = _Mine(target, folder, placing, settings, rules, scope, by, clock, dry_run)
    done = 0
    try:
        for entry in walk(folder, _walk_rules(settings), environment()):
            if isinstance(entry, Skipped):
                work.skip(entry)
            else:
                work.take(entry)
                done += 1
                tell(done, total, display(entry.relative))
    finally:
        work.finish()  # also when interrupted: what was prepared is filed
    tell(done, done, "")
    return work.report


def _file_count(folder: str, settings: MineSettings) -> int:
    entries = walk(folder, _walk_rules(settings), environment())
    return sum(not isinstance(entry, Skipped) for entry in entries)


class _Mine:
    """One run: the known records, the batch in hand and the counts."""

    def __init__(
        self,
        target: Target,
        folder: str,
        placing: Placing,
        settings: MineSettings,
        rules: str,
        scope: Literal["user", "project"],
        by: Author,
        clock: Callable[[], float],
        dry_run: bool,
    ) -> None:
        self._target = target
        self._named = not os.path.isdir(folder)
        self._folder = printable(folder if os.path.isdir(folder) else os.path.dirname(folder))
        self._placing = placing
        self._settings = settings
        self._rules = rules
        self._scope = scope
        self._by = by
        self._clock = clock
        self._dry_run = dry_run
        self._forgotten = Forgotten(target.store, scope)
        self._known = self._records(folder)
        self._batch: list[_Prepared] = []
        self._batch_drawers = 0
        self._pending = 0
        self.report = MineReport(wing=placing.wing, folder=folder)

    def skip(self, entry: Skipped) -> None:
        kind = self.report.failed if entry.unreadable else self.report.skipped
        kind.append(SkippedFile(display(entry.relative), entry.reason))

    def take(self, found: Found) -> None:
        name = printable(found.path)
        record = self._known.get(name)
        place = self._placing.place(printable(found.relative), record.place if record else None)
        self.report.wings.add(place.wing)
        text = record is not None and record.holds_text  # else why not is said again
        text = text and not (self._named and self._former(name) is None)
        if record and text and record.unchanged(found.size, found.mtime_ns, place, self._rules):
            self.report.unchanged += 1
            return
        read = _read(found, self._clock)
        if isinstance(read, Unreadable):
            kind = self.report.failed if read.failed else self.report.skipped
            kind.append(SkippedFile(display(found.relative), read.reason))
            return
        data, size, mtime_ns, read_at = read
        digest = blake2b(data, digest_size=16).hexdigest()
        if record and text and record.hash == digest and record.same_rules(place, self._rules):
            fresh = record._replace(size=size, mtime_ns=mtime_ns, read_at=read_at)
            self.report.unchanged += 1
            self._add(_Prepared(fresh.memory(self._scope), None))
            return
        fresh = SourceRecord(
            name, self._folder, place, size, mtime_ns, digest, "", 0, 0, read_at, self._rules
        )
        prepared = self._prepare(fresh, data)
        if isinstance(prepared, Unreadable):
            self.report.skipped.append(SkippedFile(display(found.relative), prepared.reason))
            if record and record.holds_text:
                self._add(_Prepared(fresh.memory(self._scope), []))
            return
        self.report.new += record is None
        self.report.changed += record is not None
        self.report.bytes += size
        self._add(self._after(record, prepared) if record else prepared)

    def finish(self) -> None:
        self._flush()
        if self._dry_run:
            return
        try:
            self.report.behind = self._target.catch_up()
        except (StoreBusy, StoreFull):  # filed is filed; the next command takes it in
            self.report.behind = self._target.behind()
            return
        if self.report.drawers_gone or self.report.changed:
            self._target.scrub()

    def _prepare(self, record: SourceRecord, data: bytes) -> _Prepared | Unreadable:
        decoded = decode(data)
        if decoded is None:
            return Unreadable("binary", False)
        chunks = list(chunk(decoded, self._settings.chunk_chars, self._settings.overlap_chars))
        cap = self._settings.max_chunks
        if cap and len(chunks) > cap:
            return Unreadable(f"{len(chunks)} chunks, over mine.max_chunks ({cap})", False)
        if not chunks:
            return Unreadable("empty" if not data else "only white space", False)
        head = decoded.text[:4000]
        date, _ = content_date(os.path.basename(record.name), head, None)
        drawers = self._drawers(record, decoded, chunks, date or "")
        record = record._replace(encoding=decoded.encoding, bom=decoded.bom, parts=len(drawers))
        return _Prepared(record.memory(self._scope, date or ""), drawers)

    def _drawers(
        self, record: SourceRecord, decoded: Decoded, chunks: list[Chunk], date: str
    ) -> list[Memory]:
        drawers = []
        erased = self._forgotten.spans(record.name, decoded.text)
        for piece in chunks:
            drawer = Memory(
                id=drawer_id(record.name, piece.part),
                body=piece.text,
                kind="drawer",
                scope=self._scope,
                place=record.place,
                origin=Origin(
                    record.name, piece.part, piece.line_start, piece.line_end,
                    piece.byte_start, piece.byte_end,
                ),
                happened_at=date,
                created=record.read_at,
                extra=_raw(piece),
            )  # fmt: skip
            if _touches(piece, erased) or self._forgotten.hides(drawer):
                self.report.forgotten += 1
                where = f"{record.name}:{piece.line_start}-{piece.line_end}"
                self.report.withheld.append(where)
            else:
                drawers.append(drawer)
        return drawers

    def _after(self, record: SourceRecord, prepared: _Prepared) -> _Prepared:
        """What was archived stays so while its text is the same; what sync put away comes back."""
        former = self._former(record.name)
        if former is None:
            return prepared._replace(damaged=True)
        away: dict[str, int] = {}
        for drawer in former:
            by_hand = drawer.archived if drawer.archived != record.missing else 0
            away[drawer.body] = min(by_hand, away.get(drawer.body, by_hand))  # a live copy wins
        drawers = [replace(d, archived=away.get(d.body, 0)) for d in prepared.drawers or ()]
        return prepared._replace(drawers=drawers)

    def _former(self, source: str) -> list[Memory] | None:
        """The drawers that a source has so far; None when one is no longer what was written."""
        filter = Filter(scope=self._scope, source=source, kinds=("drawer",), archived=True)
        try:
            return list(self._target.store.scan(filter))
        except StoreDamaged:
            return None

    def _add(self, prepared: _Prepared) -> None:
        self._batch.append(prepared)
        self._batch_drawers += len(prepared.drawers or ())
        if self._batch_drawers >= _BATCH_DRAWERS or len(self._batch) >= _BATCH_FILES:
            self._flush()

    def _flush(self) -> None:
        """File the batch. It is emptied only when it was written: an interruption inside is
        followed by another try from `finish`."""
        report = self.report
        if self._dry_run:
            report.drawers_new += self._batch_drawers
            self._batch.clear()
            self._batch_drawers = 0
            return
        if not self._batch:
            return
        counts = [0, 0, 0]
        store = self._target.store
        with store.transaction(bulk=True):
            for prepared in self._batch:
                if prepared.drawers is None:
                    store.put([prepared.source], self._by, bulk=True)
                    continue
                if prepared.damaged:
                    store.delete([drawer.key for drawer in prepared.drawers], self._by, bulk=True)
                answer = store.replace_source(prepared.source, prepared.drawers, self._by)
                counts = [a + b for a, b in zip(counts, answer, strict=True)]
        report.drawers_new += counts[0]
        report.drawers_unchanged += counts[1]
        report.drawers_gone += counts[2]
        self._pending += sum(counts)
        self._batch = []
        self._batch_drawers = 0
        if self._pending >= _PENDING:
            self._pending = 0
            self._target.catch_up()

    def _records(self, folder: str) -> dict[str, SourceRecord]:
        name = printable(folder)
        filter = Filter(scope=self._scope, kinds=("source",), internal=True, archived=True)
        if os.path.isdir(folder):
            filter = replace(filter, under=name.rstrip(os.sep) + os.sep)
        else:
            filter = replace(filter, source=name)
        records = (SourceRecord.of(memory) for memory in self._target.store.scan(filter))
        return {record.name: record for record in records}


def _walk_rules(settings: MineSettings) -> WalkRules:
    return WalkRules(
        gitignore=settings.gitignore,
        include_ignored=settings.include,
        exclude=settings.exclude,
        max_bytes=settings.max_bytes,
    )


def _read(found: Found, clock: Callable[[], float]) -> tuple[bytes, int, int, int] | Unreadable:
    """The file's bytes with the size and time that belong to them, and when they were read."""
    for _ in range(_READS):
        try:
            with open(found.path, "rb") as file:
                before = os.fstat(file.fileno())
                read_at = int(clock() * 1000)
                data = file.read()
                after = os.fstat(file.fileno())
        except OSError as error:
            return Unreadable(f"unreadable: {(error.strerror or str(error)).lower()}", True)
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, len(data)):
            return data, after.st_size, after.st_mtime_ns, read_at
    return Unreadable("changed while it was read, three times: mine it again later", True)


def _touches(piece: Chunk, spans: list[tuple[int, int]]) -> bool:
    end = piece.char_start + len(piece.text)
    return any(piece.char_start < last and first < end for first, last in spans)


def _raw(piece: Chunk) -> dict[str, str]:
    """The exact bytes where they are no text, so that the source can be given back whole."""
    if piece.raw is None:
        return {}
    from base64 import b64encode

    return {"raw": b64encode(piece.raw).decode("ascii")}
