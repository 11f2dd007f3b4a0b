"""Copying: all memories of one store into another, read back and compared.

A copy adds what is missing and replaces what differs; it deletes nothing, and what the target
forgot stays away. May be killed and run again: each batch is one commit, and what is there already
is not written twice. Opening the stores is left to the operation, key order to the ledger.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from camillo.errors import Refused, StoreError
from camillo.forgotten import Forgotten
from camillo.lifecycle.ledger import Entry, Ledger
from camillo.model import Author, Change, Filter, Key, Memory, replace

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from camillo.ports import Store

__all__ = ["Copied", "KindCopied", "content_digest", "copy"]

_BATCH = 500
_FIRST_PAGE = 50  # pages grow to a batch while bodies are small
_HEAVY = 8_000_000  # characters in one page
_NAMED = 5  # keys that a difference or a note names
_ALL = Filter(None, archived=True, internal=True)
_FORGET_KEY = "forget-key"  # the setting that marks of one scope are hashed with

_KEPT_OUT = "forgotten"
_STATUSES = ("stored", "replaced", "unchanged", _KEPT_OUT)  # fields of KindCopied

_Item = TypeVar("_Item")
Tell = Callable[[int, "int | None", str], None]


class KindCopied(NamedTuple):
    """What became of the memories of one kind.

    `source` and `target` are what was compared: how many of the source's were to be copied, and
    how many of those the target holds. `forgotten` were left out, since the target erased them.
    """

    kind: str
    source: int
    target: int
    stored: int
    replaced: int
    unchanged: int
    forgotten: int
    only_in_target: int


class Copied(NamedTuple):
    """A copy that was compared. The digests are over (key, content) in key order.

    `meanwhile`: changes that the source took while it was read and that are copied too; `behind`:
    those that came after, 500 at most. `erased`: memories that only the target has and the source
    forgot.
    """

    kinds: list[KindCopied]
    source_digest: str
    target_digest: str
    meanwhile: int
    behind: int
    erased: list[Key]


def copy(
    source: Store,
    target: Store,
    by: Author = Author(via="copy"),
    *,
    tell: Tell = lambda done, total, what: None,
    dry_run: bool = False,
) -> Copied:
    """Copy all memories, internal kinds too. `dry_run` writes nothing and says what would be done.

    Raises Refused for a store and itself, and for two stores that both forgot texts under keys of
    their own; StoreError, naming the first keys, where the target does not hold afterwards what
    was read from the source.
    """
    if source is target:
        raise Refused("the source and the target are one store: name another one to copy to")
    with closing(Ledger()) as ledger:
        return _Copy(source, target, by, tell, ledger, dry_run).run()


def content_digest(memory: Memory) -> bytes:
    """16 bytes over everything but the times of writing; the same whatever engine kept it."""
    held = replace(memory, created=0, updated=0, extra=_numbers_alike(memory.extra))
    text = json.dumps(held, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _numbers_alike(value: Any) -> Any:
    """Equal numbers written alike: an engine may give back 100000 for 1e5."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _numbers_alike(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_numbers_alike(item) for item in value]
    return value


class _Lacking(NamedTuple):
    """A memory that the target does not have as it is; `former` is what stands in its place."""

    memory: Memory
    former: Memory | None


class _Copy:
    """One run: what was read, what was written, and the marks of the target."""

    def __init__(
        self, source: Store, target: Store, by: Author, tell: Tell, ledger: Ledger, dry_run: bool
    ) -> None:
        self._source = source
        self._target = target
        self._by = by
        self._tell = tell
        self._ledger = ledger
        self._dry_run = dry_run
        self._done: dict[str, Counter[str]] = {status: Counter() for status in _STATUSES}
        self._held_back: dict[Key, Memory] = {}  # the source's marks of what it forgot
        self._marks: dict[str, Forgotten] = {}  # the target's, by scope
        self._last_write = -1  # the target's last change, as this copy left it

    def run(self) -> Copied:
        for scope in _scopes_with_keys(self._source):
            self._agree_on_forget_key(scope)
        meanwhile, behind = self._read_source()
        self._write_marks()
        erased = self._read_target()
        if not self._dry_run:
            self._must_be_equal()
        return Copied(
            self._kinds(),
            self._ledger.digest("source"),
            self._ledger.digest("target"),
            meanwhile,
            behind,
            erased,
        )

    # --- reading the source --------------------------------------------------------------------

    def _read_source(self) -> tuple[int, int]:
        """Copy all of it; how many changes came in meanwhile and were taken, and how many not."""
        total = self._source.count(_ALL)
        first = last = _last_change(self._source)
        cursor = meanwhile = 0
        for _ in range(2):  # what came in meanwhile too, but once: a busy writer never ends
            for page in _walk(self._source, cursor, last):
                self._take(page, total)
                cursor = page[-1].seq
                meanwhile += sum(change.seq > first >= 0 for change in page)
            if last == (last := _last_change(self._source)):
                return meanwhile, 0
        return meanwhile, len(self._source.changes(cursor, _BATCH))

    def _take(self, page: Sequence[Change], total: int) -> None:
        """Of each key only the newest version counts."""
        gone, memories = _newest(page)
        self._ledger.drop("source", gone)
        for key in gone:
            self._held_back.pop(key, None)
        marks = [memory for memory in memories if memory.kind == "forgotten"]
        self._held_back.update({mark.key: mark for mark in marks})
        self._bring([m for m in memories if m.kind != "forgotten" and not _is_forget_key(m)])
        done = sum(counter.total() for counter in self._done.values()) + len(self._held_back)
        self._tell(done, max(total, done), "memories")

    # --- writing the target --------------------------------------------------------------------

    def _bring(self, memories: Sequence[Memory]) -> None:
        """Bring the target to these versions, in one commit."""
        if not memories:
            return
        self._ledger.note("source", map(_entry, memories))
        statuses = dict.fromkeys((memory.key for memory in memories), "unchanged")
        lacking = self._lacking(memories)
        if lacking:
            statuses.update(self._sorted_out(lacking)[1] if self._dry_run else self._put(lacking))
        for memory in memories:
            self._done[statuses[memory.key]][memory.kind] += 1
        self._ledger.drop(
            "source", (key for key, status in statuses.items() if status == _KEPT_OUT)
        )

    def _lacking(self, memories: Sequence[Memory]) -> list[_Lacking]:
        there = self._target.get([memory.key for memory in memories])
        return [
            _Lacking(memory, former)
            for memory, former in zip(memories, there, strict=True)
            if former is None or content_digest(former) != content_digest(memory)
        ]

    def _put(self, lacking: Sequence[_Lacking]) -> dict[Key, str]:
        """Write what may be written; what became of each."""
        with _transaction(self._target):  # durable; `bulk` is for one line in the journal
            if self._last_write != _last_change(self._target) or self._last_write < 0:
                self._marks.clear()  # another process may have forgotten something
            still = self._lacking([each.memory for each in lacking])
            allowed, statuses = self._sorted_out(still)
            if allowed:
                self._target.put(allowed, self._by, bulk=True)
            self._last_write = _last_change(self._target)
        return statuses

    def _sorted_out(self, lacking: Sequence[_Lacking]) -> tuple[list[Memory], dict[Key, str]]:
        """Which may be written, and what is to become of each."""
        statuses = {memory.key: self._status(memory, former) for memory, former in lacking}
        allowed = [memory for memory, _ in lacking if statuses[memory.key] != _KEPT_OUT]
        return allowed, statuses

    def _status(self, memory: Memory, former: Memory | None) -> str:
        if self._forgot(memory, former):
            return _KEPT_OUT
        return "stored" if former is None else "replaced"

    def _forgot(self, memory: Memory, former: Memory | None) -> bool:
        """Did the target forget this text, or a part of it from the same source?"""
        if memory.kind == "source":  # of a source that it forgot something from it keeps no hash
            return former is not None and former.extra.get("hash") == ""
        if memory.scope not in self._marks:
            self._marks[memory.scope] = Forgotten(self._target, memory.scope)
        marks = self._marks[memory.scope]
        origin = memory.origin
        return marks.hides(memory) or bool(origin and marks.spans(origin.source, memory.body))

    # --- what was forgotten --------------------------------------------------------------------

    def _agree_on_forget_key(self, scope: str) -> None:
        """Marks say nothing without the key that they were made with: the target takes the
        source's, unless it has marks of its own that need another."""
        key = Key("", scope, "", _FORGET_KEY)
        theirs = self._source.get([key])[0]
        if theirs is None or self._ledger.has("source", key):
            return
        with nullcontext() if self._dry_run else _transaction(self._target):
            ours = self._target.get([key])[0]
            if ours is not None and ours.body != theirs.body:
                if not _has_marks(self._source, scope):
                    return
                if _has_marks(self._target, scope):
                    raise Refused(
                        "both stores have forgotten texts, each under a key of its own, and marks "
                        "cannot be moved to another key: copy into a store that forgot nothing"
                    )
            self._bring([theirs])

    def _write_marks(self) -> None:
        """Last: a mark in the target keeps texts out, and a memory that the source still has
        beside its mark would be missed by the run after one that was killed."""
        for scope in sorted({mark.scope for mark in self._held_back.values()}):
            self._agree_on_forget_key(scope)  # made while this copy runs
        for batch in _batches(self._held_back.values()):
            self._bring(batch)

    # --- reading back --------------------------------------------------------------------------

    def _read_target(self) -> list[Key]:
        """Note all that the target holds; what of it the source has erased."""
        total = self._target.count(_ALL)
        forgotten: dict[str, Forgotten] = {}
        erased: dict[Key, None] = {}
        done = 0
        for page in _walk(self._target, 0, _last_change(self._target)):
            gone, memories = _newest(page)
            self._ledger.drop("target", gone)
            self._ledger.note("target", map(_entry, memories))
            for memory in memories:
                if memory.scope not in forgotten:
                    forgotten[memory.scope] = Forgotten(self._source, memory.scope)
                if forgotten[memory.scope].hides(memory):
                    erased[memory.key] = None
            done += len(memories)
            self._tell(done, max(total, done), "memories read back")
        return [
            key
            for key in erased
            if self._ledger.has("target", key) and not self._ledger.has("source", key)
        ]

    def _must_be_equal(self) -> None:
        differing = self._ledger.differing()
        first = [_shown(key) for key in islice(differing, _NAMED)]
        if first:
            count = len(first) + sum(1 for _ in differing)
            raise StoreError(
                f"{count} of the memories that were read from the source are not like that in the "
                f"target: {', '.join(first)}{', …' if count > len(first) else ''}; run it again "
                "while nothing else writes to the target"
            )

    def _kinds(self) -> list[KindCopied]:
        expected, there = self._ledger.counts("source"), self._ledger.counts("target")
        surplus = self._ledger.surplus()
        kinds = {*expected, *there, *surplus, *(k for each in self._done.values() for k in each)}
        return [
            KindCopied(
                kind=kind,
                source=expected[kind],
                target=there[kind],
                **{status: counter[kind] for status, counter in self._done.items()},
                only_in_target=surplus[kind],
            )
            for kind in sorted(kinds)
        ]


def _walk(store: Store, since: int, until: int) -> Iterator[list[Change]]:
    """Pages of changes with numbers above `since`, to `until` or a little further; of a store
    without a feed all that it has, once. No offsets, so a page costs the same at any depth."""
    if "feed" not in store.capabilities:
        if since <= 0:
            yield from _held(store)
        return
    size = _FIRST_PAGE
    while since < until:
        page = store.changes(since, size)
        if not page:
            return
        yield page
        since = page[-1].seq
        size = max(1, size // 4) if _chars(page) > _HEAVY else min(_BATCH, size * 2)


def _held(store: Store) -> Iterator[list[Change]]:
    for batch in _batches(key for key, _ in store.manifest()):
        memories = zip(batch, store.get(batch), strict=True)
        yield [Change(0, key, memory) for key, memory in memories]


def _chars(page: Iterable[Change]) -> int:
    """Of all bodies of a page."""
    held = (each for change in page for each in (change.memory, change.former) if each)
    return sum(len(memory.body) for memory in held)


def _newest(page: Iterable[Change]) -> tuple[list[Key], list[Memory]]:
    """Of a page: the keys that are gone, and the memories that are there."""
    latest = {change.key: change.memory for change in page}
    gone = [key for key, memory in latest.items() if memory is None]
    return gone, [memory for memory in latest.values() if memory is not None]


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    rest = iter(items)
    while batch := list(islice(rest, _BATCH)):
        yield batch


def _last_change(store: Store) -> int:
    """Its newest number; -1 for a store without numbers."""
    return store.last_change() if "feed" in store.capabilities else -1


def _transaction(store: Store) -> AbstractContextManager[None]:
    return store.transaction() if "transaction" in store.capabilities else nullcontext()


def _has_marks(store: Store, scope: str) -> bool:
    return store.count(_ALL._replace(scope=scope, kinds=("forgotten",))) > 0


def _scopes_with_keys(store: Store) -> list[str]:
    settings = store.scan(_ALL._replace(kinds=("setting",)))
    return sorted({memory.scope for memory in settings if _is_forget_key(memory)})


def _is_forget_key(memory: Memory) -> bool:
    return memory.kind == "setting" and memory.id == _FORGET_KEY


def _entry(memory: Memory) -> Entry:
    return Entry(memory.key, memory.kind, content_digest(memory))


def _shown(key: Key) -> str:
    return "/".join(part for part in key if part)
