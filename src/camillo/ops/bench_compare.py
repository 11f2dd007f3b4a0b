"""`bench compare`: is one saved run better than another, or than plain BM25?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.bench.compare import compare
from camillo.bench.plots import comparison_chart, draw, must_be_drawable
from camillo.bench.saved import read_run
from camillo.errors import InvalidValue
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["CompareReport", "bench_compare"]

_SAME = ("level", "protocol")


class CompareReport(Report):
    """`results` are `Difference`s, B less A: on how many queries, the change with its 95%
    interval, the probability of such a change by chance alone, how many got better and worse."""

    a: str = ""
    b: str = ""
    queries: int = 0
    only_in_a: int = 0
    only_in_b: int = 0


@operation(writes=True, name="bench compare", positional=("other",))
def bench_compare(
    vault: Vault,
    run: Annotated[str, Doc("A run that `bench retrieval --out` saved: A.", metavar="A")],
    other: Annotated[str, Doc("Another: B. Without it, A beside its baseline.", metavar="B")] = "",
    *,
    plot: Annotated[str, Doc("Draw the bars here: .svg or .png.", metavar="FILE")] = "",
) -> CompareReport:
    """Compare two saved runs query by query, with 95% intervals and a paired test.

    McNemar's exact test for what is right or wrong, else random sign flips; the intervals are
    bootstrapped over the queries.

    camillo bench compare words.json hybrid.json
    """
    must_be_drawable(plot and path_of(vault, plot))
    first = read_run(path_of(vault, run))
    if other:
        second = read_run(path_of(vault, other))
        a, b = first.outcomes, second.outcomes
        names = (first.name, second.name)
        for key in _SAME:
            if first.settings.get(key) != second.settings.get(key):
                told = f"{first.settings.get(key)!r} and {second.settings.get(key)!r}"
                raise InvalidValue(f"{run} and {other} differ in {key} ({told}): run one anew")
    else:
        a, b, names = first.baseline, first.outcomes, ("BM25", first.name)
    in_a, in_b = ({outcome.key for outcome in outcomes} for outcomes in (a, b))
    if not in_a & in_b:
        raise InvalidValue(f"{run} and {other} have no query in common: compare runs of one set")
    report = CompareReport(
        results=list(compare(a, b)),
        a=names[0],
        b=names[1],
        queries=len(in_a & in_b),
        only_in_a=len(in_a - in_b),
        only_in_b=len(in_b - in_a),
    )
    if report.only_in_a or report.only_in_b:
        told = f"{report.only_in_a} only in A, {report.only_in_b} only in B"
        report.degraded.append(f"queries that one run does not have are left out: {told}")
    if plot:
        draw(comparison_chart(report.results, names), path_of(vault, plot))
    return report
