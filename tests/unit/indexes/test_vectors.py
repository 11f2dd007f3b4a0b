"""The index of meaning: int8 vectors, exact neighbours, each text embedded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from camillo.embed.hashing import HashingEmbedder
from camillo.errors import InvalidValue
from camillo.indexes.vectors import quantised
from camillo.model import Filter, Key, Memory, Origin, Place, Session, replace
from camillo.ports import Role
from camillo.text.passages import text_hash
from camillo.vault import OpenRoot, Vault, open_vault


class Recording(HashingEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if role == "passage":
            self.texts += texts
        return super().embed(texts, role)


class Other(Recording):
    """A model of another name and size."""

    id = "other/1/f32/64"
    dim = 64


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault() as opened:
        yield opened


@pytest.fixture
def root(vault: Vault) -> OpenRoot:
    return vault.root("user", create=True)


@pytest.fixture
def model() -> Recording:
    return Recording()


def _fill(root: OpenRoot, model: HashingEmbedder, **options: Any) -> int:
    root.catch_up()
    return int(root.meaning.fill(root.store, model, "hashing", **options))


def _nearest(
    root: OpenRoot, model: HashingEmbedder, text: str, k: int = 10, filter: Filter = Filter()
) -> list[str]:
    nearness = root.meaning.nearness(model, model.embed([text], "query")[0])
    return [hit.key.id for hit in root.words.hits(nearness.best(k, filter))]


def _rows(home: Path, sql: str) -> list[Any]:
    connection = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


class TestQuantising:
    @settings(max_examples=50)
    @given(arrays(np.float32, (3, 17), elements=st.floats(-1, 1, width=32)))
    def test_no_component_is_off_by_more_than_half_a_step(self, vectors: Any) -> None:
        codes, scales = quantised(vectors)
        assert codes.dtype == np.int8
        steps = np.abs(vectors).max(axis=1, keepdims=True) / 127
        off = np.abs(codes * scales[:, None].astype(np.float64) - vectors)
        assert (off <= 0.5001 * steps + 1e-9).all()

    def test_a_zero_vector_stays_zero(self) -> None:
        codes, scales = quantised(np.zeros((1, 8), np.float32))
        assert not (codes * scales[:, None]).any()
        assert np.isfinite(scales).all()


class TestFilling:
    def test_every_passage_gets_its_vector(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory(f"m{n}", f"door number {n}", "drawer") for n in range(600)])
        assert _fill(root, model) == 0
        assert root.meaning.count(model) == 600
        assert root.meaning.missing(model) == 0
        assert [each.complete for each in root.meaning.models()] == [True]

    def test_equal_texts_are_embedded_once(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory(f"m{n}", "the licence", "drawer") for n in range(300)])
        assert _fill(root, model) == 0
        assert model.texts == ["the licence"]
        assert len(_nearest(root, model, "licence", 300)) == 300

    def test_only_what_is_new_is_embedded(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory("a", "one", "drawer"), Memory("b", "two", "drawer")])
        _fill(root, model)
        root.store.put([Memory("b", "three", "drawer"), Memory("c", "four", "drawer")])
        _fill(root, model)
        assert model.texts == ["one", "two", "three", "four"]

    def test_the_name_of_its_file_is_no_part_of_a_text(
        self, root: OpenRoot, model: Recording
    ) -> None:
        """A moved file keeps its vectors."""
        root.store.put([Memory("a", "one", "drawer", origin=Origin("/here/a.md"))])
        _fill(root, model)
        root.store.put([Memory("b", "one", "drawer", origin=Origin("/there/b.md"))])
        _fill(root, model)
        assert model.texts == ["one"]

    def test_it_can_stop_and_go_on(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory(f"m{n}", f"door {n}", "drawer") for n in range(600)])
        left = _fill(root, model, at_most=1)
        assert left == root.meaning.missing(model) == 600 - len(model.texts) > 0
        assert [each.complete for each in root.meaning.models()] == [False]
        assert _fill(root, model) == 0
        assert len(model.texts) == len(set(model.texts)) == 600

    def test_it_tells_how_many_were_taken_in(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory(f"m{n}", f"door {n}", "drawer") for n in range(300)])
        told: list[int] = []
        _fill(root, model, told=told.append)
        assert sum(told) == 300
        assert len(told) > 1

    def test_a_text_that_changed_since_it_was_indexed_waits(
        self, root: OpenRoot, model: Recording
    ) -> None:
        """Or the vector of the new text would lie under the hash of the old one."""
        root.store.put([Memory("a", "the old text", "drawer"), Memory("b", "gate", "drawer")])
        root.catch_up()
        root.store.put([Memory("a", "the new text", "drawer")])
        assert root.meaning.fill(root.store, model, "hashing") == 1
        assert model.texts == ["gate"]
        assert _fill(root, model) == 0
        assert model.texts == ["gate", "the new text"]

    def test_more_vanished_texts_than_a_batch_do_not_end_it(
        self, root: OpenRoot, model: Recording
    ) -> None:
        keys = [Key("", "user", "", f"m{n}") for n in range(700)]
        root.store.put([Memory(key.id, f"door {key.id}", "drawer") for key in keys])
        root.store.put([Memory("last", "the last gate", "drawer")])
        root.catch_up()
        root.store.delete(keys)
        assert root.meaning.fill(root.store, model, "hashing") == 700
        assert model.texts == ["the last gate"]
        assert [each.complete for each in root.meaning.models()] == [False]

    @pytest.mark.promise(12)
    def test_a_text_that_is_forgotten_while_it_is_embedded_gets_no_vector(
        self, root: OpenRoot, home: Path
    ) -> None:
        class Slow(Recording):
            def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
                root.store.delete([Key("", "user", "", "a")])
                root.catch_up()
                root.scrub()
                return super().embed(texts, role)

        root.store.put([Memory("a", "secret", "drawer"), Memory("b", "gate", "drawer")])
        assert _fill(root, Slow()) == 0
        assert _rows(home, "SELECT hash FROM vectors") == [(text_hash("gate"),)]

    @pytest.mark.promise(3)
    def test_a_damaged_text_does_not_keep_the_others_from_their_vectors(
        self, vault: Vault, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        text = b"Seven painted gates lead into the theatre."
        root.store.put([Memory("a", text.decode(), "drawer"), Memory("b", "gate", "drawer")])
        root.catch_up()
        vault.close()
        path = home / ".camillo" / "store.db"
        data = path.read_bytes()
        assert text in data
        path.write_bytes(data.replace(text, b"?" * len(text)))
        with open_vault() as again:
            root = again.root("user")
            assert root.meaning.fill(root.store, model, "hashing") == 1
        assert model.texts == ["gate"]

    def test_vectors_of_another_shape_are_refused(self, root: OpenRoot) -> None:
        class Wrong(Recording):
            def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
                return super().embed(texts, role)[:, :12]

        root.store.put([Memory("a", "gate", "drawer")])
        with pytest.raises(InvalidValue, match="shape"):
            _fill(root, Wrong())


class TestNeighbours:
    def test_they_are_those_of_a_scan_in_float(self, root: OpenRoot, model: Recording) -> None:
        chance = np.random.default_rng(1)
        words = [f"word{n}" for n in range(60)]
        texts = [" ".join(chance.choice(words, 12)) for _ in range(400)]
        root.store.put([Memory(f"m{n}", text, "drawer") for n, text in enumerate(texts)])
        _fill(root, model)
        exact = model.embed(texts, "passage")
        for query in texts[:20]:
            vector = model.embed([query[: len(query) // 2]], "query")[0]
            hits = root.words.hits(root.meaning.nearness(model, vector).best(10, Filter()))
            wanted = exact @ vector
            got = np.array([wanted[int(hit.key.id[1:])] for hit in hits])
            scores = np.array([hit.score for hit in hits])
            assert np.abs(scores - got).max() < 0.01
            assert (got >= np.sort(wanted)[-10] - 0.01).all()
            assert (np.diff(scores) <= 0).all()

    def test_more_rows_than_a_block_are_all_compared(
        self, root: OpenRoot, model: Recording
    ) -> None:
        root.store.put([Memory(f"m{n}", f"door {n} {n * n}", "drawer") for n in range(2500)])
        _fill(root, model)
        for n in (0, 1023, 1024, 2047, 2048, 2499):
            assert _nearest(root, model, f"door {n} {n * n}", 1) == [f"m{n}"]

    def test_nothing_is_near_in_an_empty_root(self, root: OpenRoot, model: Recording) -> None:
        root.catch_up()
        nearness = root.meaning.nearness(model, model.embed(["gate"], "query")[0])
        assert (len(nearness), nearness.best(5, Filter()), nearness.of([1])) == (0, [], [None])

    def test_what_has_no_vector_has_no_nearness(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory("a", "gate", "drawer")])
        _fill(root, model)
        root.store.put([Memory("b", "wall", "drawer")])
        root.catch_up()
        [first], [second] = _rows_of(root, "gate"), _rows_of(root, "wall")
        nearness = root.meaning.nearness(model, model.embed(["gate"], "query")[0])
        assert nearness.of([second, first, 99]) == [None, pytest.approx(1, abs=0.01), None]

    def test_those_of_another_process_are_seen(
        self, root: OpenRoot, vault: Vault, model: Recording
    ) -> None:
        root.store.put([Memory("a", "gate", "drawer")])
        _fill(root, model)
        assert _nearest(root, model, "wall") == ["a"]
        with open_vault() as other:
            theirs = other.root("user")
            theirs.store.put([Memory("b", "wall", "drawer")])
            _fill(theirs, Recording())
        assert _nearest(root, model, "wall") == ["b", "a"]

    def test_our_own_are_seen(self, root: OpenRoot, model: Recording) -> None:
        for n, name in enumerate("abc", 1):
            root.store.put([Memory(name, f"door {name}", "drawer")])
            _fill(root, model)
            assert len(_nearest(root, model, "door")) == n
        root.store.delete([Key("", "user", "", "b")])
        root.catch_up()
        assert sorted(_nearest(root, model, "door")) == ["a", "c"]

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
            (Filter(archived=True), "a b c gone s1 s2"),
            (Filter(scope="project"), ""),
            (Filter(namespace="other"), "theirs"),
            (Filter(namespace=None), "a b c s1 s2 theirs"),
            (Filter(session=Session("global")), "a b c"),
            (Filter(session=Session("only", "one")), "s1"),
            (Filter(session=Session("with-global", "two")), "a b c s2"),
            (Filter(wing="w", since="2024-01-01", archived=True), "a"),
        ],
    )
    def test_a_filter_means_what_it_means_in_the_store(
        self, root: OpenRoot, model: Recording, filter: Filter, found: str
    ) -> None:
        root.store.put([
            Memory("a", "gate", "drawer", place=Place("w", "r"), origin=Origin("/x"),
                   happened_at="2024-06-01"),
            Memory("b", "gate", "note", place=Place("w", "s")),
            Memory("c", "gate", happened_at="2023-06-01"),
            Memory("gone", "gate", archived=5),
            Memory("theirs", "gate", namespace="other"),
            Memory("s1", "gate", session="one"),
            Memory("s2", "gate", session="two"),
        ])  # fmt: skip
        _fill(root, model)
        assert sorted(_nearest(root, model, "gate", 50, filter)) == found.split()
        assert sorted(m.id for m in root.store.scan(filter)) == found.split()

    def test_filters_are_applied_before_the_limit(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory(f"a{n}", f"gate {n}", place=Place("a")) for n in range(60)])
        root.store.put([Memory("b", "a wall far from here", place=Place("b"))])
        _fill(root, model)
        assert _nearest(root, model, "gate", 1, Filter(wing="b")) == ["b"]


@pytest.mark.promise(12)
class TestSweeping:
    def test_the_vector_and_the_hash_of_an_erased_text_go(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        root.store.put([Memory("a", "secret", "drawer"), Memory("b", "gate", "drawer")])
        _fill(root, model)
        root.store.delete([Key("", "user", "", "a")])
        root.catch_up()
        assert root.scrub()
        assert _rows(home, "SELECT hash FROM vectors") == [(text_hash("gate"),)]
        for path in (home / ".camillo").rglob("*"):
            assert not path.is_file() or text_hash("secret") not in path.read_bytes()

    def test_that_of_a_text_which_stands_elsewhere_stays(
        self, root: OpenRoot, model: Recording
    ) -> None:
        root.store.put([Memory("a", "gate", "drawer"), Memory("b", "gate", "drawer")])
        _fill(root, model)
        root.store.delete([Key("", "user", "", "a")])
        root.catch_up()
        root.scrub()
        assert _nearest(root, model, "gate") == ["b"]

    def test_an_archived_text_keeps_its_own(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory("a", "gate", "drawer")])
        _fill(root, model)
        [held] = root.store.get([Key("", "user", "", "a")])
        assert held is not None
        for archived in (5, 0):
            root.store.put([replace(held, archived=archived)])
            assert _fill(root, model) == 0
            root.scrub()
        assert model.texts == ["gate"]

    def test_while_another_process_writes_it_is_put_off(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        root.store.put([Memory("a", "secret", "drawer")])
        _fill(root, model)
        root.store.delete([Key("", "user", "", "a")])
        root.catch_up()
        writer = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
        writer.execute("BEGIN IMMEDIATE")
        assert not root.scrub()
        assert root.store.unclean()
        writer.execute("ROLLBACK")
        writer.close()
        assert root.refresh() == 0
        assert _rows(home, "SELECT hash FROM vectors") == []


@pytest.mark.promise(27)
class TestModels:
    def test_each_vector_carries_its_model_and_dimension(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        root.store.put([Memory("a", "gate", "drawer")])
        _fill(root, model)
        rows = _rows(
            home,
            "SELECT m.name, m.dim, length(v.data) FROM vectors v JOIN models m ON m.rowid=v.model",
        )
        assert rows == [(model.id, model.dim, model.dim + 4)]

    def test_two_are_never_compared(self, root: OpenRoot, model: Recording) -> None:
        other = Other()
        root.store.put([Memory(f"m{n}", f"door {n}", "drawer") for n in range(600)])
        _fill(root, model)
        _fill(root, other, at_most=1)
        assert len(_nearest(root, model, "door", 999)) == 600
        assert len(_nearest(root, other, "door", 999)) == root.meaning.count(other) < 600

    def test_the_old_ones_vectors_stay_until_the_new_one_is_complete(
        self, root: OpenRoot, model: Recording
    ) -> None:
        other = Other()
        root.store.put([Memory(f"m{n}", f"door {n}", "drawer") for n in range(600)])
        _fill(root, model)
        _fill(root, other, at_most=1)
        assert [(m.name, m.complete) for m in root.meaning.models()] == [
            (model.id, True),
            (other.id, False),
        ]
        assert _fill(root, other) == 0
        assert [(m.name, m.complete) for m in root.meaning.models()] == [(other.id, True)]
        assert root.meaning.count(model) == 0
        assert len(_nearest(root, other, "door", 999)) == 600

    def test_one_that_was_begun_and_given_up_goes_too(
        self, root: OpenRoot, model: Recording
    ) -> None:
        other = Other()
        root.store.put([Memory(f"m{n}", f"door {n}", "drawer") for n in range(600)])
        _fill(root, model)
        _fill(root, other, at_most=1)
        assert _fill(root, model) == 0
        assert [each.name for each in root.meaning.models()] == [model.id]
        assert root.meaning.count(other) == 0


@pytest.mark.promise(3)
class TestDamage:
    @pytest.mark.parametrize(
        "change",
        [
            "data = zeroblob(length(data))",
            "data = CAST(x'0000803f' || substr(data, 5) AS BLOB)",  # the scale alone
            "data = x''",
            "data = 'no bytes'",
            "data = 7",
            "crc = crc + 1",
            "crc = 'none'",
        ],
    )
    def test_a_changed_vector_is_noticed_and_made_again(
        self, root: OpenRoot, model: Recording, home: Path, change: str
    ) -> None:
        root.store.put([Memory("a", "gate", "drawer"), Memory("b", "wall", "drawer")])
        _fill(root, model)
        _rows(home, f"UPDATE vectors SET {change} WHERE rowid = 1")
        assert root.meaning.check().problems != ()
        assert _nearest(root, model, "gate") == ["b"]
        assert root.meaning.missing(model) == 1
        assert _fill(root, model) == 0
        assert model.texts == ["gate", "wall", "gate"]
        assert root.meaning.check().problems == ()
        assert _nearest(root, model, "gate") == ["a", "b"]

    def test_an_emptied_index_is_filled_anew(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([Memory("a", "gate", "drawer")])
        _fill(root, model)
        root.meaning.reset()
        assert (root.meaning.models(), _nearest(root, model, "gate")) == ([], [])
        assert _fill(root, model) == 0
        assert _nearest(root, model, "gate") == ["a"]


def _rows_of(root: OpenRoot, word: str) -> list[int]:
    return [row for row, _ in root.words.keyword([word], 9, Filter())]
