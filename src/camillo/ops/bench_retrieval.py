"""`bench retrieval`: how well a search finds what it should, on texts and questions of yours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from camillo.bench.baseline import Baseline
from camillo.bench.evaluation import Outcome, Rules, evaluate
from camillo.bench.metrics import (
    ANSWER_DEPTH,
    EVIDENCE_CHARS,
    Mean,
    by_metric,
    mean,
    percentile,
)
from camillo.bench.plots import draw, must_be_drawable, run_chart
from camillo.bench.saved import Run, write_run
from camillo.ops._haystacks import (
    TestSet,
    filled,
    in_order,
    missing_note,
    read_set,
    rules_of,
)
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Plan, Vault

__all__ = ["MetricRow", "RetrievalReport", "bench_retrieval", "metric_names", "times"]

_TABLE = ("any", "frac", "all", "ndcg")


class MetricRow(NamedTuple):
    """One measure: its mean over `n` queries with a 95% interval, and plain BM25's."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    n: int


class RetrievalReport(Report):
    """`results` are `MetricRow`s. `metrics` and `baseline` hold the same means by name, and the
    CPU milliseconds of a query. `unlabelled` counts the queries without relevant ids."""

    preset: str = ""
    embedder: str = ""
    level: str = ""
    protocol: str = ""
    haystacks: int = 0
    texts: int = 0
    queries: int = 0
    unlabelled: int = 0
    missing_ids: int = 0
    metrics: dict[str, float | None] = {}
    baseline: dict[str, float | None] = {}
    categories: list[dict[str, Any]] = []


@operation(writes=True, name="bench retrieval")
def bench_retrieval(
    vault: Vault,
    *,
    corpus: Annotated[str, Doc("The texts, one JSON object a line.", metavar="FILE")] = "",
    queries: Annotated[str, Doc("The questions, one JSON object a line.", metavar="FILE")] = "",
    level: Annotated[Literal["turn", "session"], Doc("What is ranked and counted.")] = "turn",
    k: Annotated[str, Doc("The cut-offs that are reported.", metavar="K,…")] = "1,5,10",
    preset: Annotated[str | None, Doc("Which list of stages answers.", metavar="NAME")] = None,
    protocol: Annotated[
        Literal["ours", "mempalace"],
        Doc("mempalace: frac@k counts all queries, those without relevant ids as 1."),
    ] = "ours",
    out: Annotated[str, Doc("Save each query's outcome here.", metavar="FILE")] = "",
    plot: Annotated[str, Doc("Draw the curves here: .svg or .png.", metavar="FILE")] = "",
) -> RetrievalReport:
    """Measure how well search finds what it should, beside plain BM25.

    Each `conv` of the corpus is searched by its own queries only, in a throwaway store.
    docs/BENCH.md says what the files hold and what the measures mean.

    camillo bench retrieval --corpus corpus.jsonl --queries queries.jsonl --preset words
    """
    rules = rules_of(level, protocol, k)
    must_be_drawable(plot and path_of(vault, plot))
    vault.warm = True
    plan = vault.plan(preset)
    test = read_set(vault, "bench retrieval", corpus, queries)
    report = RetrievalReport(
        preset=plan.preset,
        embedder=plan.embedder.id if plan.embedder else "none",
        level=level,
        protocol=protocol,
    )
    run = _run(vault, test, plan, rules, report)
    run.settings = {
        "preset": report.preset,
        "embedder": report.embedder,
        "level": level,
        "protocol": protocol,
        "corpus": corpus,
        "queries": queries,
    }
    _fill(report, run, rules)
    if out:
        write_run(run, path_of(vault, out))
    if plot:
        draw(run_chart(run), path_of(vault, plot))
    return report


def _run(
    vault: Vault,
    test: TestSet,
    plan: Plan,
    rules: Rules,
    report: RetrievalReport,
) -> Run:
    run, notes = Run({}), dict.fromkeys(test.notes)
    for each in filled(vault, test, rules.level, plan):
        run.outcomes += evaluate(each.questions, each.view, each.ranker(plan.stages), rules)
        run.baseline += evaluate(each.questions, each.view, Baseline(each.texts).rank, rules)
        notes.update(dict.fromkeys(each.notes))
        report.haystacks += bool(each.texts)
        report.texts += len(each.texts)
        report.missing_ids += each.missing
    run.outcomes = in_order(test.questions, run.outcomes)
    run.baseline = in_order(test.questions, run.baseline)
    report.degraded = [*notes, *missing_note(report.missing_ids)]
    return run


def _fill(report: RetrievalReport, run: Run, rules: Rules) -> None:
    names = metric_names(rules.cutoffs)
    means, plain = _means(names, run.outcomes), _means(names, run.baseline)
    report.queries = len(run.outcomes)
    report.unlabelled = sum(not outcome.labelled for outcome in run.outcomes)
    spent, plain_spent = times(run.outcomes), times(run.baseline)
    report.metrics = {**{name: means[name].value for name in names}, **spent}
    report.baseline = {**{name: plain[name].value for name in names}, **plain_spent}
    report.results = [
        *(
            MetricRow(name, found.value, found.low, found.high, plain[name].value, found.n)
            for name, found in means.items()
        ),
        *(
            MetricRow(name, value, None, None, plain_spent[name], report.queries)
            for name, value in spent.items()
        ),
    ]
    report.categories = _categories(run.outcomes, rules)


def metric_names(cutoffs: Sequence[int]) -> list[str]:
    """The measures of a run, in the order in which they are shown."""
    names = [f"{kind}@{k}" for kind in _TABLE for k in cutoffs]
    return [*names, "mrr", f"evidence@{EVIDENCE_CHARS}", f"answer@{ANSWER_DEPTH}"]


def times(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """CPU milliseconds of a query: the median, and what 95% stay under."""
    spent = [outcome.ms for outcome in outcomes]
    found = {"p50_ms": percentile(spent, 50), "p95_ms": percentile(spent, 95)}
    return {name: value if value is None else round(value, 3) for name, value in found.items()}


def _means(names: Sequence[str], outcomes: Sequence[Outcome]) -> dict[str, Mean]:
    values = by_metric(outcome.scores for outcome in outcomes)
    return {name: mean(values.get(name, [])) for name in names}


def _categories(outcomes: Sequence[Outcome], rules: Rules) -> list[dict[str, Any]]:
    """The largest cut-off's measures by category, where there is more than one."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.category, []).append(outcome)
    if len(groups) < 2:
        return []
    k = rules.cutoffs[-1]
    names = [f"any@{k}", f"frac@{k}", f"ndcg@{k}", f"answer@{ANSWER_DEPTH}"]
    return [
        {
            "category": category or "(none)",
            "queries": len(group),
            **{name: found.value for name, found in _means(names, group).items()},
        }
        for category, group in sorted(groups.items())
    ]
