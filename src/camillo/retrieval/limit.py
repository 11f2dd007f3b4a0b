"""Stage `limit`: the first k."""

from __future__ import annotations

from camillo.retrieval.candidate import Candidate, Context, Query

__all__ = ["limit"]


def limit(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    return candidates[: query.k]
