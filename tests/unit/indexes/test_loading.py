"""Vectors in memory: read as they come, and after any history what a full reading would give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camillo.embed.hashing import HashingEmbedder
from camillo.indexes import vectors
from camillo.model import Filter, Key, Memory, replace
from camillo.vault import OpenRoot, open_vault

TEXTS = ["gate", "wall", "lamp", "door", "七道门", ""]
CHANGES = ["put", "change", "delete", "archive", "last", "again", "rebuild"]
CARE = ["fill", "fill", "fill", "fill all", "another model", "sweep", "damage", "reset"]
STEP = st.tuples(
    st.sampled_from([*CHANGES, *CARE, "look", "look", "look"]),
    st.integers(0, 9),
    st.sampled_from(TEXTS),
    st.booleans(),
)


class Other(HashingEmbedder):
    """A model of another name and size."""

    id = "other/1/f32/64"
    dim = 64


class Read:
    """How many vectors were read since it was last asked."""

    def __init__(self, root: OpenRoot, monkeypatch: pytest.MonkeyPatch) -> None:
        root.catch_up()
        database = root.meaning._file.database  # type: ignore[attr-defined]
        self._count = 0
        inner = database.rows

        def rows(sql: str, arguments: Sequence[Any] = ()) -> list[Any]:
            found: list[Any] = inner(sql, arguments)
            self._count += len(found) if "v.data" in sql else 0
            return found

        monkeypatch.setattr(database, "rows", rows)

    def __call__(self) -> int:
        count, self._count = self._count, 0
        return count


@pytest.fixture
def root(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenRoot]:
    with open_vault() as vault:
        yield vault.root("user", create=True)


@pytest.fixture
def other(root: OpenRoot) -> Iterator[OpenRoot]:
    """The same root in another process: a connection of its own."""
    root.catch_up()
    with open_vault() as vault:
        yield vault.root("user")


def _told(root: OpenRoot, embedder: HashingEmbedder) -> dict[int, float | None]:
    """The cosine of every passage to a query, by row."""
    rows = root.words.occurrences([])
    nearness = root.meaning.nearness(embedder, embedder.embed(["gate and door"], "query")[0])
    assert rows is not None
    told = dict(zip(rows.rows.tolist(), nearness.of(rows.rows.tolist()), strict=True))
    assert len(nearness) == sum(cosine is not None for cosine in told.values())
    assert len(nearness.best(9_999, Filter(archived=True))) == len(nearness)
    return told


def _fresh(embedder: HashingEmbedder) -> dict[int, float | None]:
    with open_vault() as vault:
        return _told(vault.root("user"), embedder)


def _change(root: OpenRoot, what: str, number: int, text: str) -> None:
    store, key = root.store, Key("", "user", "", f"m{number}")
    [held] = store.get([key])
    if what == "put":
        store.put([Memory(key.id, text, "drawer")])
    elif what == "change" and held:
        store.put([replace(held, body=text)])
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


def _care(
    root: OpenRoot, what: str, number: int, used: HashingEmbedder, home: Path
) -> HashingEmbedder:
    """Which embedder searches are with afterwards."""
    if what == "fill":
        root.meaning.fill(root.store, used, "hashing", at_most=1)
    elif what == "fill all":
        root.meaning.fill(root.store, used, "hashing")
    elif what == "another model":
        used = HashingEmbedder() if used.dim == Other.dim else Other()
        root.meaning.fill(root.store, used, "hashing", at_most=1)
    elif what == "sweep":
        root.scrub()
    elif what == "damage":
        _execute(home, f"UPDATE vectors SET data = x'00' WHERE rowid = {number}")
    elif what == "reset":
        root.meaning.reset()  # type: ignore[attr-defined]
    return used


def _execute(home: Path, sql: str) -> None:
    connection = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
    connection.execute(sql).fetchall()
    connection.close()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, max_size=18))
def test_after_any_history_they_are_those_of_a_full_reading(
    root: OpenRoot,
    other: OpenRoot,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    steps: list[tuple[str, int, str, bool]],
) -> None:
    monkeypatch.setattr(vectors, "_BATCH", 2)
    used: HashingEmbedder = HashingEmbedder()
    for what, number, text, elsewhere in steps:
        at = other if elsewhere else root
        _change(at, what, number, text)
        at.catch_up()
        used = _care(at, what, number, used, home)
        if what == "look":
            whole = _fresh(used)  # first: it drops what is damaged
            assert _told(root, used) == whole
    whole = _fresh(used)
    assert _told(root, used) == _told(other, used) == whole


class TestWhatIsRead:
    @pytest.fixture
    def read(self, root: OpenRoot, monkeypatch: pytest.MonkeyPatch) -> Read:
        return Read(root, monkeypatch)

    @pytest.fixture
    def filled(self, root: OpenRoot, read: Read) -> HashingEmbedder:
        root.store.put([Memory(f"m{n}", f"door {n}", "drawer") for n in range(600)])
        root.catch_up()
        embedder = HashingEmbedder()
        root.meaning.fill(root.store, embedder, "hashing")
        _told(root, embedder)
        assert read() == 600
        return embedder

    def test_nothing_where_nothing_changed(
        self, root: OpenRoot, read: Read, filled: HashingEmbedder
    ) -> None:
        for _ in range(3):
            _told(root, filled)
        assert read() == 0

    def test_one_where_one_came(
        self, root: OpenRoot, other: OpenRoot, read: Read, filled: HashingEmbedder
    ) -> None:
        for n, where in enumerate((root, other)):
            where.store.put([Memory(f"new{n}", f"another {n}", "drawer")])
            where.catch_up()
            assert list(_told(root, filled).values()).count(None) == 1
            assert read() == 0
            where.meaning.fill(where.store, filled, "hashing")
            assert None not in _told(root, filled).values()
            assert read() == 1

    def test_a_text_that_is_known_already_brings_its_vector(
        self, root: OpenRoot, read: Read, filled: HashingEmbedder
    ) -> None:
        root.store.put([Memory("copy", "door 7", "drawer")])
        root.catch_up()
        assert None not in _told(root, filled).values()
        assert read() == 1

    def test_each_piece_once_while_they_are_embedded(
        self,
        root: OpenRoot,
        other: OpenRoot,
        read: Read,
        filled: HashingEmbedder,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(vectors, "_BATCH", 50)
        root.store.put([Memory(f"n{n}", f"wall {n}", "drawer") for n in range(200)])
        root.catch_up()
        for left in (150, 100, 50, 0):
            assert other.meaning.fill(other.store, filled, "hashing", at_most=50) == left
            assert list(_told(root, filled).values()).count(None) == left
            assert read() == 50

    def test_equal_texts_far_apart_get_theirs_together(
        self, root: OpenRoot, read: Read, filled: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A vector that came is that of every passage with the text, however many others wait."""
        monkeypatch.setattr(vectors, "_BATCH", 2)
        texts = ["licence"] * 5 + [f"wall {n}" for n in range(2500)] + ["licence"]
        root.store.put([Memory(f"n{n}", text, "drawer") for n, text in enumerate(texts)])
        root.catch_up()
        _told(root, filled)
        root.meaning.fill(root.store, filled, "hashing", at_most=1)
        told = list(_told(root, filled).values())[600:]
        assert [n for n, cosine in enumerate(told) if cosine is not None] == [0, 1, 2, 3, 4, 2505]
        assert _told(root, filled) == _fresh(filled)

    def test_all_after_some_have_gone(
        self, root: OpenRoot, other: OpenRoot, read: Read, filled: HashingEmbedder
    ) -> None:
        other.store.delete([Key("", "user", "", "m3")])
        other.catch_up()
        assert len(_told(root, filled)) == 599
        assert read() == 599
        assert other.scrub()
        assert len(_told(root, filled)) == 599


class TestOfTexts:
    def test_the_cosine_is_that_of_the_passage(self, root: OpenRoot) -> None:
        embedder = HashingEmbedder()
        root.store.put([Memory(f"m{n}", text, "drawer") for n, text in enumerate(TEXTS)])
        root.catch_up()
        root.meaning.fill(root.store, embedder, "hashing")
        nearness = root.meaning.nearness(embedder, embedder.embed(["gates"], "query")[0])
        rows = root.words.occurrences([])
        assert rows is not None
        by_row = nearness.of(rows.rows.tolist())
        assert nearness.of_texts(TEXTS) == pytest.approx(by_row, abs=1e-6)

    def test_in_the_order_asked_and_none_where_there_is_no_vector(self, root: OpenRoot) -> None:
        embedder = HashingEmbedder()
        root.store.put([Memory("a", "gate", "drawer"), Memory("b", "wall", "drawer")])
        root.catch_up()
        root.meaning.fill(root.store, embedder, "hashing")
        nearness = root.meaning.nearness(embedder, embedder.embed(["gate"], "query")[0])
        found = nearness.of_texts(["wall", "never kept", "gate", "wall"])
        assert found == [found[0], None, pytest.approx(1, abs=0.01), found[0]]
        assert found[0] is not None
        assert nearness.of_texts([]) == []

    @pytest.mark.promise(27)
    def test_only_vectors_of_the_query_s_model_are_compared(self, root: OpenRoot) -> None:
        root.store.put([Memory("a", "gate", "drawer")])
        root.catch_up()
        root.meaning.fill(root.store, HashingEmbedder(), "hashing")
        embedder = Other()
        nearness = root.meaning.nearness(embedder, embedder.embed(["gate"], "query")[0])
        assert nearness.of_texts(["gate"]) == [None]

    @pytest.mark.promise(3)
    @pytest.mark.parametrize("change", ["data = x'00'", "crc = crc + 1", "data = 7"])
    def test_a_damaged_one_counts_as_missing(self, root: OpenRoot, home: Path, change: str) -> None:
        embedder = HashingEmbedder()
        root.store.put([Memory("a", "gate", "drawer"), Memory("b", "wall", "drawer")])
        root.catch_up()
        root.meaning.fill(root.store, embedder, "hashing")
        nearness = root.meaning.nearness(embedder, embedder.embed(["gate"], "query")[0])
        _execute(home, f"UPDATE vectors SET {change} WHERE rowid = 1")
        first, second = nearness.of_texts(["gate", "wall"])
        assert first is None
        assert second is not None


def test_models_without_vectors_are_not_taken_for_each_other(root: OpenRoot) -> None:
    root.store.put([Memory("a", "gate")])
    root.catch_up()
    for dim in (64, 256):
        model = HashingEmbedder()
        model.id, model.dim = f"unknown/{dim}", dim
        nearness = root.meaning.nearness(model, np.zeros(dim, np.float32))
        assert (len(nearness), nearness.best(3, Filter())) == (0, [])
