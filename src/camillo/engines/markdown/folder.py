"""A folder of notes: the only code that reads and writes note files.

What a file holds is the dialect's, how one is written without losing a text is in `_files`. Links
are not followed, hidden files are not seen. The folder itself may be a link: that is its owner's.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unicodedata import normalize

from camillo.engines.markdown import _exchange
from camillo.engines.markdown._files import NoteFile, leftover, sweep
from camillo.engines.markdown._names import CONFLICT, STRANGE, check_inside, check_new
from camillo.engines.markdown._reading import LARGEST, failed, open_below, open_room
from camillo.errors import CamilloError, InvalidValue, NotFound, Refused, SourceUnreadable
from camillo.ports import Dialect, NoteStat, Usage
from camillo.text.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.engines.markdown._files import Swap
    from camillo.engines.markdown._usage import UsageFile

__all__ = ["LARGEST", "NoteFolder"]

_DAY = 24 * 3600.0
_DEEPEST = 32
_PAGES = frozenset({"root.md", "index.md", "readme.md", "memory.md"})


class NoteFolder:
    """Threads may share one. `swap` exchanges two files in one step, or says that it cannot."""

    def __init__(
        self,
        folder: str,
        dialect: Dialect,
        writable: bool = True,
        *,
        clock: Callable[[], float] = time.time,
        swap: Swap = _exchange.exchange,
    ) -> None:
        self.folder, self.dialect, self.writable = folder, dialect, writable
        self._clock, self._swap = clock, swap

    def scan(self) -> tuple[dict[str, NoteStat], list[str]]:
        """Every note file by path, and the folders that could not be read, `.` for this one itself:
        of files below those nothing is known. Leftovers of killed writers that are older than a day
        are cleared away on the way."""
        walk = _Walk(self)
        walk.run()
        return walk.notes, walk.unreadable

    def conflicts(self) -> list[str]:
        """The conflict files: texts that somebody saved while a note was being written."""
        walk = _Walk(self)
        walk.run()
        return sorted(walk.conflicts)

    def pages(self) -> list[str]:
        """`ROOT.md`, `index.md`, `README.md` and `MEMORY.md`, in any case and folder, where the
        dialect does not take them for notes."""
        walk = _Walk(self)
        walk.run()
        return sorted(walk.pages)

    def usage(self) -> dict[str, Usage]:
        """By path, how often oc's own file says that a note was used. {} where it cannot be read:
        who asks does without."""
        if not self.dialect.usage:
            return {}
        try:
            with self._usage_file() as file:
                return file.usage()
        except (OSError, CamilloError):
            return {}

    def used(self, paths: Sequence[str], at: int) -> None:
        """Count these notes there as used once more. Raises SourceUnreadable, StoreBusy, StoreFull,
        StoreError, InvalidValue over the size cap; then nothing is counted."""
        if not (self.dialect.usage and self.writable and paths):
            return
        try:
            with self._usage_file() as file:
                file.count(paths, at)
        except OSError as error:
            failed(error, "written", self.dialect.usage)

    def sweep(self, older_than: float = 0.0) -> None:
        """Clear away what killed writers left, all of it or what is older than so many seconds."""
        if self.writable:
            _Walk(self, older_than).run()

    def read(self, path: str) -> bytes:
        """Raises NotFound, SourceUnreadable, Refused; InvalidValue over the size cap."""
        check_inside(path)
        with _told(path, "read"), self._file(path, "read") as file:
            return file.read()

    def write(self, path: str, content: bytes, expected: bytes | None) -> NoteStat:
        """Atomic and durable: the file holds the former content or this one, also after a crash.
        Raises NoteChanged when it does not hold `expected` (None: when there is one), Refused,
        InvalidValue, StoreFull, StoreError; then nothing is written."""
        self._check_writable()
        if expected is None:
            check_new(path)
        else:
            check_inside(path)
        if len(content) > LARGEST:
            raise InvalidValue(
                f"{path!r} would have {len(content):,} bytes, and a note has at most {LARGEST:,}: "
                "split it"
            )
        with _told(path, "written"), self._file(path, make=expected is None) as file:
            return file.create(content) if expected is None else file.replace(content, expected)

    def remove(self, path: str, expected: bytes) -> None:
        """Raises NoteChanged when the file does not hold `expected`; then it stays."""
        self._check_writable()
        check_inside(path)
        with _told(path, "removed"), self._file(path) as file:
            file.remove(expected)

    def free_path(self, path: str) -> str:
        """`path`, or with `-2`, `-3` … the first one that this file system does not take for a file
        that is there. A room that is there in another normal form of Unicode is that one."""
        path = self._in_rooms_that_are_there(path)
        stem = path.removesuffix(".md")
        number = 1
        while True:
            found = path if number == 1 else f"{stem}-{number}.md"
            check_new(found)
            if not self._is_taken(found):
                return found
            number += 1

    @contextmanager
    def locked(self, path: str) -> Iterator[None]:
        """Keeps other programs that know the dialect out, as commonplace's own lock does. Raises
        StoreBusy after some five seconds."""
        self._check_writable()
        check_inside(path)
        if not self.dialect.locks:
            yield
            return
        from camillo.engines.markdown._lock import lock_folder

        with self._file(path) as file:
            lock = lock_folder(f"{file.name}.lock", file.folder)
            with _told(path, "locked"):
                lock.__enter__()
            try:
                yield
            finally:
                lock.__exit__(None, None, None)

    @contextmanager
    def _file(self, path: str, what: str = "opened", *, make: bool = False) -> Iterator[NoteFile]:
        *rooms, name = path.split("/")
        with _told(path, what):
            held = open_below(self.folder, rooms, make=make)
        if held is None:
            name = os.path.join(self.folder, *rooms, name)
        try:
            yield NoteFile(name, held, path, clock=self._clock, swap=self._swap)
        finally:
            if held is not None:
                os.close(held)

    @contextmanager
    def _usage_file(self) -> Iterator[UsageFile]:
        from camillo.engines.markdown._usage import UsageFile

        held, name = open_below(self.folder, []), self.dialect.usage
        try:
            at = os.path.join(self.folder, name) if held is None else name
            yield UsageFile(at, held, name, clock=self._clock)
        finally:
            if held is not None:
                os.close(held)

    def _in_rooms_that_are_there(self, path: str) -> str:
        *rooms, name = path.split("/")
        above = self.folder
        for at, room in enumerate(rooms):
            if not room.isascii():
                alike = [each for each in _folders(above) if normalize("NFC", each) == room]
                rooms[at] = room if room in alike or not alike else min(alike)
            above = os.path.join(above, rooms[at])
        return "/".join([*rooms, name])

    def _is_taken(self, path: str) -> bool:
        try:
            os.lstat(os.path.join(self.folder, *path.split("/")))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise SourceUnreadable(f"{path!r} cannot be looked up: {error.strerror}") from error
        return True

    def _check_writable(self) -> None:
        if not self.writable:
            raise Refused(
                f"{self.folder} is only read: `camillo open` it with --write to change it"
            )


def _folders(above: str) -> list[str]:
    """The names of the folders in one, [] where it is not there."""
    try:
        with os.scandir(above) as entries:
            return [each.name for each in entries if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []


@contextmanager
def _told(path: str, what: str) -> Iterator[None]:
    """Errors of the system as ours, with the path and what was to be done."""
    try:
        yield
    except FileNotFoundError:
        raise NotFound(f"there is no note {printable(path)!r}") from None
    except OSError as error:
        failed(error, what, printable(path))


class _Walk:
    """One pass over a folder of notes."""

    def __init__(self, folder: NoteFolder, older_than: float = _DAY) -> None:
        self.notes: dict[str, NoteStat] = {}
        self.unreadable: list[str] = []
        self.conflicts: list[str] = []
        self.pages: list[str] = []
        self._folder = folder.folder
        self._dialect = folder.dialect
        self._before = folder._clock() - older_than if folder.writable else float("-inf")
        self._clock = folder._clock

    def run(self) -> None:
        try:
            held = open_below(self._folder, [])
        except OSError:
            self.unreadable.append(".")
            return
        self._look(held, "", 0)

    def _look(self, held: int | None, room: str, depth: int) -> None:
        """Takes in one folder and closes it."""
        try:
            with os.scandir(self._path(room) if held is None else held) as entries:
                rooms = self._files(entries, held, room + "/" if room else "")
            for name in rooms:
                self._enter(held, name, f"{room}/{name}" if room else name, depth + 1)
        except OSError:
            self.unreadable.append(room or ".")
        finally:
            if held is not None:
                os.close(held)

    def _files(
        self, entries: Iterator[os.DirEntry[str]], held: int | None, above: str
    ) -> list[str]:
        """Notes the files; the folders to enter."""
        is_note, notes, rooms = self._dialect.is_note, self.notes, []
        made, stat_of, strange = tuple.__new__, os.DirEntry.stat, re.compile(STRANGE).search
        for entry in entries:
            name = entry.name
            path = above + name
            if name.endswith(".md") and entry.is_file(follow_symlinks=False):
                if is_note(path) and strange(name) is None:
                    status = stat_of(entry, follow_symlinks=False)
                    notes[path] = made(NoteStat, (status.st_mtime_ns, status.st_size))
                elif re.fullmatch(CONFLICT, name):
                    self.conflicts.append(path)
                elif name.lower() in _PAGES and strange(path) is None:
                    self.pages.append(path)
            elif leftover(name):
                self._clear(entry, held)
            elif entry.is_dir(follow_symlinks=False) and self._dialect.enters(path):
                rooms.append(name)
        return rooms

    def _enter(self, held: int | None, name: str, room: str, depth: int) -> None:
        if depth > _DEEPEST:
            self.unreadable.append(room)
            return
        try:
            inner = None if held is None else open_room(held, name)
        except OSError:
            self.unreadable.append(room)
            return
        self._look(inner, room, depth)

    def _clear(self, entry: os.DirEntry[str], held: int | None) -> None:
        """A leftover of a killed writer. That it stays hurts nobody, so errors do not either."""
        try:
            status = entry.stat(follow_symlinks=False)
            if max(status.st_mtime, status.st_ctime) < self._before:
                sweep(entry.path if held is None else entry.name, held, self._clock())
        except OSError:
            return

    def _path(self, room: str) -> str:
        return os.path.join(self._folder, *room.split("/")) if room else self._folder
