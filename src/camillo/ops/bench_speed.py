"""`bench speed`: what mining and searching a folder of yours costs on this machine."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from camillo.bench.speed import (
    Latency,
    Timed,
    apart,
    child_latency,
    latency,
    peak_rss_mb,
    sentences,
)
from camillo.config import child_environment
from camillo.ingest.mine import MineReport, mine
from camillo.ingest.places import Placing
from camillo.lifecycle.background import own_command
from camillo.model import Author, Filter
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.ops.search import SearchReport, find
from camillo.retrieval.candidate import Context, Query
from camillo.retrieval.pipeline import run

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["SpeedReport", "bench_speed"]


class SpeedReport(Report):
    """`results` are the phases of a mine; times are CPU, sizes bytes unless the name says. With
    an embedder that is named, `disk_bytes` holds the vectors too."""

    files: int = 0
    drawers: int = 0
    source_bytes: int = 0
    disk_bytes: int = 0
    bytes_per_source_byte: float = 0.0
    ms_per_drawer: float = 0.0
    peak_rss_mb: float = 0.0
    remine_seconds: float = 0.0
    search: dict[str, Any] = {}
    cold_over_python: float = 0.0
    embedder: str = "none"
    embed_ms_per_drawer: float = 0.0


@operation(writes=False, name="bench speed")
def bench_speed(
    vault: Vault,
    path: Annotated[str, Doc("The folder to measure with.", metavar="PATH")],
    *,
    queries: Annotated[int, Doc("How many searches.", metavar="N", min=1, max=10_000)] = 200,
) -> SpeedReport:
    """Measure mining and searching on a folder, in a throwaway store.

    Queries are sentences that stand in the folder's own text. Times are CPU, not wall. Searches
    are by words; with an embedder that is named, every drawer gets its vector and searches by
    meaning too are timed as well, the embedding of the query apart.

    camillo bench speed ~/projects/shop --json
    camillo bench speed ~/projects/shop --embedder light
    """
    vault.warm = True
    folder = path_of(vault, path)
    report = SpeedReport()
    with tempfile.TemporaryDirectory(prefix="camillo-bench-") as scratch:
        root = vault.scratch(scratch)
        start = time.process_time()
        timed = root.timed(Timed)
        done = _mine(vault, root, folder)
        total = time.process_time() - start
        report.peak_rss_mb = peak_rss_mb()
        report.files, report.source_bytes = done.new, done.bytes
        report.drawers = root.store.count()
        report.results = _phases(timed, total, report.drawers)
        report.ms_per_drawer = round(total * 1000 / max(1, report.drawers), 3)
        start = time.process_time()
        _mine(vault, root, folder)
        report.remine_seconds = round(time.process_time() - start, 3)
        report.search = _searches(vault, root, queries, report)
        root.close()
        report.disk_bytes = _disk_bytes(scratch)
    report.bytes_per_source_byte = round(report.disk_bytes / max(1, report.source_bytes), 3)
    return report


def _mine(vault: Vault, root: OpenRoot, folder: str) -> MineReport:
    settings = vault.settings.mine
    return mine(
        root,
        folder,
        Placing(folder),
        settings,
        vault.settings.rules(),
        by=Author(via="bench"),
        tell=vault.progress,
        clock=vault.clock,
    )


def _phases(timed: dict[str, Timed], total: float, drawers: int) -> list[dict[str, Any]]:
    spent = {name: part.seconds for name, part in timed.items()}
    spent["walk, read, chunk"] = total - sum(spent.values())
    return [
        {
            "phase": name,
            "cpu_seconds": round(seconds, 3),
            "ms_per_drawer": round(seconds * 1000 / max(1, drawers), 4),
        }
        for name, seconds in sorted(spent.items(), key=lambda item: -item[1])
    ]


def _searches(vault: Vault, root: OpenRoot, count: int, report: SpeedReport) -> dict[str, Any]:
    asked = sentences(_texts(root), count)
    if not asked:
        return {}
    # what only the first one pays
    find(vault, [root], asked[0], 10, SearchReport(), preset="words")
    warm = latency(
        lambda sentence=sentence: find(vault, [root], sentence, 10, SearchReport(), preset="words")  # type: ignore[misc]
        for sentence in asked
    )
    environment = child_environment(CAMILLO_USER_DIR=root.root.folder)
    python = child_latency([sys.executable, "-I", "-c", "pass"], environment)
    cold = child_latency(own_command("search", asked[0], "--preset", "words"), environment)
    report.cold_over_python = round(cold.p50_ms / python.p50_ms, 2) if python.p50_ms else 0.0
    named: dict[str, Latency] = {"warm": warm, "cold process": cold, "bare python": python}
    if vault.settings.search.embedder not in ("auto", "none"):
        # others, since the words of the first are in memory now
        named |= _by_meaning(vault, root, sentences(_texts(root), count, seed=2), report)
    return {name: each._asdict() for name, each in named.items()}


def _texts(root: OpenRoot) -> Iterator[str]:
    return (memory.body for memory in root.store.scan(Filter(kinds=("drawer",))))


def _by_meaning(
    vault: Vault, root: OpenRoot, asked: list[str], report: SpeedReport
) -> dict[str, Latency]:
    """Searches by words and meaning, once every drawer has its vector."""
    plan = vault.plan("hybrid")
    if plan.embedder is None:
        return {}
    start = time.process_time()
    vault.embed(root)
    spent = time.process_time() - start
    report.embedder = plan.embedder.id
    report.embed_ms_per_drawer = round(spent * 1000 / max(1, report.drawers), 3)
    embedder: Any = Timed(plan.embedder)

    def search(sentence: str) -> None:
        root.refresh()
        context = Context([root], vault.settings.search, embedder, warm=True)
        run(Query(sentence, 10), plan.stages, context)

    search(asked[0])  # what only the first one pays
    hybrid, embedding = apart((partial(search, sentence) for sentence in asked), embedder)
    return {"warm hybrid": hybrid, "query embedding": embedding}


def _disk_bytes(folder: str) -> int:
    return sum(
        os.stat(os.path.join(top, name)).st_size
        for top, _, names in os.walk(folder)
        for name in names
    )
