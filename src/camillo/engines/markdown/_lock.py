"""The lock of commonplace: a folder `<file>.lock` beside a file that is being written.

As proper-lockfile has it: who makes the folder holds the lock and touches it every few seconds; one
that was not touched for five seconds is abandoned; who finds it held tries ten times, 50 ms to 1 s
apart. Advisory: it holds between programs that take it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from camillo.errors import StoreBusy

__all__ = ["STALE", "lock_folder"]

STALE = 5.0  # seconds
_REFRESH = 2.0  # seconds; proper-lockfile has half of STALE
_RETRIES, _SHORTEST, _LONGEST, _FACTOR = 10, 0.05, 1.0, 1.5


@contextmanager
def lock_folder(
    name: str,
    folder: int | None,
    *,
    clock: Callable[[], float] = time.time,
    wait: Callable[[float], None] = time.sleep,
    refresh: float = _REFRESH,
) -> Iterator[None]:
    """Holds the lock `name`, relative to an open folder. Raises StoreBusy, and OSError where the
    lock cannot be made."""
    pause = _SHORTEST
    for left in range(_RETRIES, -1, -1):
        if _take(name, folder, clock()):
            break
        if not left:
            raise StoreBusy(
                f"{name} is held by another program; remove that folder if none is running"
            )
        wait(min(pause, _LONGEST))
        pause *= _FACTOR
    lease = _Lease(name, folder, clock)
    keeper = threading.Thread(target=lease.keep, args=(refresh,), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        lease.done.set()
        keeper.join()
        lease.release()


class _Lease:
    """A held lock. Its time stamp is ours: when it is another, so is the lock."""

    def __init__(self, name: str, folder: int | None, clock: Callable[[], float]) -> None:
        self._name, self._folder, self._clock = name, folder, clock
        self.done = threading.Event()
        self._touch()

    def keep(self, every: float) -> None:
        while not self.done.wait(every):
            try:
                if not self._is_ours():
                    return
                self._touch()
            except OSError:
                return

    def release(self) -> None:
        try:
            if self._is_ours():
                os.rmdir(self._name, dir_fd=self._folder)
        except OSError:
            return  # taken from us as abandoned, or not empty: not ours to remove

    def _touch(self) -> None:
        now = int(self._clock() * 1000) * 1_000_000  # whole milliseconds, as Node reads them
        os.utime(self._name, ns=(now, now), dir_fd=self._folder)
        self._stamp = _mtime_ns(self._name, self._folder)

    def _is_ours(self) -> bool:
        return _mtime_ns(self._name, self._folder) == self._stamp


def _take(name: str, folder: int | None, now: float) -> bool:
    for _ in range(2):
        try:
            os.mkdir(name, 0o755, dir_fd=folder)
            return True
        except FileExistsError:
            pass
        try:
            if now - _mtime_ns(name, folder) / 1e9 <= STALE:
                return False
            os.rmdir(name, dir_fd=folder)
        except FileNotFoundError:
            continue  # let go just now
        except OSError:
            return False
    return False


def _mtime_ns(name: str, folder: int | None) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime_ns
