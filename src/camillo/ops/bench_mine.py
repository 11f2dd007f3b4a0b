"""`bench mine`: do the cases that you keep pass?"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NamedTuple

from camillo.bench.expectations import Expectation, Verdict, judge, outcome
from camillo.bench.saved import Run, write_run
from camillo.lifecycle.copy import copy
from camillo.model import Key
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import path_of
from camillo.ops.expect import expectations
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report
from camillo.ops.search import SearchReport, answer
from camillo.retrieval.candidate import Candidate, Context, Query

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Plan, Vault

__all__ = ["Judged", "MineReport", "bench_mine"]


class Judged(NamedTuple):
    """One case. `missing` and `unwanted` are ids; what is missing and in no store is `gone`; `rank`
    is that of the best that must be found."""

    id: str
    question: str
    passed: bool
    missing: tuple[str, ...]
    unwanted: tuple[str, ...]
    gone: tuple[str, ...]
    rank: int | None
    root: str


class MineReport(Report):
    """`results` are `Judged`s; `metrics.passed` is the share that passed."""

    preset: str = ""
    embedder: str = ""
    cases: int = 0
    metrics: dict[str, float | None] = {}


@operation(writes=True, name="bench mine")
def bench_mine(
    vault: Vault,
    *,
    scope: InRoot = None,
    preset: Annotated[str | None, Doc("Which list of stages answers.", metavar="NAME")] = None,
    out: Annotated[str, Doc("Save each case's outcome here.", metavar="FILE")] = "",
) -> MineReport:
    """Run the cases that `camillo expect` keeps, and say which pass.

    Searches as `camillo search` does. With an embedder that is named and whose vectors are not all
    there, a throwaway copy is searched, and yours stay as they are. Ends with code 3 when a case
    fails. Two runs that --out saved are compared by `camillo bench compare`.

    camillo bench mine
    camillo bench mine --preset hybrid --embedder e5 --out e5.json
    """
    roots = list(vault.roots(scope))
    cases = [(root.name, case) for root, case in expectations(roots)]
    plan = vault.plan(preset)
    report = MineReport(
        preset=plan.preset,
        embedder=plan.embedder.id if plan.embedder else "none",
        cases=len(cases),
        degraded=list(plan.notes),
    )
    if not cases:
        report.exit_code = NOTHING_FOUND
        report.degraded.append("no case is kept: `camillo expect QUESTION --must ID` begins")
        return report
    run = Run({"preset": report.preset, "embedder": report.embedder})
    notes = dict.fromkeys(report.degraded)
    with _searched(vault, roots, plan) as searched:
        for number, (name, case) in enumerate(cases):
            vault.progress(number, len(cases), "cases")
            found, said, ms = _ask(vault, searched, case, preset)
            verdict = judge(case, found, _gone(case, roots))
            notes.update(dict.fromkeys(said))
            run.outcomes.append(outcome(case, name, found, verdict, ms))
            report.results.append(_row(case, verdict, name))
    report.degraded = list(notes)
    passed = sum(row.passed for row in report.results)
    report.metrics = {"passed": round(passed / len(cases), 6)}
    if passed < len(cases):
        report.exit_code = IN_PART
    if out:
        write_run(run, path_of(vault, out))
    return report


def _ask(
    vault: Vault, roots: Sequence[OpenRoot], case: Expectation, preset: str | None
) -> tuple[list[Key], list[str], float]:
    """What a search finds, best first, what it says was missing, and its CPU milliseconds."""
    found: list[Key] = []

    def watch(stage: str, candidates: Sequence[Candidate], context: Context) -> None:
        found[:] = [each.key for each in candidates]

    asked = Query(case.question, case.k or vault.settings.search.k)
    start = time.process_time()
    report = answer(vault, roots, asked, SearchReport(), preset, watch=watch)
    return found, report.degraded, (time.process_time() - start) * 1000


def _gone(case: Expectation, roots: Sequence[OpenRoot]) -> list[Key]:
    held = {
        memory.key for root in roots for memory in root.store.get(case.must) if memory is not None
    }
    return [key for key in case.must if key not in held]


def _row(case: Expectation, verdict: Verdict, root: str) -> Judged:
    return Judged(
        case.id,
        case.question,
        verdict.passed,
        verdict.missing,
        verdict.unwanted,
        verdict.gone,
        verdict.rank,
        root,
    )


@contextmanager
def _searched(vault: Vault, roots: Sequence[OpenRoot], plan: Plan) -> Iterator[Sequence[OpenRoot]]:
    """The roots, or copies with all vectors of another embedder: those of the one in use would go
    when its own are complete."""
    if (
        plan.embedder is None
        or vault.settings.search.embedder == "auto"
        or all(
            any(
                model.name == plan.embedder.id and model.complete for model in root.meaning.models()
            )
            for root in roots
        )
    ):
        yield roots
        return
    with tempfile.TemporaryDirectory(prefix="camillo-bench-") as folder:
        copies = []
        try:
            for number, root in enumerate(roots):
                place = os.path.join(folder, str(number))
                os.mkdir(place)
                made = vault.scratch(place, root.scope)
                copies.append(made)
                copy(root.store, made.store, tell=vault.progress)
                made.catch_up()
                vault.embed(made)
            yield copies
        finally:
            for made in copies:
                made.close()
