"""The index of token vectors: what is kept of which passages, and how near a question comes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
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
from camillo.embed.projection import projection_of
from camillo.indexes import _loaded_tokens
from camillo.indexes._token_codes import Codes, best_matches, packed, quantised, unpacked
from camillo.model import Filter, Key, Memory
from camillo.ports import Role, Tokens, TokenVectors
from camillo.text.passages import text_hash
from camillo.vault import OpenRoot, Vault, open_vault

BYTES = 16 + 2 + 4  # of a token of the hashing embedder
_ANY = Filter(namespace=None)


class Recording(HashingEmbedder):
    """Remembers which texts it was asked for, and for which ones with their tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.with_tokens: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if role == "passage":
            self.texts += texts
        return super().embed(texts, role)

    def embed_tokens(
        self, texts: Sequence[str], role: Role
    ) -> tuple[NDArray[np.float32], list[TokenVectors]]:
        if role == "passage":
            self.with_tokens += texts
        return super().embed_tokens(texts, role)


class Newer(Recording):
    """Another version of the model."""

    id = "hashing/2/f32/256"


class Foreign(Recording):
    """A model without a projection."""

    id = "foreign/1/f32/256"


class Pooled(Recording):
    """One that gives no token vectors after all."""

    capabilities = frozenset()


@pytest.fixture
def opened() -> Iterator[Callable[..., OpenRoot]]:
    """Opens the user's root, with a budget in megabytes."""
    vaults: list[Vault] = []

    def open_root(megabytes: int = 256) -> OpenRoot:
        vaults.append(open_vault(overrides={"search.tokens_mb": str(megabytes)}))
        return vaults[-1].root("user", create=True)

    yield open_root
    for each in vaults:
        each.close()


@pytest.fixture
def root(opened: Callable[..., OpenRoot]) -> OpenRoot:
    return opened()


@pytest.fixture
def model() -> Recording:
    return Recording()


def _fill(root: OpenRoot, model: HashingEmbedder, **options: Any) -> int:
    root.catch_up()
    return int(root.meaning.fill(root.store, model, "hashing", **options))


def _put(root: OpenRoot, model: HashingEmbedder, *memories: Memory) -> None:
    root.store.put(memories)
    assert _fill(root, model) == 0


def _tokens(root: OpenRoot) -> Tokens:
    assert root.tokens is not None
    return root.tokens


def _sound(root: OpenRoot) -> bool:
    """Do all rows match their checksums, and all counts the rows?"""
    return _tokens(root).check().problems == ()  # type: ignore[attr-defined, no-any-return]


def _rows(home: Path, sql: str) -> list[Any]:
    connection = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
    connection.set_busy_timeout(5000)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _hashes(home: Path) -> set[bytes]:
    return {row[0] for row in _rows(home, "SELECT hash FROM tokens")}


def _row(root: OpenRoot, text: str) -> int:
    """The row of the passage whose embedded text this is."""
    database = root.words._file.database  # type: ignore[attr-defined]
    [(row,)] = database.rows("SELECT rowid FROM passages WHERE hash = ?", (text_hash(text),))
    return int(row)


def _asked(root: OpenRoot, model: HashingEmbedder, question: str) -> Any:
    _, [query] = model.embed_tokens([question], "query")
    return _tokens(root).closeness(model, query)


def said(id: str, body: str, session: str = "s", **more: Any) -> Memory:
    return Memory(id, body, "conversation", session=session, **more)


class TestCodes:
    @settings(max_examples=60)
    @given(arrays(np.float32, (5, 12), elements=st.floats(-1, 1, width=32)))
    def test_no_component_is_off_by_more_than_half_a_step(self, vectors: Any) -> None:
        """A step is a fifteenth of what lies between the largest and its opposite; the scale is
        rounded to float16, which is 1 in 2,048, or the least that float16 has."""
        _, data = packed(TokenVectors(np.arange(5, dtype=np.int32), vectors))
        codes, scales = unpacked([data], [5], 12)
        levels = np.concatenate([codes & 15, codes >> 4], axis=1).astype(np.float64)
        off = np.abs((levels - 7.5) * scales[:, None] - vectors)
        steps = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float64) / 7.5
        assert (off <= 0.5 * steps * (1 + 2**-10) + 7.5 * steps * 2**-11 + 5e-7).all()

    def test_a_unit_vector_hardly_turns(self) -> None:
        vectors = np.random.default_rng(3).standard_normal((2000, 128)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        codes, scales = quantised(vectors)
        back = (np.concatenate([codes & 15, codes >> 4], axis=1) - 7.5) * scales[:, None]
        cosines = (back * vectors).sum(axis=1) / np.linalg.norm(back, axis=1)
        assert cosines.min() > 0.98
        assert (back * vectors).sum(axis=1) == pytest.approx(1, abs=0.05)

    def test_a_token_takes_what_the_format_says(self) -> None:
        vectors = np.ones((7, 128), np.float32)
        ids, data = packed(TokenVectors(np.arange(7, dtype=np.int32), vectors))
        assert (len(ids), len(data)) == (7 * 4, 7 * (2 + 64))
        assert struct.unpack("<7i", ids) == tuple(range(7))

    @settings(max_examples=30)
    @given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(1, 5), st.integers(0))
    def test_best_matches_are_those_of_plain_loops(
        self, counts: list[int], asked: int, seed: int
    ) -> None:
        chance = np.random.default_rng(seed)
        kept = quantised(chance.standard_normal((40, 8)).astype(np.float32))
        query = chance.standard_normal((asked, 8)).astype(np.float32)
        starts = chance.integers(0, 40 - np.array(counts) + 1)
        found = best_matches(query, kept, starts, np.array(counts))
        for n, (start, count) in enumerate(zip(starts, counts, strict=True)):
            tokens = [_plain(kept, at) for at in range(start, start + count)]
            wanted = [max(_dot(one, token) for token in tokens) for one in query.tolist()]
            assert found[n] == pytest.approx(wanted, abs=1e-4)

    def test_more_tokens_than_a_block_are_all_compared(self) -> None:
        chance = np.random.default_rng(5)
        vectors = chance.standard_normal((9000, 16)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        found = best_matches(
            vectors[[0, 4095, 4096, 8999]], quantised(vectors), np.array([0]), np.array([9000])
        )
        assert found[0] == pytest.approx(1, abs=0.1)


def _plain(kept: Codes, at: int) -> list[float]:
    levels = [*(int(c) & 15 for c in kept.codes[at]), *(int(c) >> 4 for c in kept.codes[at])]
    return [(level - 7.5) * float(kept.scales[at]) for level in levels]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class TestWhatIsKept:
    def test_notes_and_what_was_said_have_tokens_and_drawers_have_none(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        _put(root, model, Memory("n", "a note", "note"), said("c", "a message"),
             Memory("y", "an entry", "diary"), Memory("f", "a file", "drawer"),
             Memory("t", "a transcript", "drawer", session="s"))  # fmt: skip
        texts = ["a note", "a message", "an entry", "a transcript"]
        assert _hashes(home) == set(map(text_hash, texts))
        assert sorted(model.with_tokens) == sorted(texts)
        assert _tokens(root).count(model) == 4
        assert _sound(root)

    def test_they_come_from_the_pass_that_makes_the_vectors(
        self, root: OpenRoot, model: Recording
    ) -> None:
        _put(root, model, *(said(f"m{n}", f"message {n}") for n in range(600)))
        assert len(model.texts) == len(set(model.texts)) == 600
        assert root.meaning.count(model) == _tokens(root).count(model) == 600

    def test_equal_texts_have_them_once(self, root: OpenRoot, model: Recording) -> None:
        _put(root, model, *(said(f"m{n}", "good morning") for n in range(300)))
        assert (model.with_tokens, _tokens(root).count(model)) == (["good morning"], 1)

    @pytest.mark.parametrize("kinds", [("note", "drawer"), ("drawer", "note")])
    def test_a_text_that_is_also_a_files_is_embedded_once(
        self, root: OpenRoot, model: Recording, kinds: tuple[str, str]
    ) -> None:
        _put(root, model, *(Memory(f"m{n}", "the same", kind) for n, kind in enumerate(kinds)))
        assert model.texts == model.with_tokens == ["the same"]

    def test_only_what_is_new_is_embedded(self, root: OpenRoot, model: Recording) -> None:
        _put(root, model, said("a", "one"), said("b", "two"))
        _put(root, model, said("b", "three"), said("c", "four"))
        assert sorted(model.with_tokens) == ["four", "one", "three", "two"]

    def test_vectors_that_were_made_without_them_are_no_reason_to_have_none(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        _put(opened(0), model, *(said(f"m{n}", f"message {n}") for n in range(300)))
        assert model.with_tokens == []
        later = opened()
        assert later.meaning.missing(model) == 300
        assert _fill(later, model) == 0
        assert (len(model.with_tokens), _tokens(later).count(model)) == (300, 300)
        assert len(_rows(home, "SELECT 1 FROM vectors")) == 300

    def test_a_file_of_an_earlier_camillo_gets_its_tables(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        _put(opened(0), model, said("a", "one"))
        for table in ("tokens", "token_df", "token_models"):
            _rows(home, f"DROP TABLE {table}")
        later = opened()
        assert _asked(later, model, "one") is None
        assert _tokens(later).sweep() is True
        assert _sound(later)
        assert (later.meaning.missing(model), _tokens(later).behind(model)) == (1, 1)
        assert _fill(later, model) == 0
        assert (_tokens(later).count(model), _tokens(later).behind(model)) == (1, 0)

    def test_a_short_note_is_kept_as_a_whole_and_a_long_one_in_pieces(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        short = "\n\n".join(f"word{n} " * 90 for n in range(2))
        long = "\n\n".join(f"part{n} " * 90 for n in range(6))
        _put(root, model, Memory("short", short, "note", "Title"), Memory("long", long, "note"))
        kept = _rows(home, "SELECT p.id, p.number FROM passages p JOIN tokens t USING (hash)")
        assert sorted(kept) == [("long", n) for n in range(1, 7)] + [("short", 0)]

    def test_a_text_of_signs_alone_is_no_missing_one(
        self, root: OpenRoot, model: Recording
    ) -> None:
        _put(root, model, said("a", "?!"), said("b", ""))
        assert root.meaning.missing(model) == 0
        assert _asked(root, model, "?!") is None
        assert np.isnan(_asked(root, model, "gate").maxima([_row(root, "?!")])).all()

    @pytest.mark.parametrize("kind", [Foreign, Pooled])
    def test_a_model_that_has_none_to_keep_is_filled_all_the_same(
        self, root: OpenRoot, kind: type[Recording]
    ) -> None:
        model = kind()
        _put(root, model, said("a", "one"))
        assert (model.texts, model.with_tokens) == (["one"], [])
        assert _tokens(root).count(model) == _tokens(root).behind(model) == 0

    def test_a_pass_that_finds_nothing_to_do_asks_the_model_nothing(
        self, root: OpenRoot, model: Recording
    ) -> None:
        class Asleep(HashingEmbedder):
            @property
            def capabilities(self) -> frozenset[str]:  # type: ignore[override]
                raise AssertionError("the model was loaded")

        _put(root, model, said("a", "one"))
        assert _fill(root, Asleep()) == 0

    def test_those_of_a_former_model_go_when_the_new_one_is_complete(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        newer = Newer()
        _put(root, model, *(said(f"m{n}", f"message {n}") for n in range(300)))
        assert _fill(root, newer, at_most=100) == 200
        assert (_tokens(root).count(model), _tokens(root).count(newer)) == (300, 100)
        assert _asked(root, model, "message") is not None
        assert _fill(root, newer) == 0
        assert (_tokens(root).count(model), _tokens(root).count(newer)) == (0, 300)
        assert len(_rows(home, "SELECT DISTINCT model FROM token_df")) == 1
        assert _sound(root)

    @pytest.mark.promise(12)
    def test_a_text_that_is_forgotten_while_it_is_embedded_gets_none(
        self, root: OpenRoot, home: Path
    ) -> None:
        class Slow(Recording):
            def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
                root.store.delete([Key("", "user", "s", "a")])
                root.catch_up()
                root.scrub()
                return super().embed(texts, role)

        root.store.put([said("a", "secret"), said("b", "gate")])
        assert _fill(root, Slow()) == 0
        assert _hashes(home) == {text_hash("gate")}
        assert _sound(root)

    def test_how_far_it_is_behind_is_known_without_looking_at_all(
        self, root: OpenRoot, model: Recording
    ) -> None:
        root.store.put([said("a", "one"), Memory("f", "a file", "drawer")])
        root.catch_up()
        assert _tokens(root).behind(model) == 1
        assert _fill(root, model) == 0
        assert _tokens(root).behind(model) == 0
        root.store.put([said("b", "two"), said("c", "three"), Memory("g", "another", "drawer")])
        root.catch_up()
        assert _tokens(root).behind(model) == 2

    def test_a_rebuilt_index_has_the_same(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        _put(root, model, *(said(f"m{n}", f"message {n}") for n in range(20)))
        before = _rows(home, "SELECT hash, ids, data FROM tokens ORDER BY hash")
        root.rebuild()
        assert _fill(root, model) == 0
        assert _rows(home, "SELECT hash, ids, data FROM tokens ORDER BY hash") == before


class TestBudget:
    """A megabyte holds 45,454 tokens of this embedder."""

    MOST = 1_000_000 // BYTES

    def _messages(self, first: int, count: int) -> list[Memory]:
        """Each of 100 tokens."""
        return [
            said(f"m{n:03}", " ".join(f"{n}x{w}" for w in range(100)))
            for n in range(first, first + count)
        ]

    def _kept(self, home: Path) -> list[str]:
        rows = _rows(home, "SELECT DISTINCT p.id FROM passages p JOIN tokens t USING (hash)")
        return sorted(row[0] for row in rows)

    def test_what_is_newest_is_kept(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        root = opened(1)
        _put(root, model, *self._messages(0, 600))
        kept = self._kept(home)
        assert kept == [f"m{n:03}" for n in range(600 - len(kept), 600)]
        assert self.MOST - 100 < sum(_column(home, "count")) <= self.MOST
        assert root.meaning.missing(model) == _tokens(root).behind(model) == 0
        assert _sound(root)

    def test_what_comes_takes_the_place_of_the_oldest(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        root = opened(1)
        _put(root, model, *self._messages(0, 450))
        _put(root, model, *self._messages(450, 50))
        kept = self._kept(home)
        assert kept == [f"m{n:03}" for n in range(500 - len(kept), 500)]
        assert sum(_column(home, "count")) <= self.MOST
        assert len(model.texts) == len(set(model.texts))
        assert _sound(root)

    def test_where_vectors_are_there_the_oldest_are_not_embedded_to_be_thrown_away(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        _put(opened(0), model, *self._messages(0, 999))
        assert _fill(opened(1), model) == 0
        assert len(model.with_tokens) == 2 * 256  # batches of texts
        kept = self._kept(home)
        assert kept == [f"m{n:03}" for n in range(999 - len(kept), 999)]

    def test_a_larger_one_takes_in_what_was_left_out_and_a_smaller_one_lets_go(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        _put(opened(1), model, *self._messages(0, 600))
        few = len(self._kept(home))
        larger = opened(2)
        assert _fill(larger, model) == 0
        assert len(self._kept(home)) == 600 > few
        smaller = opened(1)
        assert _fill(smaller, model) == 0
        assert len(self._kept(home)) == few
        assert _sound(smaller)

    def test_what_was_forgotten_makes_room(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        root = opened(1)
        _put(root, model, *self._messages(0, 500))
        few = len(self._kept(home))
        root.store.delete([Key("", "user", "s", f"m{n:03}") for n in range(400, 500)])
        root.catch_up()
        assert root.scrub()
        assert _fill(root, model) == 0
        assert len(self._kept(home)) == 400 > few - 100
        assert _sound(root)

    def test_none_keeps_nothing(
        self, opened: Callable[..., OpenRoot], model: Recording, home: Path
    ) -> None:
        _put(opened(), model, said("a", "one"), said("b", "two"))
        off = opened(0)
        assert (off.meaning.missing(model), _asked(off, model, "one")) == (0, None)
        _put(off, model, said("c", "three"))
        for table in ("tokens", "token_df", "token_models"):
            assert _rows(home, f"SELECT 1 FROM {table}") == []
        assert off.meaning.count(model) == 3


def _column(home: Path, name: str) -> list[Any]:
    return [row[0] for row in _rows(home, f"SELECT {name} FROM tokens")]


@pytest.mark.promise(12)
class TestSweeping:
    def test_neither_tokens_nor_counts_of_an_erased_text_stay(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        _put(root, model, said("a", "secret zirconium"), said("b", "gate secret"))
        [ids] = [ids for h, ids in _rows(home, "SELECT hash, ids FROM tokens")
                 if h == text_hash("secret zirconium")]  # fmt: skip
        secret, zirconium = struct.unpack("<2i", ids)
        root.store.delete([Key("", "user", "s", "a")])
        root.catch_up()
        assert root.scrub()
        assert _hashes(home) == {text_hash("gate secret")}
        df = dict(_rows(home, "SELECT id, df FROM token_df"))
        assert (df.get(secret), zirconium in df) == (1, False)
        assert _sound(root)
        for path in (home / ".camillo").rglob("*"):
            assert not path.is_file() or ids not in path.read_bytes()

    def test_those_of_a_text_that_stands_elsewhere_stay(
        self, root: OpenRoot, model: Recording
    ) -> None:
        _put(root, model, said("a", "gate"), said("b", "gate"))
        root.store.delete([Key("", "user", "s", "a")])
        root.catch_up()
        root.scrub()
        assert _tokens(root).count(model) == 1

    def test_while_another_process_writes_it_is_put_off(
        self, root: OpenRoot, model: Recording, home: Path
    ) -> None:
        _put(root, model, said("a", "secret"))
        root.store.delete([Key("", "user", "s", "a")])
        root.catch_up()
        other = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
        other.execute("BEGIN IMMEDIATE")
        assert _tokens(root).sweep() is False
        other.execute("ROLLBACK")
        other.close()
        assert _tokens(root).sweep() is True
        assert _tokens(root).count(model) == 0


class TestDamage:
    @pytest.mark.parametrize(
        "change",
        [
            "data = zeroblob(length(data))",
            "data = x''",
            "data = 7",
            "ids = zeroblob(length(ids))",
            "ids = CAST('text' AS TEXT)",
            "crc = crc + 1",
            "crc = 'none'",
            "count = count + 1",
        ],
    )
    def test_a_damaged_row_counts_as_missing_and_is_made_again(
        self, root: OpenRoot, model: Recording, home: Path, change: str
    ) -> None:
        _put(root, model, said("a", "seven gates", "s"), said("b", "seven walls", "t"))
        rows = [_row(root, "seven gates"), _row(root, "seven walls")]
        whole = _asked(root, model, "seven gates").maxima(rows)
        hash_ = text_hash("seven gates").hex()
        _rows(home, f"UPDATE tokens SET {change} WHERE hash = x'{hash_}'")
        assert not _sound(root)
        with open_vault() as other:  # ours has in memory what is right
            found = _asked(other.root("user"), model, "seven gates").maxima(rows)
        assert np.isnan(found[0]).all()
        assert found[1] == pytest.approx(whole[1])
        assert root.meaning.missing(model) == 1
        assert _fill(root, model) == 0
        assert _asked(root, model, "seven gates").maxima(rows) == pytest.approx(whole)
        assert _sound(root)


class TestCloseness:
    def test_it_is_that_of_plain_loops(self, root: OpenRoot, model: Recording) -> None:
        chance = np.random.default_rng(11)
        words = [f"word{n}" for n in range(40)]
        texts = [" ".join(chance.choice(words, chance.integers(1, 30))) for _ in range(120)]
        messages = [said(f"m{n}", text, f"s{n // 30}") for n, text in enumerate(texts)]
        _put(root, model, *messages)
        question = "word3 word17 other word3 word39"
        closeness = _asked(root, model, question)
        database = root.words._file.database  # type: ignore[attr-defined]
        rows = [row for (row,) in database.rows("SELECT rowid FROM passages ORDER BY rowid")]
        wanted = np.array([_loops(model, question, [text]) for text in texts])
        assert closeness.maxima(rows) == pytest.approx(wanted, abs=0.08)
        assert closeness.weights.sum() == pytest.approx(1)
        assert closeness.asked == 5
        around = closeness.around(rows, 2, 0.05)
        for n in range(120):
            near = [m for m in range(n - 2, n + 3) if 0 <= m < 120 and m // 30 == n // 30]
            windows = [wanted[m] - 0.05 * abs(m - n) for m in near]
            assert around[n] == pytest.approx(np.max(windows, axis=0), abs=0.08)

    def test_a_rare_token_weighs_more(self, root: OpenRoot, model: Recording) -> None:
        _put(root, model, *(said(f"m{n}", f"gate {n}") for n in range(9)))
        _, [query] = model.embed_tokens(["gate 5 unheard"], "query")
        gate, five, unheard = _tokens(root).closeness(model, query).weights  # type: ignore[union-attr]
        assert gate < five < unheard
        assert gate / five == pytest.approx(np.log1p(0.5 / 9.5) / np.log1p(8.5 / 1.5), rel=1e-4)

    def test_of_a_long_question_the_rarest_tokens_are_compared(
        self, root: OpenRoot, model: Recording
    ) -> None:
        _put(root, model, *(said(f"m{n}", "common " * n + f"n{n}") for n in range(20)))
        closeness = _asked(root, model, "common " * 500 + "n7 rare")
        assert (closeness.asked, len(closeness.weights)) == (502, 64)
        assert closeness.maxima([_row(root, "common " * 7 + "n7")]).max(axis=1) > 0.9

    def test_a_memory_that_is_kept_as_a_whole_speaks_for_its_passages(
        self, root: OpenRoot, model: Recording
    ) -> None:
        body = "\n\n".join(f"word{n} " * 90 for n in range(3))
        _put(root, model, Memory("n", body, "note", "Title", "A summary"))
        first = _row(root, f"Title\nA summary\n{body}")
        found = _asked(root, model, "word2 title").maxima([first, first + 1, first + 2])
        assert (found > 0.9).all()

    def test_a_long_one_is_judged_by_the_passage_that_is_asked_for(
        self, root: OpenRoot, model: Recording
    ) -> None:
        body = "\n\n".join(f"part{n} " * 110 for n in range(5))
        _put(root, model, Memory("n", body, "note"))
        whole = _row(root, body)
        found = _asked(root, model, "part2").maxima([whole, whole + 1, whole + 3])[:, 0]
        assert found[0] > 0.9  # its head has no tokens of its own: all of it speaks
        assert found[1] < 0.9 < found[2]

    def test_neighbours_are_memories_of_the_same_session(
        self, root: OpenRoot, model: Recording
    ) -> None:
        long = "\n\n".join(f"part{n} " * 110 for n in range(5))
        _put(root, model, said("a", "first answer"), said("b", long), said("c", "third"),
             said("d", "fourth"), said("e", "elsewhere", "t"), said("f", "sixth"),
             Memory("g", "global one", "note"), Memory("h", "global two", "note"))  # fmt: skip

        def near(text: str, asked: str, reach: int = 2) -> float:
            closeness = _asked(root, model, asked)
            return float(closeness.around([_row(root, text)], reach, 0.05)[0, 0])

        assert near("third", "first") == pytest.approx(0.9, abs=0.08)
        assert near("third", "part4") == pytest.approx(0.95, abs=0.08)
        assert near("fourth", "first") < 0.8
        assert near("fourth", "elsewhere") < 0.8
        assert near("sixth", "fourth", 3) == pytest.approx(0.9, abs=0.08)
        assert near("global one", "two") < 0.8
        assert near("global one", "one") == pytest.approx(1, abs=0.08)

    def test_what_has_no_tokens_has_no_closeness(self, root: OpenRoot, model: Recording) -> None:
        _put(root, model, said("a", "gate"), Memory("f", "a file", "drawer"))
        root.store.put([said("b", "new")])
        root.catch_up()
        closeness = _asked(root, model, "gate")
        rows = [_row(root, "a file"), _row(root, "new"), 999, _row(root, "gate")]
        assert np.isnan(closeness.maxima(rows)).all(axis=1).tolist() == [True, True, True, False]
        assert closeness.around([_row(root, "new")], 2, 0.05)[0, 0] == pytest.approx(0.95, abs=0.08)
        assert closeness.maxima([]).shape == closeness.around([], 2, 0.05).shape == (0, 1)

    def test_none_of_this_model_is_none(self, root: OpenRoot, model: Recording) -> None:
        root.catch_up()
        assert _asked(root, model, "gate") is None
        _put(root, model, said("a", "gate"))
        assert _asked(root, Newer(), "gate") is None
        assert _asked(root, Foreign(), "gate") is None

    def test_a_root_without_passages_has_no_closeness_either(
        self, root: OpenRoot, model: Recording
    ) -> None:
        _put(root, model, said("a", "gate"))
        closeness = _asked(root, model, "gate")
        root.store.delete([Key("", "user", "s", "a")])
        root.catch_up()
        assert np.isnan(closeness.maxima([1])).all()
        assert np.isnan(closeness.around([1], 2, 0.05)).all()


class TestMemory:
    def test_what_another_process_adds_or_takes_away_is_seen(
        self, root: OpenRoot, model: Recording
    ) -> None:
        _put(root, model, said("a", "gate"))
        assert _best(root, model, "wall") < 0.9
        with open_vault() as other:
            _put(other.root("user"), Recording(), said("b", "wall"))
        assert _best(root, model, "wall") == pytest.approx(1, abs=0.08)
        with open_vault() as other:
            theirs = other.root("user")
            theirs.store.delete([Key("", "user", "s", "b")])
            theirs.catch_up()
            theirs.scrub()
        assert _best(root, model, "wall") < 0.9

    def test_a_passage_that_had_none_is_asked_again(self, root: OpenRoot, model: Recording) -> None:
        root.store.put([said("a", "gate"), said("b", "wall")])
        assert _fill(root, model, at_most=1) == 1
        rows = [_row(root, "gate"), _row(root, "wall")]
        found = _asked(root, model, "gate").maxima(rows)
        assert np.isnan(found[:, 0]).tolist() == [True, False]
        _fill(root, model)
        found = _asked(root, model, "gate").maxima(rows)
        assert found[0, 0] == pytest.approx(1, abs=0.08)

    def test_what_is_held_is_bounded(
        self, root: OpenRoot, model: Recording, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        texts = [" ".join(f"{n}x{w}" for w in range(50)) for n in range(120)]
        _put(root, model, *(said(f"m{n}", text, f"s{n}") for n, text in enumerate(texts)))
        rows = [_row(root, text) for text in texts]
        wanted = _asked(root, model, "7x7 100x3").maxima(rows)
        monkeypatch.setattr(_loaded_tokens, "_MOST", 40 * 50 * 16)
        monkeypatch.setattr(_loaded_tokens, "_FIRST", 8)
        _tokens(root)._loaded.clear()  # type: ignore[attr-defined]
        for start in (0, 30, 60, 90, 15, 75):
            found = _asked(root, model, "7x7 100x3").maxima(rows[start : start + 30])
            assert found == pytest.approx(wanted[start : start + 30])
            [held] = _tokens(root)._loaded.values()  # type: ignore[attr-defined]
            assert held.fits([])

    @pytest.mark.parametrize("seed", range(4))
    def test_after_any_history_it_is_what_a_fresh_look_gives(
        self, root: OpenRoot, model: Recording, seed: int
    ) -> None:
        chance = np.random.default_rng(seed)
        for _ in range(12):
            n = int(chance.integers(0, 12))
            if chance.random() < 0.3:
                root.store.delete([Key("", "user", f"s{n % 2}", f"m{n}")])
            else:
                text = f"gate {chance.integers(0, 5)} " + "long " * int(chance.integers(0, 400))
                root.store.put([said(f"m{n}", text, f"s{n % 2}")])
            if chance.random() < 0.7:
                _fill(root, model)
            if chance.random() < 0.3:
                root.catch_up()
                root.scrub()
            root.catch_up()
            rows = [row for row, _ in root.words.keyword(["gate"], 50, _ANY)]
            closeness = _asked(root, model, "gate 3 long")
            if closeness is None:
                continue
            with open_vault() as other:
                fresh = _asked(other.root("user"), Recording(), "gate 3 long")
                assert np.array_equal(closeness.weights, fresh.weights)
                for one, other_one in (
                    (closeness.maxima(rows), fresh.maxima(rows)),
                    (closeness.around(rows, 2, 0.05), fresh.around(rows, 2, 0.05)),
                ):
                    np.testing.assert_allclose(one, other_one, atol=1e-6)
            assert _sound(root)


def _best(root: OpenRoot, model: HashingEmbedder, word: str) -> float:
    rows = [row for row, _ in root.words.keyword(["gate", "wall"], 50, _ANY)]
    return float(_asked(root, model, word).maxima(rows).max())


def _loops(model: HashingEmbedder, question: str, texts: Sequence[str]) -> list[float]:
    """For each token of the question its best cosine among the tokens of the texts."""
    projection = projection_of(model)
    assert projection is not None
    _, [query, *passages] = model.embed_tokens([question, *texts], "passage")
    asked = projection.of(query, model.pieces).vectors.tolist()
    tokens = [
        vector for each in passages for vector in projection.of(each, model.pieces).vectors.tolist()
    ]
    return [max(_dot(one, token) for token in tokens) for one in asked]
