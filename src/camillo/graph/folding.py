"""Which memory stands for which: chains of `supersedes` fold to their newest one.

Memories that supersede one another in a circle are reported, and all of them stay visible unless
something outside of the circle supersedes one of them. A memory that is gone supersedes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from camillo.graph.edges import SUPERSEDES, Graph
from camillo.model import Key
from camillo.records import NamedTuple

__all__ = ["Folding", "fold"]


class Folding(NamedTuple):
    """`newest`: for each memory that is superseded, the one that stands for it and is visible.
    `cycles`: memories that supersede one another, each group sorted, the groups sorted."""

    newest: Mapping[Key, Key]
    cycles: tuple[tuple[Key, ...], ...] = ()

    def hidden(self, key: Key) -> bool:
        return key in self.newest

    def stands_for(self, key: Key) -> Key:
        """The visible memory to show for `key`: itself unless it is superseded."""
        return self.newest.get(key, key)

    def fold(self, keys: Iterable[Key]) -> list[Key]:
        """`keys` with each replaced by what stands for it, in order, each once."""
        return list(dict.fromkeys(self.stands_for(key) for key in keys))


def fold(graph: Graph) -> Folding:
    """Where several supersede one memory, the last updated of what stands for them is chosen,
    of equal ones the first by key."""
    newer = _superseders(graph)
    newest: dict[Key, Key] = {}
    cycles: list[tuple[Key, ...]] = []
    for group in _components(newer):
        if len(group) > 1 or group[0] in newer.get(group[0], ()):
            cycles.append(tuple(sorted(group)))
        members = set(group)
        above = {
            newest.get(key, key)
            for member in group
            for key in newer.get(member, ())
            if key not in members
        }
        if above:
            first = min(above, key=lambda key: (-graph.nodes[key].updated, key))
            newest.update((member, first) for member in group)
    return Folding(newest, tuple(sorted(cycles)))


def _superseders(graph: Graph) -> dict[Key, list[Key]]:
    newer: dict[Key, list[Key]] = {}
    for edge in graph.edges():
        if edge.relation == SUPERSEDES and not edge.dangling:
            newer.setdefault(edge.target, []).append(edge.source)
    return newer


def _components(leads_to: Mapping[Key, Sequence[Key]]) -> Iterator[list[Key]]:
    """Strongly connected components, each after those it leads to."""
    seen = _Seen({}, {}, {})
    for start in leads_to:
        if start not in seen.number:
            yield from _components_from(start, leads_to, seen)


class _Seen(NamedTuple):
    """`number`: in the order they were met. `lowest`: of what a node is known to lead to.
    `waiting`: in no component yet, in order."""

    number: dict[Key, int]
    lowest: dict[Key, int]
    waiting: dict[Key, None]

    def meet(self, key: Key) -> None:
        self.number[key] = self.lowest[key] = len(self.number)
        self.waiting[key] = None


def _components_from(
    start: Key, leads_to: Mapping[Key, Sequence[Key]], seen: _Seen
) -> Iterator[list[Key]]:
    """Tarjan 1972, with a stack of our own: a chain may be longer than Python's."""
    seen.meet(start)
    trail = [(start, iter(leads_to.get(start, ())))]
    while trail:
        key, rest = trail[-1]
        for other in rest:
            if other not in seen.number:
                seen.meet(other)
                trail.append((other, iter(leads_to.get(other, ()))))
                break
            if other in seen.waiting:
                seen.lowest[key] = min(seen.lowest[key], seen.number[other])
        else:
            trail.pop()
            if trail:
                parent = trail[-1][0]
                seen.lowest[parent] = min(seen.lowest[parent], seen.lowest[key])
            if seen.lowest[key] == seen.number[key]:
                yield _taken(seen.waiting, key)


def _taken(waiting: dict[Key, None], first: Key) -> list[Key]:
    """`first` and everything after it, taken off."""
    group: list[Key] = []
    while not group or group[-1] != first:
        group.append(waiting.popitem()[0])
    return group
