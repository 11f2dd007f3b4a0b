"""Renames that never lose a file: swapping two names, and one that takes no name that is taken.

Linux has both in one system call, renameat2; elsewhere a hard link does the second. A file system
without either is told by the return value, and the caller has its way without.
"""

from __future__ import annotations

import errno
import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["exchange", "link_new", "rename_new"]

_NOREPLACE, _EXCHANGE = 1, 2
_AT_FDCWD = -100
_UNSUPPORTED = frozenset({
    errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV
})  # fmt: skip


def exchange(one: str, other: str, folder: int | None) -> bool:
    """Swap two files, atomically. False where that cannot be done. Raises OSError."""
    return _renameat2(one, other, folder, _EXCHANGE)


def rename_new(source: str, target: str, folder: int | None) -> None:
    """Rename without taking a name that is taken: raises FileExistsError."""
    if _renameat2(source, target, folder, _NOREPLACE):
        return
    if os.name == "nt":
        os.rename(source, target)  # refuses there
    else:
        link_new(source, target, folder)


def link_new(source: str, target: str, folder: int | None) -> None:
    """As `rename_new`, by a hard link; where there are none, as on FAT, by a look and a rename."""
    try:
        os.link(source, target, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    else:
        os.unlink(source, dir_fd=folder)
        return
    try:
        os.stat(target, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source, target, src_dir_fd=folder, dst_dir_fd=folder)
        return
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)


def _renameat2(one: str, other: str, folder: int | None, flag: int) -> bool:
    call = _system_call()
    if call is None:
        return False
    at = _AT_FDCWD if folder is None else folder
    failed = call(at, os.fsencode(one), at, os.fsencode(other), flag)
    if not failed:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), one, None, other)


@cache
def _system_call() -> Callable[..., Any] | None:
    try:
        import ctypes

        call: Any = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, TypeError, AttributeError):
        return None
    call.argtypes = (
        ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint
    )  # fmt: skip
    return call  # type: ignore[no-any-return]
