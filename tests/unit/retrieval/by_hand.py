"""Candidates and contexts that are made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from camillo.config import SearchSettings
from camillo.model import Memory
from camillo.retrieval.candidate import Candidate, Context
from camillo.retrieval.keyword import Counts

__all__ = ["candidate", "context"]


def candidate(
    id: str,
    keyword: float | None = None,
    vector: float | None = None,
    *,
    root: int = 0,
    session: str = "",
    row: int = 0,
    tf: list[int] | None = None,
    words: int = 10,
) -> Candidate:
    """What the stages before would have made."""
    signals = {}
    if keyword is not None:
        signals["keyword"] = keyword
    if vector is not None:
        signals["vector"] = vector
    found = Candidate(Memory(id, id, session=session), root, 0, keyword or 0.0, signals, row)
    found.counts = Counts(tf, words) if tf is not None else None
    return found


def context(known_mass: float = 1.0, roots: int = 1, weights: Sequence[float] = ()) -> Context:
    made = Context([None] * roots, SearchSettings())  # type: ignore[list-item]
    made.known_mass = known_mass
    made.weights = list(weights)
    made.average = 10.0
    return made
