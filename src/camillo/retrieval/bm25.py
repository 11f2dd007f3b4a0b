"""BM25: the one scorer of words, whatever engine nominated.

Robertson and Zaragoza 2009, with the idf that never goes below zero (as Lucene has it). A score is
given as the share of what a passage could reach at most for this query, so it lies on 0 to 1 and
does not depend on the other candidates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["K1", "B", "coverage", "idf", "rank"]

K1 = 1.2
B = 0.75


def idf(passages: int, df: int) -> float:
    """ln(1 + (N - df + ½) / (df + ½)) for `df` of N passages."""
    return math.log1p((max(passages, df) - df + 0.5) / (df + 0.5))


def rank(tf: Sequence[int], length: float, average: float, weights: Sequence[float]) -> float:
    """Σ weight · tf(k1 + 1) / (tf + k1(1 - b + b · length / average)), over Σ weight · (k1 + 1).

    `weights` are idf times the term's own weight. 0 when nothing matches or nothing is asked.
    """
    most = sum(weights)
    if most <= 0:
        return 0.0
    saturation = K1 * (1 - B + B * length / average) if average > 0 else K1
    got = sum(w * f / (f + saturation) for w, f in zip(weights, tf, strict=True) if f)
    return got / most


def coverage(tf: Sequence[int], weights: Sequence[float]) -> float:
    """The share of the query's weight whose terms occur at all."""
    most = sum(weights)
    return sum(w for w, f in zip(weights, tf, strict=True) if f) / most if most > 0 else 0.0
