"""What counts as one character for a reader is never cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.graphemes import is_boundary, next_cut, safe_cut

WHOLE = {
    "cr lf": "\r\n",
    "combining acute": "e\u0301",
    "two marks": "a\u0323\u0302",
    "variation selector": "\u2764\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "skin tone": "\U0001f44d\U0001f3fd",
    "family joined by zwj": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "flag": "\U0001f1eb\U0001f1f7",
    "flag made of tags": "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    "hangul jamo": "\u1112\u1161\u11ab",
    "hangul syllable and final": "\ud558\u11ab",
    "thai vowel after": "\u0e01\u0e33",
    "thai vowel before and tone": "\u0e40\u0e01\u0e48",
    "lao vowel before": "\u0ec0\u0e81",
    "devanagari vowel sign": "\u0915\u093f",
    "devanagari conjunct": "\u0915\u094d\u0937",
    "conjunct with joiner": "\u0915\u094d\u200d\u0937\u093f",
    "arabic number sign": "\u0600\u0661",
    "halfwidth voiced kana": "\uff76\uff9e",
}
APART = {
    "letters": "ab",
    "lf cr": "\n\r",
    "han": "\u4e2d\u6587",
    "hangul syllables": "\ud55c\uad6d",
    "final and leading jamo": "\u11ab\u1112",
    "thai consonants": "\u0e01\u0e02",
    "devanagari letters": "\u0915\u0937",
    "emoji": "\U0001f600\U0001f600",
    "invalid bytes": "\udc80\udc81",
    "zwj before a newline": "\u200d\n",
}


@pytest.mark.promise(32)
@pytest.mark.parametrize("cluster", WHOLE.values(), ids=WHOLE.keys())
def test_a_cluster_has_no_boundary_inside(cluster: str) -> None:
    text = f"x{cluster}y"
    inside = range(2, 1 + len(cluster))
    assert [i for i in inside if is_boundary(text, i)] == []
    assert {safe_cut(text, i) for i in inside} == {1}
    assert {next_cut(text, i, len(text)) for i in inside} == {1 + len(cluster)}


@pytest.mark.parametrize("pair", APART.values(), ids=APART.keys())
def test_neighbours_may_be_parted(pair: str) -> None:
    assert is_boundary(pair, 1)


def test_flags_in_a_row_are_parted_in_pairs() -> None:
    flags = "\U0001f1eb\U0001f1f7" * 5
    assert [i for i in range(len(flags) + 1) if is_boundary(flags, i)] == list(range(0, 11, 2))


def test_flags_are_counted_from_the_boundary_that_is_known() -> None:
    flags = "\U0001f1eb" * 5
    assert safe_cut(flags, 4, low=1) == 3


def test_a_cut_goes_no_lower_than_the_boundary_that_is_known() -> None:
    assert safe_cut("a" + "\u0301" * 10, 8, low=3) == 3


def test_a_search_forward_ends_at_its_limit() -> None:
    assert next_cut("a" + "\u0301" * 10, 2, high=7) == 7


@given(st.text(max_size=40), st.integers(0, 40))
def test_a_safe_cut_is_a_boundary_and_moves_back_only(text: str, i: int) -> None:
    i = min(i, len(text))
    cut = safe_cut(text, i)
    assert cut <= i
    assert is_boundary(text, cut)
