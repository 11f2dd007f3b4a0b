"""The notes of one root: their files, which are the truth, and their rows in the store.

A note is written to its file first and then to its row, with the store's write lock held, so that
two processes never write one note at once. What people change by hand is found by a look through
the folder and brought into the store; what cannot be read is reported and keeps its former row.
What is known of a file is noted last: where a process dies before, the file is read once more.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b, sha256

from camillo.errors import (
    CamilloError,
    InvalidValue,
    NoteBroken,
    NoteChanged,
    NotFound,
    Refused,
    SourceUnreadable,
    StoreBusy,
    StoreFull,
)
from camillo.model import (
    DEFAULT_NAMESPACE,
    GLOBAL,
    INTERNAL_KINDS,
    NOT_NOTES,
    Author,
    Filter,
    Key,
    Memory,
    Outcome,
    replace,
)
from camillo.ports import KnownFile, NoteFolder, NoteStat, Store
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from camillo.forgotten import Forgotten

__all__ = ["FILE", "Notebook", "Problem", "Saved"]

FILE = "file"  # in a row's `extra`: the note's path in its folder

_BY_HAND = Author("", "files")
_PATIENCE = 0.5  # seconds in which a folder is not looked through again
# What is as new as the last look less this may have been changed once more in the same tick.
_RACY_NS = 2_000_000_000
_AT_ONCE = 500  # files that are taken in by one transaction
_TRIES = 8  # rewrites of a note that somebody else writes at the same time
_ERASING = "erasing"  # the setting that holds which files are to go
_WAS_FORGOTTEN = "its text was forgotten and stays out: remember it again, or delete the file"
_TWIN = "~"  # between a name and its number, where several files have one name
_SHORTEST = 8  # characters of an expected hash
_UNSEEN = NoteStat(-1, -1)  # of a file that could not be read: it is tried again at each look
_ALWAYS = frozenset({"id", "scope", "extra", "body", "origin"})  # of these the file is the truth


class Problem(NamedTuple):
    """A file of which something could not be read; `line` counts from 1, 0 = all of it."""

    path: str
    line: int
    message: str


class Saved(NamedTuple):
    """The reply to a write. `hash` is the SHA-256 of the file's bytes, in hex."""

    outcome: Outcome
    path: str
    hash: str


class Notebook:
    """`files` is the index of that name, `folder` the note folder, `scope` that of its root.
    `forgotten` gives what was erased in this scope and must not come back."""

    def __init__(
        self,
        folder: NoteFolder,
        store: Store,
        files: Any,
        scope: str,
        forgotten: Callable[[], Forgotten],
    ) -> None:
        self.folder = folder
        self._store = store
        self._files = files
        self._scope = scope
        self._forgotten = forgotten
        self._looked = float("-inf")

    # --- what people changed by hand -------------------------------------------------------------

    def refresh(self, told: Callable[[int], None] = lambda done: None) -> int:
        """Take in what changed in the folder; how many notes. Not again within half a second, but
        after a write of our own."""
        if time.monotonic() - self._looked < _PATIENCE:
            return 0
        return self._look(told)

    def _look(self, told: Callable[[int], None] = lambda done: None) -> int:
        doomed = self._remove_doomed()
        known, scanned = self._files.stats(), self._files.scanned()
        now = time.time_ns()
        stats, unreadable = self.folder.scan()  # after `known`: what we make meanwhile is not gone
        racy = scanned - _RACY_NS
        changed = [
            path
            for path, stat in stats.items()
            if (known.get(path) != stat or stat[0] >= racy) and path not in doomed
        ]
        gone = [path for path in known if path not in stats and not _below(path, unreadable)]
        taken = self._take_all(sorted(changed), stats, set(gone), told)
        if gone:
            taken += self._lose(gone)
        if not scanned:
            self._drop_rows_without_file(stats, unreadable)
        if changed or gone or not scanned:
            self._files.record((), (), now)
        self._looked = time.monotonic()
        return taken

    def _take_all(
        self,
        changed: Sequence[str],
        stats: Mapping[str, NoteStat],
        gone: set[str],
        told: Callable[[int], None],
    ) -> int:
        taken = 0
        for start in range(0, len(changed), _AT_ONCE):
            batch = _Batch(self, {path: stats[path] for path in changed[start : start + _AT_ONCE]})
            if batch.differing:
                with self._files.held(), self._store.transaction(bulk=True):
                    batch.read()  # again, now that nobody else writes
                    batch.put(gone)
            if batch.records:
                self._files.record(batch.records)
            taken += len(batch.differing)
            told(len(batch.differing))
        return taken

    def _lose(self, paths: Sequence[str]) -> int:
        """Notes whose file is gone, and that no other file holds; how many."""
        with self._files.held(), self._store.transaction(bulk=True):
            former = self._files.known(paths)
            gone = {path for path in former if not self._is_there(path)}
            keys = sorted({key for path in gone if (key := former[path].key)})
            lost = [
                key
                for key, row in zip(keys, self._store.get(keys), strict=True)
                if row
                and all(path in gone or not self._is_there(path) for path in self._paths(row))
            ]
            self._store.delete(lost, _BY_HAND, bulk=True)
        self._files.record((), gone)
        return len(lost)

    def _drop_rows_without_file(
        self, stats: Mapping[str, NoteStat], unreadable: Iterable[str]
    ) -> None:
        """After the table of files was lost: rows whose file is gone are notes that were deleted.
        After all files were read: the row of one that was moved has its new path."""
        kinds = set(self._store.tally("kind", Filter(None, archived=True)))
        kinds -= NOT_NOTES | INTERNAL_KINDS
        rows = self._store.scan(
            Filter(None, self._scope, kinds=tuple(sorted(kinds)), archived=True)
        )
        lost = [
            memory.key
            for memory in rows
            if (path := memory.extra.get(FILE))
            and path not in stats
            and not _below(str(path), unreadable)
            and not self._is_there(str(path))
        ]
        if lost:
            self._store.delete(lost, _BY_HAND, bulk=True)

    def problems(self) -> list[Problem]:
        """What could not be read in the folder, and texts that wait for a person to merge them."""
        broken = [Problem(each.path, each.line, each.problem) for each in self._files.problems()]
        return broken + [
            Problem(path, 0, "saved while its note was being written: merge it, then delete it")
            for path in self.folder.conflicts()
        ]

    def hash_of(self, path: str) -> str:
        """The SHA-256 of a file's bytes, in hex; what `save` may be told to expect."""
        return _hex(self.folder.read(path))

    def held(self) -> AbstractContextManager[Any]:
        """To be taken before the store's lock by whoever erases notes inside it."""
        lock: AbstractContextManager[Any] = self._files.held()
        return lock

    # --- writing ---------------------------------------------------------------------------------

    def save(
        self,
        key: Key,
        change: Callable[[Memory | None], Memory],
        by: Author = Author(),
        *,
        expect: str = "",
    ) -> Saved:
        """Write the note that `change` makes of the one with this key (None: there is none), as it
        is in its file now. `expect` is the hash of the bytes that the caller has seen, or its
        first characters.

        Raises NoteChanged when the file is not what was expected, or when somebody else writes it
        all the time; NoteBroken when it cannot be edited; Refused for a folder that is read-only.
        """
        self._check_writable()
        _check_hash(expect)
        for tries_left in reversed(range(_TRIES)):
            try:
                with self._files.held(), self._store.transaction():
                    saved, known = self._saved(key, change, by, expect, tries_left < _TRIES - 1)
            except NoteChanged as error:
                if not tries_left or isinstance(error, _Unexpected):
                    raise
                self._look()  # it was moved, or holds something else
            else:
                break
        if known is not None:
            with suppress(StoreBusy, StoreFull):  # then the next look reads it once more
                self._files.record([known])
        self._looked = float("-inf")
        return saved

    def _saved(
        self,
        key: Key,
        change: Callable[[Memory | None], Memory],
        by: Author,
        expect: str,
        looked: bool,
    ) -> tuple[Saved, KnownFile | None]:
        row = self._store.get([key])[0]
        path, former = self._file_of(key, row, looked)
        if expect and not _hex(former or b"").startswith(expect.lower()):
            held = f"has the hash {_hex(former)}" if former is not None else "does not exist"
            raise _Unexpected(f"{key.id!r} is not what was expected: its file {held}")
        dialect = self.folder.dialect
        if former is None:
            now, memory = None, change(None)
            name, path = memory.id, self.folder.free_path(dialect.path_of(memory))
        else:
            read = dialect.parse(path, former)
            now = self._carried(self._placed(read, path, key), row)
            name, memory = read.id, change(now)  # of two files with one name it is not the key's
        with self.folder.locked(path):
            content = dialect.render(replace(memory, id=name), former)
            if content == former and memory == now:
                return Saved(Outcome("deduplicated", key), path, _hex(content)), None
            stat = None if content == former else self.folder.write(path, content, former)
        written = self._placed(dialect.parse(path, content), path, key)
        if (forgotten := self._forgotten()).hides(written):
            forgotten.allow([written], by)  # who writes it again wants it
        outcome = self._store.put([self._carried(written, memory)], by)[0]
        if outcome.status == "deduplicated":  # the row was the same, the file was not
            outcome = outcome._replace(status="updated")
        known = stat and _known(path, stat, content, key, _first_problem(written))
        return Saved(outcome, path, _hex(content)), known

    def _file_of(self, key: Key, row: Memory | None, looked: bool) -> tuple[str, bytes | None]:
        """The file of a note and what it holds; None where it has none. Raises NoteChanged where a
        look through the folder has to tell, unless there was one just now."""
        paths = self._paths(row) if row is not None else []
        for path in paths:
            try:
                content = self.folder.read(path)
            except NotFound:
                continue
            name = self.folder.dialect.parse(path, content).id
            if not _is_name_of(name, key.id):
                raise NoteChanged(f"{path} holds {name!r} now, not {key.id!r}")
            return path, content
        if paths and not looked:
            raise NoteChanged(f"the file of {key.id!r} is gone: {paths[0]}")
        return "", None

    # --- erasing ---------------------------------------------------------------------------------

    def erase(self, keys: Iterable[Key]) -> list[str]:
        """Inside the transaction that deletes the rows of these notes: all of their files are
        looked at, and it is noted that they are to go; their paths, for `strike`. A process that
        dies before that leaves the rest to the next look. Raises NoteChanged for a file that holds
        another note by now, and what reading one raises."""
        self._check_writable()
        doomed = self._doomed()
        paths = []
        for key, row in zip(keys := list(keys), self._store.get(keys), strict=True):
            for path in self._paths(row) if row is not None else []:
                content = self._content_of(path, key)
                if content is not None:
                    doomed[path] = _hash(content).hex()
                    paths.append(path)
        self._note_doomed(doomed)
        return paths

    def strike(self, paths: Iterable[str]) -> list[str]:
        """After that transaction: the files go, and are known no more. What is left of them:
        those that could not be removed, and conflict files, which may hold the text."""
        paths = list(paths)
        left = self._remove_doomed()
        with suppress(StoreBusy, StoreFull):  # then the next look finds that they are gone
            self._files.record((), paths)
        self._looked = float("-inf")
        stems = tuple(path.removesuffix(".md") + ".conflict-" for path in paths)
        copies = [path for path in self.folder.conflicts() if path.startswith(stems)]
        return [*(path for path in paths if path in left), *copies]

    def _content_of(self, path: str, key: Key) -> bytes | None:
        try:
            content = self.folder.read(path)
        except NotFound:
            return None
        with suppress(NoteBroken):
            name = self.folder.dialect.parse(path, content).id
            if not _is_name_of(name, key.id):
                raise NoteChanged(f"{path} holds {name!r} now, not {key.id!r}")
        return content

    def _remove_doomed(self) -> set[str]:
        """Remove the files of erased notes, and what killed writers left of any; the paths of
        those that cannot be removed, and are no notes any more. A file that holds something else
        by now stays."""
        if not self._doomed() or not self.folder.writable:
            return set()
        left: dict[str, str] = {}
        with self._files.held(), self._store.transaction():  # nobody writes a note meanwhile
            self.folder.sweep()
            for path, digest in self._doomed().items():
                try:
                    content = self.folder.read(path)
                    if _hash(content).hex() == digest:
                        with self.folder.locked(path):
                            self.folder.remove(path, content)
                except (NotFound, NoteChanged):
                    continue
                except CamilloError:
                    left[path] = digest
            self._note_doomed(left)
        return set(left)

    def _doomed(self) -> dict[str, str]:
        """By path the hash of what a file held when its note was erased."""
        record = self._store.get([self._erasing])[0]
        return dict(record.extra.get("files", {})) if record else {}

    def _note_doomed(self, files: Mapping[str, str]) -> None:
        if files != self._doomed():
            record = Memory(
                _ERASING, "", kind="setting", scope=self._scope, extra={"files": dict(files)}
            )
            self._store.put([record], Author("", "forget"), bulk=True)

    @property
    def _erasing(self) -> Key:
        return Key(DEFAULT_NAMESPACE, self._scope, GLOBAL, _ERASING)

    # --- both ------------------------------------------------------------------------------------

    def _placed(self, memory: Memory, path: str, key: Key | None = None) -> Memory:
        """A note as it was read, where it belongs; `key` is the one that it has already."""
        extra = {**memory.extra, FILE: path}
        named = {} if key is None else key._asdict()
        return replace(memory, **{"scope": self._scope, "extra": extra, **named})

    def _carried(self, memory: Memory, row: Memory | None) -> Memory:
        """The note with what only its row can hold."""
        if row is None:
            return memory
        can = self.folder.dialect.fields | _ALWAYS
        return replace(
            memory, **{name: getattr(row, name) for name in Memory._fields if name not in can}
        )

    def _paths(self, row: Memory) -> list[str]:
        """The files that a note may be in: where it was found, and what its row says."""
        paths = [each.path for each in self._files.holding(row.key)]
        if row.extra.get(FILE):
            paths.append(str(row.extra[FILE]))
        return list(dict.fromkeys(paths))

    def _is_there(self, path: str) -> bool:
        """Also what cannot be read is there."""
        try:
            self.folder.read(path)
        except NotFound:
            return False
        except CamilloError:
            return True
        return True

    def _check_writable(self) -> None:
        if not self.folder.writable:
            raise Refused(f"{self.folder.folder} is read-only: set write = true for its root")


class _Batch:
    """Some files that may differ from what was read of them, and what is to be known of each."""

    def __init__(self, notebook: Notebook, stats: Mapping[str, NoteStat]) -> None:
        self._book = notebook
        self._stats = stats
        self.read()

    def read(self) -> None:
        book, stats = self._book, self._stats
        self.records: list[KnownFile] = []
        self._former: dict[str, KnownFile] = book._files.known(list(stats))
        self.differing: dict[str, bytes] = {}
        for path, stat in stats.items():
            known = self._former.get(path)
            try:
                content = book.folder.read(path)
            except NotFound:  # gone meanwhile: the next look says so
                continue
            except CamilloError as error:
                seen = _UNSEEN if isinstance(error, SourceUnreadable) else stat
                key = known.key if known else None
                self.records.append(KnownFile(path, seen, b"", key, str(error)))
                continue
            if known is None or known.hash != _hash(content):
                self.differing[path] = content
            elif known.stat != stat:
                self.records.append(known._replace(stat=stat))

    def put(self, gone: set[str]) -> None:
        """Bring those that differ into the store. `gone` files hold no note any more."""
        book = self._book
        parsed = self._parsed()
        moving = gone | parsed.keys()
        taken: set[Key] = {key for each in self.records if (key := each.key)}
        memories: dict[str, Memory] = {}
        for path in sorted(parsed, key=lambda path: self._rank(path, parsed[path])):
            memories[path] = self._named(parsed[path], path, taken, moving)
            taken.add(memories[path].key)
        rows = book._store.get([memory.key for memory in memories.values()])
        carried = [
            book._carried(memory, row)
            for memory, row in zip(memories.values(), rows, strict=True)
        ]  # fmt: skip
        book._store.put(carried, _BY_HAND, bulk=True)
        renamed = {
            key
            for path in parsed
            if (known := self._former.get(path)) and (key := known.key) and key not in taken
        }
        book._store.delete(sorted(renamed), _BY_HAND, bulk=True)
        self.records += [
            _known(path, self._stats[path], self.differing[path], each.key, _first_problem(each))
            for path, each in memories.items()
        ]

    def _parsed(self) -> dict[str, Memory]:
        """The notes of those that differ; a broken one is told, and keeps the row that it had. One
        whose text was forgotten is told, and stays out."""
        book, parsed = self._book, {}
        forgotten = book._forgotten()
        for path, content in self.differing.items():
            try:
                memory = book._placed(book.folder.dialect.parse(path, content), path)
                if forgotten.hides(memory) and book._store.get([memory.key])[0] is None:
                    self.records.append(
                        _known(path, self._stats[path], content, None, (_WAS_FORGOTTEN, 0))
                    )
                else:
                    parsed[path] = memory
            except NoteBroken as error:
                known = self._former.get(path)
                key = known.key if known else None
                self.records.append(
                    _known(path, self._stats[path], content, key, (str(error), error.line))
                )
        return parsed

    def _rank(self, path: str, memory: Memory) -> tuple[bool, str]:
        """Who had its name before keeps it."""
        known = self._former.get(path)
        return known is None or known.key != memory.key, path

    def _named(self, memory: Memory, path: str, taken: set[Key], moving: set[str]) -> Memory:
        """Two files with one name are two memories: the later gets a number after its name."""
        named, number = memory, 1
        while named.key in taken or self._is_elsewhere(named.key, path, moving):
            number += 1
            name = f"{memory.id}{_TWIN}{number}"
            problem = f"another file has the name {memory.id!r} too: this one is {name}"
            problems = [problem, *memory.extra.get("problems", ())]
            named = replace(memory, id=name, extra={**memory.extra, "problems": problems})
        return named

    def _is_elsewhere(self, key: Key, path: str, moving: set[str]) -> bool:
        """Is this note in a file that does not change now?"""
        book = self._book
        paths = {known.path for known in book._files.holding(key)}
        if not paths:  # the table is new; a row says where it was
            row = book._store.get([key])[0]
            where = row.extra.get(FILE) if row else None
            return bool(where) and where != path and book._is_there(str(where))
        return any(other not in moving and book._is_there(other) for other in paths - {path})


class _Unexpected(NoteChanged):
    """Trying again would not help."""


def _check_hash(expect: str) -> None:
    if expect and (len(expect) < _SHORTEST or not re.fullmatch("[0-9a-fA-F]+", expect)):
        raise InvalidValue(
            f"{expect!r} is no hash of a file: give at least {_SHORTEST} of its hex digits"
        )


def _is_name_of(name: str, id_: str) -> bool:
    """Is that the name in the file of the note with this id?"""
    return name == id_ or re.fullmatch(re.escape(name + _TWIN) + r"\d+", id_) is not None


def _known(
    path: str, stat: NoteStat, content: bytes, key: Key | None, problem: tuple[str, int]
) -> KnownFile:
    return KnownFile(path, stat, _hash(content), key, *problem)


def _first_problem(memory: Memory) -> tuple[str, int]:
    """In words, and its line."""
    problem = str((memory.extra.get("problems") or [""])[0])
    line = re.match(r"line (\d+): ", problem)
    return (problem[line.end() :], int(line[1])) if line else (problem, 0)


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(folder in ("", ".") or path.startswith(f"{folder}/") for folder in folders)


def _hash(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest()


def _hex(content: bytes) -> str:
    return sha256(content).hexdigest()
