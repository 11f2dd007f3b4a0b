"""Stage `closets`: pointer lines lift the drawers that they point at.

The best closet of each source is ranked among the sources; its boost depends on that rank and on
how much of the query the line holds. A boost only ever adds: direct hits are never hidden. A drawer
that a line points at becomes a candidate even when words alone did not nominate it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from camillo.model import Key
from camillo.retrieval import bm25
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.keyword import keyword_score
from camillo.text.closets import parse_line
from camillo.text.tokens import term_counts

__all__ = ["BOOSTS", "closets"]

BOOSTS = (0.40, 0.25, 0.15, 0.08, 0.04)  # by rank among sources
ELSEWHERE = 0.5  # share of the boost for drawers of the source that the line does not point at
LEAST = 0.5  # a line that holds less of the query than this says nothing about it


class _Pointer(NamedTuple):
    """The best line of a source: what it says, how much of the query it holds, where it leads."""

    namespace: str
    scope: str
    source: str
    line: str
    share: float
    ids: tuple[str, ...]
    root: int


def closets(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if not context.nominating or not context.settings.closet_boost:
        return candidates
    pointers = _pointers(query, context)
    by_source = {(p.namespace, p.scope, p.source): (p, rank) for rank, p in enumerate(pointers)}
    considered = candidates + _missing(candidates, pointers, query, context)
    for candidate in considered:
        memory = candidate.memory
        source = memory.origin.source if memory.origin else ""
        found = by_source.get((memory.namespace, memory.scope, source))
        if found:
            _lift(candidate, found[0], BOOSTS[found[1]])
    return considered


def _lift(candidate: Candidate, pointer: _Pointer, boost: float) -> None:
    boost *= pointer.share
    if candidate.memory.id not in pointer.ids:
        boost *= ELSEWHERE
    added = boost * (1.0 - candidate.score)
    candidate.score += added
    candidate.closet_boost = candidate.signals["closet"] = added
    candidate.closet_preview = pointer.line


def _pointers(query: Query, context: Context) -> list[_Pointer]:
    """The best line of each source, best source first, as many as there are boosts."""
    best: dict[tuple[int, str], _Pointer] = {}
    for number, root in enumerate(context.roots):
        for closet in root.closets.search(context.nominating, 2 * query.k, query.filter):
            for pointer in _lines(closet, number, context):
                held = best.get((number, closet.source))
                if held is None or pointer.share > held.share:
                    best[number, closet.source] = pointer
    ranked = sorted(best.values(), key=lambda pointer: (-pointer.share, pointer.source))
    return ranked[: len(BOOSTS)]


def _lines(closet: Any, root: int, context: Context) -> Iterable[_Pointer]:
    for text in closet.lines:
        line = parse_line(text)
        if line is None:
            continue
        said = f"{line.topic} {' '.join(line.entities)}"
        share = bm25.coverage(term_counts(said, context.terms)[0], context.weights)
        if share >= LEAST:
            yield _Pointer(
                closet.namespace, closet.scope, closet.source, text, share, line.ids, root
            )


def _missing(
    candidates: list[Candidate], pointers: list[_Pointer], query: Query, context: Context
) -> list[Candidate]:
    """Drawers that a line points at and that are no candidates yet."""
    known = {candidate.key for candidate in candidates}
    fresh = []
    for pointer in pointers:
        keys = [Key(pointer.namespace, pointer.scope, "", id_) for id_ in pointer.ids]
        wanted = [key for key in keys if key not in known]
        for memory in context.roots[pointer.root].store.get(wanted):
            if memory is not None and query.filter.admits(memory):
                score = keyword_score(memory, 0, context)
                fresh.append(Candidate(memory, pointer.root, 0, score, {"keyword": score}))
    return fresh
