"""Notes cut into frontmatter and body, and what the frontmatter means."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue
from camillo.text.frontmatter import (
    FrontmatterError,
    read,
    readable,
    split,
    to_bytes,
    to_text,
)
from camillo.text.yaml_read import DEEPEST, LARGEST, nodes, values

NOTE = "---\nname: a\ntype: user\n---\nbody\n"

LINES = st.sampled_from(
    ["---\n", "--- \t\r\n", "a: b\n", "a: b\r\n", " ---\n", "----\n", "", "text", "\n", "\ufeff"]
)


class TestSplitting:
    def test_the_pieces_are_bom_delimiters_text_and_body(self) -> None:
        assert tuple(split("\ufeff--- \nname: a\n---\t\nbody")) == (
            "\ufeff",
            "--- \n",
            "name: a\n",
            "---\t\n",
            "body",
        )

    @pytest.mark.parametrize("text", ["", "body\n", " ---\na: b\n---\n", "----\na: b\n----\n"])
    def test_a_note_may_have_no_frontmatter(self, text: str) -> None:
        parts = split(text)
        assert (parts.opening, parts.text, parts.body) == ("", "", text)
        assert parts.body_line == parts.text_line == 1

    @pytest.mark.case("CP10")
    def test_only_the_first_closing_line_counts(self) -> None:
        assert split("---\na: b\n---\nx\n---\ny\n").body == "x\n---\ny\n"

    @pytest.mark.case("CP11")
    def test_a_closing_line_may_end_the_file(self) -> None:
        parts = split("---\na: b\n---")
        assert (parts.text, parts.body) == ("a: b\n", "")

    def test_a_frontmatter_may_be_empty(self) -> None:
        assert read("---\n---\nbody").fields == {}
        assert read("---\n# later\n\n---\nbody").fields == {}

    @pytest.mark.parametrize("text", ["---\n", "---\na: b\n", "\ufeff---\r\na: b\r\n --- \r\n"])
    def test_a_frontmatter_that_is_not_closed_is_an_error(self, text: str) -> None:
        with pytest.raises(FrontmatterError, match="never closed") as caught:
            split(text)
        assert caught.value.line == 1

    def test_places_say_where_the_pieces_stand(self) -> None:
        text = "\ufeff" + NOTE
        parts = split(text)
        assert text[parts.text_start :].startswith("name")
        assert text[parts.body_start :] == "body\n"
        assert (parts.text_line, parts.body_line) == (2, 5)

    @pytest.mark.parametrize(
        ("text", "newline"),
        [(NOTE, "\n"), (NOTE.replace("\n", "\r\n"), "\r\n"), ("a\r\nb\n", "\r\n"), ("a", "\n")],
    )
    def test_the_line_ending_is_that_of_the_first_line(self, text: str, newline: str) -> None:
        assert split(text).newline == newline

    @given(st.lists(LINES, max_size=8).map("".join))
    def test_the_pieces_joined_are_the_note(self, text: str) -> None:
        try:
            parts = split(text)
        except FrontmatterError:
            return
        assert parts.join() == text


class TestBytes:
    @given(st.binary(max_size=60))
    def test_bytes_come_back_as_they_were(self, content: bytes) -> None:
        if not content.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
            assert to_bytes(to_text(content)) == content

    @given(st.binary(max_size=60))
    def test_a_body_reads_as_a_decoder_replaces(self, body: bytes) -> None:
        note = read(b"---\nname: a\n---\n" + body)
        assert note.body == body.decode("utf-8", "replace")

    def test_a_field_reads_as_a_decoder_replaces(self) -> None:
        note = read(b"---\nname: a\xe4\xbd(\nlist: [\xff, {\xfe: \xff}]\n---\n")
        assert note.fields == {"name": "a\ufffd(", "list": ["\ufffd", {"\ufffd": "\ufffd"}]}

    def test_half_a_pair_is_no_text(self) -> None:
        assert readable("a\ud800b") == "a\ufffdb"
        assert to_bytes("a\ud800b") == b"a\xef\xbf\xbdb"

    def test_another_encoding_is_named(self) -> None:
        with pytest.raises(FrontmatterError, match="save it as UTF-8"):
            read(NOTE.encode("utf-16"))

    @pytest.mark.case("CP09")
    def test_a_body_keeps_its_line_ends(self) -> None:
        note = read("---\r\nname: a\r\ndescription: |\r\n  x\r\n  y\r\n---\r\nb\r\nc\n")
        assert note.fields == {"name": "a", "description": "x\ny\n"}
        assert note.body == "b\r\nc\n"


class TestMeaning:
    @pytest.mark.case("CP13")
    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("yes", "yes"),
            ("on", "on"),
            ("No", "No"),
            ("y", "y"),
            ("2026-01-02", "2026-01-02"),
            ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
            ("12:30", "12:30"),
            ("12:30:00", "12:30:00"),
            ("1_000", "1_000"),
            ("0b11", "0b11"),
            ("=", "="),
            ("---", "---"),
            ("http://a.b/c?d=e#f", "http://a.b/c?d=e#f"),
            ("true", True),
            ("True", True),
            ("FALSE", False),
            ("", None),
            ("~", None),
            ("Null", None),
            ("nUll", "nUll"),
            ("42", 42),
            ("-7", -7),
            ("+7", 7),
            ("017", 17),
            ("0o17", 15),
            ("0x1F", 31),
            ("-0x1F", "-0x1F"),
            ("3.5", 3.5),
            ("1.", 1.0),
            (".5", 0.5),
            ("1e3", 1000.0),
            ("-.inf", -math.inf),
            (".", "."),
            ("-", "-"),
            ("1.2.3", "1.2.3"),
            ("'42'", "42"),
            ('"true"', "true"),
            ("'it''s'", "it's"),
            ("!!str 42", "42"),
            ("! 42", "42"),
            ('!!int "3"', 3),
            ("!!float 3", 3.0),
            ("!mine 3", "3"),
            ("[a, 1, [true]]", ["a", 1, [True]]),
            ("{to: b, type: child-of}", {"to": "b", "type": "child-of"}),
            ("[]", []),
        ],
    )
    def test_a_value_is_what_yaml_1_2_says(self, written: str, value: Any) -> None:
        found = values(f"key: {written}\n" if written != "-" else 'key: "-"\n')["key"]
        assert found == value
        assert type(found) is type(value)

    def test_not_a_number_is_a_float(self) -> None:
        assert math.isnan(values("a: .nan\n")["a"])  # type: ignore[arg-type]

    def test_a_number_of_many_digits_stays_text(self) -> None:
        assert values(f"a: {'9' * 5000}\n") == {"a": "9" * 5000}

    def test_a_key_is_the_text_that_is_written(self) -> None:
        assert values("1: a\ntrue: b\n0x1f: c\n~: d\n") == {
            "1": "a",
            "true": "b",
            "0x1f": "c",
            "~": "d",
        }

    def test_a_merge_key_is_a_key(self) -> None:
        assert values("<<: {a: b}\nc: d\n") == {"<<": {"a": "b"}, "c": "d"}

    @pytest.mark.parametrize(
        "character", ["\u0085", "\u2028", "\u2029", "\ufeff", "\x01", "\uffff"]
    )
    def test_a_character_that_yaml_1_1_minds_is_text(self, character: str) -> None:
        text = f"a: x{character}y\nb: 'p{character} q'\nc: {character}\n"
        assert values(text) == {"a": f"x{character}y", "b": f"p{character} q", "c": character}

    def test_private_use_characters_are_themselves(self) -> None:
        assert values("a: \U00100000\u2028\U00100001\n") == {"a": "\U00100000\u2028\U00100001"}

    def test_a_block_may_start_with_a_tab(self) -> None:
        assert values("a: |-\n  \tx\n  y\n") == {"a": "\tx\ny"}

    def test_an_escape_may_name_half_a_pair(self) -> None:
        assert values('a: "x\\ud800"\nb: "\\ud83d\\ude00"\n') == {"a": "x\ud800", "b": "😀"}


class TestRefusals:
    @pytest.mark.case("CP14", "CP15")
    @pytest.mark.parametrize(
        ("text", "line", "message"),
        [
            ("a: b\nc: d: e\n", 3, "needs quotes"),
            ("a: b\na: c\n", 3, "'a' stands here a second time"),
            ("a: b\nc:\n  d: 1\n  d: 2\n", 5, "'d' stands here a second time"),
            ("a:\n\t- b\n", 3, "spaces"),
            ("a: b\n--- # c\nd: e\n", 3, "second document"),
            ("a: b\n...\nd: e\n", 4, "document start|second document"),
            ("a: &x b\n", 2, "anchors"),
            ("a: b\nc: *x\n", 3, "quote a value that starts with"),
            ("a: b\n*x : c\n", 3, "a key is text"),
            ("? [a]\n: b\n", 2, "a key is text"),
            ("a: b\nc: 'd\ne: f\n", 3, "is not closed"),
            ("a: @b\n", 2, "quotes"),
            ("- a\n- b\n", 2, "not a mapping"),
            ("# x\n\nhello\n", 4, "not a mapping"),
            ("~\n", 2, "not a mapping"),
        ],
    )
    def test_what_is_wrong_is_named_with_its_line(self, text: str, line: int, message: str) -> None:
        with pytest.raises(FrontmatterError, match=message) as caught:
            read(f"---\n{text}---\nbody")
        assert caught.value.line == line
        assert str(caught.value).startswith(f"frontmatter, line {caught.value.line}: ")
        assert isinstance(caught.value, InvalidValue)

    def test_a_frontmatter_of_a_book_is_refused(self) -> None:
        with pytest.raises(FrontmatterError, match="too many"):
            values("a: b\n" * (LARGEST // 5 + 1))

    @pytest.mark.parametrize("bracket", ["[", "{a: ", "- ", "? "])
    def test_a_deep_frontmatter_is_refused(self, bracket: str) -> None:
        with pytest.raises(FrontmatterError):
            values("a:\n " + bracket * (LARGEST // len(bracket) - 10))

    def test_as_many_levels_as_promised_are_read(self) -> None:
        text = "a: " + "[" * DEEPEST + "]" * DEEPEST + "\n"
        assert "a" in values(text)
        with pytest.raises(FrontmatterError, match="levels"):
            values(text.replace("[", "[[", 1).replace("]", "]]", 1))

    @given(st.text(max_size=80))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        refused: FrontmatterError | None = None
        found = None
        try:
            found = values(text)
        except FrontmatterError as error:
            refused = error
        assert isinstance(found, dict) if refused is None else refused.line >= 1


class TestPlaces:
    def test_a_value_ends_with_its_last_character(self) -> None:
        text = "a: |\n  😀\n  y\n\n# c\nb: [x,\n  y] # d\ne:\n- 1\n\n# f\ng: 'h\n  i'\nj: k # l\n"
        root = nodes(text)
        assert root is not None
        shown = {key.value: text[v.start : v.end] for key, v in zip(root.keys, root.inner)}  # noqa: B905
        assert shown == {
            "a": "|\n  😀\n  y",
            "b": "[x,\n  y]",
            "e": "- 1",
            "g": "'h\n  i'",
            "j": "k",
        }
        styles = [node.style for node in root.inner]
        assert styles == ["block", "flow", "sequence", "quoted", "plain"]


def test_a_yaml_library_is_loaded_by_reading_only() -> None:
    program = (
        "import sys\n"
        "from camillo.text import frontmatter, mentions, yaml_edit, yaml_write\n"
        "frontmatter.split('---\\na: b\\n---\\n')\n"
        "yaml_write.frontmatter_text({'name': 'a'})\n"
        "assert 'yaml' not in sys.modules and 'typing' not in sys.modules\n"
        "frontmatter.read('---\\na: b\\n---\\n')\n"
        "assert 'yaml' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
