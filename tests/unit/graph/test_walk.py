"""Walks around a memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue, NotFound, UnknownName
from camillo.graph.edges import Graph, graph_of
from camillo.graph.walk import Neighbourhood, walk
from camillo.model import RELATIONS, Edge, Key, Memory
from unit.graph.specimens import NAMES, graph, graphs, key, spelled

AROUND = graph("root ~a >b", "a ~c", "b", "c ~root", "d ^root @b")


def ids(view: Neighbourhood) -> str:
    return " ".join(node.key.id for node in view.nodes)


def edges(view: Neighbourhood) -> str:
    return " ".join(map(spelled, view.edges))


@pytest.mark.case("CP42")
@pytest.mark.parametrize(
    ("depth", "nodes", "links"),
    [
        (0, "root", ""),
        (1, "root a b c d", "root~a root>b c~root d^root"),
        (2, "root a b c d", "root~a root>b c~root d^root a~c"),
    ],
)
def test_nearest_come_first_and_edges_out_before_edges_in(
    depth: int, nodes: str, links: str
) -> None:
    view = walk(AROUND, key("root"), depth=depth)
    assert (ids(view), edges(view)) == (nodes, links)
    assert view.root.key == key("root")


@pytest.mark.case("CP42")
@pytest.mark.parametrize(
    ("direction", "nodes"),
    [
        ("outbound", "root a b"),
        ("out", "root a b"),
        ("inbound", "root c d"),
        ("in", "root c d"),
        ("both", "root a b c d"),
    ],
)
def test_a_direction_has_two_spellings(direction: str, nodes: str) -> None:
    assert ids(walk(AROUND, key("root"), direction=direction)) == nodes


def test_mentions_are_walked_only_when_asked_for() -> None:
    assert ids(walk(AROUND, key("b"))) == "b root"
    assert ids(walk(AROUND, key("b"), types=["mentions"])) == "b d"


@pytest.mark.case("CP42")
def test_what_is_gone_is_left_out_unless_asked_for() -> None:
    made = graph("a ~gone ~b", "b ~gone")
    assert edges(walk(made, key("a"))) == "a~b"
    view = walk(made, key("a"), depth=2, dangling=True)
    assert ids(view) == "a gone b"
    assert edges(view) == "a~gone a~b b~gone"


def test_circles_end() -> None:
    view = walk(graph("a ~b ~a", "b ~c", "c ~a"), key("a"), depth=1_000_000)
    assert ids(view) == "a b c"
    assert edges(view) == "a~b a~a c~a b~c"


def test_a_walk_is_bounded_and_says_so() -> None:
    star = graph(
        "hub " + " ".join(f"~s{number}" for number in range(50)), *map("s{}".format, range(50))
    )
    view = walk(star, key("hub"), limit=10)
    assert len(view.nodes) == 10
    assert len(view.edges) == 9
    assert view.truncated
    assert not walk(star, key("hub"), limit=51).truncated
    assert len(walk(star, key("hub"), limit=0).nodes) == 51


def test_a_long_chain_needs_no_deep_stack() -> None:
    chain = graph_of(
        Memory(f"m{number}", "", edges=(Edge("supersedes", f"m{number + 1}"),))
        for number in range(100_000)
    )
    view = walk(chain, key("m0"), depth=200_000, limit=0)
    assert len(view.nodes) == 100_000


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(NotFound, match="nope"):
        walk(AROUND, key("nope"))
    with pytest.raises(NotFound, match="project"):
        walk(AROUND, key("root", "project"))
    with pytest.raises(InvalidValue, match="-1"):
        walk(AROUND, key("root"), depth=-1)
    with pytest.raises(UnknownName, match="sideways"):
        walk(AROUND, key("root"), direction="sideways")
    with pytest.raises(UnknownName, match="zzz"):
        walk(AROUND, key("root"), types=["zzz"])


@given(graphs(), st.sampled_from(NAMES), st.integers(0, 5), st.sets(st.sampled_from(RELATIONS)))
def test_a_walk_finds_just_what_is_near_enough(
    made: Graph, start: str, depth: int, types: set[str]
) -> None:
    root = key(start)
    if root not in made.nodes or not made.nodes[root].present:
        return
    view = walk(made, root, depth=depth, types=types)
    near = within(made, root, depth, types)
    assert {node.key for node in view.nodes} == near
    assert len(view.nodes) == len(near)
    inner = within(made, root, depth - 1, types) if depth else set()
    assert set(view.edges) == {
        edge
        for edge in made.edges()
        if edge.relation in types and not edge.dangling and {edge.source, edge.target} & inner
    }


def within(made: Graph, root: Key, depth: int, types: set[str]) -> set[Key]:
    """By brute force: add both ends of every edge that touches the set, `depth` times."""
    found = {root}
    for _ in range(depth):
        touching = [
            {edge.source, edge.target}
            for edge in made.edges()
            if edge.relation in types and not edge.dangling and {edge.source, edge.target} & found
        ]
        found = found.union(*touching)
    return found
