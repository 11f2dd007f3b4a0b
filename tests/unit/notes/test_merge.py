"""A rewrite keeps what it does not change, and says what it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue, UnknownName
from camillo.model import Edge, Memory, Place
from camillo.notes.merge import merge

NOW = Memory(
    "gate", "It is of wood.", "project", "The gate", "Of wood", scope="project",
    place=Place("shop", "doors", "h"),
    edges=(Edge("related-to", "wall"), Edge("supersedes", "old")),
    load_when=("doors",), tags=("a",), aliases=("door",), pinned=True, trust="normal",
    created=10, updated=20, superseded_by="newer",
    extra={"frontmatter": {"colour": "red", "size": 3}, "dialect": "camillo"},
)  # fmt: skip


@pytest.mark.promise(24)
def test_a_new_one_is_stored() -> None:
    status, made = merge(None, {"id": "a", "body": "b", "room": "doors", "pinned": True}, 5)
    assert status == "stored"
    assert made == Memory("a", "b", place=Place("", "doors"), pinned=True, created=5, updated=5)


@pytest.mark.promise(24)
def test_a_change_is_updated() -> None:
    status, made = merge(NOW, {"body": "It is of iron."}, 99)
    assert (status, made.body, made.updated, made.created) == ("updated", "It is of iron.", 99, 10)


@pytest.mark.promise(24)
def test_the_same_again_is_deduplicated_and_nothing_moves() -> None:
    for given_ in ({}, {"body": NOW.body, "title": NOW.title}, NOW._asdict()):
        fields = {k: v for k, v in given_.items() if k not in ("created", "updated")}
        status, made = merge(NOW, fields, 99)
        assert status == "deduplicated"
        assert made is NOW


@pytest.mark.promise(30)
def test_other_white_space_is_another_body() -> None:
    assert merge(NOW, {"body": NOW.body + "\n"}, 99).status == "updated"


@pytest.mark.case("CP37", "OC25", "OC27")
def test_what_is_not_given_stays() -> None:
    made = merge(NOW, {"body": "new"}, 99).memory
    assert made == NOW._replace(body="new", updated=99)


def test_what_is_given_as_nothing_is_cleared() -> None:
    made = merge(NOW, {"pinned": False, "load_when": (), "summary": "", "edges": ()}, 99).memory
    assert (made.pinned, made.load_when, made.summary, made.edges) == (False, (), "", ())
    assert made.tags == ("a",)


def test_parts_of_a_place_change_alone() -> None:
    assert merge(NOW, {"room": "walls"}, 9).memory.place == Place("shop", "walls", "h")
    moved = merge(NOW, {"place": Place("x"), "hall": "y"}, 9).memory
    assert moved.place == Place("x", "", "y")


def test_keys_without_a_field_stay_and_change_one_by_one() -> None:
    made = merge(NOW, {"extra": {"frontmatter": {"size": 4, "new": []}, "dialect": None}}, 9)
    assert made.memory.extra == {"frontmatter": {"colour": "red", "size": 4, "new": []}}
    assert NOW.extra["frontmatter"]["size"] == 3, "the former memory is not touched"


@pytest.mark.promise(25)
def test_an_unknown_field_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'summary'"):
        merge(NOW, {"sumary": "x"}, 9)
    for name in ("created", "updated"):
        with pytest.raises(UnknownName):
            merge(NOW, {name: 1}, 9)


@pytest.mark.parametrize(
    ("name", "value"), [("id", "b"), ("scope", "user"), ("namespace", "n"), ("session", "s")]
)
def test_a_rewrite_never_makes_it_another_memory(name: str, value: str) -> None:
    with pytest.raises(InvalidValue, match=f"{name} of 'gate'"):
        merge(NOW, {name: value}, 9)


@pytest.mark.parametrize("given_", [{}, {"id": "a"}, {"body": "b"}])
def test_a_new_one_needs_a_name_and_a_body(given_: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match="a new memory needs"):
        merge(None, given_, 9)


fields = st.fixed_dictionaries(
    {},
    optional={
        "body": st.text(max_size=5),
        "title": st.text(max_size=5),
        "pinned": st.booleans(),
        "tags": st.lists(st.text(max_size=2), max_size=2).map(tuple),
        "room": st.text(max_size=3),
        "extra": st.dictionaries(st.sampled_from("xyz"), st.none() | st.integers(), max_size=3),
    },
)


@given(fields)
def test_a_rewrite_done_twice_is_done_once(fields: dict[str, Any]) -> None:
    once = merge(NOW, fields, 99).memory
    assert merge(once, fields, 100) == ("deduplicated", once)


@given(fields)
def test_only_what_is_given_changes(fields: dict[str, Any]) -> None:
    made = merge(NOW, fields, 99).memory
    changing = {"place" if name == "room" else name for name in fields} | {"updated"}
    for name in Memory._fields:
        if name not in changing:
            assert getattr(made, name) == getattr(NOW, name)
