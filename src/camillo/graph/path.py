"""How one memory leads to another: the shortest way along typed edges.

Breadth first; of ways of equal length the one whose edges come first in the graph. A way that
exists and is too long is told apart from none.
"""

from __future__ import annotations

from collections.abc import Iterable

from camillo.errors import InvalidValue
from camillo.graph.edges import Graph, GraphEdge
from camillo.graph.walk import direction_of, steps
from camillo.model import Key
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

__all__ = ["MOST_STEPS", "Path", "shortest_path"]

MOST_STEPS = 5


class Path(NamedTuple):
    """The edges from start to goal, none when they are the same; or None with the reason."""

    edges: tuple[GraphEdge, ...] | None
    reason: Literal["", "unreachable", "depth-exceeded"] = ""


def shortest_path(
    graph: Graph,
    start: Key,
    goal: Key,
    *,
    depth: int = MOST_STEPS,
    types: Iterable[str] | None = None,
    direction: str = "outbound",
) -> Path:
    """The shortest way of at most `depth` edges. `types` None = every relation, mentions too.

    A goal that is not there is unreachable. Raises NotFound for a start that is not there,
    InvalidValue for a depth below 1, UnknownName for a relation or a direction that is none.
    """
    graph.present(start)
    relations = None if types is None else graph.check_relations(types)
    side = direction_of(direction)
    if depth < 1:
        raise InvalidValue(f"depth counts from 1, not {depth}")
    if start == goal:
        return Path(())
    arrived = _search(graph, start, goal, relations, side)
    if goal not in arrived:
        return Path(None, "unreachable")
    way = _way_back(arrived, goal)
    return Path(way) if len(way) <= depth else Path(None, "depth-exceeded")


def _search(
    graph: Graph, start: Key, goal: Key, relations: frozenset[str] | None, side: str
) -> dict[Key, tuple[GraphEdge, Key] | None]:
    """For each memory reached before the goal: the edge that led there and where it came from."""
    arrived: dict[Key, tuple[GraphEdge, Key] | None] = {start: None}
    queue = [start]
    for key in queue:  # it grows while it is walked
        for edge, other in steps(graph, key, relations, side):
            if edge.dangling or other in arrived:
                continue
            arrived[other] = edge, key
            if other == goal:
                return arrived
            queue.append(other)
    return arrived


def _way_back(arrived: dict[Key, tuple[GraphEdge, Key] | None], goal: Key) -> tuple[GraphEdge, ...]:
    way: list[GraphEdge] = []
    at = goal
    while (step := arrived[at]) is not None:
        edge, at = step
        way.append(edge)
    return tuple(reversed(way))
