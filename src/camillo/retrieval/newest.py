"""Stage `newest`: what replaces a hit is found in its place.

Stage `superseded` hides what something newer replaces, though it may be all that the question
meets: who asks for the old way is told the new one. The newest of a chain has what it scores by
itself, or the score that the hidden one would have times a decay, whichever is more; so it depends
on no other result, and never on how many are wanted.
"""

from __future__ import annotations

from collections.abc import Mapping

from camillo.model import Key, Memory
from camillo.retrieval.candidate import Candidate, Context, Query, Via
from camillo.retrieval.cutoff import cutoff
from camillo.retrieval.unnominated import candidates_of

__all__ = ["CONSIDERED", "DECAY", "newest"]

CONSIDERED = 50  # hidden memories of a root that are read, best nominated first
DECAY = 0.9  # of the score: it is the same matter, and not the same words


def newest(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    known = {(each.root, each.key): each for each in candidates}
    fresh: list[Candidate] = []
    for number, places in context.hidden.items():
        ranked = sorted(places, key=lambda key: (-places[key], key))[:CONSIDERED]
        hidden = _scored(ranked, number, query, context)
        for each, memory in _replaced(hidden, number, context):
            candidate = known.get((number, memory.key))
            if candidate is None and query.filter.admits(memory):
                [candidate] = candidates_of([memory], number, context)
                known[number, memory.key] = candidate
                fresh.append(candidate)
            if candidate is not None:
                _lift(candidate, each)
    return candidates + fresh


def _scored(keys: list[Key], number: int, query: Query, context: Context) -> list[Candidate]:
    """The hidden ones that say anything of the question, best first."""
    memories = [each for each in context.held(number, keys) if each is not None]
    found = [each for each in candidates_of(memories, number, context) if each.score > 0]
    return sorted(cutoff(query, found, context), key=lambda each: (-each.score, each.key))


def _replaced(
    hidden: list[Candidate], number: int, context: Context
) -> list[tuple[Candidate, Memory]]:
    """Each with what stands for it."""
    newer: Mapping[Key, Key] = context.superseded
    wanted = list(dict.fromkeys(newer[each.key] for each in hidden))
    held = {each.key: each for each in context.held(number, wanted) if each} if wanted else {}
    return [(each, held[newer[each.key]]) for each in hidden if newer[each.key] in held]


def _lift(candidate: Candidate, hidden: Candidate) -> None:
    score = DECAY * hidden.score
    if score > candidate.score:
        candidate.parts["superseded"] = score - candidate.score
        candidate.score = candidate.signals["superseded"] = score
        candidate.via = Via("supersedes", hidden.key)
        candidate.confident = candidate.confident or hidden.confident
