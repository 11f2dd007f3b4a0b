"""Stage `fuse`: words and meaning as one score."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.fuse import WORDS, fuse
from unit.retrieval.by_hand import candidate, context

MEANING = 1 - WORDS


def _fused(candidates: list[Candidate], made: Context) -> dict[str, float]:
    return {each.memory.id: each.score for each in fuse(Query("q"), candidates, made)}


def _shares(scores: dict[str, float], strength: float) -> dict[str, float]:
    """Scores without what they are all multiplied by: how good the best can be."""
    return {id: score / strength for id, score in scores.items()}


def test_words_are_divided_by_their_best_and_cosines_stretched() -> None:
    scores = _fused(
        [candidate("a", 0.4, 0.80), candidate("b", 0.2, 0.90), candidate("c", 0.1, 0.85)], context()
    )
    assert _shares(scores, WORDS * 0.4 + MEANING * 0.9) == pytest.approx(
        {
            "a": WORDS * 1.0 + MEANING * 0.0,
            "b": WORDS * 0.5 + MEANING * 1.0,
            "c": WORDS * 0.25 + MEANING * 0.5,
        }
    )


def test_the_best_of_nothing_is_not_much() -> None:
    """Scores tell how good an answer is, not only which one is better."""
    good = _fused([candidate("a", 0.9, 0.9), candidate("b", 0.1, 0.1)], context())
    bad = _fused([candidate("a", 0.1, 0.3), candidate("b", 0.0, 0.1)], context())
    assert good["a"] == pytest.approx(0.9)
    assert bad["a"] == pytest.approx(WORDS * 0.1 + MEANING * 0.3)


def test_what_no_word_matched_gets_nothing_for_words() -> None:
    scores = _fused(
        [candidate("said", 0.3, 0.5), candidate("meant", 0.0, 0.9), candidate("new", None, 0.8)],
        context(),
    )
    assert _shares(scores, WORDS * 0.3 + MEANING * 0.9) == pytest.approx(
        {"said": WORDS, "meant": MEANING, "new": MEANING * 0.75}
    )


def test_what_has_no_vector_gets_nothing_for_meaning() -> None:
    scores = _fused([candidate("a", 0.3), candidate("b", 0.0, 0.9)], context())
    shares = _shares(scores, WORDS * 0.3 + MEANING * 0.9)
    assert shares == pytest.approx({"a": WORDS, "b": MEANING})


def test_words_weigh_by_how_much_of_the_question_they_know() -> None:
    candidates = [candidate("said", 0.3, 0.5), candidate("meant", 0.0, 0.9)]
    for known in (0.25, 0.5, 1.0):
        scores = _fused(candidates, context(known))
        assert scores["said"] / scores["meant"] == pytest.approx(WORDS * known / MEANING)


def test_a_question_whose_words_are_unknown_is_ranked_by_meaning_alone() -> None:
    candidates = [candidate("a", 0.0, 0.5), candidate("b", 0.0, 0.9), candidate("c", 0.0, 0.6)]
    scores = _fused(candidates, context(0.0))
    assert _shares(scores, 0.9) == pytest.approx({"a": 0, "b": 1, "c": 0.25})


def test_cosines_are_stretched_over_the_candidates_of_one_root() -> None:
    """Another root may have vectors of another model, in another band."""
    scores = _fused(
        [
            candidate("a", 0.0, 0.80),
            candidate("b", 0.0, 0.90),
            candidate("c", 0.0, 0.10, root=1),
            candidate("d", 0.0, 0.30, root=1),
        ],
        context(roots=2),
    )
    assert scores == pytest.approx({"a": 0, "b": 0.9, "c": 0, "d": 0.3})


def test_the_only_candidate_of_a_root_is_its_nearest() -> None:
    scores = _fused([candidate("a", None, 0.4)], context(0.0))
    assert scores == {"a": pytest.approx(0.4)}


def test_words_over_grains_count_where_there_are_some() -> None:
    first, second = candidate("a", 0.2, 0.5), candidate("b", 0.4, 0.5)
    first.signals["words"] = 0.4
    assert _fused([first, second], context())["a"] == _fused([first, second], context())["b"]


def test_without_vectors_nothing_moves() -> None:
    assert _fused([candidate("a", 0.3), candidate("b", 0.1)], context()) == {"a": 0.3, "b": 0.1}


def test_nothing_of_nothing_is_nothing() -> None:
    assert fuse(Query("q"), [], context()) == []


SHARE = st.none() | st.floats(0, 1)
COSINE = st.none() | st.floats(-1.004, 1.004)  # int8 rounds past the ends


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(SHARE, COSINE, st.integers(0, 1)), max_size=12),
    known=st.floats(0, 1),
)
def test_scores_stay_between_0_and_1(
    rows: list[tuple[float | None, float | None, int]], known: float
) -> None:
    candidates = [
        candidate(f"m{n}", words, near, root=root) for n, (words, near, root) in enumerate(rows)
    ]
    scores = _fused(candidates, context(known, roots=2))
    assert all(0 <= score <= 1 for score in scores.values())
