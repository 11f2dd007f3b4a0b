"""Opening folders and files below a folder, no link followed, and reading a file whole.

A file that somebody writes in place is waited for a moment, where the system can tell.
"""

from __future__ import annotations

import errno
import os
import stat
import time

from camillo.errors import CamilloError, InvalidValue, SourceUnreadable, StoreError, StoreFull
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = [
    "FOLDER", "LARGEST", "NO_LINK", "Opened", "failed", "open_below", "open_file", "open_room"
]  # fmt: skip

LARGEST = 4 * 1024 * 1024  # bytes; a note beyond this is a source, for `mine`

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_HAS_FOLDERS = os.open in os.supports_dir_fd and os.scandir in os.supports_fd

_LOOKS, _PAUSE = 20, 0.0025  # seconds; an editor that saves is done in less, a log never is


class Opened(NamedTuple):
    """What a file holds, up to one byte over the limit. `busy`: somebody has it open to write."""

    content: bytes
    status: os.stat_result
    busy: bool


def open_below(folder: str, parts: list[str], *, make: bool = False) -> int | None:
    """A descriptor of the folder reached by `parts`, no link followed; None where the system has
    none. Raises OSError. With `make` folders that are missing are made."""
    if not _HAS_FOLDERS:
        _check_below(folder, parts, make)
        return None
    held = os.open(folder, FOLDER)
    try:
        for part in parts:
            held = _entered(held, part, make)
    except BaseException:
        os.close(held)
        raise
    return held


def open_room(held: int, name: str) -> int:
    """A descriptor of a folder in an open one. Raises OSError: FileNotFoundError also where a file
    has its name now, since what was below is gone; another for a link, of which nothing is known.
    """
    try:
        return os.open(name, FOLDER | NO_LINK, dir_fd=held)
    except NotADirectoryError:
        status = os.stat(name, dir_fd=held, follow_symlinks=False)
        number = errno.ELOOP if stat.S_ISLNK(status.st_mode) else errno.ENOENT
        raise OSError(number, os.strerror(number), name) from None


def open_file(name: str, folder: int | None) -> Opened | None:
    """None for no plain file. Waits a moment for an editor that writes it in place."""
    descriptor = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        busy = _is_busy(descriptor)
        pieces = []
        left = LARGEST + 1
        while left > 0 and (piece := file.read(min(left, max(status.st_size + 1, 65536)))):
            pieces.append(piece)
            left -= len(piece)
        return Opened(b"".join(pieces), status, busy)


def _is_busy(descriptor: int) -> bool:
    """Has somebody the file open to write, also after a moment?"""
    for _ in range(_LOOKS):
        if not _has_writer(descriptor):
            return False
        time.sleep(_PAUSE)
    return _has_writer(descriptor)


def _has_writer(descriptor: int) -> bool:
    """Linux grants a read lease on a file that nobody has open to write; elsewhere it is not known,
    and False."""
    try:
        # `signal` makes classes of these, for half a millisecond.
        from _signal import SIGURG  # type: ignore[import-not-found]
        from fcntl import F_RDLCK, F_SETLEASE, F_SETSIG, F_UNLCK, fcntl
    except ImportError:
        return False
    try:
        # Who opens the file while the lease is held makes a signal: one that does nothing.
        fcntl(descriptor, F_SETSIG, SIGURG)
        fcntl(descriptor, F_SETLEASE, F_RDLCK)
        fcntl(descriptor, F_SETLEASE, F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN  # others: a foreign file, a file system without leases
    return False


def failed(error: OSError, what: str, path: str) -> NoReturn:
    """Raises the error as ours, for a file that could not be read or written."""
    why = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        raise StoreFull(f"{path!r} cannot be {what}: {why}; the file is as it was") from error
    if error.errno == errno.ENAMETOOLONG:
        raise InvalidValue(f"{path!r} is too long a name for this file system") from error
    if error.errno == errno.ELOOP:
        raise SourceUnreadable(f"{path!r} is a link, or lies behind one: notes are no links")
    if error.errno == errno.ENOTDIR:
        raise SourceUnreadable(f"{path!r}: a file has the name of a folder of it; move it away")
    wrong: type[CamilloError] = SourceUnreadable if what == "read" else StoreError
    raise wrong(f"{path!r} cannot be {what}: {why}; check its permissions") from error


def _entered(held: int, part: str, make: bool) -> int:
    try:
        inner = open_room(held, part)
    except FileNotFoundError:
        if not make:
            raise
        try:
            os.mkdir(part, dir_fd=held)
            os.fsync(held)
        except FileExistsError:
            pass  # another process made it, or it is a file
        try:
            inner = open_room(held, part)
        except FileNotFoundError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), part) from None
    os.close(held)
    return inner


def _check_below(folder: str, parts: list[str], make: bool) -> None:
    below = os.path.join(folder, *parts)
    if make:
        try:
            os.makedirs(below, exist_ok=True)
        except FileExistsError as error:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), below) from error
    real, root = os.path.realpath(below), os.path.realpath(folder)
    if real != os.path.join(root, *parts):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), below)
