"""`bench silence`: does a search know when it has no answer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, NamedTuple

from camillo.bench.silence import Silence, participants, renamed
from camillo.ops._haystacks import filled, read_set
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.bench.metrics import Mean
    from camillo.ops._haystacks import Filled, TestSet
    from camillo.vault import Plan, Vault

__all__ = ["SilenceReport", "SilenceRow", "bench_silence"]

_WHAT = {
    "A": "silent on what was asked of another haystack",
    "B": "silent on that with its own people's names put in",
    "kept": "not silent on what was asked of it",
}


class SilenceRow(NamedTuple):
    """A share of `n` searches with its 95% interval."""

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    what: str


class SilenceReport(Report):
    """`results` are `SilenceRow`s, `metrics` the same shares by name. `unlabelled` queries, which
    say not what they ask for, are left out."""

    preset: str = ""
    embedder: str = ""
    k: int = 0
    haystacks: int = 0
    queries: int = 0
    unlabelled: int = 0
    metrics: dict[str, float | None] = {}


@operation(writes=True, name="bench silence")
def bench_silence(
    vault: Vault,
    *,
    corpus: Annotated[str, Doc("The texts, one JSON object a line.", metavar="FILE")] = "",
    queries: Annotated[str, Doc("The questions, one JSON object a line.", metavar="FILE")] = "",
    preset: Annotated[str | None, Doc("Which list of stages answers.", metavar="NAME")] = None,
) -> SilenceReport:
    """Measure whether search knows when it has no answer.

    A search is silent when it is confident of no result. Each labelled query is asked of each other
    `conv`, as it is (A) and with that conv's people in place of its own (B), and of its own (kept).

    camillo bench silence --corpus corpus.jsonl --queries queries.jsonl --embedder e5
    """
    test = read_set(vault, "bench silence", corpus, queries)
    labelled = [each for each in test.questions if each.relevant and each.conv in _convs(test)]
    vault.warm = True
    plan = vault.plan(preset)
    found, notes = Silence(), dict.fromkeys([*test.notes, *plan.notes])
    asked = test._replace(questions=labelled, by_conv={conv: [] for conv in _convs(test)})
    people = {conv: participants(test.corpus.haystack(conv)) for conv in _convs(test)}
    for conv, each in zip(_convs(test), filled(vault, asked, "turn", plan), strict=True):
        _ask(found, asked, conv, each, people, plan, vault.settings.search.k)
        notes.update(dict.fromkeys(each.notes))
    means = found.means()
    if len(people) < 2:
        notes["there is one haystack: nothing can be asked elsewhere"] = None
    return SilenceReport(
        results=[_row(name, each) for name, each in means.items()],
        degraded=list(notes),
        preset=plan.preset,
        embedder=plan.embedder.id if plan.embedder else "none",
        k=vault.settings.search.k,
        haystacks=len(people),
        queries=len(labelled),
        unlabelled=sum(not each.relevant for each in test.questions),
        metrics={name: each.value for name, each in means.items()},
    )


def _convs(test: TestSet) -> list[str]:
    return list(test.corpus.places)


def _ask(
    found: Silence,
    test: TestSet,
    conv: str,
    here: Filled,
    people: Mapping[str, list[str]],
    plan: Plan,
    k: int,
) -> None:
    """Ask one haystack all questions."""
    haystack = here.haystack
    assert haystack is not None, "a conv of the corpus has texts"

    def answers(text: str) -> bool:
        return any(each.confident for each in haystack.search(plan.stages, text, k))

    for question in test.questions:
        if question.conv == conv:
            found.answered.append(float(answers(question.text)))
            continue
        by_name = renamed(question.text, people[question.conv], people[conv])
        silent = not answers(question.text)
        found.asked.append(float(silent))
        same = by_name == question.text
        found.asked_by_name.append(float(silent if same else not answers(by_name)))


def _row(name: str, share: Mean) -> SilenceRow:
    return SilenceRow(name, share.value, share.low, share.high, share.n, _WHAT[name])
