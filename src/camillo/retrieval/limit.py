"""Stage `limit`: the first k, each text once.

Equal texts from several sources (a licence in every folder) would fill a list with one answer: the
best keeps its place and names the others.
"""

from __future__ import annotations

from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.text.normalise import normalise

__all__ = ["limit"]

_TELLING = 100  # characters below which equal texts say little about being copies


def limit(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    kept: list[Candidate] = []
    texts: dict[str, Candidate] = {}
    for candidate in candidates:
        origin = candidate.memory.origin
        text = normalise(candidate.memory.body)
        first = texts.get(text) if origin and len(text) >= _TELLING else None
        if first is not None and origin is not None:
            first.also_in.append(origin.source)
            continue
        if len(kept) == query.k:
            break
        texts[text] = candidate
        kept.append(candidate)
    return kept
