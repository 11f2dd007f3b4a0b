"""Stage `related`: neighbours of the best candidates are considered as well, when asked for.

`one-hop` follows links out of a hit along the chosen relations, `hierarchical` those to its parents
over child-of. A neighbour has what it scores by itself, as any candidate does, or the hit's score
times a decay, whichever is more. So it depends on the hits above it alone, never on how many
results are wanted. No link leaves its scope; one to a superseded memory leads to its newest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from camillo.model import GLOBAL, Key, Memory
from camillo.records import NamedTuple
from camillo.retrieval.candidate import Candidate, Context, Query, Via
from camillo.retrieval.unnominated import candidates_of

__all__ = ["EXPANDED", "related"]

EXPANDED = 50  # candidates whose neighbours are looked at, best first
_LINKS = 50  # of one candidate that are followed, in the order of its memory


class _Neighbour(NamedTuple):
    """What the best hit that leads to a memory gives it."""

    memory: Memory
    root: int
    score: float
    via: Via


class _Links(NamedTuple):
    """Per hit its links in order: the relation, and which keys the end may be, best first."""

    by_hit: Mapping[tuple[int, Key], list[tuple[str, list[Key]]]]
    memories: Mapping[tuple[int, Key], Memory]

    def neighbours(self, hit: Candidate) -> Iterator[tuple[str, Memory]]:
        """Those that are there."""
        for relation, ends in self.by_hit.get((hit.root, hit.key), ()):
            for end in ends:
                if (hit.root, end) in self.memories:
                    yield relation, self.memories[hit.root, end]
                    break


def related(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    if query.expansion.mode == "none":
        return candidates
    hits = candidates[:EXPANDED]
    neighbours = _neighbours(hits, _links(hits, candidates, query, context), query)
    known = {(each.root, each.key): each for each in candidates}
    fresh: list[_Neighbour] = []
    for each in neighbours:
        candidate = known.get((each.root, each.memory.key))
        if candidate is None:
            fresh.append(each)
        else:
            _lift(candidate, each)
    return candidates + _admitted(fresh, context)


def _neighbours(hits: Sequence[Candidate], links: _Links, query: Query) -> list[_Neighbour]:
    """Each memory that the hits lead to, once, from the best hit. What ranks above a hit, or was
    reached from one that does, is not counted against its limit."""
    expansion = query.expansion
    parents = expansion.mode == "hierarchical"
    decay = expansion.parent_decay if parents else expansion.decay
    most = _LINKS if parents else expansion.limit
    seen: set[tuple[int, Key]] = set()
    found: list[_Neighbour] = []
    for hit in hits:
        seen.add((hit.root, hit.key))
        taken = 0
        for relation, memory in links.neighbours(hit):
            if taken == most:
                break
            if (hit.root, memory.key) in seen or not query.filter.admits(memory):
                continue
            seen.add((hit.root, memory.key))
            via = Via(relation, hit.key)
            found.append(_Neighbour(memory, hit.root, decay * hit.score, via))
            taken += 1
    return found


def _links(
    hits: Sequence[Candidate], candidates: Sequence[Candidate], query: Query, context: Context
) -> _Links:
    hierarchical = query.expansion.mode == "hierarchical"
    relations = ("child-of",) if hierarchical else query.expansion.relations
    folded = {} if query.include_superseded else context.superseded
    by_hit: dict[tuple[int, Key], list[tuple[str, list[Key]]]] = {}
    memories = {(each.root, each.key): each.memory for each in candidates}
    for number, root in enumerate(context.roots):
        keys = [hit.key for hit in hits if hit.root == number]
        if not keys or root.edges.empty():
            continue
        wanted: dict[Key, None] = {}
        for source, relation, target in root.edges.outbound(keys, relations):
            own = by_hit.setdefault((number, source), [])
            if len(own) < _LINKS:
                own.append((relation, _ends(target, folded)))
                wanted.update(dict.fromkeys(own[-1][1]))
        unread = [key for key in wanted if (number, key) not in memories]
        for memory in context.held(number, unread) if unread else ():
            if memory is not None:
                memories[number, memory.key] = memory
    return _Links(by_hit, memories)


def _ends(target: Key, folded: Mapping[Key, Key]) -> list[Key]:
    """A name is meant in its session, and then among the global memories."""
    meant = dict.fromkeys((target, target._replace(session=GLOBAL)))
    return [folded.get(key, key) for key in meant]


def _lift(candidate: Candidate, neighbour: _Neighbour) -> None:
    if neighbour.score > candidate.score:
        candidate.parts["related"] = neighbour.score - candidate.score
        candidate.score = candidate.signals["related"] = neighbour.score
        candidate.via = neighbour.via


def _admitted(neighbours: Sequence[_Neighbour], context: Context) -> list[Candidate]:
    """Those that nothing nominated, with what they score by themselves."""
    found: list[Candidate] = []
    for number in range(len(context.roots)):
        here = [each for each in neighbours if each.root == number]
        scored = candidates_of([each.memory for each in here], number, context)
        for each, candidate in zip(here, scored, strict=True):
            _lift(candidate, each)
            candidate.via = each.via
            found.append(candidate)
    return found
