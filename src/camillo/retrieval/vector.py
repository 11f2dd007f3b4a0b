"""Stage `vector`: the passages nearest in meaning, and how near the other candidates are.

Without an embedder it adds nothing and says so.
"""

from __future__ import annotations

from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.keyword import NOMINATED, count_words, keyword_score
from camillo.text.passages import passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from camillo.model import Key, Memory
    from camillo.ports import Embedder, Hit
    from camillo.retrieval.candidate import SearchRoot

__all__ = ["WHOLE_CHARS", "vector"]

WHOLE_CHARS = 2000  # about what a window of 512 tokens holds


def vector(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if context.embedder is None:
        context.degraded.append("words only: no embedder")
        return candidates
    if not _says_something(query.text):
        return candidates
    found = list(candidates)
    asked: dict[str, Any] = {}  # the query's vector, by model
    for number, root in enumerate(context.roots):
        here = {c.key: c for c in candidates if c.root == number}
        embedder = _answering(root, context.embedder, context)
        if embedder.id not in asked:
            asked[embedder.id] = embedder.embed([query.text], "query")[0]
        size = root.lexical.size()[0]
        wanted = max(NOMINATED, 4 * query.k)
        nearness = root.vectors.nearness(embedder, asked[embedder.id])
        behind = size - len(nearness)
        if behind > 0:
            context.degraded.append(f"vectors {behind} behind: `camillo embed` takes them in")
        rows = [_row_of(c.memory, c.passage, c.row) for c in here.values()]
        for candidate, cosine in zip(here.values(), nearness.of(rows), strict=True):
            if cosine is not None:
                candidate.signals["vector"] = cosine
        found += _nominated(nearness, nearness.best(wanted, query.filter), number, here, context)
    return found


def _says_something(text: str) -> bool:
    """A model has an answer to blanks and full stops too."""
    return any(char.isalnum() or not char.isascii() for char in text.strip())


def _answering(root: SearchRoot, asked: Embedder, context: Context) -> Embedder:
    """The embedder to search a root with: the one that is asked for, or the former one until every
    passage has a vector of the new one."""
    complete = [model for model in root.vectors.models() if model.complete]
    if not complete or any(model.name == asked.id for model in complete):
        return asked
    former = context.reopen(complete[-1].made_with)
    if former is None or former.id != complete[-1].name:
        return asked
    context.degraded.append(f"{asked.id} is not complete here yet: {former.id} answers")
    return former


def _nominated(
    nearness: Any, hits: Sequence[Hit], root: int, here: dict[Key, Candidate], context: Context
) -> list[Candidate]:
    """New candidates, each through its nearest passage; of those that words found already only
    long ones take the cosine of their nearest passage."""
    nearest: dict[Key, Hit] = {}
    for hit in hits:  # nearest first
        nearest.setdefault(hit.key, hit)
    for key, candidate in here.items():
        if key in nearest:
            cosine = nearest.pop(key).score
            if len(candidate.memory.body) > WHOLE_CHARS:
                candidate.signals["vector"] = cosine
    memories = context.held(root, list(nearest))
    there = [(hit, m) for hit, m in zip(nearest.values(), memories, strict=True) if m]
    texts = [passage(memory, hit.passage).text for hit, memory in there]
    counted = count_words(texts, context) if context.terms else [None] * len(texts)
    cosines = nearness.of([_row_of(memory, hit.passage, hit.row) for hit, memory in there])
    found = []
    for (hit, memory), counts, cosine in zip(there, counted, cosines, strict=True):
        signals = {"vector": hit.score if cosine is None else cosine}
        if counts is not None:
            signals["keyword"] = keyword_score(counts, context)
        score = min(1.0, max(0.0, signals["vector"]))
        candidate = Candidate(memory, root, hit.passage, score, signals, hit.row)
        candidate.counts = counts
        found.append(candidate)
    return found


def _row_of(memory: Memory, number: int, row: int) -> int:
    """The passage whose vector speaks for a memory: of a note that a model takes in at once its
    number 0, which is all of it; its pieces say less than the whole. A memory's passages have rows
    that follow each other."""
    return row - number if len(memory.body) <= WHOLE_CHARS else row
