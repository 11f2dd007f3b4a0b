"""Bench of stores: a corpus of any size from real texts, and what an engine's work costs.

Times are CPU of this process and, beside it, of a server on this machine (Linux: /proc), with the
wall clock for what a caller waits. What is done to the store is the operation's business.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from camillo.bench.speed import Latency
from camillo.errors import InvalidValue
from camillo.model import Memory, drawer_id, replace

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from camillo.ports import Embedder, Role, TokenVectors

__all__ = ["Costs", "Recorded", "ServerClock", "StoreCost", "grown", "nearest_share"]

_CHANGED = 0.3  # of the words in a repetition
_WORD = re.compile(r"\w+")
_NANOSECONDS = 1e9
_CLOSE = 1e-5  # of a cosine: float32 arithmetic in another order


class StoreCost(NamedTuple):
    """What one thing costs at one size: milliseconds of CPU here and in the server (None without
    one to look at), and by the clock. Of `put` and what follows it a run is a batch."""

    memories: int
    what: str
    runs: int
    client_p50_ms: float
    client_p95_ms: float
    server_p50_ms: float | None
    server_p95_ms: float | None
    wall_p50_ms: float
    wall_p95_ms: float
    cpu_seconds: float


class ServerClock:
    """Seconds of CPU that a process and all that it started took so far. Counts threads and
    processes that live; those of a pool of connections do."""

    def __init__(self, pid: int = 0) -> None:
        self.pid = pid
        if pid and not os.path.exists(f"/proc/{pid}/schedstat"):
            raise InvalidValue(f"there is no process {pid} here whose time could be read in /proc")

    def __call__(self) -> float:
        return sum(map(_seconds_of, _tree(self.pid))) if self.pid else 0.0


class Costs:
    """Times calls. One row is what the calls between two `row`s took."""

    def __init__(self, server: ServerClock) -> None:
        self._server = server
        self._spent: list[tuple[float, float, float]] = []

    def timed(self, call: Callable[[], Any]) -> Any:
        """The call's own result."""
        server, client, wall = self._server(), time.process_time(), time.perf_counter()
        result = call()
        waited, spent = time.perf_counter() - wall, time.process_time() - client
        self._spent.append((spent, max(0.0, self._server() - server), waited))
        return result

    def row(self, memories: int, what: str) -> StoreCost:
        client, server, wall = (
            Latency.of(each) for each in zip(*self._spent or [(0.0, 0.0, 0.0)], strict=True)
        )
        total = sum(spent + served for spent, served, _ in self._spent)
        runs, self._spent = len(self._spent), []
        seen = bool(self._server.pid)
        return StoreCost(
            memories, what, runs, client.p50_ms, client.p95_ms, server.p50_ms if seen else None,
            server.p95_ms if seen else None, wall.p50_ms, wall.p95_ms, round(total, 3),
        )  # fmt: skip


class Recorded:
    """Stands in for an embedder and keeps the vectors that it gave for passages, by text."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.id, self.dim, self.limit = inner.id, inner.dim, inner.limit
        self.capabilities = inner.capabilities
        self.places: dict[str, int] = {}
        self._vectors: list[NDArray[float32]] = []

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        vectors = self._inner.embed(texts, role)
        if role == "passage":
            for text, vector in zip(texts, vectors, strict=True):
                if self.places.setdefault(text, len(self._vectors)) == len(self._vectors):
                    self._vectors.append(vector)
        return vectors

    def embed_tokens(
        self, texts: Sequence[str], role: Role
    ) -> tuple[NDArray[float32], list[TokenVectors]]:
        return self._inner.embed_tokens(texts, role)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        return self._inner.pieces(ids)

    def vectors(self) -> NDArray[float32]:
        """float32 (n, dim); row `places[text]` is that of the text."""
        from camillo.numeric import np

        return np.array(self._vectors, np.float32).reshape(-1, self.dim)


def nearest_share(cosines: NDArray[float32], found: Iterable[int], k: int) -> float:
    """recall@k: how many of `found` are among the k nearest, over k. Those that are as near as the
    k-th count: which of equals comes first says nothing."""
    from camillo.numeric import np

    k = min(k, len(cosines))
    if not k:
        return 1.0
    least = float(np.partition(cosines, len(cosines) - k)[len(cosines) - k]) - _CLOSE
    return sum(float(cosines[place]) >= least for place in set(found)) / k


def grown(drawers: Sequence[Memory], size: int, seed: int = 1) -> Iterator[Memory]:
    """`size` drawers: the given ones, then again and again with three words in ten changed for
    others of the corpus, each as often as it stands there. The same for the same input."""
    if not drawers:
        raise InvalidValue("nothing to measure with: the folder has no text that could be mined")
    yield from drawers[:size]
    words = [word for drawer in drawers for word in _WORD.findall(drawer.body)]
    chance = random.Random(seed)
    left = size - len(drawers)
    for turn in count(1):
        for drawer in drawers:
            if left <= 0:
                return
            left -= 1
            yield _changed(drawer, turn, words, chance)


def _changed(drawer: Memory, turn: int, words: Sequence[str], chance: random.Random) -> Memory:
    def other(found: re.Match[str]) -> str:
        return chance.choice(words) if chance.random() < _CHANGED else found[0]

    body = _WORD.sub(other, drawer.body)
    origin = drawer.origin
    if origin is None:
        return replace(drawer, id=f"{drawer.id}-{turn}", body=body)
    source = f"{origin.source}.{turn}"
    return replace(
        drawer, id=drawer_id(source, origin.part), body=body, origin=replace(origin, source=source)
    )


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for child in _read(f"/proc/{pid}/task/{pid}/children").split():
        yield from _tree(int(child))


def _seconds_of(pid: int) -> float:
    """CPU of all threads of a process; 0 when it is gone."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0.0
    stats = (_read(f"/proc/{pid}/task/{thread}/schedstat").split() for thread in threads)
    return sum(int(fields[0]) for fields in stats if fields) / _NANOSECONDS


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""
