"""One line for a text without a summary: from its first words, never from headings or code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.graphemes import is_boundary
from camillo.text.summary import derived, head

FAMILY = "👨‍👩‍👧"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("", "name"),
        ("\n \r\n# A\n## B\n", "name"),
        ("# A\n\none\n\ntwo   words\t\u3000here\r\n", "one two words here"),
        ("```\ncode\n```\ntext", "text"),
        ("```py\ncode\n```\n~~~\n```\n~~~~\ntext", "text"),
        ("````\n```\ncode\n````\ntext", "text"),
        ("  ```\ncode", "name"),
        ("```\n```x\ncode\n```\ntext", "text"),
        ("`` `a` `` and ```b``` are words", "`` `a` `` and ```b``` are words"),
        ("x" * 91 + "\nmore", "x" * 91),
        ("x" * 90 + "\nmore", "x" * 90 + " more"),
        ("x" * 140, "x" * 140),
        ("x" * 141, "x" * 139 + "…"),
    ],
)
def test_the_first_words_are_the_line(body: str, line: str) -> None:
    assert derived(body, "name") == line


def test_lengths_are_those_of_utf_16() -> None:
    assert derived("👍" * 70, "n") == "👍" * 70
    assert derived("👍" * 71, "n") == "👍" * 69 + "…"
    assert derived("👍" * 46 + "\nmore", "n") == "👍" * 46


def test_what_a_reader_sees_as_one_is_not_cut() -> None:
    assert head("a" + FAMILY * 9, 10) == "a" + FAMILY
    assert head("e\u0301" * 30, 11) == "e\u0301" * 5
    assert head("abc", 3) == "abc"
    assert head("e" + "\u0301" * 50, 10) == "e" + "\u0301" * 9


@given(st.text(), st.integers(1, 60))
def test_a_head_is_a_beginning_of_at_most_that_length(text: str, most: int) -> None:
    found = head(text, most)
    assert text.startswith(found)
    assert _units(found) <= most
    assert is_boundary(text, len(found)) or not any(
        is_boundary(text, at) for at in range(1, len(found))
    )


@given(st.text(st.sampled_from("a#`~ \n\t|👍e\u0301中\u3000"), max_size=400))
def test_it_is_one_line_of_at_most_140(body: str) -> None:
    line = derived(body, "name")
    assert line
    assert "\n" not in line
    assert _units(line) <= 140


def test_a_long_run_of_blanks_costs_little() -> None:
    assert derived(" " * 2_000_000 + "x" + " " * 2_000_000 + "y", "n") == "x y"
