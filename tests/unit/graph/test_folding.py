"""Chains of supersedes."""

from __future__ import annotations

from hypothesis import given

from camillo.graph.edges import Graph, graph_of
from camillo.graph.folding import fold
from camillo.model import Edge, Key, Memory
from unit.graph.specimens import graph, graphs, key, memory


def standing(made: Graph) -> dict[str, str]:
    return {old.id: new.id for old, new in fold(made).newest.items()}


def test_a_chain_folds_to_its_newest() -> None:
    assert standing(graph("c =b", "b =a", "a")) == {"b": "c", "a": "c"}


def test_either_end_may_say_it() -> None:
    made = graph_of([memory("a", superseded_by="b"), memory("b", superseded_by="c"), memory("c")])
    assert standing(made) == {"b": "c", "a": "c"}


def test_two_that_supersede_each_other_are_reported_and_stay_visible() -> None:
    folding = fold(graph("a =b", "b =a", "c"))
    assert folding.cycles == ((key("a"), key("b")),)
    assert folding.newest == {}


def test_a_longer_circle_and_one_of_itself_too() -> None:
    folding = fold(graph("z =z", "a =b", "b =c", "c =a"))
    assert folding.cycles == ((key("a"), key("b"), key("c")), (key("z"),))
    assert folding.newest == {}


def test_what_a_circle_supersedes_folds_to_a_visible_member() -> None:
    assert standing(graph("a =b =old", "b =a", "old =older", "older")) == {"old": "a", "older": "a"}


def test_something_newer_settles_a_circle() -> None:
    folding = fold(graph("a =b", "b =a", "new =a"))
    assert folding.newest == {key("a"): key("new"), key("b"): key("new")}
    assert folding.cycles == ((key("a"), key("b")),)


def test_of_two_newer_ones_the_last_updated_stands() -> None:
    made = graph_of([memory("b =a", updated=1), memory("c =a", updated=2), memory("a", updated=3)])
    assert standing(made) == {"a": "c"}
    assert standing(graph("c =a", "b =a", "a")) == {"a": "b"}


def test_what_is_gone_supersedes_nothing() -> None:
    assert standing(graph_of([memory("a", superseded_by="gone"), memory("b =gone")])) == {}


def test_scopes_fold_apart() -> None:
    made = graph_of([memory("b =a"), memory("a"), memory("a", scope="project")])
    assert fold(made).newest == {key("a"): key("b")}


def test_hits_fold_in_their_order_and_once() -> None:
    folding = fold(graph("c =b", "b =a", "a", "x"))
    assert folding.fold([key("a"), key("x"), key("c"), key("b")]) == [key("c"), key("x")]
    assert folding.hidden(key("a"))
    assert not folding.hidden(key("c"))


def test_a_chain_of_100_000_needs_no_deep_stack() -> None:
    made = graph_of(
        Memory(f"m{number}", "", edges=(Edge("supersedes", f"m{number + 1}"),))
        for number in range(100_000)
    )
    folding = fold(made)
    assert len(folding.newest) == 99_999
    assert set(folding.newest.values()) == {key("m0")}
    assert folding.cycles == ()


def test_a_circle_of_100_000_needs_no_deep_stack() -> None:
    made = graph_of(
        Memory(f"m{number}", "", edges=(Edge("supersedes", f"m{(number + 1) % 100_000}"),))
        for number in range(100_000)
    )
    folding = fold(made)
    assert [len(group) for group in folding.cycles] == [100_000]
    assert folding.newest == {}


@given(graphs(("supersedes", "related-to")))
def test_folding_agrees_with_reachability(made: Graph) -> None:
    folding = fold(made)
    above = {node: newer_than(made, node) for node in made.nodes}
    circling = {node for node in made.nodes if node in above[node]}
    assert {member for group in folding.cycles for member in group} == circling
    for group in folding.cycles:
        assert all(set(group) == {o for o in above[m] if m in above[o]} for m in group)
    for node in made.nodes:
        hidden = any(node not in above[newer] for newer in above[node])
        assert folding.hidden(node) == hidden
        stands = folding.stands_for(node)
        assert not folding.hidden(stands)
        assert stands in above[node] or not hidden


def newer_than(made: Graph, node: Key) -> set[Key]:
    """Everything that supersedes `node`, directly or not; itself when in a circle."""
    found: set[Key] = set()
    for _ in made.nodes:
        found |= {
            edge.source
            for edge in made.edges()
            if edge.relation == "supersedes" and not edge.dangling and edge.target in found | {node}
        }
    return found
