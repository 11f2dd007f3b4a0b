"""Topics: verb phrases, headings, definitions and quotations, and their fair share of a text."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from camillo.text.topics import find_quotes, find_topics, next_mention


def topics(text: str, source_name: str = "notes.md") -> list[str]:
    return [topic.text for topic in find_topics(text, source_name=source_name)]


def quotes(text: str, source_name: str = "notes.md") -> list[str]:
    return [quote.text for quote in find_quotes(text, source_name=source_name)]


# Verb phrases


@pytest.mark.case("mempalace-21")
def test_a_verb_is_a_whole_word() -> None:
    assert topics("We rebuilt the cache and unfixed the clock.") == []


def test_a_phrase_is_lower_case_and_its_white_space_collapsed() -> None:
    assert topics("FIXED  the \t Login bug.") == ["fixed the login bug"]


def test_a_phrase_ends_with_its_line() -> None:
    assert topics("We added tests\nand left") == ["added tests"]
    assert topics("We added\ntests") == []


def test_a_phrase_is_cut_between_words() -> None:
    (phrase,) = topics("added " + "words and " * 10)
    assert phrase == "added words and words and words and words and"
    assert len(phrase) <= len("added ") + 40


def test_a_phrase_needs_three_characters() -> None:
    assert topics("We added it. We added six.") == ["added six"]


def test_a_phrase_said_twice_is_one_topic_with_two_places() -> None:
    (topic,) = find_topics("We fixed the bug. Again: fixed the bug!")
    assert topic.places == ((3, 16), (25, 38))


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Gestern behob Anna den Fehler.", "behob anna den fehler"),
        ("Ich habe den Fehler behoben.", "ich habe den fehler behoben"),
        ("Anna a corrigé le bug du login.", "corrigé le bug du login"),
        ("Ayer corrigió el error.", "corrigió el error"),
        ("Ontem corrigiu o erro.", "corrigiu o erro"),
        ("Ha aggiunto una prova.", "aggiunto una prova"),
        ("Вчера исправил ошибку входа.", "исправил ошибку входа"),
        ("我们修复了登录错误，然后回家。", "修复了登录错误"),
        ("我們決定遷移資料庫。", "決定遷移資料庫"),
        ("昨日、ログインのバグを修正した。", "ログインのバグを修正"),
        ("어제 로그인 버그를 수정했다.", "어제 로그인 버그를 수정"),
    ],
)
def test_other_languages_have_their_verbs(text: str, topic: str) -> None:
    assert topics(text) == [topic]


def test_positions_survive_letters_that_grow_in_lower_case() -> None:
    text = "İİİ fixed the bug"
    (topic,) = find_topics(text)
    assert text[slice(*topic.places[0])] == "fixed the bug"


# Headings


def test_headings_come_after_verb_phrases() -> None:
    assert topics("# Some Heading\nWe fixed it all.") == ["fixed it all", "some heading"]


def test_a_comment_of_a_script_is_no_heading() -> None:
    for name in ("tool.py", "run.sh", "conf.yaml", "Makefile", ".env", "dir/Dockerfile"):
        assert topics("# A comment line\n", name) == []
    for name in ("a.md", "a.TXT", "talk", "chat.jsonl", "notes.2024", "dir.py/notes"):
        assert topics("# A heading line\n", name) == ["a heading line"]


def test_a_fenced_block_holds_no_heading() -> None:
    text = "```sh\n# inside a fence\n```\n# after the fence\n~~~\n# open to the end\n"
    assert topics(text) == ["after the fence"]


def test_closing_marks_of_a_heading_are_dropped() -> None:
    assert topics("## Some Heading ##\r\n") == ["some heading"]


def test_underlined_titles_are_headings() -> None:
    text = "Great Title\n===========\n\nSmaller title\n-------------\n\ntext\n"
    assert topics(text) == ["great title", "smaller title"]


def test_front_matter_and_rules_are_no_titles() -> None:
    assert (
        topics("---\ntitle: some words\n---\n\nplain text\n\n---\n\nlong text\nends so\n---\n")
        == []
    )


def test_two_characters_of_han_make_a_heading() -> None:
    assert topics("# 安装\n# ab\n") == ["安装"]


def test_a_heading_is_at_most_sixty_characters_long() -> None:
    assert topics(f"# {'x' * 60}\n# {'y' * 61}\n") == ["x" * 60]


# Definitions

PYTHON = """import os

class Shelf:
    def _hide(self):
        pass

def open_shelf(path):
    pass
"""


def test_definitions_of_code_are_topics_outer_ones_first() -> None:
    assert topics(PYTHON, "shelf.py") == ["class Shelf", "def open_shelf", "def _hide"]


def test_definitions_can_be_left_out() -> None:
    assert find_topics(PYTHON, source_name="shelf.py", definitions=False) == []


def test_prose_defines_nothing() -> None:
    assert topics(PYTHON, "shelf.md") == []


@pytest.mark.parametrize(
    ("name", "text", "topic"),
    [
        ("a.ts", "export default async function readAll(x) {\n", "function readAll"),
        ("a.ts", "export const readAll = async (x) => 1\n", "const readAll"),
        ("a.ts", "export interface Store<T> {\n", "interface Store"),
        ("a.rs", "pub(crate) fn read_all<T>(x: T) {\n", "fn read_all"),
        ("a.go", "func (s *Shelf) Open(path string) error {\n", "func Open"),
        ("a.go", "type Shelf struct {\n", "type Shelf"),
        ("A.java", "public final class Shelf extends Box {\n", "class Shelf"),
        ("a.rb", "module Shelves\n", "module Shelves"),
        ("a.sql", "CREATE TABLE drawers (\n", "CREATE TABLE drawers"),
    ],
)
def test_many_languages_are_read(name: str, text: str, topic: str) -> None:
    assert topics(text, name) == [topic]


def test_prose_in_a_doc_string_defines_nothing() -> None:
    assert topics('"""\nclass of its own, and\ntype of thing\n"""\n', "a.py") == []


# The share of each region


def test_a_short_text_keeps_its_first_topics() -> None:
    text = "".join(f"# Heading number {n}\n" for n in range(20))
    assert topics(text) == [f"heading number {n}" for n in range(12)]


def test_the_topics_of_a_long_text_come_from_all_of_it() -> None:
    text = "".join(f"# Heading number {n}\n" + "text\n" * 50 for n in range(300))
    numbers = [int(topic.rsplit(" ", 1)[1]) for topic in topics(text)]
    assert len(numbers) == 12
    assert numbers == sorted(numbers)
    assert all(low < high - 10 for low, high in pairwise(numbers))


def test_an_empty_region_leaves_its_share_to_the_others() -> None:
    text = "".join(f"# Heading number {n}\n" for n in range(20)) + "plain\n" * 10_000
    assert topics(text) == [f"heading number {n}" for n in range(12)]


def test_a_long_text_prefers_phrases_that_say_something() -> None:
    part = "It is created in the end.\n# Heading {n}\n" + "plain\n" * 900
    text = "".join(
        part.replace("the end", f"part {n}").replace("{n}", f"num {n}") for n in range(12)
    )
    assert topics(text) == [f"heading num {n}" for n in range(12)]


# Quotations


def test_quotations_have_many_marks() -> None:
    text = "“curly marks are read” 「日本語の引用は十五文字以上の長さが必要」"
    text += " «guillemets are read too»"
    assert quotes(text) == [
        "curly marks are read",
        "日本語の引用は十五文字以上の長さが必要",
        "guillemets are read too",
    ]
    assert quotes("『书名号里的引文也要超过十五个字才能算数』 „deutsche Zeichen auch“") == [
        "书名号里的引文也要超过十五个字才能算数",
        "deutsche Zeichen auch",
    ]


def test_text_between_two_quotations_is_none() -> None:
    assert quotes('"a" is not what comes between "b" and "c" here') == []


def test_a_quotation_does_not_leave_its_line() -> None:
    assert quotes('an open "quotation here\nends there" too') == []


def test_a_quotation_has_15_to_150_characters() -> None:
    sizes = (14, 15, 150, 151)
    assert [len(quote) for quote in quotes("\n".join(f'"{"x" * n}"' for n in sizes))] == [15, 150]


def test_a_string_of_code_is_a_quotation_only_when_it_reads_as_words() -> None:
    text = 'a = "application/octet-stream"\nb = "no such drawer in this wing"\n'
    assert quotes(text, "a.py") == ["no such drawer in this wing"]


# Mentions


def test_a_mention_is_of_whole_words() -> None:
    assert next_mention("restorage, storages, storage", "storage", 0) == (21, 28)
    assert next_mention("restorage", "storage", 0) is None
    assert next_mention("我们的存储引擎很快", "存储引擎", 0) == (3, 7)


# Cost


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        '"',
        "#",
        "(",
        "\n",
        "`",
        "=",
        "\n===",
        "\n```",
        "“",
        "built ",
        " die ",
        "的",
        "を",
        "\ndef ",
    ],
)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * size)[:size]
        before = time.process_time()
        for name in ("a.md", "a.py"):
            find_topics(text, source_name=name)
            find_quotes(text, source_name=name)
        return time.process_time() - before

    seconds(1_000)
    # 1 MB takes well under a second; anything quadratic would take minutes.
    assert seconds(1_000_000) < 5
