"""Plain BM25, held to its formula."""

from __future__ import annotations

import math

import pytest

from camillo.bench.baseline import Baseline, words
from camillo.bench.records import Text


def texts(*said: str) -> list[Text]:
    return [Text(str(number), "", "", "", "", each) for number, each in enumerate(said)]


def test_words_are_stemmed_and_stop_words_are_out() -> None:
    assert list(words("The dogs were running")) == ["dog", "run"]


def test_chinese_gives_characters_and_pairs() -> None:
    assert list(words("很高兴 Anna's 猫")) == ["很", "高", "兴", "很高", "高兴", "anna", "猫"]


def test_words_of_other_scripts_stay_as_they_are() -> None:
    assert list(words("Собака бежит")) == ["собака", "бежит"]


def test_a_rarer_word_counts_more_and_unmatched_texts_are_not_ranked() -> None:
    ranker = Baseline(texts("apple pear", "apple plum", "cherry"))
    assert ranker.rank("apple plum", 10) == ["1", "0"]
    assert ranker.rank("apple plum", 1) == ["1"]
    assert ranker.rank("the of", 10) == []
    assert ranker.rank("", 10) == []


def test_scores_order_as_the_formula_says() -> None:
    # One occurrence in a short text against two in a long one.
    said = ["apple", "apple apple " + "plum " * 8, "pear"]
    lengths = [1, 10, 1]
    average = sum(lengths) / 3

    def score(tf: int, length: int) -> float:
        idf = math.log1p((3 - 2 + 0.5) / (2 + 0.5))
        return idf * tf * 2.2 / (tf + 1.2 * (1 - 0.75 + 0.75 * length / average))

    expected = ["0", "1"] if score(1, 1) > score(2, 10) else ["1", "0"]
    assert Baseline(texts(*said)).rank("apple", 10) == expected


def test_equal_scores_keep_the_order_of_the_texts() -> None:
    assert Baseline(texts("one fish", "two fish", "red fish")).rank("fish", 3) == ["0", "1", "2"]


def test_the_speaker_is_part_of_the_text() -> None:
    ranker = Baseline([Text("a", "", "s", "Caroline", "", "Hello"), *texts("Hello")])
    assert ranker.rank("Caroline", 5) == ["a"]


def test_no_text_is_no_error() -> None:
    assert Baseline([]).rank("anything", 5) == []


@pytest.mark.parametrize("text", ["", "…", "\ud7ff", "🦊", "\u200d"])
def test_any_query_is_answered(text: str) -> None:
    assert Baseline(texts("one")).rank(text, 5) == []
