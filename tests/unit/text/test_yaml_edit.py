"""Edits of a frontmatter: the lines of the changed keys change, and nothing else."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue
from camillo.text.frontmatter import FrontmatterError, read, split
from camillo.text.yaml_edit import REMOVE, edit

NOTE = """---
# by hand
name: a   # who
description: |+
  long

  text

# between
type: user
relations: # links
  # why b
  - to: b
    type: builds-on   # x
  - {to: c, type: child-of}

tags: [a,
  b] # topics
mine: {x: 1}   # keep
aliases:
- one
- two
quoted: "over
  lines"
plain: over
  lines # said
empty:
# tail
---
body
--- not a rule
no end"""

# A key's lines for {}: each form that a value can take in a file, with something after it.
FORMS = [
    "{}: x\n",
    "{}: x # c\n",
    "{}:\n",
    "{}: # c\n",
    "{}: true\n",
    '"{}": x\n',
    "{} : x\n",
    "{}: |\n  a\n    b\n",
    "{}: |- # c\n  a\n\n  b\n\n",
    "{}: |+\n  a\n\n\n",
    "{}: |2\n    a\n",
    "{}: >-\n  a\n  b\n# c\n",
    "{}: >+\n\n  a\n\n",
    "{}: a\n  b\n\n  c\n",
    "{}: 'a\n\n  b'\n",
    '{}: "a\\\n  b # no\n  c" # c\n',
    "{}: [a, b]\n",
    "{}: [\n  a, # c\n  b\n]\n",
    "{}: {{a: 1,\n b: {{c: d}}}} # c\n",
    "{}:\n- a\n- b # c\n",
    "{}:\n  # c\n  - a\n\n  - b: 1\n    c: |\n      x\n  # d\n",
    "{}:\n  - |+\n    a\n\n",
    "{}:\n    a: 1\n    b:\n      - c\n",
    "{}: !!str 12\n",
    "{}: ---\n",
    "{}: [[Link]]\n",
    "? {}\n: x\n",
    "\n# c\n\n{}: x\n\n",
    "{}: 😀 中文\u2028\n",
]
BODIES = st.sampled_from(["", "body", "\n\nbody\n", "x\r\ny\n", "---\n", "\xff\u2028"])
VALUES = st.sampled_from(
    [REMOVE, "x", "", "a: b", "a\nb", "a\n\n", "\n", " lead\nb\n", "word " * 30 + "end", True, 12,
     None, [], ["a", "b"], ["b"], ["a", "new", "b"], [["x"], {"k": "v\n\n"}], {"k": {"l": "m"}}]
)  # fmt: skip


@st.composite
def notes(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A note, and changes to some of its keys and to new ones."""
    keys = draw(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1, max_size=5))
    keys = [{"a": "name", "b": "type", "c": "pinned"}.get(key, key) for key in keys]
    forms = draw(st.lists(st.sampled_from(FORMS), min_size=len(keys), max_size=len(keys)))
    text = "".join(form.format(key) for form, key in zip(forms, keys, strict=True))
    note = f"---\n{text}---\n"
    if draw(st.booleans()):
        note = note.replace("\n", "\r\n")
    if draw(st.booleans()):
        note = "\ufeff" + note
    names = st.sampled_from([*keys, "relations", "description", "new"])
    return note + draw(BODIES), draw(st.dictionaries(names, VALUES, max_size=3))


@given(notes())
def test_an_edit_changes_what_it_is_asked_to_and_no_other_value(
    case: tuple[str, dict[str, Any]],
) -> None:
    text, changes = case
    before, edited = read(text), edit(text, changes)
    after = read(edited)
    wanted = {key: new for key, new in {**before.fields, **changes}.items() if new is not REMOVE}
    assert after.fields == wanted
    assert after.body == before.body
    assert edited.startswith("\ufeff") == text.startswith("\ufeff")


@given(notes())
def test_lines_of_other_keys_and_comments_stay(case: tuple[str, dict[str, Any]]) -> None:
    text, changes = case
    edited = edit(text, changes)
    fields = read(text).fields
    untouched = [key for key in fields if key not in changes]
    for key in untouched:
        assert _line(edited, key) == _line(text, key)
    order = [key for key in read(edited).fields if key in fields]
    assert order == [key for key in fields if key in order]


@given(notes())
def test_an_edit_done_twice_changes_nothing_more(case: tuple[str, dict[str, Any]]) -> None:
    text, changes = case
    edited = edit(text, changes)
    assert edit(edited, changes) is edited


@given(notes())
def test_the_same_value_leaves_the_same_bytes(case: tuple[str, dict[str, Any]]) -> None:
    text, _ = case
    content = text.encode("utf-8", "surrogateescape")
    assert edit(content, read(content).fields) is content


class TestLines:
    def test_only_the_lines_of_the_key_differ(self) -> None:
        changes = {"name": "b", "description": "short", "plain": "p", "empty": 1, "tags": ["a"]}
        assert _difference(NOTE, edit(NOTE, changes)) == [
            "-name: a   # who",
            "-description: |+",
            "-  long",
            "-",
            "-  text",
            "-",
            "+name: b   # who",
            "+description: short",
            "-tags: [a,",
            "-  b] # topics",
            "+# topics",
            "+tags:",
            "+  - a",
            "-plain: over",
            "-  lines # said",
            "-empty:",
            "+plain: p # said",
            "+empty: 1",
        ]

    def test_a_key_is_taken_out_with_its_lines(self) -> None:
        assert _difference(NOTE, edit(NOTE, {"quoted": REMOVE, "aliases": REMOVE})) == [
            "-aliases:",
            "-- one",
            "-- two",
            '-quoted: "over',
            '-  lines"',
        ]

    def test_an_item_is_added_to_a_list_beside_the_lines_of_the_others(self) -> None:
        links = [*read(NOTE).fields["relations"], {"to": "d", "type": "related-to"}]
        assert _difference(NOTE, edit(NOTE, {"relations": links})) == [
            "+  - to: d",
            "+    type: related-to",
        ]
        assert _difference(NOTE, edit(NOTE, {"aliases": ["zero", "one", "two"]})) == ["+- zero"]

    def test_a_comment_below_a_value_does_not_become_a_part_of_the_new_one(self) -> None:
        text = "---\na: |\n  x\nb:\n  - y\n  # why\nc: z\n---\n"
        assert edit(text, {"b": ["y", "w"]}) == text.replace("  - y\n", "  - y\n  - w\n")
        assert edit(text, {"b": "1\n2"}) == text.replace("\n  - y\n  #", " |-\n  1\n  2\n#")
        assert edit(text, {"b": REMOVE}) == text.replace("b:\n  - y\n  #", "#")

    def test_an_item_is_taken_out_of_a_list_with_the_comment_above_it(self) -> None:
        links = read(NOTE).fields["relations"][1:]  # type: ignore[index]
        assert _difference(NOTE, edit(NOTE, {"relations": links})) == [
            "-  # why b",
            "-  - to: b",
            "-    type: builds-on   # x",
        ]

    def test_a_new_key_has_its_place_or_comes_last(self) -> None:
        edited = edit("---\nname: a\ntype: b\nx: 1\n# tail\n---\n", {"z": 2, "pinned": True})
        assert edited == "---\nname: a\ntype: b\npinned: true\nx: 1\nz: 2\n# tail\n---\n"
        assert edit("---\nx: 1\ntype: b\n---\n", {"name": "a"}) == (
            "---\nx: 1\nname: a\ntype: b\n---\n"
        )

    def test_keys_may_be_indented(self) -> None:
        edited = edit("---\n  name: a\n  type: b\n---\n", {"name": "x\ny", "z": [1]})
        assert edited == "---\n  name: |-\n    x\n    y\n  type: b\n  z:\n    - 1\n---\n"

    def test_crlf_and_a_byte_order_mark_and_odd_bytes_stay(self) -> None:
        content = b"\xef\xbb\xbf---\r\nname: a\r\nodd: \xfe\r\n---\r\nbody \xff\r\n\n"
        assert edit(content, {"name": "x\ny"}) == (
            b"\xef\xbb\xbf---\r\nname: |-\r\n  x\r\n  y\r\nodd: \xfe\r\n---\r\nbody \xff\r\n\n"
        )


class TestWithoutFrontmatter:
    @pytest.mark.parametrize(
        ("text", "edited"),
        [
            ("", "---\nname: a\nz: 1\n---\n"),
            ("# Title\n", "---\nname: a\nz: 1\n---\n# Title\n"),
            ("\ufeffx\r\ny", "\ufeff---\r\nname: a\r\nz: 1\r\n---\r\nx\r\ny"),
            ("---\n---\nx", "---\nname: a\nz: 1\n---\nx"),
            ("---\n# later\n---\nx", "---\n# later\nname: a\nz: 1\n---\nx"),
        ],
    )
    def test_a_note_gets_one(self, text: str, edited: str) -> None:
        assert edit(text, {"z": 1, "name": "a"}) == edited

    def test_nothing_to_remove_leaves_the_note_as_it_is(self) -> None:
        text = "# Title\n"
        assert edit(text, {"name": REMOVE}) is text


class TestRefusals:
    def test_a_frontmatter_that_cannot_be_read_is_not_edited(self) -> None:
        with pytest.raises(FrontmatterError, match="line 3"):
            edit("---\na: b\na: c\n---\n", {"x": 1})

    def test_keys_in_braces_are_not_edited(self) -> None:
        text = "---\n{name: a, type: b}\n---\n"
        assert edit(text, {"name": "a"}) is text
        with pytest.raises(FrontmatterError, match="one key a line"):
            edit(text, {"name": "b"})

    def test_a_key_that_shares_its_lines_is_not_edited(self) -> None:
        with pytest.raises(FrontmatterError, match="'b' cannot be changed") as caught:
            edit("---\na: 1\n?\n  b\n: 2\nc: 3\n---\n", {"b": 4})
        assert caught.value.line == 4

    def test_a_value_that_yaml_does_not_have_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="cannot hold"):
            edit(NOTE, {"name": b"a"})

    def test_kinds_of_values_are_told_apart(self) -> None:
        assert edit("---\na: 1\n---\n", {"a": True}) == "---\na: true\n---\n"
        assert edit("---\na: 1\n---\n", {"a": "1"}) == '---\na: "1"\n---\n'
        assert edit("---\na: [1]\n---\n", {"a": [1.0]}) == "---\na:\n  - 1.0\n---\n"


def _line(text: str, key: str) -> str:
    """The first line of `key`."""
    starts = (f"{key}:", f'"{key}":', f"{key} :", f"? {key}")
    lines = split(text).text.split("\n")
    return next(line for line in lines if line.startswith(starts))


def _difference(before: str, after: str) -> list[str]:
    """The lines that differ, each behind its sign."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return [line for line in list(lines)[2:] if not line.startswith("@")]
