"""Layouts of public sets, on tiny files of our own: recognised by structure, read as they mean."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from camillo.bench.loaders.layout import Asked, values
from camillo.bench.loaders.layouts import LAYOUTS, convert, find_layout
from camillo.bench.records import Text, read_corpus, read_questions
from camillo.errors import InvalidValue, SourceUnreadable, UnknownName

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_10": [{"speaker": "Bob", "dia_id": "D10:1", "text": "Pepperoni!"}],
            "session_10_date_time": "3 pm on 9 May, 2023",
            "session_2": [
                {"speaker": "Ann", "dia_id": "D2:1", "text": "See", "blip_caption": "a cat"}
            ],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
        },
        "qa": [
            {"question": "Which topping?", "answer": "pepperoni", "evidence": ["D10:1"],
             "category": 4},
            {"question": "What?", "evidence": ["D2:1; D10:1", "D:10:01"], "category": 5,
             "adversarial_answer": "a dog"},
            {"question": "When?", "answer": 2023, "evidence": ["D"], "category": 2},
        ],
    }
]  # fmt: skip

REALTALK = {
    "name": {"speaker_1": "Emi", "speaker_2": "Ela"},
    "session_1": [
        {"clean_text": "hey", "speaker": "Emi", "date_time": "29.12.2023, 15:26:11",
         "dia_id": "D1:1"}
    ],
    "session_2": [
        {"clean_text": "look", "speaker": "Ela", "date_time": "30.12.2023, 09:00:00",
         "dia_id": "D1:2", "blip_caption": "a lake"}
    ],
    "qa": [{"question": "Who looked?", "answer": "Ela", "evidence": ["D1:2"], "category": 1}],
}  # fmt: skip

LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which degree?",
        "answer": 42,
        "haystack_session_ids": ["s1", "s2", "s1", "s3"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21", "2023/05/20", "2023/05/22"],
        "haystack_sessions": [
            [{"role": "user", "content": "One", "has_answer": True},
             {"role": "assistant", "content": "Two"}],
            [{"role": "user", "content": "Three"}],
            [{"role": "user", "content": "One again"}],
            [{"role": "user", "content": "Four"}, {"role": "assistant", "content": "Five"}],
        ],
        "answer_session_ids": ["s1", "s3"],
    },
    {
        "question_id": "q2_abs",
        "question_type": "multi-session",
        "question": "And the cat?",
        "answer": "not said",
        "haystack_session_ids": ["s9"],
        "haystack_dates": ["2023/05/20"],
        "haystack_sessions": [[{"role": "user", "content": "No cat", "has_answer": True}]],
        "answer_session_ids": ["s9"],
    },
]  # fmt: skip

FACTS = [
    {
        "context": "Here is a list of facts:\n0. Ann plays the harp.\n1. Bob plays chess.\n"
        "2. Ann plays the flute.\n3. The flute is of silver.\n",
        "questions": ["What does Ann play?"],
        "answers": [["flute"]],
        "metadata": {"source": "factconsolidation_sh_6k"},
    },
    {
        "context": "Here is a list of facts:\n0. Ann plays the harp.\n1. Bob plays chess.\n"
        "2. Ann plays the flute.\n3. The flute is of silver.\n",
        "questions": ["Of what is what Ann plays?"],
        "answers": [["silver", "Ag"]],
        "metadata": {"source": "factconsolidation_mh_6k"},
    },
]

SQUAD = {
    "version": "1.1",
    "data": [
        {
            "title": "T",
            "paragraphs": [
                {"context": "猫在睡觉。", "qas": [
                    {"id": "x1", "question": "谁在睡觉？",
                     "answers": [{"text": "猫", "answer_start": 0}, {"text": "猫"}]}]},
                {"context": "狗在跑。", "qas": []},
            ],
        }
    ],
}  # fmt: skip

CMRC = [
    {"context_id": "D1", "title": "T", "context_text": "猫在睡觉。",
     "qas": [{"query_id": "D1_Q1", "query_text": "谁？", "answers": ["猫", "猫"]}]}
]  # fmt: skip


def put(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return str(path)


def put_lines(path: Path, *lines: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def madial(folder: Path) -> str:
    put_lines(
        folder / "memory.json",
        {"1": {"time": "2023-12-25", "scene": "Activity", "emotion": "Happy", "event": "Danced."}},
        {"3": {"time": "2023-03-07", "scene": "Activity", "emotion": "Happy", "event": "Won."}},
    )
    put_lines(
        folder / "dialogue.json",
        {
            "dialogue": ["<BOD>\n", '<Bart>: "I am nervous!"\n', '<Assistant>: "Breathe."\n',
                         '<Bart>: "And now?"\n', '<Assistant>: "You danced once."\n', "<EOD>\n"],
            "test-turn": [4],
            "relevant-id": [1],
            "user-id": 1,
        },
    )  # fmt: skip
    return str(folder)


def precisionmembench(folder: Path) -> str:
    folder.mkdir()
    belief = {"_id": "b-k", "user_id": "u", "canonical_name": "kubernetes", "aliases": ["k8s"],
              "content": "Deploys with Helm.", "scope": ["domain:code"],
              "created_at": "2026-09-01T00:00:00Z"}  # fmt: skip
    put(folder / "beliefs.seed.json", [belief])
    cases = [
        {"caseId": "alias", "category": "Alias", "query": "k8s?", "scope": ["domain:code"],
         "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["b-k"]},
                    "pinnedFacts": {"mustInclude": ["other"]}}},
        {"caseId": "none", "query": "", "expect": {"personaPrelude": {"nonEmpty": True}}},
    ]  # fmt: skip
    put(folder / "retrieval.cases.json", cases)
    return str(folder)


def beir(folder: Path) -> str:
    put_lines(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "Wings", "text": "Lift and drag."},
        {"_id": "d2", "title": "", "text": "Heat."},
    )
    put_lines(folder / "queries.jsonl", *({"_id": q, "text": q} for q in ("q1", "q2", "q3")))
    (folder / "qrels").mkdir()
    rows = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq3\td2\t0\n"
    (folder / "qrels" / "test.tsv").write_text(rows, "utf-8")
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t1\n", "utf-8")
    return str(folder)


def file_of(value: Any) -> Callable[[Path], str]:
    return lambda path: put(path, value)


SETS: dict[str, Callable[[Path], str]] = {
    "locomo": file_of(LOCOMO),
    "realtalk": file_of(REALTALK),
    "longmemeval": file_of(LONGMEMEVAL),
    "factconsolidation": file_of(FACTS),
    "squad": file_of(SQUAD),
    "madial": madial,
    "precisionmembench": precisionmembench,
    "beir": beir,
}


def read(name: str, tmp_path: Path) -> tuple[dict[str, Text], list[Asked]]:
    items = list(LAYOUTS[name].read(SETS[name](tmp_path / "set")))
    texts = {item.id: item for item in items if isinstance(item, Text)}
    return texts, [item for item in items if isinstance(item, Asked)]


def test_every_layout_has_a_set_here() -> None:
    assert set(LAYOUTS) == set(SETS)


@pytest.mark.parametrize("name", SETS)
def test_a_layout_is_recognised_by_its_structure(name: str, tmp_path: Path) -> None:
    recognised = find_layout(SETS[name](tmp_path / "some.data")).NAME
    assert recognised == name


@pytest.mark.parametrize("name", SETS)
def test_what_is_written_is_what_the_bench_reads(name: str, tmp_path: Path) -> None:
    path, folder = SETS[name](tmp_path / "set"), tmp_path / "out"
    written = convert(LAYOUTS[name], path, str(folder))
    corpus = read_corpus(str(folder / "corpus.jsonl"))
    questions = read_questions(str(folder / "queries.jsonl"), corpus)
    assert (written.haystacks, written.queries) == (len(corpus.places), len(questions))
    assert written.unlabelled == sum(not question.relevant for question in questions)
    assert sum(map(len, corpus.places.values())) == written.texts
    assert {question.conv for question in questions} <= corpus.places.keys()
    assert sorted(each.name for each in folder.iterdir()) == ["corpus.jsonl", "queries.jsonl"]


def test_locomo_keeps_sessions_captions_and_evidence(tmp_path: Path) -> None:
    texts, (topping, what, when) = read("locomo", tmp_path)
    assert list(texts) == ["conv-1/D2:1", "conv-1/D10:1"]
    first = texts["conv-1/D2:1"]
    assert (first.session, first.time) == ("session_2", "1:56 pm on 8 May, 2023")
    assert first.indexed == "Ann: See [photo: a cat]"
    assert topping == Asked(
        "conv-1/q0", "Which topping?", "conv-1", ("conv-1/D10:1",), ("pepperoni",), "single-hop"
    )
    assert what.relevant_ids == ("conv-1/D2:1", "conv-1/D10:1")
    assert (what.answer, what.category) == (("a dog",), "adversarial")
    assert (when.relevant_ids, when.answer, when.category) == ((), ("2023",), "temporal")


def test_realtalk_takes_the_session_from_where_the_message_stands(tmp_path: Path) -> None:
    texts, (asked,) = read("realtalk", tmp_path)
    assert texts["set/D1:2"].session == "session_2"
    assert texts["set/D1:2"].time == "30.12.2023, 09:00:00"
    assert asked.relevant_ids == ("set/D1:2",)
    assert asked.category == "multi-hop"


def test_realtalk_reads_a_folder_of_chats(tmp_path: Path) -> None:
    for name in ("Chat_1.json", "Chat_2.json"):
        put(tmp_path / name, REALTALK)
    put(tmp_path / "other.json", {"no": "chat"})
    layout = find_layout(str(tmp_path))
    assert layout.NAME == "realtalk"
    convs = {item.conv for item in layout.read(str(tmp_path))}
    assert convs == {"Chat_1", "Chat_2"}


def test_longmemeval_labels_marked_turns_else_the_users(tmp_path: Path) -> None:
    texts, (first, abstained) = read("longmemeval", tmp_path)
    assert first.relevant_ids == ("q1/s1:1", "q1/s3:1")
    assert first.answer == ("42",)
    assert texts["q1/s1:2"].indexed == "assistant: Two"
    assert texts["q1/s1:1"].text == "One"
    assert abstained.relevant_ids == ()
    assert {text.conv for text in texts.values()} == {"q1", "q2_abs"}


def test_facts_are_told_once_and_the_newest_that_answers_is_evidence(tmp_path: Path) -> None:
    texts, (single, multi) = read("factconsolidation", tmp_path)
    assert [text.time for text in texts.values()] == ["000000", "000001", "000002", "000003"]
    assert texts["6k/2"].indexed == "Ann plays the flute."
    assert single.relevant_ids == ("6k/2",)
    assert (multi.relevant_ids, multi.answer) == ((), ("silver", "Ag"))
    assert (single.category, multi.category) == ("single-hop", "multi-hop")


def test_madial_asks_with_the_dialogue_before_the_test_turn(tmp_path: Path) -> None:
    texts, (asked,) = read("madial", tmp_path)
    assert asked.text == "I am nervous! Breathe. And now?"
    assert asked.relevant_ids == ("1",)
    assert (texts["1"].time, texts["1"].text) == ("2023-12-25", "Danced.")


def test_precisionmembench_wants_the_relevant_tier(tmp_path: Path) -> None:
    texts, (alias, none) = read("precisionmembench", tmp_path)
    assert alias.relevant_ids == ("b-k",)
    assert none.relevant_ids == ()
    assert texts["b-k"].text == "Deploys with Helm."


def test_squad_numbers_paragraphs(tmp_path: Path) -> None:
    texts, (asked,) = read("squad", tmp_path)
    assert list(texts) == ["p0", "p1"]
    assert asked == Asked("x1", "谁在睡觉？", "all", ("p0",), ("猫",), "qa")


def test_cmrcs_own_layout_is_read_too(tmp_path: Path) -> None:
    path = put(tmp_path / "cmrc.json", CMRC)
    layout = find_layout(path)
    assert layout.NAME == "squad"
    _, asked = layout.read(path)
    assert asked == Asked("D1_Q1", "谁？", "all", ("p0",), ("猫",), "qa")


def test_beir_takes_the_test_judgements(tmp_path: Path) -> None:
    texts, (first, third) = read("beir", tmp_path)
    assert texts["d1"].text == "Wings\nLift and drag."
    assert texts["d2"].text == "Heat."
    assert (first.id, first.relevant_ids) == ("q1", ("d1",))
    assert (third.id, third.relevant_ids) == ("q3", ())


def test_a_judgement_that_is_none_is_named_by_its_line(tmp_path: Path) -> None:
    path = beir(tmp_path / "set")
    (tmp_path / "set" / "qrels" / "test.tsv").write_text("q\td\ts\nq1\td1\tmany\n", "utf-8")
    with pytest.raises(
        InvalidValue, match=r"test\.tsv, line 2: expected query, document and score"
    ):
        list(LAYOUTS["beir"].read(path))


@pytest.mark.parametrize("value", [{}, [], {"data": []}, [1, 2], "text", {"name": "x"}])
def test_what_has_no_known_layout_is_said(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InvalidValue, match="has no layout that is known: beir, factconsolidation"):
        find_layout(put(tmp_path / "x.json", value))


def test_unknown_names_and_paths_are_said(tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", LOCOMO)
    with pytest.raises(UnknownName, match="did you mean 'locomo'"):
        find_layout(path, "lokomo")
    with pytest.raises(SourceUnreadable, match="does not exist"):
        find_layout(str(tmp_path / "gone"))


def test_a_set_that_breaks_off_leaves_no_files(tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", [*LOCOMO, {"conversation": {}, "qa": [{}]}])
    with pytest.raises(InvalidValue, match="is not laid out as locomo is"):
        convert(LAYOUTS["locomo"], path, str(tmp_path / "out"))
    assert list((tmp_path / "out").iterdir()) == []


def test_files_that_are_there_are_not_replaced(tmp_path: Path) -> None:
    path = put(tmp_path / "x.json", LOCOMO)
    convert(LAYOUTS["locomo"], path, str(tmp_path / "out"))
    with pytest.raises(InvalidValue, match=r"corpus\.jsonl is there already"):
        convert(LAYOUTS["locomo"], path, str(tmp_path / "out"))


def test_values_come_one_by_one_however_the_file_is_written(tmp_path: Path) -> None:
    large = [{"n": n, "text": "é" * 300_000} for n in range(9)]
    for content in (json.dumps(large), json.dumps(large, indent=1, ensure_ascii=False),
                    "\n".join(map(json.dumps, large))):  # fmt: skip
        path = tmp_path / "values.json"
        path.write_text(content, "utf-8")
        assert [value["n"] for value in values(str(path))] == list(range(9))
        assert next(values(str(path))) == large[0]


@pytest.mark.parametrize("content", ['[{"a": 1}, {', '{"a": ', "[1 2", "{]"])
def test_json_that_breaks_off_is_said(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(content, "utf-8")
    if content == "[1 2":  # forgiven: nothing is lost
        assert list(values(str(path))) == [1, 2]
        return
    with pytest.raises(InvalidValue, match="is not JSON"):
        list(values(str(path)))
