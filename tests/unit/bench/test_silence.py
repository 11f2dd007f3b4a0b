"""`bench silence`: who is asked what, and what counts as silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo.bench.records import Text
from camillo.bench.silence import participants, renamed
from camillo.errors import InvalidValue
from camillo.ops.bench_silence import SilenceReport, bench_silence
from camillo.vault import Vault, open_vault

TALKS = {
    "a": [("Ann", "I went to the pottery class with my sister."),
          ("Bob", "The swimming pool was closed again.")],
    "b": [("Cleo", "My violin needs a new string."),
          ("Dan", "Cleo, the pottery class of Dan was full.")],
}  # fmt: skip
QUERIES = [
    {"id": "q1", "conv": "a", "text": "Who went to the pottery class?", "relevant_ids": ["a0"]},
    {"id": "q2", "conv": "a", "text": "What did Bob say of the swimming pool?",
     "relevant_ids": ["a1"]},
    {"id": "q3", "conv": "b", "text": "What does Cleo's violin need?", "relevant_ids": ["b0"]},
    {"id": "q4", "conv": "b", "text": "xylophone zeppelin", "relevant_ids": ["b1"]},
    {"id": "q5", "conv": "b", "text": "pottery", "relevant_ids": []},
]  # fmt: skip


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault() as opened:
        yield opened


def ran(vault: Vault, talks: Any = TALKS, queries: Any = QUERIES) -> SilenceReport:
    corpus = [
        {"id": f"{conv}{n}", "conv": conv, "session": "s", "speaker": speaker, "text": text}
        for conv, said in talks.items()
        for n, (speaker, text) in enumerate(said)
    ]
    for name, records in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        Path(name).write_text("".join(f"{json.dumps(each)}\n" for each in records), "utf-8")
    report: SilenceReport = bench_silence(vault, corpus="corpus.jsonl", queries="queries.jsonl")
    return report


def test_each_labelled_query_is_asked_at_home_and_elsewhere(vault: Vault) -> None:
    report = ran(vault)
    assert (report.haystacks, report.queries, report.unlabelled) == (2, 4, 1)
    assert {row.measure: row.n for row in report.results} == {"A": 4, "B": 4, "kept": 4}
    # At home q4 finds nothing; elsewhere q1 meets another pottery class.
    assert report.metrics == {"A": 0.75, "B": 0.75, "kept": 0.75}
    for row in report.results:
        assert row.low < row.value < row.high
        assert row.value == report.metrics[row.measure]


def test_names_are_put_in_and_may_be_all_that_is_found(vault: Vault) -> None:
    talks = {"a": [("Ann", "yes"), ("Bob", "no")], "b": [("Cleo", "maybe"), ("Dan", "never")]}
    queries = [{"id": "q", "conv": "a", "text": "Ann and Bob", "relevant_ids": ["a0"]}]
    report = ran(vault, talks, queries)
    assert report.metrics == {"A": 1.0, "B": 0.0, "kept": 1.0}


def test_one_haystack_alone_can_be_asked_nothing_else(vault: Vault) -> None:
    report = ran(vault, {"a": TALKS["a"]}, QUERIES[:2])
    assert report.metrics == {"A": None, "B": None, "kept": 1.0}
    assert "nothing can be asked elsewhere" in report.degraded[-1]


def test_a_haystack_that_nobody_asks_of_is_asked_too(vault: Vault) -> None:
    talks = {**TALKS, "c": [("Eve", "A pottery class? The swimming pool!")]}
    assert {row.measure: row.n for row in ran(vault, talks).results} == {"A": 8, "B": 8, "kept": 4}


def test_nothing_is_kept(vault: Vault, home: Path) -> None:
    ran(vault)
    assert not (home / ".camillo").exists()


def test_files_have_to_be_named(vault: Vault) -> None:
    with pytest.raises(InvalidValue, match="bench silence needs --corpus"):
        bench_silence(vault)


class TestNames:
    def test_participants_are_in_the_order_of_their_first_words(self) -> None:
        said = [Text(str(n), "c", "s", name, "", "…") for n, name in enumerate(("B", "A", "", "B"))]
        assert participants(said) == ["B", "A"]

    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            ("When did Ann meet Bob?", "When did Cleo meet Dan?"),
            ("Ann's cat, and Annabel's", "Cleo's cat, and Annabel's"),
            ("nobody", "nobody"),
            ("Bob or Ann or Ann", "Dan or Cleo or Cleo"),
        ],
    )
    def test_the_first_takes_the_place_of_the_first(self, question: str, expected: str) -> None:
        assert renamed(question, ["Ann", "Bob"], ["Cleo", "Dan"]) == expected

    def test_names_that_change_places_are_not_changed_twice(self) -> None:
        assert renamed("Ann and Bob", ["Ann", "Bob"], ["Bob", "Ann"]) == "Bob and Ann"

    def test_where_fewer_people_are_they_take_turns(self) -> None:
        assert renamed("Ann, Bob, Eve", ["Ann", "Bob", "Eve"], ["Cleo", "Dan"]) == "Cleo, Dan, Cleo"

    def test_of_a_long_name_the_first_counts_too(self) -> None:
        assert renamed("Ann Lee, or Ann", ["Ann Lee"], ["Cleo Moss"]) == "Cleo Moss, or Cleo"

    def test_chinese_names_stand_inside_a_sentence(self) -> None:
        assert renamed("王伟喜欢什么", ["王伟"], ["李娜"]) == "李娜喜欢什么"

    def test_without_people_nothing_changes(self) -> None:
        assert renamed("Ann", [], ["Cleo"]) == renamed("Ann", ["Ann"], []) == "Ann"
