"""Memories and graphs in a few characters, for the tests of this plane."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from camillo.graph.edges import Graph, GraphEdge, graph_of
from camillo.graph.walk import Neighbourhood, walk
from camillo.model import RELATIONS, Edge, Key, Memory

ARROW = {"~": "related-to", ">": "builds-on", "!": "contradicts", "^": "child-of"}
ARROW |= {"=": "supersedes", "@": "mentions"}


def key(id: str, scope: str = "user", session: str = "") -> Key:
    return Key("", scope, session, id)


def memory(spelled: str, **fields: Any) -> Memory:
    """`"a ~b =c"`: the memory a, related to b, superseding c."""
    id, *links = spelled.split()
    edges = tuple(Edge(ARROW[link[0]], link[1:]) for link in links)
    return Memory(id, fields.pop("body", ""), edges=edges, **fields)


def graph(*spelled: str) -> Graph:
    return graph_of(map(memory, spelled))


def spelled(edge: GraphEdge) -> str:
    sign = next(sign for sign, relation in ARROW.items() if relation == edge.relation)
    return f"{edge.source.id}{sign}{edge.target.id}"


NAMES = "abcdefg"


@st.composite
def graphs(draw: st.DrawFn, relations: tuple[str, ...] = RELATIONS) -> Graph:
    """Up to seven memories with any edges, some of them to what is not there."""
    ids = NAMES[: draw(st.integers(1, len(NAMES)))]
    edges = st.builds(Edge, st.sampled_from(relations), st.sampled_from(NAMES))
    return graph_of(
        Memory(
            id, "", edges=tuple(draw(st.lists(edges, max_size=4))), updated=draw(st.integers(0, 3))
        )
        for id in ids
    )


def two(
    first: str, second: str = "b", kind: str = "fact", relation: str = "builds-on"
) -> Neighbourhood:
    """`first` with an edge to `second`, and what lies around it."""
    edges = (Edge(relation, second),)
    made = graph_of([Memory(first, "", kind=kind, edges=edges), Memory(second, "", kind=kind)])
    return walk(made, key(first), types=[relation])
