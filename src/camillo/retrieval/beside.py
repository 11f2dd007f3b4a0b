"""Messages that stand beside the best candidates: what a question meets is often the message before
its answer, which shares neither words nor meaning with it, so that nothing nominates it.

They get the signals that `read`, `grains` and `fuse` give to others. Stage `late` asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from camillo.model import GLOBAL, Key, Memory
from camillo.retrieval.candidate import Candidate, Context, Counts, Query
from camillo.retrieval.fuse import words_said
from camillo.retrieval.grains import judge, members_of
from camillo.retrieval.keyword import count_words, keyword_score
from camillo.text.passages import passage

__all__ = ["CONSIDERED", "beside"]

CONSIDERED = 20  # candidates whose neighbours are looked at, best first
_REACH = 2  # neighbours on each side


def beside(query: Query, candidates: Sequence[Candidate], context: Context) -> list[Candidate]:
    """What stands beside the first of the candidates: candidates, and new ones."""
    best = [each for each in candidates[:CONSIDERED] if _is_message(each)]
    found: list[Candidate] = []
    for number in {each.root for each in best}:
        here = [each for each in candidates if each.root == number]
        around = _around([each for each in best if each.root == number])
        found += [
            each for each in here if each.row in around and _session(each.key) in around[each.row]
        ]
        fresh = _read(around, here, query, number, context)
        _tell_grains(fresh, here, context)
        found += fresh
    return found


def _is_message(candidate: Candidate) -> bool:
    return candidate.memory.session != GLOBAL and candidate.row > 0


def _session(key: Key) -> tuple[str, ...]:
    return key[:3]


def _around(best: Sequence[Candidate]) -> dict[int, set[tuple[str, ...]]]:
    """By row, of which sessions a message there is beside a candidate: those of a session have
    rows that follow each other."""
    around: dict[int, set[tuple[str, ...]]] = {}
    for each in best:
        session = _session(each.key)
        for row in range(each.row - _REACH, each.row + _REACH + 1):
            around.setdefault(row, set()).add(session)
    return around


def _read(
    around: Mapping[int, set[tuple[str, ...]]],
    known: Sequence[Candidate],
    query: Query,
    number: int,
    context: Context,
) -> list[Candidate]:
    """Candidates of these rows' messages, as far as they are none yet and may be found."""
    out = {each.key for each in known}
    if not query.include_superseded:
        out |= context.superseded.keys()
    rows = sorted(around.keys() - {each.row for each in known})
    hits = context.roots[number].words.hits([(row, 0.0) for row in rows])
    chosen = {
        hit.key: hit for hit in hits if _session(hit.key) in around[hit.row] and hit.key not in out
    }
    held = context.held(number, list(chosen)) if chosen else []
    there = [
        (memory, hit.passage, hit.row)
        for memory, hit in zip(held, chosen.values(), strict=True)
        if memory is not None and query.filter.admits(memory)
    ]
    return _candidates(there, number, context)


def _candidates(
    there: Sequence[tuple[Memory, int, int]], number: int, context: Context
) -> list[Candidate]:
    rows = [row for _, _, row in there]
    cosines = context.nearness[number].of(rows)
    found: list[Candidate] = []
    for (memory, piece, row), counts, cosine in zip(
        there, _counts(there, number, context), cosines, strict=True
    ):
        candidate = Candidate(memory, number, piece, row=row)
        candidate.counts = counts
        candidate.signals["keyword"] = keyword_score(counts, context)
        if cosine is not None:
            candidate.signals["vector"] = cosine
        found.append(candidate)
    return found


def _counts(
    there: Sequence[tuple[Memory, int, int]], number: int, context: Context
) -> list[Counts]:
    """What words find in each passage, where it is known without reading it."""
    if number in context.exact:
        return context.exact[number].counts([row for _, _, row in there])
    return count_words([passage(memory, piece).text for memory, piece, _ in there], context)


def _tell_grains(fresh: Sequence[Candidate], known: Sequence[Candidate], context: Context) -> None:
    """What words say at each grain, and the score by `fuse`."""
    told = set(map(id, fresh))
    for members in members_of([*known, *fresh]):
        judge([each for each in members if id(each) in told], members, context)
    for each in fresh:
        cosine = each.signals.get("vector")
        scale = context.scales[each.root]
        each.score = scale.score(words_said(each), cosine)
        each.parts = scale.parts(each.parts, cosine)
