"""Words of a command line to texts per parameter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue, UnknownName
from camillo.ops.signature import signature
from camillo.surfaces.arguments import split
from unit.ops.toys import TOYS

FIND = signature("find", TOYS).parameters
DROP = signature("drop", TOYS).parameters


@pytest.mark.parametrize(
    "words",
    [
        ["why", "-k", "3"],
        ["why", "-k3"],
        ["why", "-k=3"],
        ["why", "--k", "3"],
        ["why", "--k=3"],
        ["-k", "3", "why"],
        ["-k", "3", "--", "why"],
    ],
)
def test_an_option_may_be_written_in_every_usual_way(words: list[str]) -> None:
    texts = split(words, FIND)
    assert texts["query"] == ["why"]
    assert texts["k"][-1].lstrip("=") == "3"


def test_options_may_stand_between_the_words() -> None:
    texts = split(["a", "--dry-run", "b", "because"], DROP)
    assert texts == {"ids": ["a", "b"], "reason": ["because"], "dry_run": ["true"]}


def test_a_repeatable_option_collects() -> None:
    assert split(["--tags", "a", "--tags=b"], FIND)["tags"] == ["a", "b"]


def test_a_switch_has_an_opposite_when_it_is_on_by_default() -> None:
    assert split(["--no-boost"], FIND)["boost"] == ["false"]
    with pytest.raises(UnknownName):
        split(["--no-explain"], FIND)


@pytest.mark.parametrize(
    "text", ["-5", "-0.5", "- a list item", "-v why does it fail", "-", "", "—dash", "a=b"]
)
def test_a_text_that_cannot_be_an_option_is_text(text: str) -> None:
    assert split([text], FIND)["query"] == [text]


@given(st.text())
def test_every_text_is_taken_as_it_is_after_two_dashes(text: str) -> None:
    assert split(["--", text], FIND) == {"query": [text]}


def test_a_negative_number_is_a_value() -> None:
    assert split(["-k", "-3"], FIND)["k"] == ["-3"]


@pytest.mark.promise(25)
@pytest.mark.parametrize("word", ["--tgas", "--tgas=x"])
def test_an_unknown_option_names_the_nearest_and_the_way_to_pass_text(word: str) -> None:
    with pytest.raises(UnknownName, match=r"'--tgas'; did you mean '--tags'.*after --"):
        split([word, "x"], FIND)


def test_help_is_among_the_options_that_may_have_been_meant() -> None:
    with pytest.raises(UnknownName, match="did you mean '--help'"):
        split(["--hlep"], FIND)


def test_options_are_not_abbreviated() -> None:
    with pytest.raises(UnknownName, match="did you mean '--explain'"):
        split(["--expl"], FIND)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k"], "-k needs a value"),
        (["-k", "--explain"], "-k needs a value"),
        (["--explain=yes"], "--explain takes no value; not 'yes'"),
        (["why", "jwt"], "unexpected argument 'jwt'; put a text of several words into quotes"),
    ],
)
def test_a_word_too_few_or_too_many_is_named(words: list[str], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        split(words, FIND)


@pytest.mark.parametrize(
    ("words", "missing"), [([], "ID... REASON is missing"), (["a"], "ID... is missing")]
)
def test_missing_words_are_named_as_the_help_shows_them(words: list[str], missing: str) -> None:
    with pytest.raises(InvalidValue, match=missing.replace(".", r"\.")):
        split(words, DROP)
