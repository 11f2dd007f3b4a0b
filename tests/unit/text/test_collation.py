"""Names sort as JavaScript's localeCompare sorts them, on every machine, and quickly."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
import unicodedata
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text._collation_file import COLUMNS, PATH, Columns, pack
from camillo.text.collation import sort_key

ICU = "78"  # what the table is made of; others know other characters
# English has no order of its own. `und` would be that of the machine's language.
ORDER = """
const sort = new Intl.Collator("en").compare;
const read = JSON.parse(require("fs").readFileSync(0, "utf8"));
const sign = ([a, b]) => "<=>"[Math.sign(sort(a, b)) + 1];
process.stdout.write(read.map(sign).join(""));
"""
SCRIPTS = {
    "ASCII": [(0x20, 0x7E)],
    "Latin": [(0x41, 0x5A), (0x61, 0x7A), (0xA0, 0x24F), (0x1E00, 0x1EFF)],
    "phonetic": [(0x250, 0x2FF), (0x1D00, 0x1DBF), (0xA720, 0xA7CA)],
    "marks": [(0x300, 0x36F), (0x1AB0, 0x1ACE), (0x1DC0, 0x1DFF), (0x20D0, 0x20F0)],
    "Greek": [(0x370, 0x3FF), (0x1F00, 0x1FFE)],
    "Cyrillic": [(0x400, 0x52F), (0x1C80, 0x1C8A), (0x2DE0, 0x2DFF), (0xA640, 0xA69F)],
    "Hebrew": [(0x591, 0x5F4), (0xFB1D, 0xFB4F)],
    "Arabic": [(0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)],
    "Devanagari": [(0x900, 0x97F), (0x1CD0, 0x1CFA), (0xA8E0, 0xA8FF)],
    "Bengali to Sinhala": [(0x980, 0xDF4)],
    "Thai": [(0xE01, 0xE5B)],
    "Lao": [(0xE81, 0xEDF)],
    "Tibetan": [(0xF00, 0xFDA)],
    "Tibetan vowels": [(0xF71, 0xF81), (0xFB2, 0xFB3), (0x316, 0x327)],
    "Burmese and Khmer": [(0x1000, 0x109F), (0x1780, 0x17F9)],
    "Tai and Balinese": [(0x1980, 0x19DF), (0xAA80, 0xAADF), (0x1B00, 0x1B7F)],
    "Georgian to Cherokee": [(0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x1200, 0x13FD)],
    "kana": [(0x3041, 0x30FF), (0x31F0, 0x31FF), (0xFF61, 0xFF9F), (0x3300, 0x3357)],
    "Hangul": [(0xAC00, 0xD7A3)],
    "jamo": [(0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xD7B0, 0xD7FB)],
    "Han": [(0x4E00, 0x9FFF)],
    "Han A and B": [(0x3400, 0x4DBF), (0x20000, 0x2A6DF)],
    "Han C to J": [(0x2A700, 0x2EE5D), (0x30000, 0x33479)],
    "Han, compatible": [(0xF900, 0xFAD9), (0x2F800, 0x2FA1D), (0x2E80, 0x2FD5), (0x3220, 0x32B0)],
    "emoji": [(0x1F300, 0x1FAFF), (0x2600, 0x27BF), (0xFE0F, 0xFE0F), (0x200D, 0x200D)],
    "punctuation": [(0x2000, 0x206F), (0x3000, 0x303F), (0x2E00, 0x2E5D), (0xFE10, 0xFE6B)],
    "symbols": [(0x20A0, 0x23FF), (0x2500, 0x25FF), (0x2900, 0x2BFF)],
    "digits": [
        (0x2150, 0x218B),
        (0x2460, 0x249B),
        (0x660, 0x669),
        (0x966, 0x96F),
        (0x1D7CE, 0x1D7FF),
    ],
    "full width": [(0xFF00, 0xFFEE)],
    "mathematical": [(0x1D400, 0x1D7FF)],
    "controls": [(0, 0x1F), (0x7F, 0x9F), (0x200B, 0x200F), (0xFE00, 0xFE0F), (0xFFF0, 0xFFFF)],
    "surrogates": [(0xD800, 0xD810), (0xDBF0, 0xDC10), (0xDFF0, 0xDFFF)],
    "newer scripts": [
        (0x105C0, 0x105F3),
        (0x11000, 0x11FFF),
        (0x16100, 0x16139),
        (0x16D40, 0x16D79),
    ],
    "unassigned": [(0x378, 0x379), (0xE000, 0xE010), (0x40000, 0x40010), (0x10FFF0, 0x10FFFF)],
}


def test_names_sort_as_the_outline_shows_them() -> None:
    names = ["_x", "10", "9", "a", "A", "a_b", "a-b", "ab", "b", "B", "é"]
    assert sorted(set(names), key=sort_key) == names


def test_names_in_many_scripts_keep_the_recorded_order(recorded: list[str]) -> None:
    names = random.Random(1).sample(recorded, len(recorded))
    assert sorted(names, key=sort_key) == recorded


def test_the_recorded_order_is_that_of_node(recorded: list[str]) -> None:
    signs = _node(list(pairwise(recorded)))
    equals = [pair for pair, sign in zip(pairwise(recorded), signs, strict=True) if sign == "="]
    assert ">" not in signs
    assert all(list(one) < list(other) for one, other in equals)


@pytest.mark.parametrize("script", SCRIPTS)
def test_random_names_compare_as_in_node(script: str) -> None:
    dice = random.Random(script)
    pairs = [_pair(dice, _some_scripts(dice, script)) for _ in range(800)]
    expected = _node(pairs)
    differ = [
        (ascii(one), ascii(other), sign)
        for (one, other), sign in zip(pairs, expected, strict=True)
        if _sign(one, other) != sign
    ]
    assert differ == []
    assert {*"<>="} == set(expected), "the pairs show too little"


@pytest.mark.slow
def test_every_character_has_its_place_of_node() -> None:
    points = [*range(0x35000), *range(0xE0000, 0xE0200), *range(0x10FFF0, 0x110000)]
    weights = {character: _weights(character) for character in map(chr, points)}
    pairs = list(pairwise(sorted(weights, key=weights.__getitem__)))
    ours = ("=" if weights[one] == weights[other] else "<" for one, other in pairs)
    assert "".join(ours) == _node(pairs)


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_the_order_is_total(one: str, other: str) -> None:
    assert (sort_key(one) == sort_key(other)) == (one == other)


@given(st.text())
def test_composed_and_decomposed_are_neighbours(text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert _weights(composed) == _weights(decomposed) == _weights(text)


def test_decompositions_do_not_depend_on_the_python_at_hand() -> None:
    letter, its_parts = "\U000105c9", "\U000105d2\u0307"  # of Unicode 16
    assert _weights(letter) == _weights(its_parts)
    below, above = "\U00010efd", "\u0301"  # a mark of Unicode 15, and one that is older
    assert _weights(f"a{below}{above}") == _weights(f"a{above}{below}")


def test_equal_names_follow_their_code_points() -> None:
    names = ["e\u0301", "e\u0301\u0000", "e\u0301\u200b", "\u00e9"]
    assert len({_weights(name) for name in names}) == 1
    assert sorted(set(names), key=sort_key) == names


def test_a_small_kana_comes_first_at_the_first_difference() -> None:
    names = ["つき", "っきい", "つきい", "っきっ", "つきつ"]
    assert sorted(set(names), key=sort_key) == names


def test_a_surrogate_beside_its_other_half_is_one_character() -> None:
    assert _weights("\ud83d" + "\ude00") == _weights("\U0001f600")
    assert _weights("\ude00\ud83d") != _weights("\U0001f600")


def test_ideographs_follow_radical_and_strokes() -> None:
    names = list("一丁七万三上下不中人仁口水河火")
    assert sorted(set(names), key=sort_key) == names
    assert sorted("\u4e8d\u4e10\u9fd7", key=sort_key) == list("\u4e10\u9fd7\u4e8d")


def test_a_thai_vowel_before_its_consonant_sorts_behind_it() -> None:
    assert sorted(["ข", "เก", "กา", "ก"], key=sort_key) == ["ก", "กา", "เก", "ข"]


def test_many_marks_stay_in_order_of_their_classes() -> None:
    marks = "\u0301\u0323" * 2000
    assert _weights("a" + marks) == _weights("a" + "\u0323" * 2000 + "\u0301" * 2000)


def test_the_columns_of_a_file_are_those_that_were_packed() -> None:
    columns = {name: [0, 7, 0x10FFFF, 0xFFFFFFFF, at] for at, name in enumerate(COLUMNS)}
    read = Columns(pack(columns))
    assert {name: list(read[name]) for name in COLUMNS} == columns


def test_the_table_is_small() -> None:
    assert Path(PATH).stat().st_size <= 100_000


def test_keys_of_two_thousand_names_take_milliseconds() -> None:
    """Measured: 6 ms of CPU warm, 11 cold; three times that is let pass."""
    dice = random.Random(1)
    kinds = ("abcdefghijklmnopqrstuvwxyz-_0123456789", "abcdeéèüöñç ", "中文手机学习记忆系统设计")
    lengths = [dice.randint(10, 60) for _ in range(2000)]
    names = ["".join(dice.choices(kinds[at % 3], k=length)) for at, length in enumerate(lengths)]
    assert min(_cpu(names) for _ in range(5)) <= 0.03


@pytest.fixture
def recorded(root: Path) -> list[str]:
    """Names in the order of Node 20 with ICU 78, those that are equal there by code point."""
    names: list[str] = json.loads(
        (root / "tests" / "fixtures" / "collation.json").read_text("utf-8")
    )
    return names


def _cpu(names: list[str]) -> float:
    before = time.process_time()
    for name in names:
        sort_key(name)
    return time.process_time() - before


def _weights(text: str) -> bytes:
    """The key without the text at its end."""
    return sort_key(text).removesuffix(text.encode("utf-8", "surrogatepass"))


def _sign(one: str, other: str) -> str:
    left, right = _weights(one), _weights(other)
    return "<=>"[(left > right) - (left < right) + 1]


def _some_scripts(dice: random.Random, script: str) -> list[str]:
    """The script alone, or with another and with marks."""
    others = [script, *dice.choices([*SCRIPTS], k=dice.choice((0, 0, 1)))]
    return [*others, "marks"] if dice.random() < 0.25 else others


def _pair(dice: random.Random, scripts: list[str]) -> tuple[str, str]:
    """A random name, with another or with one that is nearly the same."""
    one = _name(dice, scripts, dice.randint(0, 8))
    if dice.random() < 0.25:
        return one, _name(dice, scripts, dice.randint(0, 8))
    other = list(one)
    for _ in range(dice.randint(1, 3)):
        _change(dice, other, scripts)
    return one, unicodedata.normalize(dice.choice(("NFC", "NFD")), "".join(other))


def _name(dice: random.Random, scripts: list[str], length: int) -> str:
    ranges = [dice.choice(SCRIPTS[dice.choice(scripts)]) for _ in range(length)]
    return "".join(chr(dice.randint(*ends)) for ends in ranges)


def _change(dice: random.Random, name: list[str], scripts: list[str]) -> None:
    at = dice.randint(0, len(name))
    if at == len(name) or dice.random() < 0.3:
        name.insert(at, _name(dice, scripts, 1))
        return
    changed = (
        "",
        name[at].swapcase(),
        unicodedata.normalize("NFKC", name[at]),
        unicodedata.normalize("NFD", name[at])[::-1],
        _name(dice, scripts, 1),
    )
    name[at] = dice.choice(changed)


def _node(pairs: list[tuple[str, str]]) -> str:
    """How Node compares: a sign for each pair."""
    node = _node_program()
    told = subprocess.run(
        [node, "-e", ORDER], input=json.dumps(pairs).encode(), stdout=-1, check=True
    )
    return told.stdout.decode()


@cache
def _node_program() -> str:
    node = shutil.which("node")
    if not node:
        pytest.skip("no node on PATH")
    version = subprocess.run([node, "-p", "process.versions.icu"], stdout=-1, text=True, check=True)
    if version.stdout.split(".")[0] != ICU:
        pytest.skip(f"node has ICU {version.stdout.strip()}, the table is of {ICU}")
    return node
