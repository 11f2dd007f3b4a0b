"""The haystacks of a bench, filled one after the other in throwaway roots.

Shared by the operations that measure; what is measured in them is left to those.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from camillo.bench.evaluation import Level, Outcome, Protocol, Ranker, Rules, View
from camillo.bench.haystack import Haystack
from camillo.bench.records import Corpus, Question, Text, read_corpus, read_questions
from camillo.errors import InvalidValue
from camillo.ops._lookup import path_of

if TYPE_CHECKING:
    from camillo.ports import Stage
    from camillo.vault import Plan, Vault

__all__ = [
    "Filled",
    "TestSet",
    "filled",
    "in_order",
    "missing_note",
    "read_set",
    "rules_of",
]


class TestSet(NamedTuple):
    """A corpus and its questions by haystack; `notes` say what does not fit together, in words."""

    corpus: Corpus
    questions: list[Question]
    by_conv: dict[str, list[Question]]
    notes: list[str]


class Filled(NamedTuple):
    """One haystack, ready; `haystack` is None where the corpus has no text for the questions."""

    texts: list[Text]
    view: View
    questions: list[Question]
    haystack: Haystack | None

    def ranker(self, stages: Sequence[tuple[str, Stage]]) -> Ranker:
        """Searching it by a pipeline."""
        haystack = self.haystack
        if haystack is None:
            return lambda text, k: []
        return lambda text, k: haystack.rank(stages, text, k)

    @property
    def missing(self) -> int:
        """How many relevant ids it does not have."""
        return sum(map(self.view.missing, self.questions))

    @property
    def notes(self) -> list[str]:
        return list(self.haystack.degraded) if self.haystack else []


def read_set(vault: Vault, command: str, corpus: str, queries: str) -> TestSet:
    """Raises InvalidValue when a path is missing or a line is wrong, SourceUnreadable."""
    for option, path in (("--corpus", corpus), ("--queries", queries)):
        if not path:
            raise InvalidValue(f"{command} needs {option} FILE, lines of JSON (docs/BENCH.md)")
    texts = read_corpus(path_of(vault, corpus))
    questions = read_questions(path_of(vault, queries), texts)
    by_conv: dict[str, list[Question]] = {}
    for question in questions:
        by_conv.setdefault(question.conv, []).append(question)
    notes = []
    if texts.doubles:
        notes.append(f"{texts.doubles} texts have an id that came before: left out")
    lost = sum(len(asked) for conv, asked in by_conv.items() if conv not in texts.places)
    if lost:
        notes.append(f"{lost} queries name a conv that the corpus does not have: they find nothing")
    return TestSet(texts, questions, by_conv, notes)


def missing_note(missing: int) -> list[str]:
    """What to say about relevant ids that no haystack has."""
    if not missing:
        return []
    return [f"{missing} relevant ids are not in their query's haystack: counted as not found"]


def rules_of(level: Level, protocol: Protocol, k: str) -> Rules:
    """`k` as the command line writes it, `1,5,10`. Raises InvalidValue."""
    words = [word.strip() for word in k.split(",") if word.strip()]
    if not words or not all(word.isascii() and word.isdecimal() and int(word) for word in words):
        raise InvalidValue(f"--k takes whole numbers of 1 or more, as in 1,5,10; not {k!r}")
    return Rules(level, protocol, tuple(sorted({int(word) for word in words})))


def filled(vault: Vault, test: TestSet, level: Level, plan: Plan) -> Iterator[Filled]:
    """Each haystack that is asked of, filled, and gone again when the next one is taken."""
    count = len(test.by_conv)
    for number, (name, questions) in enumerate(test.by_conv.items()):
        vault.progress(number, count, "haystacks")
        texts = test.corpus.haystack(name)
        view = View(texts, level)
        if not texts:
            yield Filled(texts, view, questions, None)
            continue
        with _haystack(vault, texts, plan) as haystack:
            yield Filled(texts, view, questions, haystack)
    vault.progress(count, count, "haystacks")


def in_order(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """As the query file has them."""
    by_key = {outcome.key: outcome for outcome in outcomes}
    return [by_key[question.key] for question in questions]


@contextmanager
def _haystack(vault: Vault, texts: Sequence[Text], plan: Plan) -> Iterator[Haystack]:
    with tempfile.TemporaryDirectory(prefix="camillo-bench-") as folder:
        root = vault.scratch(folder)
        try:
            haystack = Haystack(root, texts, vault.settings.search, plan.embedder)
            if plan.embedder is not None:
                vault.embed(root)
            yield haystack
        finally:
            root.close()
