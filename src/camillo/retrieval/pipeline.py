"""The pipeline: stages in order, sorted after each, with a trace of what went in and out."""

from __future__ import annotations

import time
from collections.abc import Sequence

from camillo.ports import Stage
from camillo.retrieval.candidate import Candidate, Context, Query, Step

__all__ = ["run"]


def run(query: Query, stages: Sequence[tuple[str, Stage]], context: Context) -> list[Candidate]:
    """The query's candidates after the last stage, best first; equal ones by source and part."""
    candidates: list[Candidate] = []
    for name, stage in stages:
        before, start = len(candidates) + len(context.nominated), time.process_time()
        candidates = stage(query, candidates, context)
        candidates.sort(key=_order)
        spent = (time.process_time() - start) * 1000
        after = len(candidates) + len(context.nominated)
        context.trace.append(Step(name, before, after, round(spent, 3)))
    return candidates


def _order(candidate: Candidate) -> tuple[float, str, str, int]:
    memory = candidate.memory
    origin = memory.origin
    return (
        -candidate.score,
        origin.source if origin else "",
        memory.id if origin is None else "",
        origin.part if origin else 0,
    )
