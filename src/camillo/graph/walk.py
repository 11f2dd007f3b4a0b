"""What lies around a memory: breadth first along chosen relations, to a depth.

An edge is found when one of its ends is walked from, so edges between two memories at the last
depth are not part of the answer. Edges to what is not there are left out unless asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from camillo.errors import InvalidValue, UnknownName
from camillo.graph.edges import AUTHORED, Graph, GraphEdge, Node
from camillo.model import Key
from camillo.records import NamedTuple

__all__ = ["DIRECTIONS", "MOST_NODES", "Neighbourhood", "direction_of", "steps", "walk"]

DIRECTIONS = {
    "outbound": "outbound",
    "inbound": "inbound",
    "both": "both",
    "out": "outbound",
    "in": "inbound",
}
MOST_NODES = 1_000


class Neighbourhood(NamedTuple):
    """What a walk found, nearest first. `truncated` when `limit` left something out."""

    root: Node
    nodes: tuple[Node, ...]
    edges: tuple[GraphEdge, ...]
    truncated: bool = False


def walk(
    graph: Graph,
    root: Key,
    *,
    depth: int = 1,
    types: Iterable[str] = AUTHORED,
    direction: str = "both",
    dangling: bool = False,
    limit: int = MOST_NODES,
) -> Neighbourhood:
    """Everything within `depth` edges of `root`, at most `limit` nodes (0 = any number).

    Each memory and each edge appears once, edges out of a memory before those into it.
    Raises NotFound for a root that is not there, InvalidValue for a negative depth or limit,
    UnknownName for a relation or a direction that is none.
    """
    start = graph.present(root)
    relations = graph.check_relations(types)
    side = direction_of(direction)
    if depth < 0 or limit < 0:
        raise InvalidValue(f"depth and limit count from 0, not {min(depth, limit)}")
    found = {root: 0}
    edges: dict[GraphEdge, None] = {}
    truncated = False
    queue = [root]
    for key in queue:  # it grows while it is walked
        if found[key] == depth:
            break
        for edge, other in steps(graph, key, relations, side):
            if edge.dangling and not dangling:
                continue
            if other not in found:
                if limit and len(found) >= limit:
                    truncated = True
                    continue
                found[other] = found[key] + 1
                queue.append(other)
            edges[edge] = None
    return Neighbourhood(start, tuple(graph.nodes[key] for key in queue), tuple(edges), truncated)


def steps(
    graph: Graph, key: Key, relations: frozenset[str] | None, direction: str
) -> Iterator[tuple[GraphEdge, Key]]:
    """The edges at `key` with the memory at their other end, those out of it first. `relations`
    None = all; `direction` is `outbound`, `inbound` or `both`."""
    if direction != "inbound":
        for edge in graph.outbound(key):
            if relations is None or edge.relation in relations:
                yield edge, edge.target
    if direction != "outbound":
        for edge in graph.inbound(key):
            if relations is None or edge.relation in relations:
                yield edge, edge.source


def direction_of(name: str) -> str:
    """`outbound`, `inbound` or `both`, from that or from `out` and `in`."""
    if name not in DIRECTIONS:
        raise UnknownName.of("direction", name, DIRECTIONS)
    return DIRECTIONS[name]
