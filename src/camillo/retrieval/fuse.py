"""Stage `fuse`: words and meaning as one score, by weighted min-max.

Cosines of one model lie in a narrow band, so they are stretched over the candidates; words are
divided by their best. What words weigh depends on how much of the question they know: the share of
its idf mass that occurs in the store at all. A question in another language than the texts holds
almost none of it, and is answered by meaning. A candidate that no word matched gets nothing for
words.
"""

from __future__ import annotations

from camillo.retrieval.candidate import Candidate, Context, Query

__all__ = ["WORDS", "fuse"]

WORDS = 0.65  # weight of words when they know the whole question; meaning has the rest


def fuse(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if not any("vector" in candidate.signals for candidate in candidates):
        return candidates
    best = max(map(_said, candidates))
    words = WORDS * trust_in_words(context) if best > 0 else 0.0
    for number in range(len(context.roots)):  # roots may have vectors of different models
        here = [candidate for candidate in candidates if candidate.root == number]
        cosines = [c.signals["vector"] for c in here if "vector" in c.signals]
        low, high = (min(cosines), max(cosines)) if cosines else (0.0, 0.0)
        # How good the best can be: without this, the best of nothing would score 1.
        strength = (words * best + (1 - WORDS) * max(0.0, high)) / (words + 1 - WORDS)
        for candidate in here:
            signals = candidate.signals
            near = _stretched(signals["vector"], low, high) if "vector" in signals else 0.0
            said = _said(candidate) / best if best > 0 else 0.0
            score = (words * said + (1 - WORDS) * near) / (words + 1 - WORDS)
            candidate.score = min(1.0, score * strength)  # a rounded cosine may pass 1
    return candidates


def _stretched(cosine: float, low: float, high: float) -> float:
    """0 for the farthest, 1 for the nearest, also where there is only one."""
    return (cosine - low) / (high - low) if high > low else 1.0


def _said(candidate: Candidate) -> float:
    """What words say of a candidate: over its grains where it has some."""
    signals = candidate.signals
    return signals.get("words", signals.get("keyword", 0.0))


def trust_in_words(context: Context) -> float:
    """0 to 1: the share of the question's idf mass that the store knows."""
    return min(1.0, max(0.0, context.known_mass))
