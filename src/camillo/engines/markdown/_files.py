"""One note file of an open folder: read, put in place, taken away, so that no text is lost.

A new content is written beside the note, synced, and swapped with it in one step; what was swapped
out is compared with what the writer had read, and kept as a conflict file when it differs. A kill
may leave one file of ours behind (two, for an instant, where names cannot be swapped); its name
says what to do with it:

    .<slug>.<8 hex>.new.tmp              being written: ours alone
    .<slug>.<sum>-<sum>-<8 hex>.tmp      sums of our content and of the expected one: any other
                                         content is somebody's
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from camillo.engines.markdown import _exchange
from camillo.engines.markdown._names import LONGEST, clipped
from camillo.engines.markdown._reading import FOLDER, LARGEST, NO_LINK, open_file
from camillo.errors import InvalidValue, NoteChanged, NotFound
from camillo.ports import NoteStat
from camillo.text.printable import printable

__all__ = ["NoteFile", "leftover", "sweep"]

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK | getattr(os, "O_BINARY", 0)

_NEW = r"\..+\.[0-9a-f]{8}\.new\.tmp"
_SWAP = r"\.(.+)\.([0-9a-f]{16})-([0-9a-f]{16})-[0-9a-f]{8}\.tmp"
_NOTHING = "0" * 16

Swap = Callable[[str, str, "int | None"], bool]


class NoteFile:
    """A file by its name in a folder that is held open, so that no link can lead elsewhere.

    `folder` is its descriptor; where the system has none, `name` is the whole path. `path` is what
    messages say.
    """

    def __init__(
        self,
        name: str,
        folder: int | None,
        path: str,
        *,
        clock: Callable[[], float] = time.time,
        swap: Swap = _exchange.exchange,
    ) -> None:
        self.name, self.folder, self.path = name, folder, printable(path)
        self._clock, self._swap = clock, swap

    def read(self) -> bytes:
        content = self._content()
        if content is None:
            raise NotFound(f"there is no note {self.path!r}")
        return content

    def create(self, content: bytes) -> NoteStat:
        """Raises NoteChanged when there is such a file."""
        with self._written(content, None) as (temporary, made):
            try:
                _exchange.rename_new(temporary, self.name, self.folder)
            except FileExistsError:
                raise NoteChanged(
                    f"there is a file {self.path!r} already: read it first, or use another name"
                ) from None
        self._sync()
        return made

    def replace(self, content: bytes, expected: bytes) -> NoteStat:
        """Raises NoteChanged unless the file holds `expected`."""
        with self._written(content, self._status()) as (temporary, made):
            aside = self._aside(content, expected)
            with self._alone():
                self._check(expected)
                os.rename(temporary, aside, src_dir_fd=self.folder, dst_dir_fd=self.folder)
                try:
                    self._put(aside)
                except BaseException:  # it may have come to the swap
                    sweep(aside, self.folder, self._clock())
                    raise
        self._sync()
        self._settle(aside, expected)
        return made

    def remove(self, expected: bytes) -> None:
        aside = self._aside(None, expected)
        with self._alone():
            self._check(expected)
            try:
                os.rename(self.name, aside, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            except FileNotFoundError:
                raise self._gone() from None
        found = _content(aside, self.folder)
        if found != expected:  # saved by an editor between the two
            try:
                _exchange.rename_new(aside, self.name, self.folder)
            except FileExistsError:
                self._keep(aside)
            self._sync()
            raise NoteChanged(f"{self.path!r} was changed while it was being removed")
        _remove(aside, self.folder)
        self._sync()

    def _put(self, aside: str) -> None:
        """The content in `aside` becomes the note, and `aside` what the note was, if that can be
        kept hold of: by a swap, else by a second link to the file."""
        if self._swap(aside, self.name, self.folder):
            return
        fresh = self._beside(f".{os.urandom(4).hex()}.new.tmp")
        os.rename(aside, fresh, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        try:
            try:
                os.link(self.name, aside, src_dir_fd=self.folder, dst_dir_fd=self.folder)
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                    raise
            os.replace(fresh, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except BaseException:
            _remove(fresh, self.folder)
            raise

    def _settle(self, aside: str, expected: bytes) -> None:
        """What was swapped out goes, unless it is not what we had read, or may still change."""
        try:
            found = open_file(aside, self.folder)
        except FileNotFoundError:
            return
        if found and found.content == expected and not found.busy:
            _remove(aside, self.folder)
        else:
            self._keep(aside)
            self._sync()

    def _keep(self, aside: str) -> None:
        stem = os.path.basename(self.name).removesuffix(".md")
        _keep_as_conflict(aside, self._sibling, stem, self.folder, self._clock())

    @contextmanager
    def _written(
        self, content: bytes, former: os.stat_result | None
    ) -> Iterator[tuple[str, NoteStat]]:
        """A synced file of this content beside the note; it does not outlive an error."""
        temporary = self._beside(f".{os.urandom(4).hex()}.new.tmp")
        try:
            yield temporary, _write(temporary, self.folder, content, former)
        except BaseException:
            _remove(temporary, self.folder)
            raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Other writers of ours wait: the kernel's lock on the folder, where it has one."""
        try:
            import fcntl
        except ImportError:
            yield
            return
        above = os.path.dirname(self.name) or "."
        held = os.open(above, FOLDER, dir_fd=self.folder)  # closing it lets the lock go
        try:
            try:
                fcntl.flock(held, fcntl.LOCK_EX)
            except OSError as error:
                if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                    raise
            yield
        finally:
            os.close(held)

    def _check(self, expected: bytes) -> None:
        found = self._content()
        if found is None:
            raise self._gone()
        if found != expected:
            raise NoteChanged(
                f"{self.path!r} was changed since it was read: read it again, then change that"
            )

    def _gone(self) -> NoteChanged:
        return NoteChanged(f"{self.path!r} is gone since it was read")

    def _content(self) -> bytes | None:
        """None where there is no file of exactly this name."""
        try:
            found = open_file(self.name, self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if found is None:
            return None
        if len(found.content) > LARGEST:
            raise InvalidValue(
                f"{self.path!r} has {max(found.status.st_size, len(found.content)):,} bytes, and a "
                f"note at most {LARGEST:,}: mine it as a source, or split it"
            )
        return found.content if self._is_itself(found.status) else None

    def _is_itself(self, status: os.stat_result) -> bool:
        """Not another note's file that this file system takes for it: `Jwt.md` for `jwt.md`."""
        base = os.path.basename(self.name)
        for other in _twins(base):
            try:
                twin = os.stat(self._sibling(other), dir_fd=self.folder, follow_symlinks=False)
            except OSError:
                continue
            if os.path.samestat(twin, status):
                folder = os.path.dirname(self.name) or "."
                return base in os.listdir(folder if self.folder is None else self.folder)
        return True

    def _status(self) -> os.stat_result:
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            raise self._gone() from None

    def _aside(self, content: bytes | None, expected: bytes) -> str:
        ours = _NOTHING if content is None else _sum(content)
        return self._beside(f".{ours}-{_sum(expected)}-{os.urandom(4).hex()}.tmp")

    def _beside(self, ending: str) -> str:
        stem = os.path.basename(self.name).removesuffix(".md")
        return self._sibling(f".{clipped(stem, LONGEST)}{ending}")

    def _sibling(self, name: str) -> str:
        return os.path.join(os.path.dirname(self.name), name)

    def _sync(self) -> None:
        if self.folder is not None:
            try:
                os.fsync(self.folder)
            except OSError as error:
                if error.errno != errno.EINVAL:  # a file system that cannot sync folders
                    raise


def leftover(name: str) -> bool:
    """Is a file of this name one that a killed writer of ours left?"""
    return name[:1] == "." and name.endswith(".tmp") and (
        re.fullmatch(_NEW, name) is not None or re.fullmatch(_SWAP, name) is not None
    )  # fmt: skip


def sweep(name: str, folder: int | None, now: float) -> None:
    """Remove a leftover, or make it a conflict file where it holds what somebody else saved."""
    swapped = re.fullmatch(_SWAP, os.path.basename(name))
    if swapped:
        content = _content(name, folder)
        if content is None:
            return
        if _sum(content) not in swapped.groups()[1:]:
            above = os.path.dirname(name)
            _keep_as_conflict(
                name, lambda other: os.path.join(above, other), swapped[1], folder, now
            )
            return
    _remove(name, folder)


def _content(name: str, folder: int | None) -> bytes | None:
    """What a file of ours holds; None where it is gone."""
    try:
        found = open_file(name, folder)
    except FileNotFoundError:
        return None
    return found.content if found else None


def _write(
    name: str, folder: int | None, content: bytes, former: os.stat_result | None
) -> NoteStat:
    descriptor = os.open(name, _CREATE, 0o644, dir_fd=folder)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        view = memoryview(content)
        while view:
            view = view[file.write(view) :]
        if former is not None and os.name != "nt":
            _resemble(descriptor, former)
        os.fsync(descriptor)
        status = os.fstat(descriptor)
    return NoteStat(status.st_mtime_ns, status.st_size)


def _resemble(descriptor: int, former: os.stat_result) -> None:
    """Mode and, where we may give it away, owner of the former file."""
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (former.st_uid, former.st_gid):
        try:
            os.fchown(descriptor, former.st_uid, former.st_gid)
        except OSError:
            pass  # only root may; whoever could replace the file then owns it
    os.fchmod(descriptor, stat.S_IMODE(former.st_mode) & 0o777)


def _remove(name: str, folder: int | None) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass  # put in place, or swept by another process


def _keep_as_conflict(
    aside: str, sibling: Callable[[str], str], stem: str, folder: int | None, now: float
) -> None:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    start = f"{clipped(stem, LONGEST)}.conflict-{stamp}"
    number = 1
    while True:
        name = f"{start}.md" if number == 1 else f"{start}-{number}.md"
        try:
            return _exchange.rename_new(aside, sibling(name), folder)
        except FileExistsError:
            number += 1
        except FileNotFoundError:
            return None  # another process has kept it


def _twins(name: str) -> list[str]:
    """Other spellings that a file system may take for this name."""
    twins = [name.swapcase()]
    if not name.isascii():
        from unicodedata import normalize

        twins += [normalize("NFC", name), normalize("NFD", name)]
    return [twin for twin in twins if twin != name]


def _sum(content: bytes) -> str:
    import hashlib

    return hashlib.blake2b(content, digest_size=8).hexdigest()
