"""A folder of notes: the only code that reads and writes note files.

What a file holds is the dialect's, how one is written without losing a text is in `_files`. Links
are not followed, hidden files are not seen. The folder itself may be a link: that is its owner's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unicodedata import normalize

from camillo.elsewhere import reopening
from camillo.engines.markdown import _exchange
from camillo.engines.markdown._files import NoteFile
from camillo.engines.markdown._names import check_inside, check_new, is_strange
from camillo.engines.markdown._reading import LARGEST, failed, open_below
from camillo.engines.markdown._walk import Walk
from camillo.errors import CamilloError, InvalidValue, NotFound, Refused, SourceUnreadable
from camillo.ports import Dialect, NoteStat, Usage
from camillo.text.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.engines.markdown._files import Swap
    from camillo.engines.markdown._usage import UsageFile

__all__ = ["LARGEST", "NoteFolder"]

_DAY = 24 * 3600.0


class NoteFolder:
    """Threads may share one. `left_out` are folders whose files are no notes, by their paths, case
    folded; `swap` exchanges two files in one step, or says that it cannot."""

    def __init__(
        self,
        folder: str,
        dialect: Dialect,
        writable: bool = True,
        *,
        left_out: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.time,
        swap: Swap = _exchange.exchange,
    ) -> None:
        self.folder, self.dialect, self.writable = folder, dialect, writable
        self._left_out, self._clock, self._swap = left_out, clock, swap

    def scan(self) -> tuple[dict[str, NoteStat], list[str]]:
        """Every note file by path, also one that cannot be read by its name, and the folders that
        could not be read, `.` for this one itself: of files below those nothing is known. Leftovers
        of killed writers that are older than a day are cleared away on the way."""
        walk = self._walk()
        return walk.notes, walk.unreadable

    def unread(self) -> list[tuple[str, str]]:
        """Folders whose notes are not read, by path, each with why: they cannot be read, lie too
        deep, or have a name that no path may hold."""
        return sorted(self._walk().unread)

    def conflicts(self) -> list[str]:
        """The conflict files: texts that somebody saved while a note was being written."""
        return sorted(self._walk().conflicts)

    def pages(self) -> list[str]:
        """`ROOT.md`, `index.md`, `README.md` and `MEMORY.md`, in any case and folder, where the
        dialect does not take them for notes."""
        return sorted(path for path in self._walk().pages if not is_strange(path))

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
            self._walk(older_than)

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
        check_inside(path)
        if expected is None:
            self._check_new(path)
            if not self.enters(path.rpartition("/")[0]):
                raise InvalidValue(f"{path!r} would be among templates, which are no notes")
        if len(content) > LARGEST:
            raise InvalidValue(
                f"{path!r} would have {len(content):,} bytes, and a note has at most {LARGEST:,}: "
                "split it"
            )
        with _told(path, "written"), self._file(path, make=expected is None) as file:
            return file.create(content) if expected is None else file.replace(content, expected)

    def enters(self, room: str) -> bool:
        """May notes be in this folder, as far as this folder of notes knows?"""
        if not self._left_out:
            return True
        above = room.casefold().split("/")
        return all("/".join(above[:end]) not in self._left_out for end in range(1, len(above) + 1))

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
            self._check_new(found)
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

    def _walk(self, older_than: float = _DAY) -> Walk:
        now = self._clock()
        before = now - older_than if self.writable else float("-inf")
        walk = Walk(self.folder, self.dialect.is_note, self._is_room, before, now)
        walk.run()
        return walk

    def _is_room(self, folder: str) -> bool:
        return self.dialect.enters(folder) and self.enters(folder)

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

    def _check_new(self, path: str) -> None:
        """A folder that is there may have any name; one that would be made may not."""
        check_inside(path)
        room, _, name = path.rpartition("/")
        there = room and os.path.isdir(os.path.join(self.folder, *room.split("/")))
        check_new(name if there else path)

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
                f"{self.folder} is only read: `{reopening(self.folder)}` lets camillo change it"
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
