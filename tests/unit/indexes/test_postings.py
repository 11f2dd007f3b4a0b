"""Columns and postings in memory: after any history what a process that just began would read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.indexes import postings
from camillo.indexes._passages import Columns
from camillo.indexes.postings import Postings
from camillo.model import Filter, Key, Memory, Place, replace
from camillo.text.tokens import query_terms
from camillo.vault import OpenRoot, open_vault

TOKENS = ["a", "b", "abc", "门", "门道", "é", "e"]
CHANGES = ["put", "change", "delete", "archive", "last", "again", "rebuild"]
STEP = st.tuples(
    st.sampled_from([*CHANGES, "look", "look", "look"]),
    st.integers(0, 6),
    st.text(st.sampled_from("abc 门道 é"), max_size=12),
    st.booleans(),
)


@pytest.fixture
def root(home: Path) -> Iterator[OpenRoot]:
    with open_vault() as vault:
        yield vault.root("user", create=True)


@pytest.fixture
def other(root: OpenRoot) -> Iterator[OpenRoot]:
    """The same root in another process: a connection of its own."""
    root.catch_up()
    with open_vault() as vault:
        yield vault.root("user")


def _told(root: OpenRoot, tokens: Sequence[str] = TOKENS) -> dict[str, Any]:
    """All that the root's words know of these tokens."""
    held = root.words.occurrences(tokens)
    assert held is not None
    filters = [Filter(), Filter(archived=True), Filter(wing="w1")]
    admitted = [held.admitted(filter) for filter in filters]
    return {
        "rows": held.rows.tolist(),
        "words": held.words.tolist(),
        "of": {token: [column.tolist() for column in held.of(token)] for token in tokens},
        "admitted": [held.rows.tolist() if a is None else held.rows[a].tolist() for a in admitted],
    }


def _fresh(tokens: Sequence[str] = TOKENS) -> dict[str, Any]:
    with open_vault() as vault:
        return _told(vault.root("user"), tokens)


def _take(root: OpenRoot, what: str, number: int, text: str) -> None:
    store, key = root.store, Key("", "user", "", f"m{number}")
    [held] = store.get([key])
    if what == "put":
        store.put([Memory(key.id, text, "drawer", place=Place(f"w{number % 2}"))])
    elif what == "change" and held:
        store.put([replace(held, body=text, place=Place("w1"))])
    elif what == "archive" and held:
        store.put([replace(held, archived=0 if held.archived else 9)])
    elif what == "delete":
        store.delete([key])
    elif what == "last":  # its row number is given again to what comes next
        newest = list(store.scan(Filter(archived=True)))[-1:]
        store.delete([memory.key for memory in newest])
        root.catch_up()
        store.put([Memory(f"m{number}", text, "drawer")])
    elif what == "again" and held:
        store.delete([key])
        store.put([held])
    elif what == "rebuild":
        root.rebuild()
    root.catch_up()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, max_size=14))
def test_after_any_history_they_are_those_of_a_fresh_start(
    root: OpenRoot, other: OpenRoot, steps: list[tuple[str, int, str, bool]]
) -> None:
    for what, number, text, elsewhere in steps:
        _take(other if elsewhere else root, what, number, text)
        if what == "look":
            assert _told(root) == _fresh()
    assert _told(root) == _told(other) == _fresh()


def test_what_is_added_is_appended(root: OpenRoot, other: OpenRoot) -> None:
    root.store.put([Memory("a", "gate wall", "drawer")])
    root.catch_up()
    first = root.words.occurrences(["gate"])
    other.store.put([Memory("b", "gate gate", "drawer")])
    other.catch_up()
    second = root.words.occurrences(["gate"])
    assert first is not None
    assert second is not None
    assert (len(first.rows), len(second.rows)) == (1, 2)
    assert [each.tolist() for each in first.of("gate")] == [[0], [1]]
    assert [each.tolist() for each in second.of("gate")] == [[0, 1], [1, 2]]
    assert _columns(root).generation == _generation_after(root, lambda: None)


def test_only_a_removal_begins_a_generation(root: OpenRoot, other: OpenRoot) -> None:
    def put() -> None:
        other.store.put([Memory("b", "gate", "drawer")])
        other.catch_up()

    def delete() -> None:
        other.store.delete([Key("", "user", "", "b")])
        other.catch_up()

    before = _columns(root).generation
    assert _generation_after(root, put) == before
    assert _generation_after(root, delete) == before + 1
    assert _generation_after(root, put) == before + 1
    assert _generation_after(root, other.rebuild) == before + 2
    assert _generation_after(root, root.rebuild) == before + 3


def test_a_row_number_that_is_given_again_is_another_passage(
    root: OpenRoot, other: OpenRoot
) -> None:
    root.store.put([Memory("a", "gate", "drawer"), Memory("b", "gate gate", "drawer")])
    root.catch_up()
    before = _told(root, ["gate", "wall"])
    other.store.delete([Key("", "user", "", "b")])
    other.store.put([Memory("c", "wall wall wall", "drawer")])
    other.catch_up()
    after = _told(root, ["gate", "wall"])
    assert after["rows"] == before["rows"]
    assert after["of"] == {"gate": [[0], [1]], "wall": [[1], [3]]}


def test_a_file_that_another_process_built_anew_is_told_from_the_former(
    root: OpenRoot, other: OpenRoot
) -> None:
    """Also where as many passages have gone from the new as from the old."""
    root.store.put([Memory(f"m{n}", f"gate w{n}", "drawer") for n in range(5)])
    root.catch_up()
    root.store.delete([Key("", "user", "", "m0")])
    root.catch_up()
    _told(root)
    other.rebuild()
    other.catch_up()
    other.store.delete([Key("", "user", "", "m3")])
    other.catch_up()
    other.store.put([Memory(f"n{n}", "changed gate", "drawer") for n in range(3)])
    other.catch_up()
    assert _told(root, ["gate", "changed"]) == _fresh(["gate", "changed"])


def test_what_another_process_files_after_it_built_the_file_anew_is_in_its_place(
    root: OpenRoot, other: OpenRoot
) -> None:
    """Rows that were noted of the old file mean nothing in the new one."""
    for n in range(3):
        root.store.put([Memory(f"m{n}", "gate", "drawer", place=Place(f"w{n}"))])
        root.catch_up()
    root.store.delete([Key("", "user", "", "m0")])
    other.rebuild()
    other.catch_up()
    root.store.put([Memory("m3", "gate", "drawer", place=Place("w2"))])
    root.catch_up()
    found = root.words.hits(root.words.keyword(["gate"], 9, Filter(wing="w2")))
    assert sorted(hit.key.id for hit in found) == ["m2", "m3"]


class TestMemory:
    def test_the_least_recently_asked_are_let_go_and_come_back_right(
        self, root: OpenRoot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        words = [f"w{n}" for n in range(30)]
        texts = [" ".join(words[n % 7 :: n % 5 + 1]) for n in range(60)]
        root.store.put([Memory(f"m{n}", text, "drawer") for n, text in enumerate(texts)])
        root.catch_up()
        whole = _told(root, words)
        monkeypatch.setattr(postings, "_MOST", 600)
        small = Postings(root.words._file)  # type: ignore[attr-defined]
        for n in range(0, 300, 7):
            asked = [words[n % 30], words[(n + 3) % 30], words[n * n % 30]]
            held = small.occurrences(asked)
            for token in asked:
                assert [column.tolist() for column in held.of(token)] == whole["of"][token]
            assert len(small._held) < len(words)
            assert small._size <= 600 or len(small._held) == len(set(asked))
            assert small._size == sum(map(postings._cost, small._held.values()))

    def test_all_that_one_query_asks_for_is_there(
        self, root: OpenRoot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root.store.put([Memory("m", "gate wall lamp door", "drawer")])
        root.catch_up()
        monkeypatch.setattr(postings, "_MOST", 1)
        tokens = ["gate", "wall", "lamp", "door", "gone"]
        held = root.words.occurrences(tokens)
        assert held is not None
        assert [len(held.of(token)[0]) for token in tokens] == [1, 1, 1, 1, 0]

    def test_rare_tokens_count_more_than_their_passages(self) -> None:
        empty = postings._Posting(*[_columns_of_nothing()] * 2, 0)
        assert postings._cost(empty) > 0


def test_threads_may_ask_at_once(root: OpenRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "_MOST", 300)
    words = [f"w{n}" for n in range(12)]
    root.store.put([Memory(f"m{n}", " ".join(words[n % 5 :]), "drawer") for n in range(40)])
    root.catch_up()
    wanted = _told(root, words)["of"]
    wrong: list[object] = []

    def ask(step: int) -> None:
        try:
            for n in range(60):
                token = words[n * step % 12]
                held = root.words.occurrences([token, words[n % 12]])
                assert held is not None
                assert [column.tolist() for column in held.of(token)] == wanted[token]
        except BaseException as error:  # noqa: BLE001
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(step,)) for step in (1, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_words_of_a_question_are_tokens_that_can_be_asked_for(root: OpenRoot) -> None:
    root.store.put([Memory("m", "The painted gates, 七道门 and 哈哈哈", "drawer")])
    root.catch_up()
    forms = [form for term in query_terms("painted gate 七道 哈哈") for form in term.forms]
    held = root.words.occurrences(forms)
    assert held is not None
    assert {form: held.of(form)[1].tolist() for form in forms if len(held.of(form)[1])} == {
        "painted": [1], "paint": [1], "gate": [1], "七道": [1], "七": [1], "道": [1],
        "哈哈": [2], "哈": [3],
    }  # fmt: skip


def _columns(root: OpenRoot) -> Columns:
    file = root.words._file  # type: ignore[attr-defined]
    with file.database.reading():
        columns: Columns = file.passages.current()
        return columns


def _generation_after(root: OpenRoot, change: Any) -> int:
    change()
    root.catch_up()
    return _columns(root).generation


def _columns_of_nothing() -> Any:
    import numpy as np

    return np.empty(0, np.int32)
