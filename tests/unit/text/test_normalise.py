"""What counts as the same text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.normalise import normalise


@pytest.mark.promise(30)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("seven gates", "  seven\n\tgates \r\n"),
        ("caf\u00e9", "cafe\u0301"),
        ("七 门", "七\u3000门"),
        ("a b", "a\u00a0b"),
    ],
)
def test_white_space_and_normal_form_do_not_count(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.promise(30)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("seven gates", "Seven gates"),
        ("seven gates", "seven gate"),
        ("sevengates", "seven gates"),
        ("七门", "七 门"),
        ("x1", "x\u00b9"),
        ("gates.", "gates"),
    ],
)
def test_everything_else_does(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@given(text=st.text())
def test_it_is_stable_and_in_composed_form(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert once == once.strip()
