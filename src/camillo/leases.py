"""A lease on a long job: one process at a time, given up by the kernel when the process ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from camillo.errors import StoreFull

__all__ = ["lock_file"]


@contextmanager
def lock_file(path: str) -> Iterator[bool]:
    """Yields True while this process holds the file's lock, False when another one does.

    Raises StoreFull where the file cannot be made.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreFull(
            f"{path} cannot be written ({error.strerror}): check its permissions"
        ) from error
    try:
        yield _take(descriptor)
    finally:
        os.close(descriptor)  # and with it the lock


def _take(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
