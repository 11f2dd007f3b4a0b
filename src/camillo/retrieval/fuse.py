"""Stage `fuse`: words and meaning as one score, by weighted min-max.

Cosines of one model lie in a narrow band, so they are stretched over the candidates; words are
divided by their best. What words weigh depends on how much of the question they know: the share of
its idf mass that occurs in the store at all. A question in another language than the texts holds
almost none of it, and is answered by meaning. A candidate that no word matched gets nothing for
words.
"""

from __future__ import annotations

from collections.abc import Mapping

from camillo.records import NamedTuple
from camillo.retrieval.candidate import Candidate, Context, Query

__all__ = ["WORDS", "Scale", "fuse", "trust_in_words", "words_said"]

WORDS = 0.65  # weight of words when they know the whole question; meaning has the rest


class Scale(NamedTuple):
    """What words are divided by, the range that cosines are stretched over, how much of the
    question the words know, and how good the best can be: without that, the best of nothing would
    score 1."""

    best: float
    low: float
    high: float
    trust: float
    strength: float = 1.0

    def score(self, said: float, cosine: float | None) -> float:
        """Words and meaning as one, on 0 to 1."""
        said = said / self.best if self.best > 0 else 0.0
        near = 0.0 if cosine is None else _stretched(cosine, self.low, self.high)
        return min(1.0, self._blend(said, near) * self.strength)  # a rounded cosine may pass 1

    def parts(self, said: Mapping[str, float], cosine: float | None) -> dict[str, float]:
        """What each part of what words said brings to the score, and what meaning does."""
        heard = {name: part / self.best if self.best > 0 else 0.0 for name, part in said.items()}
        found = {name: self._blend(part, 0.0) * self.strength for name, part in heard.items()}
        if cosine is not None:
            near = _stretched(cosine, self.low, self.high)
            found["vector"] = self._blend(0.0, near) * self.strength
        whole = sum(found.values())
        return found if whole <= 1.0 else {name: part / whole for name, part in found.items()}

    def share(self, held: float, cosine: float | None) -> float:
        """How much of the question a text answers that holds this share of its words, on 0 to 1."""
        near = 0.0 if cosine is None else _stretched(cosine, self.low, self.high)
        return self._blend(held, min(1.0, max(0.0, near)))

    def _blend(self, said: float, near: float) -> float:
        words = WORDS * self.trust
        return (words * said + (1 - WORDS) * near) / (words + 1 - WORDS)


def fuse(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if not any("vector" in candidate.signals for candidate in candidates):
        return candidates
    best = max(map(words_said, candidates))
    trust = trust_in_words(context) if best > 0 else 0.0
    words = WORDS * trust
    for number in range(len(context.roots)):  # roots may have vectors of different models
        here = [candidate for candidate in candidates if candidate.root == number]
        low, high = _range(here, context.cosines.get(number))
        strength = (words * best + (1 - WORDS) * max(0.0, high)) / (words + 1 - WORDS)
        scale = context.scales[number] = Scale(best, low, high, trust, strength)
        for candidate in here:
            said, cosine = words_said(candidate), candidate.signals.get("vector")
            candidate.score = scale.score(said, cosine)
            candidate.parts = scale.parts(_parts_said(candidate, said), cosine)
    return candidates


def _range(
    candidates: list[Candidate], nominated: tuple[float, float] | None
) -> tuple[float, float]:
    """The least and the greatest cosine of a root, also among what was not worth reading."""
    cosines = [c.signals["vector"] for c in candidates if "vector" in c.signals]
    cosines += nominated or ()
    return (min(cosines), max(cosines)) if cosines else (0.0, 0.0)


def _stretched(cosine: float, low: float, high: float) -> float:
    """0 for the farthest, 1 for the nearest, also where there is only one."""
    return (cosine - low) / (high - low) if high > low else 1.0


def words_said(candidate: Candidate) -> float:
    """What words say of a candidate: over its grains where it has some."""
    signals = candidate.signals
    return signals.get("words", signals.get("keyword", 0.0))


def _parts_said(candidate: Candidate, said: float) -> dict[str, float]:
    """What words say, grain by grain where there are some. Of what meaning alone nominated the
    score was no word's yet."""
    return {"keyword": said} if "vector" in candidate.parts else candidate.parts


def trust_in_words(context: Context) -> float:
    """0 to 1: the share of the question's idf mass that the store knows."""
    return min(1.0, max(0.0, context.known_mass))
