"""`bench stores`: what an engine's work costs at sizes that you name."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from camillo import registry
from camillo.bench.speed import sentences
from camillo.bench.stores import Costs, Recorded, ServerClock, grown, nearest_share
from camillo.config import MemorySettings
from camillo.errors import InvalidValue
from camillo.ingest.mine import mine
from camillo.ingest.places import Placing
from camillo.model import Author, Filter, Memory
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.ops.search import SearchReport, find
from camillo.roots import Root
from camillo.text.passages import passage
from camillo.vault import OpenRoot

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["Recall", "StoresReport", "bench_stores"]

_BATCH = 500
_WARM = 20  # calls before those that count
_K = 10
_NOMINATED = 200  # as a search asks for
_BY = Author(via="bench")


class Recall(NamedTuple):
    """How many of the 10 nearest texts by exact arithmetic are the first 10 of those that the
    engine nominates for a search."""

    memories: int
    queries: int
    recall_at_10: float


class StoresReport(Report):
    """`results` are `StoreCost`s: milliseconds of CPU of this process and of the server, and by the
    clock. `searches_itself`: words and vectors are the engine's own, not local indexes."""

    backend: str = ""
    searches_itself: bool = False
    embedder: str = ""
    server_pid: int = 0
    drawers: int = 0
    recall: list[Recall] = []


@operation(writes=True, name="bench stores")
def bench_stores(
    vault: Vault,
    path: Annotated[str, Doc("The folder whose texts are kept.", metavar="PATH")],
    *,
    backend: Annotated[str, Doc("ENGINE or ENGINE:DSN; else memory.backend.", metavar="SPEC")] = "",
    sizes: Annotated[str, Doc("How many memories, rising.", metavar="N,…")] = "10000,100000",
    queries: Annotated[int, Doc("How many of each call.", metavar="N", min=1, max=10_000)] = 200,
    server_pid: Annotated[
        int, Doc("The server's first process here: its CPU is counted.", metavar="PID", min=0)
    ] = 0,
) -> StoresReport:
    """Measure an engine at several sizes: put, get, search by words and by meaning.

    Texts are the folder's drawers; when they are too few, the same again with three words in ten
    changed. All is written to a throwaway root; on a server to a space of its own, which the reply
    names. Searches by meaning need an embedder. Times are CPU, those of the server beside those of
    this process; the clock stands beside them for what a caller waits.

    camillo bench stores ~/projects/shop --backend sqlite --embedder hashing
    camillo bench stores ~/projects/shop --backend postgres:DSN --server-pid 4711 --json
    """
    wanted = _sizes(sizes)
    costs = Costs(ServerClock(server_pid))
    with tempfile.TemporaryDirectory(prefix="camillo-bench-") as scratch:
        drawers = _drawers(vault, path_of(vault, path), scratch)
        with closing(_root(vault, backend, scratch)) as root:
            report = StoresReport(
                backend=root.store.name,
                searches_itself=root.store.capabilities >= {"keyword", "vector"},
                server_pid=server_pid,
                drawers=len(drawers),
            )
            _Bench(vault, root, drawers, queries, costs, report).run(wanted)
            if getattr(root.store, "remote", False):
                report.degraded.append(
                    f"the server keeps the space {root.root.space!r} of this bench: drop it"
                )
    return report


class _Bench:
    """One engine, filled step by step."""

    def __init__(
        self,
        vault: Vault,
        root: OpenRoot,
        drawers: Sequence[Memory],
        queries: int,
        costs: Costs,
        report: StoresReport,
    ) -> None:
        self._vault = vault
        self._root = root
        self._drawers = drawers
        self._queries = queries
        self._costs = costs
        self._report = report
        self._embedder = Recorded(vault.embedder) if vault.embedder else None
        self._asked = sentences((drawer.body for drawer in drawers), queries + _WARM)
        if not self._asked:
            report.degraded.append("no searches: no sentence stands in the folder's texts")
        if self._embedder is None:
            report.degraded.append("no search by meaning: no embedder (--embedder NAME)")
        else:
            report.embedder = self._embedder.id

    def run(self, sizes: Sequence[int]) -> None:
        growing = grown(self._drawers, sizes[-1])
        held: list[Memory] = []
        for size in sizes:
            new = list(islice(growing, size - len(held)))
            held += new
            self._put(size, new)
            self._take_in(size)
            self._get(size, held)
            self._search(size, "words", "keyword")
            if self._embedder:
                self._search(size, "hybrid", "hybrid")
                self._measure_recall(size, self._embedder)

    def _put(self, size: int, new: Sequence[Memory]) -> None:
        single = min(self._queries, len(new))
        bulk, rest = new[: len(new) - single], new[len(new) - single :]
        there = size - len(new)
        for batch in _batches(bulk):
            self._time(lambda batch=batch: self._root.store.put(batch, _BY, bulk=True))  # type: ignore[misc]
            there += len(batch)
            self._vault.progress(there, size, "memories")
        self._row(size, f"put {_BATCH}")
        for memory in rest:
            self._time(lambda memory=memory: self._root.store.put([memory], _BY))  # type: ignore[misc]
        self._row(size, "put one")

    def _take_in(self, size: int) -> None:
        """What the vault does after writing: local indexes, then vectors."""
        self._time(self._root.catch_up)
        self._row(size, "catch up")
        embedder = self._embedder
        if embedder is None:
            return
        done = 0

        def told(count: int) -> None:
            nonlocal done
            done += count
            self._vault.progress(done, size, "vectors")

        name = self._vault.settings.search.embedder
        self._time(lambda: self._root.meaning.fill(self._root.store, embedder, name, told=told))
        self._row(size, "vectors")

    def _get(self, size: int, held: Sequence[Memory]) -> None:
        chosen = random.Random(size).choices(held, k=self._queries + _WARM)
        self._measure(size, "get", [lambda m=m: self._root.store.get([m.key]) for m in chosen])  # type: ignore[misc]

    def _search(self, size: int, preset: str, what: str) -> None:
        def search(sentence: str) -> Any:
            return find(self._vault, [self._root], sentence, _K, SearchReport(), preset=preset)

        self._measure(size, what, [lambda s=s: search(s) for s in self._asked])  # type: ignore[misc]

    def _measure_recall(self, size: int, embedder: Recorded) -> None:
        exact = embedder.vectors()
        shares = []
        for sentence in self._asked[: self._queries]:
            vector = embedder.embed([sentence], "query")[0]
            nearest = self._root.meaning.nearness(embedder, vector).best(_NOMINATED, Filter())
            hits = self._root.words.hits(nearest)
            memories = self._root.store.get([hit.key for hit in hits])
            texts = dict.fromkeys(
                passage(memory, hit.passage).embedded
                for hit, memory in zip(hits, memories, strict=True)
                if memory
            )
            found = [embedder.places[text] for text in list(texts)[:_K] if text in embedder.places]
            shares.append(nearest_share(exact @ vector, found, _K))
        if shares:
            mean = round(sum(shares) / len(shares), 4)
            self._report.recall.append(Recall(size, len(shares), mean))

    def _measure(self, size: int, what: str, calls: Sequence[Callable[[], Any]]) -> None:
        """The first calls warm caches and connections; they count where there are no others."""
        warm = min(_WARM, len(calls) // 2)
        for call in calls[:warm]:
            call()
        for call in calls[warm:]:
            self._time(call)
        self._row(size, what)

    def _time(self, call: Callable[[], Any]) -> None:
        self._costs.timed(call)

    def _row(self, size: int, what: str) -> None:
        row = self._costs.row(size, what)
        if row.runs:
            self._report.results.append(row)


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(word) for word in text.split(",")]
    except ValueError:
        sizes = []
    if not sizes or sizes != sorted(set(sizes)) or sizes[0] < 1:
        raise InvalidValue(f"--sizes must be rising whole numbers like 10000,100000; not {text!r}")
    return sizes


def _drawers(vault: Vault, folder: str, scratch: str) -> list[Memory]:
    """What a mine makes of the folder."""
    mined = os.path.join(scratch, "mined")
    os.mkdir(mined)
    root = vault.scratch(mined)
    mine(
        root, folder, Placing(folder), vault.settings.mine, vault.settings.rules(),
        by=_BY, tell=vault.progress, clock=vault.clock,
    )  # fmt: skip
    return list(root.store.scan(Filter(kinds=("drawer",))))


def _root(vault: Vault, spec: str, scratch: str) -> OpenRoot:
    """A root of its own in the engine; on a server in a space that nobody has."""
    name, _, dsn = (spec or vault.settings.memory.backend).partition(":")
    engine = registry.load("engine", name)
    if "keeps" not in engine.capabilities:
        raise InvalidValue(f"{name} keeps nothing that could be measured")
    if dsn and not getattr(engine, "remote", False):
        raise InvalidValue(f"{name} is measured in a file that is thrown away: leave out {dsn!r}")
    folder = os.path.join(scratch, f"bench_{os.urandom(4).hex()}", ".camillo")
    os.makedirs(folder)
    memory = MemorySettings(backend=name, dsn=dsn or vault.settings.memory.dsn)
    return OpenRoot(Root("project", folder), vault.settings._replace(memory=memory), vault.clock)


def _batches(memories: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
    for start in range(0, len(memories), _BATCH):
        yield memories[start : start + _BATCH]
