"""How rankings become outcomes: sessions, depth, protocols, labels that are missing."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from camillo.bench.evaluation import Outcome, Rules, View, evaluate
from camillo.bench.records import Question, Text


class Script:
    """A ranker that gives a fixed order, and remembers how deep it was asked."""

    def __init__(self, order: Iterable[str]) -> None:
        self.order = list(order)
        self.depths: list[int] = []

    def __call__(self, text: str, k: int) -> list[str]:
        self.depths.append(k)
        return self.order[:k]


def question(*relevant: str, answers: tuple[str, ...] = ()) -> Question:
    return Question("c/q", "c", "?", frozenset(relevant), answers)


def texts(count: int, *, sessions: int = 1, length: int = 10) -> list[Text]:
    """`a0`, `a1` …, spread over sessions in turn."""
    return [Text(f"a{n}", "c", f"s{n % sessions}", "", "", f"{n:<{length}}") for n in range(count)]


def ask(order: Iterable[str], asked: Question, known: list[Text], rules: Rules) -> Outcome:
    return evaluate([asked], View(known, rules.level), Script(order), rules)[0]


def test_a_turn_is_scored_at_its_own_rank() -> None:
    known = texts(30)
    outcome = ask((text.id for text in known), question("a2", "a7"), known, Rules())
    assert outcome.scores["any@1"] == 0
    assert outcome.scores["frac@5"] == 0.5
    assert outcome.scores["all@10"] == 1
    assert outcome.scores["mrr"] == pytest.approx(1 / 3)
    assert outcome.found == tuple(text.id for text in known[:20])


def test_a_session_ranks_where_its_best_turn_does() -> None:
    known = texts(6, sessions=3)
    order = ["a1", "a4", "a2", "a0"]  # sessions 1, 1, 2, 0
    outcome = ask(order, question("a0", "a3", "a5"), known, Rules("session"))
    assert outcome.found == ("s1", "s2", "s0")
    # Two evidence sessions, however many turns they hold: s0 and s2.
    assert outcome.scores["frac@1"] == 0
    assert outcome.scores["frac@5"] == 1
    assert outcome.scores["mrr"] == 0.5


def test_a_text_without_a_session_is_one_of_its_own() -> None:
    known = [Text(id_, "c", "", "", "", "t") for id_ in "ab"]
    outcome = ask("ab", question("b"), known, Rules("session"))
    assert outcome.scores["any@1"] == 0
    assert outcome.scores["mrr"] == 0.5


def test_ranks_beyond_what_is_asked_first_are_found_too() -> None:
    known = texts(200)
    ranker = Script(text.id for text in known)
    outcome = evaluate([question("a149")], View(known, "turn"), ranker, Rules())[0]
    assert outcome.scores["mrr"] == pytest.approx(1 / 150)
    # All 150 results before it and itself have ten characters each: 1,500 of 2,000.
    assert outcome.scores["evidence@2000"] == 1
    assert ranker.depths == [20, 200]


def test_one_search_is_enough_when_nothing_deeper_can_count() -> None:
    known = texts(200, length=150)
    for relevant in (["a3"], ["a3", "a190"]):
        ranker = Script(text.id for text in known)
        outcome = evaluate([question(*relevant)], View(known, "turn"), ranker, Rules())[0]
        assert ranker.depths == [20]
        assert outcome.scores["evidence@2000"] == 1 / len(relevant)


def test_a_larger_cutoff_asks_for_more_at_once() -> None:
    known = texts(200)
    ranker = Script(text.id for text in known)
    rules = Rules(cutoffs=(1, 50))
    outcome = evaluate([question("a40")], View(known, "turn"), ranker, rules)[0]
    assert ranker.depths == [50]
    assert outcome.scores["any@50"] == 1


def test_a_list_that_ends_early_is_not_asked_again() -> None:
    ranker = Script(["a0", "a1"])
    outcome = evaluate([question("a9")], View(texts(50), "turn"), ranker, Rules())[0]
    assert ranker.depths == [20]
    assert outcome.scores["mrr"] == 0


def test_session_level_looks_past_many_turns_of_one_session() -> None:
    known = [Text(f"x{n}", "c", "same", "", "", "t") for n in range(40)] + texts(2, sessions=2)
    outcome = ask((text.id for text in known), question("a1"), known, Rules("session"))
    assert outcome.found == ("same", "s0", "s1")
    assert outcome.scores["frac@5"] == 1


def test_without_relevant_ids_only_the_answer_is_scored() -> None:
    known = [Text("a", "c", "", "", "", "It was Rodez.")]
    outcome = ask("a", question(answers=("rodez",)), known, Rules())
    assert not outcome.labelled
    assert outcome.scores == {"answer@20": 1.0}
    assert ask("a", question(), known, Rules()).scores == {}


def test_the_answer_is_looked_for_in_the_first_twenty() -> None:
    known = texts(30)
    order = [text.id for text in known]
    assert ask(order, question(answers=("19",)), known, Rules()).scores["answer@20"] == 1
    assert ask(order, question(answers=("20",)), known, Rules()).scores["answer@20"] == 0


def test_mempalace_counts_queries_without_labels_as_found() -> None:
    rules = Rules("session", "mempalace", (5, 10))
    outcome = ask("a", question(), [Text("a", "c", "", "", "", "t")], rules)
    assert outcome.scores == {"frac@5": 1.0, "frac@10": 1.0}
    assert not outcome.labelled


def test_an_id_that_the_haystack_lacks_is_counted_and_never_found() -> None:
    known = texts(3)
    view = View(known, "turn")
    assert view.missing(question("a0", "gone", "lost")) == 2
    outcome = ask(["a0", "a1"], question("a0", "gone"), known, Rules())
    assert outcome.scores["frac@10"] == 0.5
    assert outcome.scores["all@10"] == 0


def test_sessions_and_ids_of_one_name_are_not_mixed_up() -> None:
    known = [Text("s", "c", "", "", "", "t"), Text("a", "c", "s", "", "", "t")]
    outcome = ask(["s"], question("a"), known, Rules("session"))
    assert outcome.scores["any@10"] == 0


def test_evidence_counts_the_text_as_it_is_indexed() -> None:
    known = [
        Text("a", "c", "", "Ann", "", "x" * 1990, ""),
        Text("b", "c", "", "Bob", "", "hi", ""),
    ]
    # "Ann: " makes 1,995, and "Bob: hi" is seven more.
    assert ask("ab", question("a", "b"), known, Rules()).scores["evidence@2000"] == 0.5
