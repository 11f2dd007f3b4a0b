"""Numbered lines."""

from __future__ import annotations

import pytest

from camillo.text.lines import numbered


@pytest.mark.case("mempalace-61")
@pytest.mark.parametrize(
    ("text", "first", "last", "shown"),
    [
        ("a\nb\nc\nd", 2, 3, "[2] b\n[3] c"),
        ("a\nb", 1, 2, "[1] a\n[2] b"),
        ("a\nb", 2, 99, "[2] b"),
        ("a\nb", 5, 9, ""),
        ("a\nb", 2, 1, ""),
        ("a\nb", -3, 1, "[1] a"),
        ("a\nb", 0, 0, ""),
        ("", 1, 5, ""),
        ("a\r\nb\r\n", 1, 2, "[1] a\n[2] b"),
        ("a\n\nc", 1, 3, "[1] a\n[2] \n[3] c"),
    ],
)
def test_a_range_of_lines(text: str, first: int, last: int, shown: str) -> None:
    assert numbered(text, first, last) == shown


@pytest.mark.case("mempalace-61")
def test_a_line_that_is_numbered_already_stays_and_counts() -> None:
    assert numbered("a\n[7] b\nc", 1, 3) == "[1] a\n[7] b\n[3] c"
