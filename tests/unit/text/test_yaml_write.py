"""Frontmatters as text. The cases of commonplace are in tests/golden; these are our own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue
from camillo.text.frontmatter import read
from camillo.text.yaml_read import values
from camillo.text.yaml_write import frontmatter_text, item_text, pair_text

# Words that YAML minds, so that short texts reach many rules.
WORDS = st.sampled_from(
    ["a", "word", " ", "  ", "\n", "\n\n", "\t", ": ", " #", "- ", "'", '"', "\\", "😀", "中文",
     "\r", "\x01", "\u2028", "\ufeff", "true", "12", "x" * 30, "---", "word word word word", "{"]
)  # fmt: skip
TEXT = st.one_of(
    st.lists(WORDS, max_size=40).map("".join),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=120),
)
KEYS = st.text("abc_-: #'\"中", min_size=1, max_size=12)
SCALARS = st.one_of(TEXT, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False), TEXT)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@given(VALUES)
def test_what_is_written_reads_back_as_the_same(value: Any) -> None:
    found = values(pair_text("key", value))["key"]
    assert found == value
    assert type(found) is type(value)


@given(KEYS, VALUES, st.integers(0, 4))
def test_lines_stand_at_the_column_that_is_asked_for(key: str, value: Any, indent: int) -> None:
    pad = " " * indent
    assert values(f"{pad}first: 1\n{pair_text(key, value, indent)}{pad}last: 2\n") == {
        "first": 1,
        key: value,
        "last": 2,
    }


@given(st.lists(SCALARS, min_size=1, max_size=3))
def test_items_make_a_list(items: list[Any]) -> None:
    lines = "".join(item_text(item, 2) for item in items)
    assert values(f"key:\n{lines}") == {"key": items}
    assert f"key:\n{lines}" == pair_text("key", items)


@given(TEXT, TEXT)
def test_a_whole_note_reads_back(description: str, body: str) -> None:
    fields = {"name": "n", "description": description, "type": "user"}
    note = read((frontmatter_text(fields) + body).encode())
    assert (note.fields, note.body) == (fields, body)


@pytest.mark.case("CP01")
def test_the_least_note_has_three_keys() -> None:
    fields = {"type": "user", "description": "d", "name": "n"}
    assert frontmatter_text(fields) == "---\nname: n\ndescription: d\ntype: user\n---\n"


@pytest.mark.case("CP02")
def test_keys_have_an_order_and_say_nothing_when_empty() -> None:
    fields = {
        "pinned": True,
        "supersedes": ["old"],
        "mine": {"x": 1},
        "relations": [{"to": "b", "type": "builds-on"}],
        "name": "n",
    }
    assert frontmatter_text(fields) == (
        "---\nname: n\n"
        "relations:\n  - to: b\n    type: builds-on\n"
        "supersedes:\n  - old\n"
        "pinned: true\n"
        "mine:\n  x: 1\n---\n"
    )
    empty = {"name": "n", "relations": [], "supersedes": [], "pinned": False}
    assert frontmatter_text(empty) == "---\nname: n\n---\n"


@pytest.mark.case("CP06")
def test_an_entry_stands_in_a_list_once() -> None:
    one, two = {"to": "a", "type": "builds-on"}, {"to": "a", "type": "child-of"}
    written = frontmatter_text({"relations": [one, two, one], "supersedes": ["x", "y", "x"]})
    assert values(written[4:-4]) == {"relations": [one, two], "supersedes": ["x", "y"]}


@pytest.mark.case("CP03")
@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain, text", "plain, text"),
        ("it's", "it's"),
        ("2026-01-02", "2026-01-02"),
        ("yes", "yes"),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("a#b", "a#b"),
        ("true", '"true"'),
        ("1e3", '"1e3"'),
        ("017", '"017"'),
        ("", '""'),
        ('say "it"', 'say "it"'),
        ('"it" is', "'\"it\" is'"),
        ('"it" isn\'t', '"\\"it\\" isn\'t"'),
        ("a\x07\x01", '"a\\a\\x01"'),
        ("a\ud800", '"a\\ud800"'),
        ("\ud83d\ude00", "😀"),
        ("a\nb", "|-\n  a\n  b"),
        ("a\n", "|\n  a"),
        ("a\n\n", "|+\n  a\n"),
        ("  a\nb", "|2-\n    a\n  b"),
        ("a\n ", '"a\\n "'),
        (" \n", '"\\ \\n"'),
    ],
)
def test_quotes_stand_where_they_are_needed(text: str, written: str) -> None:
    assert pair_text("key", text) == f"key: {written}\n"


@pytest.mark.case("CP05")
def test_a_long_line_folds_at_80_columns() -> None:
    words = "word " * 30 + "end"
    lines = pair_text("description", words).splitlines()
    assert [len(line) for line in lines] == [77, 76, 15]
    assert all(line.startswith("  word") for line in lines[1:])


def test_width_counts_utf_16_units() -> None:
    assert pair_text("k", "😀 " * 40 + "x").splitlines()[0] == "k: " + "😀 " * 25 + "😀"


def test_text_without_blanks_folds_inside_quotes_only() -> None:
    assert pair_text("k", "x" * 200).count("\n") == 1
    assert pair_text("k", "@" + "x" * 200) == (
        'k: "@' + "x" * 74 + "\\\n  " + "x" * 77 + "\\\n  " + "x" * 49 + '"\n'
    )


def test_a_fold_does_not_cut_an_emoji_in_two() -> None:
    for before in range(4):
        text = "@" + "x" * before + "😀" * 80
        assert values(pair_text("k", text).encode().decode()) == {"k": text}


def test_a_value_of_a_long_key_has_a_line_of_its_own() -> None:
    key = "k" * 70
    assert pair_text(key, "word " * 20 + "end").startswith(f"{key}:\n  word word")


def test_a_long_line_of_several_is_folded_when_it_can_be() -> None:
    assert pair_text("k", "word " * 20 + "end\nb") == (
        "k: >-\n" + "  " + "word " * 14 + "word\n  " + "word " * 5 + "end\n\n  b\n"
    )
    assert pair_text("k", "x" * 90 + "\nb") == "k: |-\n  " + "x" * 90 + "\n  b\n"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (12, "12"),
        (1.0, "1.0"),
        (float("inf"), ".inf"),
        (float("-inf"), "-.inf"),
        (float("nan"), ".nan"),
        ([], "[]"),
        ({}, "{}"),
        (("a",), "\n  - a"),
        ([["a", "b"], {"c": "d", "e": [1]}], "\n  - - a\n    - b\n  - c: d\n    e:\n      - 1"),
    ],
)
def test_other_values_are_written_in_lines(value: Any, written: str) -> None:
    separator = "" if written.startswith("\n") else " "
    assert pair_text("key", value) == f"key:{separator}{written}\n"


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object(), {"a": [object()]}])
def test_a_value_that_yaml_does_not_have_is_refused(value: object) -> None:
    with pytest.raises(InvalidValue, match="a frontmatter cannot hold"):
        frontmatter_text({"key": value})


def test_a_key_is_text_of_a_fair_length() -> None:
    with pytest.raises(InvalidValue, match="not 1"):
        pair_text(1, "a")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="2000 characters"):
        pair_text("k" * 2000, "a")
