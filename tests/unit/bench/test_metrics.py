"""The measures, held to values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.bench.metrics import (
    answer_score,
    cutoff_scores,
    evidence_share,
    fitting,
    mean,
    percentile,
    reciprocal_rank,
)


def test_cutoffs_count_what_is_among_the_first_k() -> None:
    scores = cutoff_scores(["x", "a", "y", "b"], {"a", "b", "c"}, (1, 2, 4))
    assert (scores["any@1"], scores["any@2"], scores["any@4"]) == (0, 1, 1)
    assert (scores["frac@1"], scores["frac@2"]) == (0, pytest.approx(1 / 3))
    assert scores["frac@4"] == pytest.approx(2 / 3)
    assert scores["all@4"] == 0
    assert cutoff_scores(["a", "x", "b"], {"a", "b"}, (3,))["all@3"] == 1


def test_ndcg_is_measured_against_all_relevant_units_not_those_found() -> None:
    got = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    scores = cutoff_scores(["x", "a", "y", "b"], {"a", "b", "c"}, (10,))
    assert scores["ndcg@10"] == pytest.approx(got / ideal)


def test_ndcg_of_a_perfect_start_is_one_even_when_more_is_relevant_than_k() -> None:
    assert cutoff_scores(["a", "b"], {"a", "b", "c"}, (2,))["ndcg@2"] == 1


def test_the_reciprocal_rank_is_of_the_first_relevant_unit() -> None:
    assert reciprocal_rank(["x", "y", "a", "b"], {"b", "a"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x"], {"a"}) == 0
    assert reciprocal_rank([], {"a"}) == 0


def test_evidence_counts_only_leading_units_that_fit_whole() -> None:
    lengths = {"a": 4, "b": 6, "c": 1}.__getitem__
    assert fitting("abc", lengths, 10) == 2
    assert fitting("abc", lengths, 9) == 1
    assert fitting("abc", lengths, 3) == 0
    # c would fit behind a, but b stands before it and does not.
    assert evidence_share("abc", {"a", "c"}, lengths, 9) == 0.5
    assert evidence_share("abc", {"a", "c"}, lengths, 11) == 1


def test_an_answer_is_found_whatever_its_case() -> None:
    assert answer_score(["He lives in the STRASSE"], ["straße"]) == 1
    assert answer_score(["one", "two"], ["three", "TWO"]) == 1
    assert answer_score(["one"], ["two"]) == 0
    assert answer_score([], ["two"]) == 0


def test_a_mean_of_nothing_is_none() -> None:
    assert mean([]) == (0, None, None, None)


def test_shares_have_wilsons_interval() -> None:
    # Newcombe 1998, table I: 81 of 263.
    found = mean([1.0] * 81 + [0.0] * 182)
    assert found.value == pytest.approx(81 / 263, abs=1e-6)
    assert found.low == pytest.approx(0.2553, abs=1e-4)
    assert found.high == pytest.approx(0.3662, abs=1e-4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_an_interval_holds_its_mean_and_stays_between_none_and_all(values: list[float]) -> None:
    found = mean(values)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value + 1e-6
    assert found.value - 1e-6 <= found.high <= 1


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile([4, 1, 3, 2], 50) == 2
    assert percentile([4, 1, 3, 2], 95) == 4
    assert percentile([7], 50) == 7
    assert percentile([], 50) is None
