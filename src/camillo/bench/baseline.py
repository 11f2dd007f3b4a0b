"""The baseline of the bench: plain BM25, as anyone would write it.

k1 1.2, b .75, English stop words out, Porter stems, Chinese, Japanese and Korean as characters and
pairs of neighbours. It shares nothing with camillo's own words or scoring on purpose, and is not to
be improved: what is measured against it must stay comparable.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise

from camillo.bench.records import Text

__all__ = ["Baseline", "words"]

K1, B = 1.2, 0.75

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")

_STOP_WORDS = """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could did do does doing don down during each few for from
    further had has have having he her here hers herself him himself his how i if in into is it
    its itself just ll me more most my myself no nor not now of off on once only or other our
    ours ourselves out over own re s same she should so some such t than that the their theirs
    them themselves then there these they this those through to too under until up ve very was
    we were what when where which while who whom why will with would you your yours yourself
    yourselves
    """
_STOP = frozenset(_STOP_WORDS.split())


class Baseline:
    """One haystack, ranked by plain BM25."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self._ids = [text.id for text in texts]
        counts = [Counter(words(text.indexed)) for text in texts]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / len(lengths) if lengths else 0.0
        self._norms = [K1 * (1 - B + B * length / (average or 1.0)) for length in lengths]
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for number, count in enumerate(counts):
            for word, times in count.items():
                self._postings.setdefault(word, []).append((number, times))

    def rank(self, text: str, k: int) -> list[str]:
        """The first k ids, best first; texts without any of the words are not ranked."""
        scores: dict[int, float] = {}
        for word, times in Counter(words(text)).items():
            postings = self._postings.get(word, ())
            weight = times * self._idf(len(postings))
            for number, tf in postings:
                got = weight * tf * (K1 + 1) / (tf + self._norms[number])
                scores[number] = scores.get(number, 0.0) + got
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return [self._ids[number] for number in best[:k]]

    def _idf(self, df: int) -> float:
        return math.log1p((len(self._ids) - df + 0.5) / (df + 0.5))


def words(text: str) -> Iterator[str]:
    for run in _RUN.findall(text.lower()):
        if _IS_CJK.match(run):
            yield from run
            yield from map("".join, pairwise(run))
        elif run not in _STOP:
            yield _stem(run)


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    stem: Callable[[str], str] = snowballstemmer.stemmer("porter").stemWord
    return stem


@cache
def _stem(word: str) -> str:
    return _stemmer()(word) if word.isascii() else word
