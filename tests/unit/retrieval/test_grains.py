"""Stage `grains`: neighbours and sessions lift a message."""

from __future__ import annotations

import pytest

from camillo.retrieval import bm25
from camillo.retrieval.candidate import Candidate, Query
from camillo.retrieval.grains import MESSAGE, SESSION, WINDOW, grains
from unit.retrieval.by_hand import candidate, context

WEIGHTS = [2.0, 1.0]


def _said(
    id: str, row: int, tf: list[int], session: str = "talk", root: int = 0, words: int = 10
) -> Candidate:
    own = bm25.rank(tf, words, 10.0, WEIGHTS)
    return candidate(id, own, session=session, row=row, tf=tf, words=words, root=root)


def _judged(*candidates: Candidate) -> dict[str, float]:
    found = grains(Query("q"), list(candidates), context(weights=WEIGHTS))
    assert len(found) == len(candidates)
    return {each.memory.id: each.score for each in found}


def test_the_neighbour_that_holds_the_words_lifts_the_answer() -> None:
    scores = _judged(_said("question", 10, [1, 1]), _said("answer", 11, [0, 0]),
                     _said("elsewhere", 90, [0, 0]))  # fmt: skip
    assert scores["question"] > scores["answer"] > scores["elsewhere"]


def test_neighbours_are_at_most_two_away_on_each_side() -> None:
    silent = [_said(f"m{row}", row, [0, 0]) for row in (7, 8, 9, 11, 12, 13)]
    scores = _judged(_said("question", 10, [1, 1]), *silent)
    assert scores["m8"] == scores["m9"] == scores["m11"] == scores["m12"]
    assert scores["m9"] > scores["m7"] == scores["m13"] > 0


def test_a_session_lifts_all_of_its_messages() -> None:
    scores = _judged(
        _said("question", 10, [1, 1]), _said("far", 40, [0, 0]), _said("other", 41, [0, 0], "b")
    )
    assert scores["far"] > scores["other"] == 0


def test_another_session_next_to_it_gets_nothing() -> None:
    """The window ends where the conversation does."""
    scores = _judged(_said("last", 10, [1, 1], "monday"), _said("first", 11, [0, 0], "tuesday"))
    assert scores["first"] == 0
    alone = _judged(_said("last", 10, [1, 1], "monday"))
    assert scores["last"] == alone["last"]


def test_the_same_rows_of_another_root_are_no_neighbours() -> None:
    scores = _judged(_said("here", 10, [1, 1]), _said("there", 11, [0, 0], root=1))
    assert scores["there"] == 0


def test_what_belongs_to_no_session_is_judged_by_itself() -> None:
    scores = _judged(_said("a", 10, [1, 0], ""), _said("b", 11, [1, 1], ""))
    assert scores == {
        "a": bm25.rank([1, 0], 10, 10.0, WEIGHTS),
        "b": bm25.rank([1, 1], 10, 10.0, WEIGHTS),
    }


def test_what_words_did_not_count_is_left_alone() -> None:
    silent = candidate("closet", 0.3, session="talk")
    assert _judged(_said("a", 10, [1, 1]), silent)["closet"] == 0.3


def test_three_grains_make_the_score_and_are_told() -> None:
    question, answer = _said("question", 10, [1, 1]), _said("answer", 11, [0, 1])
    _judged(question, answer)
    for each in (question, answer):
        signals = each.signals
        assert each.score == signals["words"] == pytest.approx(
            MESSAGE * signals["keyword"]
            + WINDOW * signals["window"]
            + SESSION * signals["session"]
        )  # fmt: skip
        assert 0 <= each.score <= 1
    assert question.signals["window"] == answer.signals["window"]  # they see the same messages
    assert question.signals["session"] == answer.signals["session"]


def test_the_grains_weigh_one_in_all() -> None:
    assert sum([MESSAGE, WINDOW, SESSION]) == pytest.approx(1)
