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

    from camillo.model import Key
    from camillo.ports import Embedder, Hit
    from camillo.retrieval.candidate import SearchRoot

__all__ = ["vector"]


def vector(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if context.embedder is None:
        context.degraded.append("words only: no embedder")
        return candidates
    wanted = max(NOMINATED, 4 * query.k)
    found = list(candidates)
    for number, root in enumerate(context.roots):
        here = {c.key: c for c in candidates if c.root == number}
        embedder = _answering(root, context.embedder, context)
        nearness = root.vectors.nearness(embedder, embedder.embed([query.text], "query")[0])
        behind = root.lexical.size()[0] - len(nearness)
        if behind > 0:
            context.degraded.append(f"vectors {behind} behind: `camillo embed` takes them in")
        rows = [candidate.row for candidate in here.values()]
        for candidate, cosine in zip(here.values(), nearness.of(rows), strict=True):
            if cosine is not None:
                candidate.signals["vector"] = cosine
        found += _nominated(nearness.best(wanted, query.filter), number, here, context)
    return found


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
    hits: Sequence[Hit], root: int, here: dict[Key, Candidate], context: Context
) -> list[Candidate]:
    """New candidates, each through its nearest passage; those that words found already take the
    cosine of their nearest passage."""
    nearest: dict[Key, Hit] = {}
    for hit in hits:  # nearest first
        nearest.setdefault(hit.key, hit)
    for key, candidate in here.items():
        if key in nearest:
            candidate.signals["vector"] = nearest.pop(key).score
    memories = context.held(root, list(nearest))
    there = [(hit, m) for hit, m in zip(nearest.values(), memories, strict=True) if m]
    texts = [passage(memory, hit.passage).text for hit, memory in there]
    counted = count_words(texts, context) if context.terms else [None] * len(texts)
    found = []
    for (hit, memory), counts in zip(there, counted, strict=True):
        signals = {"vector": hit.score}
        if counts is not None:
            signals["keyword"] = keyword_score(counts, context)
        candidate = Candidate(memory, root, hit.passage, hit.score, signals, hit.row)
        candidate.counts = counts
        found.append(candidate)
    return found
