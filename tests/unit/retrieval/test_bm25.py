"""BM25 as one number on 0 to 1."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.retrieval.bm25 import coverage, idf, rank

COUNTS = st.lists(st.integers(0, 50), min_size=1, max_size=6)
WEIGHT = st.floats(0.01, 20)


@pytest.mark.case("mempalace-55")
class TestNothing:
    def test_a_text_without_any_of_the_words_scores_nothing(self) -> None:
        assert rank([0, 0], 40, 50, [1.0, 2.0]) == 0.0

    def test_an_empty_query_scores_nothing(self) -> None:
        assert rank([], 40, 50, []) == 0.0
        assert coverage([], []) == 0.0

    def test_an_empty_corpus_is_no_error(self) -> None:
        assert idf(0, 0) > 0
        assert rank([1], 0, 0, [idf(0, 0)]) > 0


def test_the_idf_is_lucenes() -> None:
    assert idf(100, 9) == pytest.approx(math.log(1 + 91.5 / 9.5))


def test_a_rarer_word_weighs_more_and_none_weighs_nothing() -> None:
    weights = [idf(1000, df) for df in (1, 10, 100, 1000, 2000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_the_score_is_the_share_of_what_could_be_reached() -> None:
    """One of two equal words, once, in a text of average length: ½ · 1 / (1 + k1)."""
    assert rank([1, 0], 50, 50, [1.0, 1.0]) == pytest.approx(0.5 / 2.2)


@given(tf=COUNTS, length=st.integers(1, 2000), weight=WEIGHT)
def test_it_lies_on_zero_to_one(tf: list[int], length: int, weight: float) -> None:
    assert 0 <= rank(tf, length, 100, [weight] * len(tf)) <= 1
    assert 0 <= coverage(tf, [weight] * len(tf)) <= 1


@given(tf=COUNTS, length=st.integers(1, 2000))
def test_more_of_a_word_never_scores_less_and_a_longer_text_never_more(
    tf: list[int], length: int
) -> None:
    weights = [1.0] * len(tf)
    base = rank(tf, length, 100, weights)
    assert rank([each + 1 for each in tf], length, 100, weights) >= base
    assert rank(tf, length + 100, 100, weights) <= base


@given(tf=COUNTS)
def test_it_does_not_depend_on_the_scale_of_the_weights(tf: list[int]) -> None:
    one = rank(tf, 80, 100, [1.0] * len(tf))
    assert rank(tf, 80, 100, [7.0] * len(tf)) == pytest.approx(one)


def test_coverage_is_the_share_of_the_weight_that_occurs() -> None:
    assert coverage([3, 0], [1.0, 3.0]) == 0.25
