"""How far a long operation is, on standard error.

On a terminal one line that is rewritten, with rate and time left; elsewhere a plain line at most
every five seconds, so that logs stay short. The operation only calls `vault.progress(done, total,
what)`; total is None when nobody knows it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from camillo.surfaces.terminal import clean_line, columns, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["Progress"]

_REDRAW = 0.1  # seconds between two drawings on a terminal
_LINE = 5.0  # seconds between two lines elsewhere
_SETTLED = 2.0  # seconds before a rate is worth showing
_CLEAR = "\r\x1b[K"


class Progress:
    """A callable to put on the vault. `close()` leaves the terminal's line empty."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._columns = columns(stream)
        self._interval = _LINE if self._columns is None else _REDRAW
        self._started = clock()
        self._first = 0
        self._last_done = 0
        self._shown_at = self._started
        self._drawn = False

    def __call__(self, done: int, total: int | None, what: str) -> None:
        now = self._clock()
        if done < self._last_done:  # another count begins
            self._started, self._first = now, done
        self._last_done = done
        if now - self._shown_at < self._interval:
            return
        self._shown_at = now
        self._show(self._line(now, done, total, clean_line(what)))

    def close(self) -> None:
        if self._drawn:
            self._write(_CLEAR)
            self._drawn = False

    def _line(self, now: float, done: int, total: int | None, what: str) -> str:
        count = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        parts = [f"{what}: {count}"]
        elapsed = now - self._started
        if elapsed >= _SETTLED and done > self._first:
            rate = (done - self._first) / elapsed
            parts.append(f"{rate:,.0f} a second" if rate >= 10 else f"{rate:.1f} a second")
            if total is not None and total > done:
                parts.append(f"{_duration((total - done) / rate)} left")
        return ", ".join(parts)

    def _show(self, line: str) -> None:
        if self._columns is None:
            self._write(f"{line}\n")
        else:
            self._write(_CLEAR + cut(line, self._columns - 1))
            self._drawn = True

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads it; the work goes on
            self._interval = float("inf")


def _duration(seconds: float) -> str:
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
