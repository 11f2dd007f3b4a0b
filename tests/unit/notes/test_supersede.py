"""Superseding, said at either end, and taken back."""

from __future__ import annotations

import pytest

from camillo.errors import DuplicateLink, InvalidValue, SelfLink, UnknownTarget
from camillo.graph.edges import graph_of
from camillo.graph.folding import fold
from camillo.model import Edge, Key, Memory
from camillo.notes.supersede import revive, supersede, supersede_at_target
from unit.graph.specimens import key, memory


def everything(key: Key) -> bool:
    return True


def test_the_newer_one_says_so() -> None:
    assert supersede(memory("new ~x"), key("old"), everything).edges == (
        Edge("related-to", "x"),
        Edge("supersedes", "old"),
    )


@pytest.mark.case("OC28")
def test_or_the_older_one_does_and_keeps_the_rest() -> None:
    old = Memory("old", "body", title="T", pinned=True)
    assert supersede_at_target(old, key("new")) == old._replace(superseded_by="new")


def test_the_graph_folds_both_alike() -> None:
    for memories in (
        [supersede(memory("new"), key("old"), everything), memory("old")],
        [memory("new"), supersede_at_target(memory("old"), key("new"))],
    ):
        assert fold(graph_of(memories)).newest == {key("old"): key("new")}


def test_a_newer_name_takes_the_place_of_the_former() -> None:
    assert supersede_at_target(Memory("old", "", superseded_by="b"), key("c")).superseded_by == "c"


def test_not_itself() -> None:
    with pytest.raises(SelfLink):
        supersede(memory("a"), key("a"), everything)
    with pytest.raises(SelfLink):
        supersede_at_target(memory("a"), key("a"))


def test_not_twice() -> None:
    with pytest.raises(DuplicateLink):
        supersede(memory("new =old"), key("old"), everything)
    with pytest.raises(DuplicateLink):
        supersede_at_target(Memory("old", "", superseded_by="new"), key("new"))


def test_not_what_is_not_there() -> None:
    with pytest.raises(UnknownTarget):
        supersede(memory("new"), key("old"), lambda asked: asked == key("new"))


@pytest.mark.parametrize("other", [key("b", "project"), Key("n", "user", "", "b")])
def test_only_inside_a_scope(other: Key) -> None:
    with pytest.raises(InvalidValue, match="only inside a scope"):
        supersede(memory("a"), other, everything)
    with pytest.raises(InvalidValue, match="only inside a scope"):
        supersede_at_target(memory("a"), other)


def test_a_memory_of_a_session_is_named_from_its_session_only() -> None:
    inside = key("old", session="s")
    assert supersede(memory("new", session="s"), inside, everything).edges
    with pytest.raises(InvalidValue, match="session 's'"):
        supersede(memory("new"), inside, everything)


def test_it_can_be_taken_back_at_either_end() -> None:
    new, old = memory("new ~old =old"), Memory("old", "", superseded_by="new")
    assert revive(new, old) == (memory("new ~old"), Memory("old", ""))


def test_taking_back_what_was_never_said_changes_nothing() -> None:
    new, old = memory("new =x"), Memory("old", "", superseded_by="y")
    left = revive(new, old)
    assert left[0] is new
    assert left[1] is old
