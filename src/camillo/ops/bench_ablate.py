"""`bench ablate`: what each stage of a preset is worth, by leaving it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from camillo.bench.compare import difference
from camillo.bench.evaluation import Outcome, evaluate
from camillo.bench.plots import ablation_chart, draw, must_be_drawable
from camillo.errors import UnknownName
from camillo.ops._haystacks import filled, missing_note, read_set, rules_of
from camillo.ops._lookup import path_of
from camillo.ops.bench_retrieval import metric_names, times
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.ports import Stage
    from camillo.vault import Vault

__all__ = ["AblateReport", "AblationRow", "bench_ablate"]

WHOLE = "(nothing)"
NEEDED = frozenset({"expand", "read"})  # without them nothing is asked, or nothing found
Pipeline = Sequence[tuple[str, "Stage"]]


class AblationRow(NamedTuple):
    """A preset without one stage: the measure, and what leaving the stage out changed in it."""

    left_out: str
    value: float
    change: float | None
    low: float | None
    high: float | None
    p: float | None
    better: int
    worse: int
    p50_ms: float | None


class AblateReport(Report):
    """`results` are `AblationRow`s, the whole preset first; `change` is to it, with its 95%
    interval, and negative where the stage helps."""

    preset: str = ""
    embedder: str = ""
    level: str = ""
    metric: str = ""
    queries: int = 0
    unlabelled: int = 0
    stages: list[str] = []


@operation(writes=True, name="bench ablate")
def bench_ablate(
    vault: Vault,
    *,
    corpus: Annotated[str, Doc("The texts, one JSON object a line.", metavar="FILE")] = "",
    queries: Annotated[str, Doc("The questions, one JSON object a line.", metavar="FILE")] = "",
    preset: Annotated[str | None, Doc("Which list of stages.", metavar="NAME")] = None,
    metric: Annotated[str, Doc("The measure that is tabled.", metavar="NAME")] = "any@10",
    level: Annotated[Literal["turn", "session"], Doc("What is ranked and counted.")] = "turn",
    k: Annotated[str, Doc("The cut-offs.", metavar="K,…")] = "1,5,10",
    plot: Annotated[str, Doc("Draw the changes here: .svg or .png.", metavar="FILE")] = "",
) -> AblateReport:
    """Run a preset once whole and once without each of its stages.

    The stages expand and read stay: without the one nothing is asked, without the other nothing
    found. Changes come with 95% intervals and a paired test, as in `bench compare`.

    camillo bench ablate --corpus corpus.jsonl --queries queries.jsonl --metric ndcg@10
    """
    rules = rules_of(level, "ours", k)
    must_be_drawable(plot and path_of(vault, plot))
    known = metric_names(rules.cutoffs)
    if metric not in known:
        raise UnknownName.of("metric", metric, known)
    vault.warm = True
    plan = vault.plan(preset)
    whole = plan.stages
    variants: dict[str, Pipeline] = {WHOLE: whole}
    variants |= {name: _without(whole, name) for name, _ in whole if name not in NEEDED}
    test = read_set(vault, "bench ablate", corpus, queries)
    outcomes: dict[str, list[Outcome]] = {name: [] for name in variants}
    notes, missing = dict.fromkeys(test.notes), 0
    for each in filled(vault, test, level, plan):
        for name, stages in variants.items():
            outcomes[name] += evaluate(each.questions, each.view, each.ranker(stages), rules)
        notes.update(dict.fromkeys(each.notes))
        missing += each.missing
    report = AblateReport(
        results=[_row(name, metric, outcomes) for name in variants],
        degraded=[*notes, *missing_note(missing)],
        preset=preset or vault.settings.search.preset,
        embedder=vault.settings.search.embedder,
        level=level,
        metric=metric,
        queries=len(outcomes[WHOLE]),
        unlabelled=sum(not outcome.labelled for outcome in outcomes[WHOLE]),
        stages=[name for name, _ in whole],
    )
    if plot:
        draw(ablation_chart(report.results, metric, report.queries), path_of(vault, plot))
    return report


def _without(stages: Pipeline, name: str) -> Pipeline:
    return [stage for stage in stages if stage[0] != name]


def _row(name: str, metric: str, outcomes: dict[str, list[Outcome]]) -> AblationRow:
    whole, left = outcomes[WHOLE], outcomes[name]
    # Queries that the measure needs more of (relevant ids, an answer) are the same in both.
    before = [outcome.scores[metric] for outcome in whole if metric in outcome.scores]
    after = [outcome.scores[metric] for outcome in left if metric in outcome.scores]
    p50 = times(left)["p50_ms"]
    if not before:
        return AblationRow(name, 0.0, None, None, None, None, 0, 0, p50)
    found = difference(metric, before, after)
    if name == WHOLE:
        return AblationRow(name, found.b, None, None, None, None, 0, 0, p50)
    return AblationRow(
        name, found.b, found.change, found.low, found.high, found.p, found.better, found.worse, p50
    )
