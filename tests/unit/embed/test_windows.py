"""Windows of long texts, and strings that are not quite text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.embed.windows import averaged, unit, valid, windows

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=40)


@given(st.lists(st.integers(), max_size=300), st.integers(1, 50))
def test_windows_joined_are_the_whole(whole: list[int], limit: int) -> None:
    parts = windows(whole, limit)
    assert [each for part in parts for each in part] == whole
    assert all(len(part) <= limit for part in parts)


@given(st.integers(1, 300), st.integers(1, 50))
def test_windows_are_as_equal_as_can_be(size: int, limit: int) -> None:
    sizes = [len(part) for part in windows([0] * size, limit)]
    assert max(sizes) - min(sizes) <= 1
    assert len(sizes) == -(-size // limit)


def test_nothing_is_one_empty_window() -> None:
    assert windows("", 10) == [""]


@given(ANY_TEXT)
def test_any_string_becomes_text(text: str) -> None:
    assert valid(text).encode().decode() == valid(text)


@given(st.text(max_size=40))
def test_text_stays_as_it_is(text: str) -> None:
    assert valid(text) == text


def test_a_pair_of_surrogates_becomes_its_character() -> None:
    assert valid("\ud83d\ude00 \ud83d") == "😀 \ufffd"


def test_windows_are_averaged_by_their_length() -> None:
    vectors = np.array([[1, 0], [0, 1], [5, 5]], np.float32)
    found = averaged(vectors, [3, 1, 9], [2, 1])
    assert found.tolist() == [[0.75, 0.25], [5, 5]]


def test_a_zero_vector_stays_one() -> None:
    found = unit(np.array([[3, 4], [0, 0]], np.float32))
    assert found == pytest.approx(np.array([[0.6, 0.8], [0, 0]]))
