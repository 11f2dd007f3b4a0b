"""Entities: which capitalised words of a text are names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.entities import find_entities


@pytest.mark.case("mempalace-6")
def test_names_that_act_are_found_even_at_the_start_of_sentences() -> None:
    text = "Igor reviewed the diff. Milla wrote the spec. Igor pushed the fix. Milla agreed."
    assert find_entities(text) == ("Igor", "Milla")


@pytest.mark.case("mempalace-7")
def test_function_words_are_no_names() -> None:
    assert (
        find_entities("The cat. When it. After all. The dog. When so. After that. Then The") == ()
    )


@pytest.mark.case("mempalace-9")
def test_the_most_frequent_come_first_and_ties_by_appearance() -> None:
    text = "with Zoe, with Anna, with Boris, with Anna, with Zoe, with Boris, with Boris"
    assert find_entities(text) == ("Boris", "Zoe", "Anna")
    assert find_entities(text, 2) == ("Boris", "Zoe")


def test_a_name_is_seen_twice() -> None:
    assert find_entities("we met Anna and Boris and again Anna") == ("Anna",)


def test_a_word_as_frequent_in_lower_case_is_no_name() -> None:
    assert find_entities("a Cache here, a cache there, the Cache, the cache") == ()
    assert find_entities("see Mark and Mark and Mark; they mark it") == ("Mark",)


def test_orders_and_labels_are_no_names() -> None:
    text = "Use this. Use that. Use more.\nNote: one\nNote: two\n- Click here\n- Click there\n"
    assert find_entities(text) == ()


def test_title_case_in_headings_proves_nothing() -> None:
    assert find_entities("## A Grand Opening\n\n## The Grand Finale\n") == ()


def test_speakers_are_names() -> None:
    assert find_entities("Igor: hi\nMilla: hello\nIgor: bye\n**Milla**: bye") == ("Igor", "Milla")


def test_products_are_kept_whole() -> None:
    text = "From Claude Code to VS Code:\nClaude\nCode is here, VS Code there, Node.js and Node.js"
    assert find_entities(text) == ("Claude Code", "VS Code", "Node.js")


def test_camel_case_is_a_name_wherever_it_stands() -> None:
    assert find_entities("PostgreSQL is fast.\nPostgreSQL it is") == ("PostgreSQL",)


def test_words_of_code_are_no_names() -> None:
    text = "x = None or String(Handler)\n" * 3 + "raise ValueError(Node, True, MAX_SIZE, API)\n" * 3
    assert find_entities(text) == ()


def test_a_part_of_an_identifier_is_no_name() -> None:
    assert find_entities("getElement getElement my_Element Element_of Element2 Element3") == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Вчера Игорь проверил, а Милла писала. Потом Игорь и Милла ушли.", ("Игорь", "Милла")),
        ("Игорь проверил код. Игорь исправил ошибку.", ("Игорь",)),
        ("avec Élodie et puis Élodie", ("Élodie",)),
        ("ο Νίκος και ο Νίκος", ("Νίκος",)),
        ("我们用Redis缓存，因为Redis快。", ("Redis",)),
        ("我读了《三体》，你也读了《三体》吗", ("《三体》",)),
    ],
)
def test_other_scripts_have_names(text: str, names: tuple[str, ...]) -> None:
    assert find_entities(text) == names


def test_german_nouns_are_no_names() -> None:
    text = (
        "Wir haben der Firma Siemens und der Firma Bosch den Fehler gemeldet. "
        "Siemens und Bosch sahen, dass der Fehler und das Haus neu sind: das Haus."
    )
    assert find_entities(text) == ("Siemens", "Bosch")


@given(st.text(st.sampled_from("aAbB .\n#\"'-ÄжЖ《》的İ"), max_size=200))
def test_any_text_has_at_most_five_names_each_in_it(text: str) -> None:
    names = find_entities(text)
    assert len(set(names)) == len(names) <= 5
    assert all(text.count(name) >= 2 for name in names)


@pytest.mark.parametrize("unit", ["a", "A", "Aa ", "A.", "#", ". ", "《", "\n# Ab", "Ж", '"Ab'])
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    text = (unit * 1_000_000)[:1_000_000]
    before = time.process_time()
    find_entities(text)
    # 1 MB takes well under a second; anything quadratic would take minutes.
    assert time.process_time() - before < 5
