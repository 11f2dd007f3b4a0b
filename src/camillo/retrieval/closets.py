"""Stage `closets`: pointer lines lift the drawers that they point at.

The best closet of each source is ranked among the sources; its boost depends on that rank and on
how much of the query the line holds. A boost only ever adds: direct hits are never hidden. A drawer
that a line points at becomes a candidate even when words alone did not nominate it.
"""

from __future__ import annotations

from collections.abc import Iterator

from camillo.model import Key, Memory
from camillo.records import NamedTuple
from camillo.retrieval import bm25
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.keyword import count_words, keyword_score
from camillo.text.passages import passage
from camillo.text.pointers import parse_line, said
from camillo.text.tokens import may_hold, term_counts_of_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.retrieval.fuse import Scale

__all__ = ["BOOSTS", "CONSIDERED", "closets"]

BOOSTS = (0.40, 0.25, 0.15, 0.08, 0.04)  # by rank among sources
ELSEWHERE = 0.5  # share of the boost for drawers of the source that the line does not point at
CONSIDERED = 12  # closets of a root; with 20 of them 99.4% of the first ten results are the same
LEAST = 0.5  # a line that holds less of the query than this says nothing about it


class _Line(NamedTuple):
    """A line of a closet, and how much of the query it holds."""

    root: int
    closet: Any
    text: str
    share: float


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
    candidate.closet_boost = candidate.signals["closet"] = candidate.parts["closet"] = added
    candidate.closet_preview = pointer.line


def _pointers(query: Query, context: Context) -> list[_Pointer]:
    """The best line of each source, best source first, as many as there are boosts."""
    best: dict[tuple[int, str], _Line] = {}
    for line in _lines(query, context):
        at = line.root, line.closet.source
        if at not in best or line.share > best[at].share:
            best[at] = line
    ranked = sorted(best.values(), key=lambda line: (-line.share, line.closet.source))
    return [_pointer(line) for line in ranked[: len(BOOSTS)]]


def _lines(query: Query, context: Context) -> Iterator[_Line]:
    """The lines of nominated closets that say enough about the query."""
    lines: list[tuple[int, Any, str, str]] = []
    for number, root in enumerate(context.roots):
        for closet in root.closets.search(context.nominating, CONSIDERED, query.filter):
            if _may_say_enough(closet, context):
                lines += [(number, closet, line, t) for line in closet.lines if (t := said(line))]
    counted = term_counts_of_all([text for _, _, _, text in lines], context.terms)
    for (number, closet, line, _), (tf, _) in zip(lines, counted, strict=True):
        if any(tf):
            share = bm25.coverage(tf, context.weights)
            if share >= LEAST:
                yield _Line(number, closet, line, share)


def _may_say_enough(closet: Any, context: Context) -> bool:
    """Whether all lines of a closet together could hold enough: few do, and this is quick."""
    heads = "\n".join([line.rpartition("→")[0] for line in closet.lines])
    possible = may_hold(heads, context.terms)
    return bm25.coverage(possible, context.weights) >= LEAST


def _pointer(line: _Line) -> _Pointer:
    closet, parsed = line.closet, parse_line(line.text)
    ids = parsed.ids if parsed else ()
    return _Pointer(
        closet.namespace, closet.scope, closet.source, line.text, line.share, ids, line.root
    )


def _missing(
    candidates: list[Candidate], pointers: list[_Pointer], query: Query, context: Context
) -> list[Candidate]:
    """Drawers that a line points at and that are no candidates yet."""
    admits = query.filter.admits
    known = {candidate.key for candidate in candidates}
    if not query.include_superseded:
        known |= context.superseded.keys()
    fresh: list[tuple[Memory, int]] = []
    for pointer in pointers:
        keys = [Key(pointer.namespace, pointer.scope, "", id_) for id_ in pointer.ids]
        wanted = [key for key in keys if key not in known]
        found = context.held(pointer.root, wanted) if wanted else []
        fresh += [(memory, pointer.root) for memory in found if memory and admits(memory)]
    counts = count_words([passage(memory, 0).text for memory, _ in fresh], context)
    scores = [keyword_score(each, context) for each in counts]
    missing = [
        Candidate(memory, root, 0, score, {"keyword": score})
        for (memory, root), score in zip(fresh, scores, strict=True)
    ]
    for each in missing:
        each.parts = {"keyword": each.score}
    for number, scale in context.scales.items():
        _fuse([each for each in missing if each.root == number], number, scale, context)
    return missing


def _fuse(candidates: list[Candidate], number: int, scale: Scale, context: Context) -> None:
    """Judge them by meaning too, as the others were."""
    if candidates and number in context.nearness:
        texts = [passage(each.memory, 0).embedded for each in candidates]
        cosines = context.nearness[number].of_texts(texts)
        for candidate, cosine in zip(candidates, cosines, strict=True):
            if cosine is not None:
                candidate.signals["vector"] = cosine
            candidate.score = scale.score(candidate.signals["keyword"], cosine)
            candidate.parts = scale.parts({"keyword": candidate.signals["keyword"]}, cosine)
