"""Bench of speed: what mining and searching cost on a folder of yours.

CPU time throughout (`time.process_time`; of child processes `getrusage`), not wall time. The cold
start of the command stands beside bare Python's in the same run.
"""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

__all__ = [
    "Latency",
    "Timed",
    "apart",
    "child_latency",
    "latency",
    "peak_rss_mb",
    "sentences",
]

_COLD_RUNS = 9
_SENTENCE = re.compile(r"(?<![^\n])[ \t#*/\"']*([A-Z][a-z]+(?: [A-Za-z]+){5,13})[.\n]")


class Latency(NamedTuple):
    """CPU milliseconds of one thing done several times."""

    runs: int
    min_ms: float
    p50_ms: float
    p95_ms: float

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Latency:
        ordered = sorted(value * 1000 for value in seconds)
        return cls(len(ordered), *(round(_at(ordered, share), 3) for share in (0, 50, 95)))


class Timed:
    """Stands in for `inner` and adds up the CPU time, in `seconds`, that calls of its methods
    take."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        return self._timed(value) if callable(value) else value

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            try:
                return method(*arguments, **options)
            finally:
                self.seconds += time.process_time() - start

        return call


def latency(calls: Iterable[Callable[[], Any]]) -> Latency:
    """CPU time of each call."""
    return Latency.of(map(_spent, calls))


def apart(calls: Iterable[Callable[[], Any]], part: Timed) -> tuple[Latency, Latency]:
    """CPU time of each call without what `part` took in it, and what that took."""
    rest, within = [], []
    for call in calls:
        before = part.seconds
        spent = _spent(call)
        within.append(part.seconds - before)
        rest.append(spent - within[-1])
    return Latency.of(rest), Latency.of(within)


def child_latency(command: Sequence[str], environment: dict[str, str]) -> Latency:
    """CPU time of whole processes: user and system, of all that the command starts."""
    return Latency.of(_child_spent(command, environment) for _ in range(_COLD_RUNS))


def peak_rss_mb() -> float:
    """The most memory that this process ever held, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 if sys.platform != "darwin" else 1024 * 1024), 1)


def sentences(texts: Iterator[str], count: int, seed: int = 1) -> list[str]:
    """Up to `count` sentences of six to fourteen words that stand in the texts."""
    found = [sentence for text in texts for sentence in _SENTENCE.findall(text)]
    return random.Random(seed).sample(found, min(count, len(found)))


def _spent(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _child_spent(command: Sequence[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, check=False, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _at(ordered: Sequence[float], share: int) -> float:
    """The value at or below which `share` percent lie (nearest rank)."""
    if not ordered:
        return 0.0
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]
