"""Mentions in a body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.mentions import mentions


@pytest.mark.case("CP26")
def test_only_double_brackets_around_a_name_mention() -> None:
    body = "[[a]] [[a]] [[B]] [[[c]]] [[ d ]] [[e-f]] [[g|h]] [[i#j]] [[中]]"
    assert mentions(body) == ("a",)


@pytest.mark.case("CP26")
def test_code_is_searched_too() -> None:
    assert mentions("`[[a]]`\n```\n[[b_1]]\n```\n") == ("a", "b_1")


@given(st.lists(st.from_regex(r"[a-z0-9_]+", fullmatch=True)))
def test_each_name_comes_once_in_the_order_of_the_body(names: list[str]) -> None:
    body = " and ".join(f"[[{name}]]" for name in names)
    assert mentions(body) == tuple(dict.fromkeys(names))


@given(st.text("[]ab A\n|"))
def test_a_mention_stands_in_the_body(body: str) -> None:
    for name in mentions(body):
        assert f"[[{name}]]" in body
