"""Is one run better than another? Paired differences with intervals and tests.

Runs are compared query by query, over the queries and measures that both have. Interval: percentile
bootstrap over the queries (Efron 1979). Test: exact McNemar where a query is right or wrong, else
sign flips of the differences (Fisher's randomisation). Both draw from a fixed seed, so a comparison
repeats exactly. Queries of one conversation resemble each other, which no figure here accounts for.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from camillo.bench.evaluation import Outcome
from camillo.bench.metrics import is_binary

__all__ = ["Difference", "compare", "difference"]

RESAMPLES = 2000
FLIPS = 10_000
_SEED = 20_260_101


class Difference(NamedTuple):
    """B minus A on one measure. `low` and `high` bound 95%; `p` is of no difference at all."""

    metric: str
    n: int
    a: float
    b: float
    change: float
    low: float
    high: float
    p: float
    better: int
    worse: int


def compare(a: Sequence[Outcome], b: Sequence[Outcome]) -> list[Difference]:
    """One row for each measure that both runs have, in the order of the first."""
    others = {outcome.key: outcome.scores for outcome in b}
    pairs = [(one.scores, others[one.key]) for one in a if one.key in others]
    metrics = dict.fromkeys(name for one, _ in pairs for name in one)
    return [found for metric in metrics if (found := _of(metric, pairs))]


def difference(metric: str, a: Sequence[float], b: Sequence[float]) -> Difference:
    """Of paired values, at least one."""
    changes = [after - before for before, after in zip(a, b, strict=True)]
    n, moved = len(changes), [change for change in changes if change]
    better = sum(change > 0 for change in moved)
    binary = is_binary(a) and is_binary(b)
    low, high = _interval(changes)
    return Difference(
        metric=metric,
        n=n,
        a=round(math.fsum(a) / n, 6),
        b=round(math.fsum(b) / n, 6),
        change=round(math.fsum(changes) / n, 6),
        low=round(low, 6),
        high=round(high, 6),
        p=round(_mcnemar(better, len(moved) - better) if binary else _flipped(moved), 6),
        better=better,
        worse=len(moved) - better,
    )


def _of(
    metric: str, pairs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]
) -> Difference | None:
    both = [(a[metric], b[metric]) for a, b in pairs if metric in a and metric in b]
    return difference(metric, *map(list, zip(*both, strict=True))) if both else None


def _interval(changes: Sequence[float]) -> tuple[float, float]:
    """Only queries that changed are drawn, as many as chance puts into a resample."""
    n, moved = len(changes), [change for change in changes if change]
    if not moved:
        return 0.0, 0.0
    draw = random.Random(_SEED)
    means = sorted(
        math.fsum(draw.choices(moved, k=_binomial(draw, n, len(moved) / n))) / n
        for _ in range(RESAMPLES)
    )
    tail = round(RESAMPLES * 0.025)
    return means[tail - 1], means[-tail]


def _binomial(draw: random.Random, n: int, share: float) -> int:
    """How many of n draws fall on what has this share."""
    if share == 1.0:
        return n
    # Geometric gaps between hits: as many steps as there are hits, not n.
    scale, hits, place = math.log1p(-share), 0, 0
    while True:
        place += int(math.log(1.0 - draw.random()) / scale) + 1
        if place > n:
            return hits
        hits += 1


def _mcnemar(better: int, worse: int) -> float:
    """Exact, two-sided: the binomial tail of the smaller count at one half (McNemar 1947)."""
    n = better + worse
    if not n:
        return 1.0
    tail = sum(math.comb(n, count) for count in range(min(better, worse) + 1))
    return min(1.0, tail / (1 << (n - 1)))


def _flipped(moved: Sequence[float]) -> float:
    """How often random signs give a sum as far from zero; never less than one in all tries."""
    if not moved:
        return 1.0
    flip = random.Random(_SEED).random
    total = math.fsum(moved)
    far = abs(total) - 1e-9
    # The sum with some signs flipped is the total less twice what was flipped.
    flipped = (sum(value for value in moved if flip() < 0.5) for _ in range(FLIPS))
    return (sum(abs(total - 2 * each) >= far for each in flipped) + 1) / (FLIPS + 1)
