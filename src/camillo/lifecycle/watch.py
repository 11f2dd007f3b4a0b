"""When to look again: as soon as a note file changes where the system tells, else at intervals.

The library watchfiles, where it is installed, asks the system to tell; an interval comes besides,
since network file systems tell nothing. What is done then is the caller's.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

__all__ = ["ticks", "watcher"]

Watcher = Callable[[Sequence[str], float], Iterator[None]]


def watcher() -> tuple[str, Watcher]:
    """(its name, what waits): watchfiles, or polling where that is not installed."""
    try:
        library = importlib.import_module("watchfiles")
    except ImportError:
        return "polling", _polling
    return "watchfiles", lambda folders, every: _told(library, folders, every)


def ticks(folders: Sequence[str], every: float, wait: Watcher, times: int = 0) -> Iterator[int]:
    """The number of each look, from 1, as long as nobody interrupts: one at once, then one after
    each change in the folders, and at least one in `every` seconds. `times` ends it; 0 = never."""
    yield 1
    if times == 1:
        return
    for number, _ in enumerate(wait(folders, every), 2):
        yield number
        if number == times:
            return


def _polling(folders: Sequence[str], every: float) -> Iterator[None]:
    while True:
        time.sleep(every)
        yield


def _told(library: Any, folders: Sequence[str], every: float) -> Iterator[None]:
    """Only notes count: our own databases and locks lie in the same folders."""
    changes = library.watch(
        *folders,
        watch_filter=lambda change, path: path.endswith(".md"),
        rust_timeout=int(every * 1000),
        yield_on_timeout=True,
        raise_interrupt=True,
        ignore_permission_denied=True,
    )
    for _ in changes:
        yield
