"""The measures of a ranking, and their means with 95% intervals over many queries.

Per query, from the ranked units (texts, or whole sessions) and the relevant ones: any@k (1 when one
of the first k is relevant), frac@k (the share of them in the first k), all@k, ndcg@k (Järvelin and
Kekäläinen 2002, gain 1, ideal from all relevant units), mrr (1 / rank of the first), evidence@N
(share of them among the leading units that fit whole into N characters), answer@n. What is ranked,
and how deep, is left to evaluation.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = [
    "ANSWER_DEPTH",
    "EVIDENCE_CHARS",
    "Mean",
    "answer_score",
    "by_metric",
    "cutoff_scores",
    "evidence_share",
    "fitting",
    "is_binary",
    "mean",
    "percentile",
    "reciprocal_rank",
]

EVIDENCE_CHARS = 2000
ANSWER_DEPTH = 20
Z = 1.959964  # of a 95% interval


class Mean(NamedTuple):
    """A mean of n values with its 95% interval; None where there is no value."""

    n: int
    value: float | None
    low: float | None
    high: float | None


def cutoff_scores(
    ranked: Sequence[str], relevant: Collection[str], cutoffs: Iterable[int]
) -> dict[str, float]:
    """any, frac, all and ndcg at each cut-off. `relevant` must not be empty."""
    scores: dict[str, float] = {}
    for k in cutoffs:
        hits = [place for place, unit in enumerate(ranked[:k]) if unit in relevant]
        share = len(hits) / len(relevant)
        scores[f"any@{k}"] = float(bool(hits))
        scores[f"frac@{k}"] = share
        scores[f"all@{k}"] = float(len(hits) == len(relevant))
        scores[f"ndcg@{k}"] = _gain(hits) / _gain(range(min(k, len(relevant))))
    return scores


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 / rank of the first relevant unit, 0 when none is ranked."""
    return next((1 / rank for rank, unit in enumerate(ranked, 1) if unit in relevant), 0.0)


def fitting(ranked: Sequence[str], length: Callable[[str], int], room: int) -> int:
    """How many leading units fit whole into `room` characters together."""
    used = 0
    for count, unit in enumerate(ranked):
        used += length(unit)
        if used > room:
            return count
    return len(ranked)


def evidence_share(
    ranked: Sequence[str], relevant: Collection[str], length: Callable[[str], int], room: int
) -> float:
    """The share of the relevant units among the leading ones that fit whole into `room`."""
    leading = ranked[: fitting(ranked, length, room)]
    return sum(unit in relevant for unit in leading) / len(relevant)


def answer_score(texts: Iterable[str], answers: Iterable[str]) -> float:
    """1 when a text contains an answer, case-folded, else 0."""
    wanted = [answer.casefold() for answer in answers]
    return float(any(answer in text.casefold() for text in texts for answer in wanted))


def mean(values: Sequence[float]) -> Mean:
    """Wilson's interval for shares of yes and no, the normal one, cut to 0 … 1, for others."""
    n = len(values)
    if not n:
        return Mean(0, None, None, None)
    value = math.fsum(values) / n
    if is_binary(values):
        low, high = _wilson(value, n)
    else:
        spread = math.fsum((each - value) ** 2 for each in values) / max(1, n - 1)
        margin = Z * math.sqrt(spread / n)
        low, high = max(0.0, value - margin), min(1.0, value + margin)
    return Mean(n, round(value, 6), round(low, 6), round(high, 6))


def is_binary(values: Iterable[float]) -> bool:
    return all(value in (0.0, 1.0) for value in values)


def percentile(values: Iterable[float], share: float) -> float | None:
    """The value at or below which `share` percent lie (nearest rank)."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(0, math.ceil(len(ordered) * share / 100) - 1)]


def _gain(places: Iterable[int]) -> float:
    return sum(1 / math.log2(place + 2) for place in places)


def _wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson 1927: stays inside 0 … 1 and is no point at either end."""
    z2 = Z * Z / n
    middle = (share + z2 / 2) / (1 + z2)
    margin = Z * math.sqrt(share * (1 - share) / n + z2 / (4 * n)) / (1 + z2)
    return max(0.0, middle - margin), min(1.0, middle + margin)


def by_metric(rows: Iterable[Mapping[str, float]]) -> dict[str, list[float]]:
    """Each measure's values over the queries that have it, in their order."""
    values: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return values
