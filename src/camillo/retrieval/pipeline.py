"""The pipeline: stages in order, sorted after each, with a trace of what went in and out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from camillo.ports import Stage
from camillo.retrieval.candidate import Candidate, Context, Query, Step

__all__ = ["Watch", "run"]

Watch = Callable[[str, Sequence[Candidate], Context], None]

_ROUNDING = 1e-9


def run(
    query: Query,
    stages: Sequence[tuple[str, Stage]],
    context: Context,
    watch: Watch | None = None,
) -> list[Candidate]:
    """The query's candidates after the last stage, best first; equal ones by source and part.
    `watch` is shown what each stage left."""
    candidates: list[Candidate] = []
    for name, stage in stages:
        before, start = len(candidates) + len(context.nominated), time.process_time()
        candidates = stage(query, candidates, context)
        candidates.sort(key=_order)
        if context.explain:
            _account(name, candidates)
        spent = (time.process_time() - start) * 1000
        after = len(candidates) + len(context.nominated)
        context.trace.append(Step(name, before, after, round(spent, 3)))
        if watch is not None:
            watch(name, candidates, context)
    return candidates


def _account(stage: str, candidates: Sequence[Candidate]) -> None:
    """What a stage added without saying for what is under its own name: parts are all of a
    score."""
    for candidate in candidates:
        rest = candidate.score - sum(candidate.parts.values())
        if abs(rest) > _ROUNDING:
            candidate.parts[stage] = candidate.parts.get(stage, 0.0) + rest


def _order(candidate: Candidate) -> tuple[float, int, str, str, int]:
    """Of equal ones the project's come first, as its roots do."""
    memory = candidate.memory
    origin = memory.origin
    return (
        -candidate.score,
        candidate.root,
        origin.source if origin else "",
        memory.id if origin is None else "",
        origin.part if origin else 0,
    )
