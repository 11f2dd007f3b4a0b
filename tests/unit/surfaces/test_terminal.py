"""What reaches a terminal."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.surfaces.render import json_text
from camillo.surfaces.terminal import Style, clean, clean_line, cut, pad, width_of, wrapped

ANY_TEXT = st.text(st.characters(exclude_categories=[]))
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def obeyed(text: str) -> list[str]:
    return [c for c in text if c in BIDI or (unicodedata.category(c) == "Cc" and c not in "\n\t")]


@given(ANY_TEXT)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    assert obeyed(clean(text)) == []
    assert not set(clean_line(text)) & {"\n", "\t", "\r", "\u2028", "\u2029"}


def test_escapes_are_shown_and_ordinary_text_stays() -> None:
    assert clean("a\x1b[2Jb\u202ec\x9b\x00") == "a\\x1b[2Jb\\u202ec\\x9b\\x00"
    assert clean("部署 naïve\t👩‍👩‍👧\r\nx") == "部署 naïve\t👩‍👩‍👧\nx"


@given(ANY_TEXT)
def test_json_is_harmless_and_reads_back_the_same(text: str) -> None:
    shown = json_text({"results": [text]})
    assert obeyed(shown) == []
    assert json.loads(shown) == {"results": [text]}


@given(ANY_TEXT)
def test_json_of_broken_surrogates_reads_back_after_the_stream(text: str) -> None:
    written = json_text({"a": text}).encode("utf-8", "backslashreplace")
    assert json.loads(written) == {"a": text}


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("部署", 4), ("e\u0301", 1), ("ｱ", 1)])
def test_width_counts_columns(text: str, width: int) -> None:
    assert width_of(text) == width


@given(st.text(), st.integers(2, 20))
def test_cut_and_pad_keep_to_the_width(text: str, width: int) -> None:
    shown = cut(text, width)
    assert width_of(shown) <= width
    assert width_of(pad(shown, width)) == width


@given(st.text(st.characters(exclude_characters=" ")), st.integers(2, 20))
def test_wrapping_keeps_every_character_and_the_width(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join(lines) == text
    assert all(width_of(line) <= width for line in lines)


def test_lines_break_at_spaces() -> None:
    assert wrapped("the theatre had seven gates", 12) == ["the theatre", "had seven", "gates"]


def test_without_color_there_are_no_escapes() -> None:
    assert Style(color=False).bold("x") == "x"
    assert Style(color=True).bold("x") == "\x1b[1mx\x1b[0m"
