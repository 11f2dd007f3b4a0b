"""An evaluation: every query of a set ranked in its own haystack, and scored.

A ranker is a function from (text, k) to the ids of the first k texts, best first. What it is built
from is left to haystack.py and baseline.py, what a score means to metrics.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from camillo.bench.metrics import (
    ANSWER_DEPTH,
    EVIDENCE_CHARS,
    answer_score,
    cutoff_scores,
    evidence_share,
    fitting,
    reciprocal_rank,
)
from camillo.bench.records import Question, Text

__all__ = ["Level", "Outcome", "Protocol", "Ranker", "Rules", "View", "evaluate"]

Level = Literal["turn", "session"]
Protocol = Literal["ours", "mempalace"]
Ranker = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Rules:
    """How results are counted."""

    level: Level = "turn"
    protocol: Protocol = "ours"
    cutoffs: tuple[int, ...] = (1, 5, 10)

    @property
    def asked(self) -> int:
        """How many results a query asks for first, which is also what is timed."""
        return max(ANSWER_DEPTH, *self.cutoffs)


class Outcome(NamedTuple):
    """What became of one query. `labelled` says whether it has relevant ids; without, `scores`
    hold only what needs none. `found` are the first units; `ms` is CPU time."""

    key: str
    conv: str
    category: str
    labelled: bool
    scores: dict[str, float]
    found: tuple[str, ...]
    ms: float


class View:
    """A haystack at one level: its texts as units to be ranked, each alone or by session."""

    def __init__(self, texts: Sequence[Text], level: Level) -> None:
        self.size = len(texts)
        self._units = {text.id: _unit(text, level) for text in texts}
        self._texts: dict[str, list[str]] = {}
        for text in texts:
            self._texts.setdefault(self._units[text.id], []).append(text.indexed)
        self._lengths = {unit: sum(map(len, told)) for unit, told in self._texts.items()}

    def ranked(self, ids: Iterable[str]) -> list[str]:
        """Units in the order of their best text."""
        return list(dict.fromkeys(self._units[id_] for id_ in ids))

    def relevant(self, question: Question) -> frozenset[str]:
        """The units that hold what is relevant. An id that the haystack does not have stays a unit
        of its own, which nothing can find."""
        return frozenset(self._units.get(id_, f"\0\0{id_}") for id_ in question.relevant)

    def missing(self, question: Question) -> int:
        """How many relevant ids the haystack does not have."""
        return sum(id_ not in self._units for id_ in question.relevant)

    def length(self, unit: str) -> int:
        return self._lengths[unit]

    def texts(self, units: Iterable[str]) -> Iterable[str]:
        return (text for unit in units for text in self._texts[unit])


def _unit(text: Text, level: Level) -> str:
    """The unit that a text belongs to; one without a session is a session of its own."""
    if level == "turn":
        return text.id
    return text.session or f"\0{text.id}"


def evaluate(
    questions: Iterable[Question], view: View, rank: Ranker, rules: Rules
) -> list[Outcome]:
    """The outcome of each question, in order."""
    return [_outcome(question, view, rank, rules) for question in questions]


def _outcome(question: Question, view: View, rank: Ranker, rules: Rules) -> Outcome:
    start = time.process_time()
    ids = rank(question.text, rules.asked)
    spent = (time.process_time() - start) * 1000
    relevant = view.relevant(question)
    ranked = view.ranked(ids)
    if len(ids) >= rules.asked and _too_shallow(ranked, relevant, view, rules):
        ranked = view.ranked([*ids, *rank(question.text, view.size)])
    scores = _scores(question, ranked, relevant, view, rules)
    return Outcome(
        key=question.key,
        conv=question.conv,
        category=question.category,
        labelled=bool(relevant),
        scores=scores,
        found=tuple(ranked[: rules.asked]),
        ms=spent,
    )


def _too_shallow(ranked: Sequence[str], relevant: frozenset[str], view: View, rules: Rules) -> bool:
    """Could results after these change a score?"""
    if len(ranked) < rules.asked:  # several texts of one session
        return True
    if not relevant or relevant.issubset(ranked):
        return False
    cut = fitting(ranked, view.length, EVIDENCE_CHARS) < len(ranked)
    return not cut or relevant.isdisjoint(ranked)


def _scores(
    question: Question, ranked: list[str], relevant: frozenset[str], view: View, rules: Rules
) -> dict[str, float]:
    scores: dict[str, float] = {}
    if relevant:
        scores = cutoff_scores(ranked, relevant, rules.cutoffs)
        scores["mrr"] = reciprocal_rank(ranked, relevant)
        share = evidence_share(ranked, relevant, view.length, EVIDENCE_CHARS)
        scores[f"evidence@{EVIDENCE_CHARS}"] = share
    elif rules.protocol == "mempalace":
        scores = {f"frac@{k}": 1.0 for k in rules.cutoffs}
    if question.answers:
        first = view.texts(ranked[:ANSWER_DEPTH])
        scores[f"answer@{ANSWER_DEPTH}"] = answer_score(first, question.answers)
    return scores
