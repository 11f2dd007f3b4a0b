"""Links between memories: what can be added, what can be taken away, what is refused and how."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from camillo.errors import (
    CamilloError,
    DuplicateLink,
    InvalidValue,
    NotFound,
    SelfLink,
    UnknownRelation,
    UnknownSource,
    UnknownTarget,
)
from camillo.model import Edge, Key, Memory
from camillo.notes.link import LINKABLE, add_edge, remove_edge
from unit.graph.specimens import key, memory


def there(*keys: Key) -> Callable[[Key], bool]:
    return keys.__contains__


A_AND_B = there(key("a"), key("b"))


@pytest.mark.parametrize("relation", LINKABLE)
def test_a_link_comes_after_the_others(relation: str) -> None:
    linked = add_edge(memory("a ~z"), relation, "b", A_AND_B)
    assert linked.edges == (Edge("related-to", "z"), Edge(relation, "b"))


def test_nothing_else_changes() -> None:
    before = Memory("a", "body", "user", "T", "s", pinned=True, extra={"frontmatter": {"x": 1}})
    after = add_edge(before, "builds-on", "b", A_AND_B)
    assert after._replace(edges=()) == before


@pytest.mark.case("CP39")
@pytest.mark.parametrize(
    ("relation", "target", "exists", "error", "code", "exit_code"),
    [
        ("mentions", "b", A_AND_B, UnknownRelation, "unknown-relation", 2),
        ("builds_on", "b", A_AND_B, UnknownRelation, "unknown-relation", 2),
        ("builds-on", "b", there(key("b")), UnknownSource, "unknown-source", 1),
        ("builds-on", "a", A_AND_B, SelfLink, "self-link", 2),
        ("builds-on", "c", A_AND_B, UnknownTarget, "unknown-target", 1),
        ("related-to", "b", A_AND_B, DuplicateLink, "duplicate-link", 2),
    ],
)
def test_what_is_wrong_has_its_own_error(
    relation: str,
    target: str,
    exists: Callable[[Key], bool],
    error: type[CamilloError],
    code: str,
    exit_code: int,
) -> None:
    with pytest.raises(error) as caught:
        add_edge(memory("a ~b"), relation, target, exists)
    assert type(caught.value) is error
    assert (caught.value.code, caught.value.exit_code) == (code, exit_code)
    assert isinstance(caught.value, NotFound if exit_code == 1 else InvalidValue)
    named = relation if error is UnknownRelation else "a" if error is UnknownSource else target
    assert repr(named) in str(caught.value) or named == "mentions"


@pytest.mark.promise(25)
def test_an_unknown_relation_names_the_nearest() -> None:
    with pytest.raises(UnknownRelation, match="did you mean 'builds-on'"):
        add_edge(memory("a"), "build-on", "b", A_AND_B)


@pytest.mark.case("CP39")
def test_a_second_supersedes_is_a_duplicate_too() -> None:
    with pytest.raises(DuplicateLink):
        add_edge(memory("a =b"), "supersedes", "b", A_AND_B)


def test_two_relations_to_one_memory_are_two_links() -> None:
    assert len(add_edge(memory("a ~b"), "builds-on", "b", A_AND_B).edges) == 2


def test_a_link_does_not_leave_its_scope() -> None:
    with pytest.raises(UnknownTarget, match="user scope"):
        add_edge(memory("a"), "builds-on", "b", there(key("a"), key("b", "project")))


def test_a_memory_of_a_session_may_be_linked_to_a_global_one_but_not_back() -> None:
    inside, everywhere = key("a", session="s"), key("b")
    exists = there(inside, everywhere)
    assert add_edge(memory("a", session="s"), "builds-on", "b", exists).edges
    with pytest.raises(UnknownTarget):
        add_edge(memory("b"), "builds-on", "a", exists)


class TestRemoving:
    def test_of_one_relation(self) -> None:
        left = remove_edge(memory("a ~b >b ~c"), "b", "related-to")
        assert left.edges == (Edge("builds-on", "b"), Edge("related-to", "c"))

    def test_of_all(self) -> None:
        assert remove_edge(memory("a ~b >b =b ~c"), "b").edges == (Edge("related-to", "c"),)

    def test_nothing_to_remove_gives_the_very_same_memory(self) -> None:
        before = memory("a ~b")
        assert remove_edge(before, "c") is before
        assert remove_edge(before, "b", "builds-on") is before

    def test_a_relation_that_only_this_file_has_can_be_removed(self) -> None:
        odd = Memory("a", "", edges=(Edge("inspired-by", "b"),))
        assert remove_edge(odd, "b", "inspired-by").edges == ()

    @pytest.mark.parametrize("relation", ["mentions", "inspired-by", ""])
    def test_an_unknown_relation_is_an_error(self, relation: str) -> None:
        with pytest.raises(UnknownRelation):
            remove_edge(memory("a ~b"), "b", relation)


def test_adding_and_removing_gives_what_was_there() -> None:
    before = memory("a ~z")
    assert remove_edge(add_edge(before, "builds-on", "b", A_AND_B), "b") == before
