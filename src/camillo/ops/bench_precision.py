"""`bench precision`: are just the right memories offered, and none besides?"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from camillo.bench.precision import Found, Tiers, build, failures, memories, read_cases
from camillo.model import Author, Filter, Key
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.ops.search import SearchReport, answer
from camillo.retrieval.candidate import Query

if TYPE_CHECKING:
    from camillo.bench.precision import Case
    from camillo.model import Memory
    from camillo.vault import OpenRoot, Vault

__all__ = ["CaseRow", "PrecisionReport", "bench_precision"]


class CaseRow(NamedTuple):
    """One case: did it pass, and else which tier failed first and all that was wrong."""

    id: str
    category: str
    passed: bool
    tier: str
    why: str


class PrecisionReport(Report):
    """`results` are `CaseRow`s. `metrics.passed` is the share of the cases that passed; `relevant`
    that of the beliefs in the relevant tier that a case wants there, and `recall` of those that
    it wants the share that is there, both over all cases that name the whole tier."""

    preset: str = ""
    embedder: str = ""
    beliefs: int = 0
    cases: int = 0
    metrics: dict[str, float | None] = {}


@operation(writes=True, name="bench precision")
def bench_precision(
    vault: Vault,
    *,
    data: Annotated[str, Doc("The folder with beliefs and cases.", metavar="DIR")] = ".",
    preset: Annotated[str | None, Doc("Which list of stages answers.", metavar="NAME")] = None,
) -> PrecisionReport:
    """Run PrecisionMemBench over a throwaway store: a case passes when every tier is right.

    The prelude is what holds everywhere, then come pinned memories and rules, results to be
    confident of, and open questions. docs/BENCH.md says what is read, and by what rules.

    camillo bench precision --data precisionmembench --json
    """
    folder = path_of(vault, data)
    held, cases = memories(folder), read_cases(folder)
    vault.warm = True
    plan = vault.plan(preset)
    report = PrecisionReport(
        preset=plan.preset,
        embedder=plan.embedder.id if plan.embedder else "none",
        beliefs=len({each.extra["belief"] for each in held}),
        cases=len(cases),
        degraded=list(plan.notes),
    )
    with tempfile.TemporaryDirectory(prefix="camillo-bench-") as scratch:
        root = vault.scratch(scratch)
        try:
            root.store.put(held, Author(via="bench"), bulk=True)
            root.catch_up()
            if plan.embedder is not None:
                vault.embed(root)
            tiers = [_tiers(vault, root, case, held, preset) for case in cases]
        finally:
            root.close()
    report.results = [_row(case, each) for case, each in zip(cases, tiers, strict=True)]
    report.metrics = _metrics(cases, tiers, report.results)
    return report


def _tiers(
    vault: Vault, root: OpenRoot, case: Case, held: Sequence[Memory], preset: str | None
) -> Tiers:
    users = Counter(memory.namespace for memory in held)
    user = case.user or users.most_common(1)[0][0]

    def search(text: str, filter: Filter) -> list[Found]:
        asked = Query(text, len(held), filter)
        results = answer(vault, [root], asked, SearchReport(), preset).results
        sure = [each for each in results if each.confidence == "confident"]
        keys = [Key(user, each.scope, "", each.id) for each in sure]
        return [
            Found(memory, each.score)
            for memory, each in zip(root.store.get(keys), sure, strict=True)
            if memory is not None
        ]

    def scan(filter: Filter) -> list[Memory]:
        hidden = root.superseded(root.store.get)
        return [each for each in root.store.scan(filter) if each.key not in hidden]

    return build(case, user, search, scan)


def _row(case: Case, tiers: Tiers) -> CaseRow:
    wrong = failures(case, tiers)
    why = "; ".join(f"{each.tier} {each.why}" for each in wrong)
    return CaseRow(case.id, case.category, not wrong, wrong[0].tier if wrong else "", why)


def _metrics(
    cases: Sequence[Case], tiers: Sequence[Tiers], rows: Sequence[CaseRow]
) -> dict[str, float | None]:
    told = shown = wanted = 0
    for case, each in zip(cases, tiers, strict=True):
        only = (case.expect.get("relevantBeliefs") or {}).get("shouldOnlyInclude")
        if only is not None:
            told += len(set(only) & set(each.relevant))
            shown, wanted = shown + len(each.relevant), wanted + len(set(only))
    return {
        "passed": _share(sum(row.passed for row in rows), len(rows)),
        "relevant": _share(told, shown),
        "recall": _share(told, wanted),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
