"""Paired comparisons: the tests, held to known values, and what pairs with what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.bench.compare import compare, difference
from camillo.bench.evaluation import Outcome


def outcome(key: str, **scores: float) -> Outcome:
    return Outcome(key, "c", "", True, scores, (), 1.0)


def test_mcnemar_is_exact_where_queries_are_right_or_wrong() -> None:
    before = [0.0] * 8 + [1.0] * 2 + [1.0] * 5
    after = [1.0] * 8 + [0.0] * 2 + [1.0] * 5
    found = difference("any@10", before, after)
    assert (found.better, found.worse) == (8, 2)
    # Two-sided binomial of 2 in 10 at one half: 2 · (1 + 10 + 45) / 1024.
    assert found.p == pytest.approx(112 / 1024)
    assert found.change == pytest.approx(6 / 15)


def test_equal_runs_differ_by_nothing() -> None:
    found = difference("mrr", [0.3, 0.7], [0.3, 0.7])
    assert (found.change, found.low, found.high, found.p) == (0, 0, 0, 1)
    assert (found.better, found.worse) == (0, 0)


def test_a_small_steady_gain_is_told_from_chance() -> None:
    before = [0.5] * 40
    found = difference("frac@10", before, [0.6] * 40)
    assert found.low == pytest.approx(0.1)
    assert found.p < 0.001


def test_a_gain_that_chance_may_give_is_not() -> None:
    found = difference("frac@10", [0.5, 0.25, 0.75], [0.75, 0.5, 0.25])
    assert found.low < 0 < found.high
    assert found.p > 0.4


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
                min_size=1, max_size=20))  # fmt: skip
def test_turning_a_comparison_round_turns_its_sign(pairs: list[tuple[float, float]]) -> None:
    a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    there, back = difference("m", a, b), difference("m", b, a)
    assert there.change == pytest.approx(-back.change)
    assert there.p == back.p
    assert there.low <= there.change + 1e-6
    assert there.change - 1e-6 <= there.high


def test_a_comparison_repeats_exactly() -> None:
    a = [outcome(str(n), mrr=n / 30) for n in range(30)]
    b = [outcome(str(n), mrr=(n * 7 % 30) / 30) for n in range(30)]
    assert compare(a, b) == compare(a, b)


def test_only_queries_and_measures_of_both_runs_are_paired() -> None:
    a = [outcome("1", **{"any@5": 0.0, "mrr": 0.2}), outcome("2", **{"any@5": 1.0})]
    b = [outcome("2", **{"any@5": 0.0, "mrr": 1.0}), outcome("3", **{"any@5": 1.0})]
    (found,) = compare(a, b)
    assert (found.metric, found.n, found.a, found.b) == ("any@5", 1, 1.0, 0.0)
