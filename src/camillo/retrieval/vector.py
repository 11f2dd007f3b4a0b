"""Stage `vector`: the passages nearest in meaning, and how near the other candidates are.

Without an embedder, or without vectors of its model, it adds nothing and says so.
"""

from __future__ import annotations

from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.keyword import NOMINATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

__all__ = ["vector"]


def vector(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    embedder = context.embedder
    if embedder is None:
        context.degraded.append("words only: no embedder")
        return candidates
    asked = embedder.embed([query.text], "query")[0]
    fresh: list[Candidate] = []
    for number, root in enumerate(context.roots):
        here = [candidate for candidate in candidates if candidate.root == number]
        nearness = root.vectors.nearness(embedder, asked)
        for candidate, cosine in zip(here, nearness.of(here), strict=True):
            if cosine is not None:
                candidate.signals["vector"] = cosine
        wanted = max(NOMINATED, 4 * query.k)
        fresh += _nominated(root, number, nearness.best(wanted, query.filter), here, context)
    return candidates + fresh
