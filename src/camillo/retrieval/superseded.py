"""Stage `superseded`: what a living memory supersedes is out, unless it is asked for.

It stands before `read`, so that what is hidden takes no place among what is worth reading and no
part in the scales. `context.superseded` says who stands for whom: folding chains is the graph's.
What is hidden is noted, for the stage `newest` to bring in what stands for it.
"""

from __future__ import annotations

from camillo.model import Key
from camillo.retrieval.candidate import Candidate, Context, Nomination, Query

__all__ = ["superseded"]


def superseded(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if query.include_superseded or not context.superseded:
        return candidates
    keys = _keys(context)
    left: list[Nomination] = []
    for each in context.nominated:
        key = keys.get(_place(each))
        if key is None or key not in context.superseded:
            left.append(each)
        else:
            context.hide(each.root, key, each.said + max(0.0, each.cosine or 0.0))
    context.nominated = left
    for candidate in candidates:
        if candidate.key in context.superseded:
            context.hide(candidate.root, candidate.key, candidate.score)
    return [each for each in candidates if each.key not in context.superseded]


def _keys(context: Context) -> dict[tuple[int, int], Key]:
    """The memory behind each nomination, by root and row."""
    found: dict[tuple[int, int], Key] = {}
    for number, root in enumerate(context.roots):
        rows = [(each.row, 0.0) for each in context.nominated if each.root == number]
        if rows:
            found.update({(number, hit.row): hit.key for hit in root.words.hits(rows)})
    return found


def _place(nomination: Nomination) -> tuple[int, int]:
    return nomination.root, nomination.row
