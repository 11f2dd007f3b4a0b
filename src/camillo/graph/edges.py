"""The records of the graph: a node for each memory, an edge for each typed link between two.

`graph_of` builds it from memories, `graph_of_edges` from keys with their edges. A target is an id:
it is looked for in the namespace and scope of the memory that names it, in its session and then
among the global ones, so no edge crosses a scope. A target that is not there becomes a node with
`present=False` and its edges say `dangling`. Walking is in walk.py, path.py and folding.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from camillo.errors import NotFound, UnknownName
from camillo.model import GLOBAL, RELATIONS, Edge, Key, Memory
from camillo.records import NamedTuple

__all__ = [
    "AUTHORED",
    "MENTIONS",
    "SUPERSEDES",
    "Graph",
    "GraphEdge",
    "Node",
    "graph_of",
    "graph_of_edges",
    "node_of",
]

SUPERSEDES = "supersedes"
MENTIONS = "mentions"
AUTHORED = tuple(relation for relation in RELATIONS if relation != MENTIONS)

_LAST = {SUPERSEDES: 1, MENTIONS: 2}  # the order of a memory's edges; all else comes before


class Node(NamedTuple):
    """A memory as the graph sees it. `present` is False when something names it and it is gone."""

    key: Key
    kind: str = ""
    title: str = ""
    summary: str = ""
    updated: int = 0
    present: bool = True


class GraphEdge(NamedTuple):
    """`source` relation `target`. `dangling` when an end of it is not present."""

    source: Key
    relation: str
    target: Key
    dangling: bool = False


class Graph:
    """Nodes and the edges out of and into each.

    Nodes come in the order they were given, those that are not present last. The edges out of a
    node come in the order of its memory, relations first, then supersedes, then mentions; those
    into a node in the order of their sources. Of equal edges the first is kept.
    """

    def __init__(self, nodes: Iterable[Node], edges: Iterable[tuple[Key, str, Key]]) -> None:
        self.nodes: dict[Key, Node] = {node.key: node for node in nodes}
        self._outbound: dict[Key, list[GraphEdge]] = {}
        self._inbound: dict[Key, list[GraphEdge]] = {}
        for source, relation, target in dict.fromkeys(edges):
            source_end, target_end = self._end(source), self._end(target)
            there = source_end.present and target_end.present
            edge = GraphEdge(source, relation, target, not there)
            self._outbound.setdefault(source, []).append(edge)
            self._inbound.setdefault(target, []).append(edge)

    def outbound(self, key: Key) -> Sequence[GraphEdge]:
        return self._outbound.get(key, ())

    def inbound(self, key: Key) -> Sequence[GraphEdge]:
        return self._inbound.get(key, ())

    def edges(self) -> Iterator[GraphEdge]:
        for edges in self._outbound.values():
            yield from edges

    def dangling(self) -> list[GraphEdge]:
        """Edges with an end that is not there, for `doctor` and for pruning."""
        return [edge for edge in self.edges() if edge.dangling]

    def named(self, id: str) -> list[Key]:
        """Every present memory with this id: one for each scope, namespace and session it is in."""
        return [key for key, node in self.nodes.items() if key.id == id and node.present]

    def present(self, key: Key) -> Node:
        """The node of a memory that is there; NotFound otherwise."""
        node = self.nodes.get(key)
        if node is None or not node.present:
            raise NotFound(f"no memory {key.id!r} in the {key.scope} scope")
        return node

    def check_relations(self, names: Iterable[str]) -> frozenset[str]:
        """`names` as a set; UnknownName for one that is no relation and on no edge."""
        wanted = frozenset(names)
        unknown = wanted.difference(RELATIONS)
        if unknown:
            known = {*RELATIONS, *(edge.relation for edge in self.edges())}
            for name in sorted(unknown - known):
                raise UnknownName.of("relation", name, known)
        return wanted

    def _end(self, key: Key) -> Node:
        node = self.nodes.get(key)
        if node is None:
            node = self.nodes[key] = Node(key, present=False)
        return node


def graph_of(
    memories: Iterable[Memory], mentions: Callable[[str], Iterable[str]] | None = None
) -> Graph:
    """The graph of `memories`: their edges, `superseded_by` as an edge from the newer one, and
    what `mentions` finds in their bodies. A mention of itself is no edge."""
    memories = list(memories)
    nodes = {memory.key: node_of(memory) for memory in memories}
    return Graph(nodes.values(), _edges_of(memories, nodes, mentions))


def graph_of_edges(edges: Mapping[Key, Iterable[Edge]]) -> Graph:
    """The graph of keys and their edges, where nothing else is known of the memories."""
    nodes = {key: Node(key) for key in edges}
    found = (
        (key, edge.relation, _resolve(key, edge.target, nodes))
        for key, own in edges.items()
        for edge in _in_order(own)
    )
    return Graph(nodes.values(), found)


def node_of(memory: Memory) -> Node:
    return Node(memory.key, memory.kind, memory.title, memory.summary, memory.updated)


def _edges_of(
    memories: Iterable[Memory],
    known: Mapping[Key, Node],
    mentions: Callable[[str], Iterable[str]] | None,
) -> Iterator[tuple[Key, str, Key]]:
    for memory in memories:
        key = memory.key
        own = list(memory.edges)
        if mentions is not None:
            own += [Edge(MENTIONS, name) for name in mentions(memory.body)]
        for relation, name in _in_order(own):
            target = _resolve(key, name, known)
            if relation != MENTIONS or target != key:
                yield key, relation, target
        if memory.superseded_by:
            yield _resolve(key, memory.superseded_by, known), SUPERSEDES, key


def _in_order(edges: Iterable[Edge]) -> list[Edge]:
    return sorted(edges, key=lambda edge: _LAST.get(edge.relation, 0))


def _resolve(source: Key, name: str, known: Mapping[Key, Node]) -> Key:
    """The memory that `source` means by `name`. A global memory never means one of a session."""
    own = Key(source.namespace, source.scope, source.session, name)
    if source.session == GLOBAL or own in known:
        return own
    everywhere = own._replace(session=GLOBAL)
    return everywhere if everywhere in known else own
