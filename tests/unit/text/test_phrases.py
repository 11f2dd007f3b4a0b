"""Names as phrases: what stands for a name, and what may be a slip for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.phrases import begins, is_near, phrases, readings

LETTERS = st.text("abcdefgh", min_size=0, max_size=8)


def _texts(name: str) -> list[str]:
    return [" ".join(words) for words in phrases(readings(name))]


def test_a_name_is_its_folded_words_and_its_stems() -> None:
    assert _texts("Error handling") == ["error handling", "error handl"]


def test_words_of_three_letters_are_never_stemmed() -> None:
    assert _texts("TS") == ["ts"]
    assert _texts("gas") == ["gas"]


def test_a_name_in_one_word_is_also_its_parts() -> None:
    assert _texts("TypeScript")[0] == "typescript"
    assert "type script" in _texts("TypeScript")
    assert "mongodb raw driver" in _texts("mongodb_raw_driver")


def test_parts_that_are_not_all_of_it_are_none() -> None:
    """Else "HTTP2" would be named by "http"."""
    assert _texts("HTTP2") == ["http2"]


@pytest.mark.parametrize("name", ["it", "The", "a", "x", "of the", "", "…", "!?", "12", "2024"])
def test_grammar_numbers_and_single_letters_are_no_name(name: str) -> None:
    assert phrases(readings(name)) == []


@pytest.mark.parametrize("name", ["IT", "US", "C", "WHO"])
def test_in_capitals_they_are_one_as_they_stand(name: str) -> None:
    assert phrases(readings(name)) == [(name,)]


def test_a_sentence_is_no_name() -> None:
    assert _texts(" ".join(f"word{n}" for n in range(13))) == []


def test_chinese_is_compared_character_by_character() -> None:
    assert _texts("数据库") == ["数 据 库"]
    assert _texts("Redis缓存") == ["redis 缓 存", "redi 缓 存"]


def test_clitics_are_no_words() -> None:
    assert [word.folded for word in readings("Mongo's patterns, isn't it")[0]] == [
        "mongo", "patterns", "is", "it",
    ]  # fmt: skip


def test_of_parts_only_the_first_begins_a_word() -> None:
    _, parted = readings("see TSLint now")
    assert [(word.folded, word.first) for word in parted] == [
        ("see", True), ("ts", True), ("lint", False), ("now", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("typscript", "typescript"),  # one left out
        ("typescriptt", "typescript"),  # one added
        ("typescrupt", "typescript"),  # one changed
        ("typsecript", "typescript"),  # two exchanged
        ("eror", "error"),
    ],
)
def test_one_slip_is_near(word: str, name: str) -> None:
    assert is_near(word, name)
    assert is_near(name, word)
    assert begins(word) == begins(name)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("mango", "mongo"),  # the first two letters differ
        ("ract", "react"),
        ("kub", "kube"),  # too short
        ("typscrpt", "typescript"),  # two slips
        ("tpyescript", "typescript"),
        ("error", "error"),  # no slip at all
    ],
)
def test_what_is_further_away_is_not(word: str, name: str) -> None:
    assert not is_near(word, name)


def test_runs_without_spaces_hold_no_slips() -> None:
    assert begins("数据库管理") == ""


@given(LETTERS, LETTERS)
def test_near_is_a_distance_of_one(one: str, other: str) -> None:
    one, other = f"zz{one}", f"zz{other}"
    expected = min(len(one), len(other)) >= 4 and _distance(one, other) == 1
    assert is_near(one, other) == expected


def _distance(a: str, b: str) -> int:
    """Optimal string alignment, by the textbook's table."""
    table = [[max(i, j) if not i or not j else 0 for j in range(len(b) + 1)]
             for i in range(len(a) + 1)]  # fmt: skip
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1,
                table[i][j - 1] + 1,
                table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
            )
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]
