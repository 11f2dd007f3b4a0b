"""The lexical index: which passages hold which words, and nothing of what has gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.model import Filter, Key, Memory, Origin, Place, replace
from camillo.text.tokens import token_text
from camillo.vault import OpenRoot, Vault, open_vault


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault() as opened:
        yield opened


@pytest.fixture
def root(vault: Vault) -> OpenRoot:
    return vault.root("user", create=True)


def _found(root: OpenRoot, text: str, filter: Filter = Filter(), k: int = 50) -> list[str]:
    root.catch_up()
    chosen = root.words.keyword(token_text(text).split(), k, filter)
    return [hit.key.id for hit in root.words.hits(chosen)]


def test_every_word_of_a_text_leads_to_it(root: OpenRoot) -> None:
    root.store.put([Memory("m", "Seven painted gates, 七道门")])
    for word in ("seven", "painted", "gates", "七道", "门"):
        assert _found(root, word) == ["m"]


def test_titles_and_summaries_count(root: OpenRoot) -> None:
    root.store.put([Memory("n", "body", "note", "Redis queue", "latency")])
    assert _found(root, "redis") == _found(root, "latency") == _found(root, "body") == ["n"]


def test_sizes_and_frequencies_follow_every_change(root: OpenRoot) -> None:
    root.store.put([Memory("a", "gate gate wall"), Memory("b", "gate")])
    root.catch_up()
    assert root.words.size() == (2, 4)
    assert root.words.df(["gate", "wall", "lamp"]) == {"gate": 2, "wall": 1, "lamp": 0}
    root.store.put([Memory("a", "lamp")])
    root.catch_up()
    assert root.words.size() == (2, 2)
    assert root.words.df(["gate", "wall", "lamp"]) == {"gate": 1, "wall": 0, "lamp": 1}
    root.store.delete([Key("", "user", "", "a"), Key("", "user", "", "b")])
    root.catch_up()
    assert root.words.size() == (0, 0)
    assert root.words.df(["gate", "lamp"]) == {"gate": 0, "lamp": 0}
    assert root.words.check().problems == ()


def test_bookkeeping_is_not_indexed(root: OpenRoot) -> None:
    root.store.put([Memory("s", "gate", "source"), Memory("f", "gate", "forgotten")])
    assert _found(root, "gate") == []
    assert root.words.cursor() == root.store.last_change()


def test_filters_are_applied_before_the_limit(root: OpenRoot) -> None:
    root.store.put([Memory(f"a{n}", "gate " * 9, place=Place("a")) for n in range(60)])
    root.store.put([Memory("b", "a gate far away among many other words", place=Place("b"))])
    assert _found(root, "gate", Filter(wing="b"), k=1) == ["b"]


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        (Filter(wing="w"), "a b"),
        (Filter(room="r"), "a"),
        (Filter(kinds=("note",)), "b"),
        (Filter(source="/x"), "a"),
        (Filter(source="/nowhere"), ""),
        (Filter(since="2024-01-01"), "a"),
        (Filter(before="2024-01-01"), "c"),
        (Filter(since="2023-01-01", before="2025-01-01"), "a c"),
        (Filter(archived=True), "a b c gone"),
        (Filter(scope="project"), ""),
        (Filter(namespace="other"), "theirs"),
        (Filter(namespace=None), "a b c theirs"),
    ],
)
def test_a_filter_means_what_it_means_in_the_store(
    root: OpenRoot, filter: Filter, found: str
) -> None:
    root.store.put([
        Memory("a", "gate", "drawer", place=Place("w", "r"), origin=Origin("/x"),
               happened_at="2024-06-01"),
        Memory("b", "gate", "note", place=Place("w", "s")),
        Memory("c", "gate", happened_at="2023-06-01"),
        Memory("gone", "gate", archived=5),
        Memory("theirs", "gate", namespace="other"),
    ])  # fmt: skip
    assert sorted(_found(root, "gate", filter)) == found.split()
    assert sorted(m.id for m in root.store.scan(filter)) == found.split()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "delete", "archive", "catch up"]),
            st.integers(0, 5),
            st.text(st.sampled_from("abc 门道 é"), max_size=12),
        ),
        max_size=25,
    )
)
def test_after_any_history_it_is_what_a_rebuild_would_make(
    root: OpenRoot, steps: list[tuple[str, int, str]]
) -> None:
    store = root.store
    for what, number, text in steps:
        key = Key("", "user", "", f"m{number}")
        if what == "put":
            store.put([Memory(key.id, text, "drawer")])
        elif what == "delete":
            store.delete([key])
        elif what == "archive":
            [held] = store.get([key])
            store.put([replace(held, archived=9)] if held else [])
        else:
            root.catch_up()
            root.scrub()
    words = ["a", "b", "abc", "门", "门道", "é"]
    before = [sorted(_found(root, word)) for word in words], root.words.size()
    assert root.words.check().problems == ()
    root.rebuild()
    assert ([sorted(_found(root, word)) for word in words], root.words.size()) == before


@pytest.mark.promise(3)
def test_a_check_sees_rows_that_were_overwritten(root: OpenRoot, home: Path) -> None:
    root.store.put([Memory("m", "seven gates")])
    root.catch_up()
    with root.words._file.database.write() as connection:
        connection.execute("DELETE FROM passages")
    assert root.words.check().problems != ()
