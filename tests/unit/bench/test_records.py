"""Reading a corpus and its queries: what holds, what is counted, which line is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from camillo.bench.records import Text, happened_at, read_corpus, read_questions
from camillo.errors import InvalidValue, SourceUnreadable


def lines(path: Path, *records: dict[str, Any]) -> str:
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records), "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        (Text("1", "c", "s", "Ann", "", "Hi"), "Ann: Hi"),
        (Text("1", "c", "s", "", "", "Hi"), "Hi"),
        (Text("1", "c", "s", "Ann", "", "Look", "a red door"), "Ann: Look [photo: a red door]"),
        (Text("1", "c", "s", "", "", "Look", "a red door"), "Look [photo: a red door]"),
    ],
)
def test_the_indexed_text_names_speaker_and_photo_where_given(text: Text, indexed: str) -> None:
    assert text.indexed == indexed


@pytest.mark.parametrize(
    ("time", "iso"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09"),
        ("2023-12-25", "2023-12-25"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21"),
        ("29.12.2023, 15:26:11", "2023-12-29T15:26"),
        ("2026-09-01T00:00:00Z", "2026-09-01T00:00"),
        ("2024年5月3日 09:30", "2024-05-03T09:30"),
        ("000012", ""),
        ("20231225", ""),
        ("soon", ""),
        ("", ""),
    ],
)
def test_dates_of_every_form_are_read_and_serial_numbers_are_none(time: str, iso: str) -> None:
    assert happened_at(time) == iso


def test_a_haystack_is_in_the_order_of_its_times(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "c.jsonl",
        {"id": "b", "text": "second", "conv": "x", "time": "2 May, 2023"},
        {"id": "other", "text": "not of this haystack", "conv": "y"},
        {"id": "a", "text": "first", "conv": "x", "time": "2023-05-01"},
    )
    assert [text.id for text in read_corpus(path).haystack("x")] == ["a", "b"]


def test_serial_numbers_order_as_numbers(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "c.jsonl",
        *({"id": time, "text": "t", "time": time} for time in ("000010", "000009", "000100")),
    )
    assert [text.id for text in read_corpus(path).haystack("")] == ["000009", "000010", "000100"]


def test_texts_without_time_stay_as_they_stand(tmp_path: Path) -> None:
    path = lines(tmp_path / "c.jsonl", *({"id": id_, "text": "t"} for id_ in "zay"))
    assert [text.id for text in read_corpus(path).haystack("")] == ["z", "a", "y"]


def test_the_first_of_two_equal_ids_counts(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "c.jsonl",
        {"id": "a", "text": "first", "conv": "x"},
        {"id": "a", "text": "second", "conv": "x"},
        {"id": "a", "text": "elsewhere", "conv": "y"},
    )
    corpus = read_corpus(path)
    assert corpus.doubles == 1
    assert [text.text for text in corpus.haystack("x")] == ["first"]
    assert [text.text for text in corpus.haystack("y")] == ["elsewhere"]


def test_a_byte_order_mark_and_blank_lines_are_let_be(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes('\ufeff{"id": 1, "text": "één"}\n\n  \n{"id": 2, "text": "two"}'.encode())
    assert [text.text for text in read_corpus(str(path)).haystack("")] == ["één", "two"]


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "1", "text": "a \\ud83d b"}\n', "utf-8")
    assert read_corpus(str(path)).haystack("")[0].text == "a \ufffd b"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{broken", "line 2 is not JSON"),
        ("[1]", "line 2 must be a JSON object, not list"),
        ('{"text": "no id"}', "line 2 has no 'id'"),
        ('{"id": "", "text": "empty id"}', "line 2 has no 'id'"),
        ('{"id": "x"}', "line 2 has no 'text'"),
    ],
)
def test_a_bad_line_is_named_by_its_number(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"id": "1", "text": "good"}\n' + line + "\n", "utf-8")
    with pytest.raises(InvalidValue, match=complaint):
        read_corpus(str(path))


def test_bytes_that_are_no_text_are_named_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b'{"id": "1", "text": "\xff"}\n')
    with pytest.raises(InvalidValue, match="line 1 is not JSON"):
        read_corpus(str(path))


def test_a_missing_file_and_an_empty_one_are_said(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match=r"gone\.jsonl cannot be read"):
        read_corpus(str(tmp_path / "gone.jsonl"))
    with pytest.raises(InvalidValue, match="holds no text"):
        read_corpus(lines(tmp_path / "empty.jsonl"))
    corpus = read_corpus(lines(tmp_path / "c.jsonl", {"id": "1", "text": "t"}))
    with pytest.raises(InvalidValue, match="holds no query"):
        read_questions(lines(tmp_path / "none.jsonl"), corpus)


def test_a_query_without_conv_asks_the_only_haystack(tmp_path: Path) -> None:
    corpus = read_corpus(lines(tmp_path / "c.jsonl", {"id": "1", "text": "t", "conv": "only"}))
    (question,) = read_questions(lines(tmp_path / "q.jsonl", {"id": "q", "text": "?"}), corpus)
    assert question.conv == "only"


def test_a_query_without_conv_asks_none_of_several(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "c.jsonl",
        *({"id": "1", "text": "t", "conv": conv} for conv in ("x", "y")),
    )
    questions = read_questions(
        lines(tmp_path / "q.jsonl", {"id": "q", "text": "?"}), read_corpus(path)
    )
    assert questions[0].conv == ""


def test_queries_of_one_id_are_told_apart_and_their_labels_are_sets(tmp_path: Path) -> None:
    corpus = read_corpus(lines(tmp_path / "c.jsonl", {"id": "1", "text": "t"}))
    path = lines(
        tmp_path / "q.jsonl",
        {"id": "q", "text": "?", "relevant_ids": ["1", "1", 2], "answer": "yes"},
        {"id": "q", "text": "?", "relevant_ids": [], "answer": ["no", " ", None, 7]},
        {"id": "q", "text": "?", "answer": None},
    )
    first, second, third = read_questions(path, corpus)
    assert len({first.key, second.key, third.key}) == 3
    assert first.relevant == {"1", "2"}
    assert (first.answers, second.answers, third.answers) == (("yes",), ("no", "7"), ())


def test_relevant_ids_that_are_no_list_are_refused(tmp_path: Path) -> None:
    corpus = read_corpus(lines(tmp_path / "c.jsonl", {"id": "1", "text": "t"}))
    path = lines(tmp_path / "q.jsonl", {"id": "q", "text": "?", "relevant_ids": "1"})
    with pytest.raises(InvalidValue, match="line 1: relevant_ids must be a list"):
        read_questions(path, corpus)
