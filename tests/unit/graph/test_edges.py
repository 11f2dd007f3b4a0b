"""The records of the graph."""

from __future__ import annotations

import pytest

from camillo.errors import NotFound, UnknownName
from camillo.graph.edges import graph_of, graph_of_edges
from camillo.model import Edge
from unit.graph.specimens import graph, key, memory, spelled


def test_edges_are_found_from_both_ends() -> None:
    made = graph("a ~b >c", "b", "c ^b")
    assert [spelled(edge) for edge in made.outbound(key("a"))] == ["a~b", "a>c"]
    assert [spelled(edge) for edge in made.inbound(key("b"))] == ["a~b", "c^b"]
    assert made.outbound(key("b")) == made.inbound(key("nowhere")) == ()


def test_relations_come_before_supersedes_and_mentions_last() -> None:
    made = graph("a @b =c ~d", "b", "c", "d")
    assert [spelled(edge) for edge in made.outbound(key("a"))] == ["a~d", "a=c", "a@b"]


def test_a_target_that_is_gone_is_kept_and_marked() -> None:
    made = graph("a ~b ~gone", "b")
    assert [spelled(edge) for edge in made.dangling()] == ["a~gone"]
    assert not made.nodes[key("gone")].present
    assert made.nodes[key("b")].present
    assert made.named("gone") == []


def test_what_comes_later_is_no_dangling_target() -> None:
    assert graph("a ~b", "b").dangling() == []


def test_an_edge_said_twice_is_one() -> None:
    assert [spelled(edge) for edge in graph("a ~b ~b >b", "b").edges()] == ["a~b", "a>b"]


def test_names_may_be_equal_in_two_scopes_and_edges_stay_in_theirs() -> None:
    made = graph_of(
        [memory("a ~b"), memory("b"), memory("a", scope="project"), memory("c ~b", scope="project")]
    )
    assert made.named("a") == [key("a"), key("a", "project")]
    assert [edge.target.scope for edge in made.edges()] == ["user", "project"]
    assert [edge.dangling for edge in made.edges()] == [False, True]


def test_a_session_reaches_global_memories_and_no_other_session() -> None:
    made = graph_of(
        [
            memory("a ~b ~c ~d", session="one"),
            memory("b", session="one"),
            memory("b"),
            memory("c"),
            memory("c ~a"),
            memory("d", session="two"),
        ]
    )
    own = made.outbound(key("a", session="one"))
    assert [(edge.target.session, edge.dangling) for edge in own] == [
        ("one", False),
        ("", False),
        ("one", True),
    ]
    assert [edge.dangling for edge in made.outbound(key("c"))] == [True]


def test_a_namespace_is_a_wall() -> None:
    made = graph_of([memory("a ~b", namespace="one"), memory("b", namespace="two")])
    assert [edge.dangling for edge in made.edges()] == [True]


def test_superseded_by_is_an_edge_from_the_newer_one() -> None:
    made = graph_of([memory("old", superseded_by="new"), memory("new")])
    assert [spelled(edge) for edge in made.edges()] == ["new=old"]
    both = graph_of([memory("old", superseded_by="new"), memory("new =old")])
    assert [spelled(edge) for edge in both.edges()] == ["new=old"]


def test_a_newer_one_that_is_gone_is_marked_too() -> None:
    made = graph_of([memory("old", superseded_by="gone")])
    assert [spelled(edge) for edge in made.dangling()] == ["gone=old"]


def test_mentions_are_read_from_the_body_and_not_of_itself() -> None:
    made = graph_of([memory("a ~b", body="b a c"), memory("b")], str.split)
    assert [spelled(edge) for edge in made.edges()] == ["a~b", "a@b", "a@c"]


def test_a_graph_of_bare_edges() -> None:
    made = graph_of_edges({key("a"): [Edge("related-to", "b")], key("b"): []})
    assert [spelled(edge) for edge in made.edges()] == ["a~b"]
    assert made.dangling() == []


def test_what_is_not_there_is_not_found() -> None:
    made = graph("a ~gone")
    for id in ("gone", "never"):
        with pytest.raises(NotFound, match=id):
            made.present(key(id))


def test_an_unknown_relation_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'related-to'"):
        graph("a").check_relations(["relatedto"])


def test_a_relation_of_somebodys_own_is_known_where_it_is_used() -> None:
    made = graph_of_edges({key("a"): [Edge("depends-on", "b")]})
    assert made.check_relations(["depends-on"]) == {"depends-on"}
    with pytest.raises(UnknownName):
        graph("a").check_relations(["depends-on"])
