"""Stage `connected`: memories that others lead to come a little further up.

For n authored links into a memory alpha times ln(1 + n), of what its score lacks to 1: so scores
stay on 0 to 1, and equally linked ones in their order. Mentions and supersedes do not count. A root
without links is not asked.
"""

from __future__ import annotations

import math

from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.read import HOPELESS

__all__ = ["ALPHA", "connected"]

ALPHA = 0.02

# Of a score, at most: what `read` left unread could not have come under the first k by more.
_MOST = 1 / HOPELESS - 1


def connected(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    for number, root in enumerate(context.roots):
        if root.edges.empty():
            continue
        here = [each for each in candidates if each.root == number]
        counts = root.edges.inbound_counts([each.key for each in here])
        for candidate in here:
            _lift(candidate, counts.get(candidate.key, 0))
    return candidates


def _lift(candidate: Candidate, links: int) -> None:
    if not links:
        return
    boost = ALPHA * math.log1p(links) * (1.0 - candidate.score)
    added = min(boost, _MOST * candidate.score)
    candidate.score += added
    candidate.signals["connected"] = candidate.parts["connected"] = added
