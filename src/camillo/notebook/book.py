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

from camillo.elsewhere import reopening
from camillo.errors import (
    CamilloError,
    InvalidValue,
    NoteBroken,
    NoteChanged,
    NotFound,
    Refused,
    StoreBusy,
    StoreFull,
)
from camillo.model import (
    INTERNAL_KINDS,
    NOT_NOTES,
    Author,
    Filter,
    Key,
    Memory,
    Outcome,
    replace,
)
from camillo.notebook.batch import BY_HAND, FILE, TWIN, Batch, digest, known_file, problems_of
from camillo.notebook.doomed import Doomed
from camillo.notebook.moving import home_of, moved
from camillo.notebook.problems import Problem, problems_in, storable
from camillo.ports import KnownFile, NoteFolder, NoteStat, Store
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from camillo.forgotten import Forgotten

__all__ = ["Notebook", "Saved"]

_PATIENCE = 0.5  # seconds in which a folder is not looked through again
# What is as new as the last look less this may have been changed once more in the same tick.
_RACY_NS = 2_000_000_000
_AT_ONCE = 500  # files that are taken in by one transaction
_TRIES = 8  # rewrites of a note that somebody else writes at the same time
_SHORTEST = 8  # characters of an expected hash
_ALWAYS = frozenset({"id", "scope", "extra", "body", "origin"})  # of these the file is the truth


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
        self.store = store
        self.files = files
        self._scope = scope
        self.forgotten = forgotten
        self._doomed = Doomed(folder, store, files, scope)
        self._looked = float("-inf")

    # --- what people changed by hand -------------------------------------------------------------

    def refresh(self, told: Callable[[int], None] = lambda done: None) -> int:
        """Take in what changed in the folder; how many notes. Not again within half a second, but
        after a write of our own."""
        if time.monotonic() - self._looked < _PATIENCE:
            return 0
        return self._look(told)

    def _look(self, told: Callable[[int], None] = lambda done: None) -> int:
        doomed = self._doomed.remove()
        known, scanned = self.files.stats(), self.files.scanned()
        now = time.time_ns()
        stats, unreadable = self.folder.scan()  # after `known`: what we make meanwhile is not gone
        stats = storable(stats)
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
        if not scanned and not self.store.remote:  # others' rows have their files elsewhere
            self._drop_rows_without_file(stats, unreadable)
        if changed or gone or not scanned:
            self.files.record((), (), now)
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
            batch = Batch(self, {path: stats[path] for path in changed[start : start + _AT_ONCE]})
            if batch.differing:
                with self.files.held(), self.store.transaction(bulk=True):
                    batch.read()  # again, now that nobody else writes
                    batch.put(gone)
            if batch.records:
                self.files.record(batch.records)
            taken += len(batch.differing)
            told(len(batch.differing))
        return taken

    def _lose(self, paths: Sequence[str]) -> int:
        """Notes whose file is gone, and that no other file holds; how many."""
        with self.files.held(), self.store.transaction(bulk=True):
            former = self.files.known(paths)
            gone = {path for path in former if not self.is_there(path)}
            keys = sorted({key for path in gone if (key := former[path].key)})
            lost = [
                key
                for key, row in zip(keys, self.store.get(keys), strict=True)
                if row and all(path in gone or not self.is_there(path) for path in self._paths(row))
            ]
            self.store.delete(lost, BY_HAND, bulk=True)
        self.files.record((), gone)
        return len(lost)

    def _drop_rows_without_file(
        self, stats: Mapping[str, NoteStat], unreadable: Iterable[str]
    ) -> None:
        """After the table of files was lost: rows whose file is gone are notes that were deleted.
        After all files were read: the row of one that was moved has its new path."""
        kinds = set(self.store.tally("kind", Filter(None, archived=True)))
        kinds -= NOT_NOTES | INTERNAL_KINDS
        rows = self.store.scan(Filter(None, self._scope, kinds=tuple(sorted(kinds)), archived=True))
        lost = [
            memory.key
            for memory in rows
            if (path := memory.extra.get(FILE))
            and path not in stats
            and not _below(str(path), unreadable)
            and not self.is_there(str(path))
        ]
        if lost:
            self.store.delete(lost, BY_HAND, bulk=True)

    def problems(self) -> list[Problem]:
        """What could not be read in the folder, and texts that wait for a person to merge them."""
        return problems_in(self.folder, self.files.problems())

    def broken(self) -> list[KnownFile]:
        """The files that cannot be read as notes."""
        found: list[KnownFile] = self.files.broken()
        return found

    def hash_of(self, path: str) -> str:
        """The SHA-256 of a file's bytes, in hex; what `save` may be told to expect."""
        return _hex(self.folder.read(path))

    def named(self, name: str) -> list[Key]:
        """Where notes are called by their paths: those whose file has this name."""
        found: list[Key] = self.files.named(name) if self.by_path else []
        return found

    @property
    def by_path(self) -> bool:
        """Are notes called by their paths, so that two rooms may have one name?"""
        return self.folder.dialect.id_of("x", "y") != "x"

    def held(self) -> AbstractContextManager[Any]:
        """To be taken before the store's lock by whoever erases notes inside it."""
        lock: AbstractContextManager[Any] = self.files.held()
        return lock

    # --- writing ---------------------------------------------------------------------------------

    def save(
        self,
        key: Key,
        change: Callable[[Memory | None], Memory],
        by: Author = Author(),
        *,
        expect: str = "",
        move: bool = False,
    ) -> Saved:
        """Write the note that `change` makes of the one with this key (None: there is none), as it
        is in its file now. `expect` is the hash of the bytes that the caller has seen, or its
        first characters. With `move` the file goes where the note's room is.

        Raises NoteChanged when the file is not what was expected, or when somebody else writes it
        all the time; NoteBroken when it cannot be edited; Refused for a folder that is read-only.
        """
        self._check_writable()
        _check_hash(expect)
        for tries_left in reversed(range(_TRIES)):
            try:
                with self.files.held(), self.store.transaction():
                    looked = tries_left < _TRIES - 1
                    saved, known, gone = self._saved(key, change, by, expect, looked, move)
            except NoteChanged as error:
                if not tries_left or isinstance(error, _Unexpected):
                    raise
                self._look()  # it was moved, or holds something else
            else:
                break
        if known is not None:
            with suppress(StoreBusy, StoreFull):  # then the next look reads it once more
                self.files.record([known], gone)
        self._looked = float("-inf")
        return saved

    def _saved(
        self,
        key: Key,
        change: Callable[[Memory | None], Memory],
        by: Author,
        expect: str,
        looked: bool,
        move: bool,
    ) -> tuple[Saved, KnownFile | None, list[str]]:
        row, gone = self.store.get([key])[0], []
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
            now = self.carried(self.placed(read, path, key), row)
            name, memory = read.id, change(now)  # of two files with one name it is not the key's
        with self.folder.locked(path):
            content = dialect.render(replace(memory, id=name), former)
            if former is None and (called := dialect.parse(path, content).id) != name:
                name, key = called, key._replace(id=called)  # it is called by its path
                content = dialect.render(replace(memory, id=name))
            if content == former and memory == now:
                return Saved(Outcome("deduplicated", key), path, _hex(content)), None, []
            home = home_of(self.folder, path, memory, now) if move and now is not None else path
            if former is not None and home != path:
                stat: NoteStat | None = moved(self.folder, path, home, content, former)
                gone, path = [path], home
            else:
                stat = None if content == former else self.folder.write(path, content, former)
        written = self.placed(dialect.parse(path, content), path, key)
        if (forgotten := self.forgotten()).hides(written):
            forgotten.allow([written], by)  # who writes it again wants it
        outcome = self.store.put([self.carried(written, memory)], by)[0]
        if outcome.status == "deduplicated":  # the row was the same, the file was not
            outcome = outcome._replace(status="updated")
        seen = stat and known_file(path, stat, content, key, problems_of(written))
        return Saved(outcome, path, _hex(content)), seen, gone

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
        doomed = self._doomed.files()
        paths = []
        for key, row in zip(keys := list(keys), self.store.get(keys), strict=True):
            for path in self._paths(row) if row is not None else []:
                content = self._content_of(path, key)
                if content is not None:
                    doomed[path] = digest(content).hex()
                    paths.append(path)
        self._doomed.note(doomed)
        return paths

    def strike(self, paths: Iterable[str]) -> list[str]:
        """After that transaction: the files go, and are known no more. What is left of them:
        those that could not be removed, and conflict files, which may hold the text."""
        paths = list(paths)
        left = self._doomed.remove()
        with suppress(StoreBusy, StoreFull):  # then the next look finds that they are gone
            self.files.record((), paths)
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

    # --- both ------------------------------------------------------------------------------------

    def placed(self, memory: Memory, path: str, key: Key | None = None) -> Memory:
        """A note as it was read, where it belongs; `key` is the one that it has already."""
        extra = {**memory.extra, FILE: path}
        named = {} if key is None else key._asdict()
        return replace(memory, **{"scope": self._scope, "extra": extra, **named})

    def carried(self, memory: Memory, row: Memory | None) -> Memory:
        """The note with what only its row can hold."""
        if row is None:
            return memory
        can = self.folder.dialect.fields | _ALWAYS
        return replace(
            memory, **{name: getattr(row, name) for name in Memory._fields if name not in can}
        )

    def _paths(self, row: Memory) -> list[str]:
        """The files that a note may be in: where it was found, and what its row says."""
        paths = [each.path for each in self.files.holding(row.key)]
        if row.extra.get(FILE):
            paths.append(str(row.extra[FILE]))
        return list(dict.fromkeys(paths))

    def is_there(self, path: str) -> bool:
        """Also what cannot be read is there, but for a path that can be no note's."""
        try:
            self.folder.read(path)
        except (NotFound, Refused):
            return False
        except CamilloError:
            return True
        return True

    def _check_writable(self) -> None:
        if not self.folder.writable:
            how = reopening(self.folder.folder)
            raise Refused(f"{self.folder.folder} is only read: `{how}` lets camillo change it")


class _Unexpected(NoteChanged):
    """Trying again would not help."""


def _check_hash(expect: str) -> None:
    if expect and (len(expect) < _SHORTEST or not re.fullmatch("[0-9a-fA-F]+", expect)):
        raise InvalidValue(
            f"{expect!r} is no hash of a file: give at least {_SHORTEST} of its hex digits"
        )


def _is_name_of(name: str, id_: str) -> bool:
    """Is that the name in the file of the note with this id?"""
    return name == id_ or re.fullmatch(re.escape(name + TWIN) + r"\d+", id_) is not None


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(folder in ("", ".") or path.startswith(f"{folder}/") for folder in folders)


def _hex(content: bytes) -> str:
    from hashlib import sha256  # loads OpenSSL: 3 ms that a look does without

    return sha256(content).hexdigest()
