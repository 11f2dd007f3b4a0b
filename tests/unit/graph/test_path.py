"""The shortest way from one memory to another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue, NotFound, UnknownName
from camillo.graph.edges import Graph, graph_of
from camillo.graph.path import Path, shortest_path
from camillo.model import Edge, Key, Memory
from unit.graph.specimens import NAMES, graph, graphs, key, spelled

WAYS = graph("a ~b =d", "b ~c", "c >d", "d ~e ~gone", "e", "lonely", "m @e")


def way(start: str, goal: str, **options: object) -> str:
    path = shortest_path(WAYS, key(start), key(goal), **options)  # type: ignore[arg-type]
    return path.reason if path.edges is None else " ".join(map(spelled, path.edges))


@pytest.mark.case("CP43")
def test_the_shortest_way_is_taken() -> None:
    assert way("a", "e") == "a=d d~e"
    assert way("a", "e", types=["related-to", "builds-on"]) == "a~b b~c c>d d~e"


@pytest.mark.case("CP43")
def test_from_itself_to_itself_is_no_edge() -> None:
    assert shortest_path(WAYS, key("a"), key("a")) == Path(())


@pytest.mark.case("CP43")
def test_no_way_and_too_long_a_way_are_told_apart() -> None:
    assert way("a", "lonely") == "unreachable"
    assert way("e", "a") == "unreachable"
    assert way("a", "e", depth=1) == "depth-exceeded"
    assert way("a", "e", depth=2) == "a=d d~e"


def test_a_goal_that_is_not_there_is_unreachable() -> None:
    assert way("a", "gone") == way("a", "never") == "unreachable"
    other_scope = shortest_path(WAYS, key("a"), key("e", "project"))
    assert other_scope.reason == "unreachable"


def test_mentions_count_unless_types_are_named() -> None:
    assert way("m", "e") == "m@e"
    assert way("m", "e", types=["related-to"]) == "unreachable"


def test_edges_can_be_walked_against_their_direction() -> None:
    assert way("e", "a", direction="in") == "d~e a=d"
    assert way("m", "a", direction="both") == "m@e d~e a=d"


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(NotFound, match="nope"):
        way("nope", "a")
    with pytest.raises(InvalidValue, match="0"):
        way("a", "b", depth=0)
    with pytest.raises(UnknownName, match="zzz"):
        way("a", "b", types=["zzz"])


def test_a_long_chain_needs_no_deep_stack() -> None:
    chain = graph_of(
        Memory(f"m{number}", "", edges=(Edge("builds-on", f"m{number + 1}"),))
        for number in range(100_000)
    )
    path = shortest_path(chain, key("m0"), key("m99999"), depth=100_000)
    assert path.edges is not None
    assert len(path.edges) == 99_999
    assert shortest_path(chain, key("m0"), key("m99999")).reason == "depth-exceeded"


@given(graphs(), st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 4))
def test_a_way_is_as_short_as_brute_force_finds_it(
    made: Graph, start: str, goal: str, depth: int
) -> None:
    if key(start) not in made.named(start):
        return
    path = shortest_path(made, key(start), key(goal), depth=depth)
    steps = distance(made, key(start), key(goal))
    if path.edges is None:
        assert path.reason == ("unreachable" if steps is None else "depth-exceeded")
        assert steps is None or steps > depth
    else:
        assert len(path.edges) == steps
        stops = [key(start), *(edge.target for edge in path.edges)]
        assert stops[-1] == key(goal)
        assert [edge.source for edge in path.edges] == stops[:-1]


def distance(made: Graph, start: Key, goal: Key) -> int | None:
    reached = {start}
    for steps in range(len(made.nodes) + 1):
        if goal in reached:
            return steps
        reached |= {e.target for e in made.edges() if e.source in reached and not e.dangling}
    return None
