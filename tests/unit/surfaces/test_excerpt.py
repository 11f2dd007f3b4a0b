"""The choice of lines to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.surfaces.excerpt import excerpt, query_words, words_pattern


def test_the_lines_with_the_words_are_chosen() -> None:
    lines = [f"line {n}" for n in range(20)]
    lines[13] = "we chose JWT for sessions"
    start, end = excerpt(lines, query_words("jwt sessions"), 3)
    assert 13 in range(start, end)


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    lines = ["the the", "the", "the", "the", "x", "x", "jwt"]
    start, end = excerpt(lines, query_words("the jwt"), 2)
    assert 6 in range(start, end)


def test_without_a_match_the_beginning_is_shown() -> None:
    assert excerpt(list("abcdef"), query_words("zzz"), 2) == (0, 2)


def test_words_without_spaces_match_in_part() -> None:
    lines = ["今天天气很好", "我们讨论了部署方案", "没有别的"]
    start, end = excerpt(lines, query_words("新的部署计划"), 1)
    assert (start, end) == (1, 2)


def test_empty_lines_at_the_ends_are_left_out() -> None:
    assert excerpt(["", "a", "", "b", " "], [], 9) == (1, 4)


@given(st.lists(st.text()), st.text(), st.integers(1, 8))
def test_the_range_lies_within_the_lines(lines: list[str], query: str, limit: int) -> None:
    start, end = excerpt(lines, query_words(query), limit)
    assert 0 <= start <= end <= len(lines)
    assert end - start <= limit


@pytest.mark.parametrize("query", ["", "?!", "   "])
def test_a_query_without_words_marks_nothing(query: str) -> None:
    assert words_pattern(query_words(query)) is None
