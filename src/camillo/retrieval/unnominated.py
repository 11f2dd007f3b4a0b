"""Candidates of memories that nothing nominated, as where a link leads to one: with what they score
by themselves, in the scales of those that were nominated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camillo.model import Memory
from camillo.retrieval.candidate import Candidate, Context
from camillo.retrieval.keyword import count_words, keyword_score
from camillo.retrieval.read import nearness_of
from camillo.text.passages import PassageText, passages

__all__ = ["candidates_of"]


def candidates_of(memories: Sequence[Memory], number: int, context: Context) -> list[Candidate]:
    """One for each memory of a root, in order, through its best passage."""
    pieces = [passages(memory) for memory in memories]
    cosines = nearness_of(memories, pieces, number, context)
    return [
        _candidate(memory, number, best, words, cosine, context)
        for memory, (best, words), cosine in zip(
            memories, _said(pieces, context), cosines, strict=True
        )
    ]


def _candidate(
    memory: Memory, number: int, best: int, words: float, cosine: float | None, context: Context
) -> Candidate:
    signals: dict[str, float] = {}
    if context.terms:
        signals["keyword"] = words
    if cosine is not None:
        signals["vector"] = cosine
    scale = context.scales.get(number)
    if scale is not None:
        score = scale.score(words, cosine)
    else:
        score = words if context.terms else cosine or 0.0
    score = min(1.0, max(0.0, score))
    found = Candidate(memory, number, best, score, signals)
    if scale is not None:
        found.parts = scale.parts({"keyword": words}, cosine)
    else:
        found.parts = {"keyword" if context.terms else "vector": score}
    return found


def _said(pieces: Sequence[Sequence[PassageText]], context: Context) -> Iterator[tuple[int, float]]:
    """What words say of each memory: of its best passage, and which one that is."""
    texts = [piece.text for own in pieces for piece in own] if context.terms else []
    scores = iter([keyword_score(each, context) for each in count_words(texts, context)])
    for own in pieces:
        scored = [(next(scores, 0.0), -piece.number) for piece in own]
        score, number = max(scored)
        yield -number, score
