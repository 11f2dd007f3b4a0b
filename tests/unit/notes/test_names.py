"""Names of notes: short, safe on every system, readable in every script."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.notes.names import NAME_BYTES, NAME_CHARS, slug, unique_name
from camillo.text.graphemes import is_boundary
from camillo.text.mentions import mentions

titles = st.text(max_size=250)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Why we moved the queue to Redis?", "why_we_moved_the_queue_to_redis"),
        ("Über naïve Straßen", "uber_naive_strassen"),
        ("e\u0301te\u0301 Łódź", "ete_lodz"),
        ("İstanbul ILIK", "istanbul_ilik"),
        ("门在哪里？", "门在哪里"),
        ("ゲートの 場所", "ゲートの_場所"),
        ("한국어 노트", "한국어_노트"),
        ("Ёж и йод", "ёж_и_йод"),
        ("हिन्दी में नोट", "हिन्दी_में_नोट"),
        ("น้ำอยู่ที่ไหน", "น้ำอยู่ที่ไหน"),
        ("ＡＰＩ ﬁle x²", "api_file_x2"),
        ("../../etc/passwd", "etc_passwd"),
        ("a--b__c  d", "a_b_c_d"),
        ("🎉", "note"),
        ("", "note"),
        ("\ud800", "note"),
        ("Index", "index_note"),
        ("ROOT", "root_note"),
        ("MEMORY", "memory_note"),
        ("con", "con_note"),
        ("COM1", "com1_note"),
    ],
)
def test_a_title_gives_a_name(title: str, name: str) -> None:
    assert slug(title) == name


@given(titles)
def test_names_are_short_safe_and_settled(title: str) -> None:
    name = slug(title)
    assert 0 < len(name) <= NAME_CHARS
    assert len(name.encode()) <= NAME_BYTES
    assert unicodedata.is_normalized("NFC", name)
    assert all(char == "_" or unicodedata.category(char)[0] in "LMN" for char in name)
    assert not name.startswith("_")
    assert not name.endswith("_")
    assert slug(name) == name
    assert slug(title.upper()) == slug(title.upper().lower())


@pytest.mark.promise(32)
@pytest.mark.parametrize("char", ["門", "한", "नि", "กี่", "ё"])
def test_a_long_title_is_cut_between_graphemes(char: str) -> None:
    title = char * 200
    name = slug(title)
    assert len(name) > 60
    assert title.startswith(name)
    assert is_boundary(title, len(name))


def test_a_long_title_is_cut_between_words() -> None:
    assert slug("seven painted gates " * 9) == ("seven_painted_gates_" * 9)[:99]


@given(st.text(st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=0x24F), min_size=1))
def test_a_name_of_latin_letters_can_be_mentioned(title: str) -> None:
    name = slug(title)
    assert not name.isascii() or mentions(f"see [[{name}]]") == (name,)


def test_a_name_that_is_taken_gets_a_number() -> None:
    assert unique_name("Gate", []) == "gate"
    assert unique_name("Gate", ["gate"]) == "gate_2"
    assert unique_name("Gate", ["gate", "gate_2", "gate_4"]) == "gate_3"


@pytest.mark.parametrize("taken", ["GATE", "Gate", "gate"])
def test_case_does_not_tell_names_apart(taken: str) -> None:
    assert unique_name("gate", [taken]) == "gate_2"


def test_nor_does_the_normal_form() -> None:
    assert unique_name("ёж", [unicodedata.normalize("NFD", "ёж")]) == "ёж_2"


@given(st.lists(titles, max_size=8))
def test_no_two_get_the_same_name(titles: list[str]) -> None:
    taken: list[str] = []
    for title in [*titles, *titles]:
        name = unique_name(title, taken)
        assert name.casefold() not in {each.casefold() for each in taken}
        assert len(name) <= NAME_CHARS
        assert len(name.encode()) <= NAME_BYTES
        taken.append(name)
