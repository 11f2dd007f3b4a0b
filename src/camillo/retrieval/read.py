"""Stage `read`: nominations become candidates, by reading what can still win and scoring it.

Reading a text and counting its words costs more than everything before it. In a store of some size
a passage is therefore read only if what is known of it already (the engine's own score for its
words, its nearness) comes close to what the k-th best is known to have; of one that words did not
nominate they may say as much as of the last that they did, and are taken to say half of that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from camillo.model import GLOBAL, Key, Memory
from camillo.records import NamedTuple
from camillo.retrieval.candidate import Bar, Candidate, Context, Counts, Nomination, Query
from camillo.retrieval.fuse import Scale, trust_in_words
from camillo.retrieval.keyword import MIDDLING, NOMINATED, count_words, keyword_score
from camillo.text.passages import PassageText, passage

__all__ = ["HOPELESS", "UNHEARD", "WHOLE_CHARS", "nearness_of", "read"]

UNHEARD = 0.5  # what words say of what they did not nominate, as a share of what they could
HOPELESS = 0.8  # share of the k-th best below which a passage is not read
_BAR = 10
WHOLE_CHARS = 2000  # about what a window of 512 tokens holds


class _Named(NamedTuple):
    """A nomination, and which passage of its memory it is."""

    nomination: Nomination
    passage: int


def read(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    found = list(candidates)
    held = {candidate.key for candidate in candidates}
    for number in range(len(context.roots)):
        here = [each for each in context.nominated if each.root == number]
        _tell_words(here, number, context)
        chosen = _worth_reading(here, number, query.k, context)
        by_memory = _by_memory(chosen, number, context)
        for key in held & by_memory.keys():
            del by_memory[key]
        found += _candidates(by_memory, number, context)
    context.nominated = []
    return found


def _tell_words(nominated: Sequence[Nomination], number: int, context: Context) -> None:
    """What words say of those that only meaning nominated, where that is known of all passages."""
    silent = [each for each in nominated if not each.said]
    if silent and number in context.exact:
        scores = context.exact[number].of([each.row for each in silent])
        for each, score in zip(silent, scores, strict=True):
            each.said = score / context.loudest[number]


def _worth_reading(
    nominated: list[Nomination], number: int, k: int, context: Context
) -> list[Nomination]:
    """Those that can still come under the first k. Messages stay, since they speak for their
    neighbours."""
    if context.passages <= MIDDLING or len(nominated) <= max(k, _BAR):
        return nominated
    standing = _standing(nominated, number, context)
    bar = sorted(standing, reverse=True)[max(k, _BAR) - 1]  # not of k, so that it moves nothing
    least = HOPELESS * bar
    if context.explain:
        rows = (each.row for each in nominated)
        context.bars[number] = Bar(least, dict(zip(rows, standing, strict=True)))
    kept = [each for each, stands in zip(nominated, standing, strict=True) if stands >= least]
    words = context.roots[number].words
    if words.conversations():
        known = {each.row for each in kept}
        others = [each for n, each in enumerate(nominated) if n < NOMINATED or each.near]
        hits = words.hits([(each.row, 0.0) for each in others if each.row not in known])
        messages = {hit.row for hit in hits if hit.key.session != GLOBAL}
        kept += [each for each in others if each.row in messages]
    return kept


def _standing(nominated: Iterable[Nomination], number: int, context: Context) -> list[float]:
    """What each is likely to have, by what is known without reading it."""
    unheard = UNHEARD * context.unheard.get(number, 0.0)
    if number not in context.cosines:
        return [each.said or unheard for each in nominated]
    trust = trust_in_words(context) if context.terms else 0.0
    scale = Scale(1.0, *context.cosines[number], trust)
    return [scale.score(each.said or unheard, each.cosine) for each in nominated]


def _by_memory(
    nominated: Sequence[Nomination], number: int, context: Context
) -> dict[Key, list[_Named]]:
    """The same by the memory that each belongs to; a passage that is gone is left out."""
    by_row = {each.row: each for each in nominated}
    groups: dict[Key, list[_Named]] = {}
    for hit in context.roots[number].words.hits([(row, 0.0) for row in by_row]):
        groups.setdefault(hit.key, []).append(_Named(by_row[hit.row], hit.passage))
    return groups


def _candidates(
    by_memory: dict[Key, list[_Named]], number: int, context: Context
) -> list[Candidate]:
    """One for each memory that is still there, through its best passage."""
    memories = context.held(number, list(by_memory))
    there = [
        (memory, named)
        for memory, group in zip(memories, by_memory.values(), strict=True)
        if memory
        for named in _speaking(group)
    ]
    best: dict[Key, Candidate] = {}
    for (memory, named), (score, counts) in zip(
        there, _scored(there, number, context), strict=True
    ):
        found = _candidate(memory, named, score, counts)
        former = best.get(found.key)
        if former is None or found.score > former.score:
            best[found.key] = found
    found_all = list(best.values())
    if number in context.nearness:
        _tell_nearness(found_all, by_memory, number, context)
    return found_all


def _speaking(group: list[_Named]) -> list[_Named]:
    """The passages of one memory that may be its best: those that words nominated, else the
    nearest."""
    return [each for each in group if each.nomination.said] or [max(group, key=_cosine)]


def _scored(
    there: Sequence[tuple[Memory, _Named]], number: int, context: Context
) -> Iterable[tuple[float | None, Counts | None]]:
    """What words say of each, on 0 to 1, and what is counted; None where no words were asked."""
    if not context.terms:
        return [(None, None)] * len(there)
    exact = context.exact.get(number)
    if exact is None:
        texts = [passage(memory, named.passage).text for memory, named in there]
        return [(keyword_score(each, context), each) for each in count_words(texts, context)]
    rows = [named.nomination.row for _, named in there]
    if all(memory.session == GLOBAL for memory, _ in there):  # no grain asks for the counts
        return [(score, None) for score in exact.of(rows)]
    return zip(exact.of(rows), exact.counts(rows), strict=True)


def _candidate(
    memory: Memory, named: _Named, words: float | None, counts: Counts | None
) -> Candidate:
    nomination = named.nomination
    signals: dict[str, float] = {}
    if words is not None:
        signals["keyword"] = words
    score = signals.get("keyword", 0.0) if nomination.said else max(0.0, _cosine(named))
    found = Candidate(
        memory, nomination.root, named.passage, min(1.0, score), signals, nomination.row
    )
    found.counts = counts
    found.parts = {"keyword" if nomination.said else "vector": found.score}
    return found


def _tell_nearness(
    candidates: Sequence[Candidate],
    by_memory: dict[Key, list[_Named]],
    number: int,
    context: Context,
) -> None:
    """The signal `vector`: of a memory that a model takes in at once that of the whole, since its
    pieces say less; of a longer one that of its nearest passage."""
    rows = [_row_of(each.memory, each.passage, each.row) for each in candidates]
    for candidate, cosine in zip(candidates, context.nearness[number].of(rows), strict=True):
        near = [each for each in by_memory[candidate.key] if each.nomination.near]
        if near and (cosine is None or len(candidate.memory.body) > WHOLE_CHARS):
            cosine = max(map(_cosine, near))
        if cosine is not None:
            candidate.signals["vector"] = cosine
            if "keyword" not in candidate.signals:
                candidate.score = min(1.0, max(0.0, cosine))
                candidate.parts = {"vector": candidate.score}


def nearness_of(
    memories: Sequence[Memory],
    pieces: Sequence[Sequence[PassageText]],
    number: int,
    context: Context,
) -> list[float | None]:
    """How near each is in meaning: the whole where a model takes it in at once, else its nearest
    passage, as `read` has it."""
    if number not in context.nearness:
        return [None] * len(memories)
    told = [
        own[:1] if len(memory.body) <= WHOLE_CHARS else own
        for memory, own in zip(memories, pieces, strict=True)
    ]
    texts = [piece.embedded for own in told for piece in own]
    cosines = iter(context.nearness[number].of_texts(texts))
    found: list[float | None] = []
    for own in told:
        near = [cosine for _ in own if (cosine := next(cosines)) is not None]
        found.append(max(near, default=None))
    return found


def _row_of(memory: Memory, number: int, row: int) -> int:
    """The passage whose vector speaks for a memory: of a note that a model takes in at once its
    number 0, which is all of it. A memory's passages have rows that follow each other."""
    return row - number if len(memory.body) <= WHOLE_CHARS else row


def _cosine(named: _Named) -> float:
    return -1.0 if named.nomination.cosine is None else named.nomination.cosine
