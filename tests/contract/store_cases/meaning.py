"""Cases of a store's search by meaning: each passage has a vector or is known to lack one, the
nearest that are admitted are found, and a vector goes with its text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from camillo.embed.hashing import HashingEmbedder
from camillo.model import INTERNAL_KINDS, Filter, Memory
from camillo.ports import Nearness, Role
from camillo.text.passages import passages
from contract.applicable import needs
from contract.corpus import corpus
from contract.searched import Searched
from contract.specimens import drawer, memory, varied
from contract.store_cases.asking import ASKED, mixed
from contract.store_cases.words import FEW

ROUNDED = 0.02  # how far a kept vector's cosine may be from the embedder's own


class Counting(HashingEmbedder):
    """Remembers every text that it embedded as a passage."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        if role == "passage":
            self.seen += texts
        return super().embed(texts, role)


class Other(Counting):
    """Another model, of another size, for which everything is the other way round."""

    id = "other/1/f32/64"
    dim = 64

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        vectors = -super().embed(texts, role)[:, :64]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
        return vectors


class MeaningCases:
    """models, missing, fill, nearness, hits, count, sweep."""

    @needs("keeps", "feed")
    def test_filled_every_passage_has_a_vector(self, searched: Searched) -> None:
        rows = corpus()
        searched.put(rows)
        texts = [passage.embedded for m in rows for passage in passages(m)]
        assert searched.meaning.missing(searched.embedder) == len(set(texts))
        told: list[int] = []
        left = searched.meaning.fill(searched.store, searched.embedder, "hashing", told=told.append)
        assert (left, sum(told)) == (0, len(set(texts)))
        assert searched.meaning.missing(searched.embedder) == 0
        assert searched.meaning.count(searched.embedder) == len(set(texts))
        assert len(_nearness(searched, "gate")) == len(texts)
        (model,) = searched.meaning.models()
        assert model == (searched.embedder.id, searched.embedder.dim, "hashing", True)

    @needs("keeps", "feed")
    def test_an_empty_store_has_no_meaning(self, searched: Searched) -> None:
        assert searched.meaning.models() == []
        assert searched.meaning.missing(searched.embedder) == 0
        assert searched.meaning.count(searched.embedder) == 0
        assert len(_nearness(searched, "gate")) == 0
        assert searched.near("gate") == []
        assert _nearness(searched, "gate").of([1, 2]) == [None, None]
        assert _nearness(searched, "gate").of_texts(["gate"]) == [None]
        assert searched.meaning.sweep() is True

    @needs("keeps", "feed")
    def test_equal_texts_are_embedded_once(self, searched: Searched) -> None:
        embedder = Counting()
        searched.put([drawer(f"{n}.md", 0, "the same text") for n in range(5)])
        searched.meaning.fill(searched.store, embedder, "hashing")
        searched.put([drawer("later.md", 0, "the same text")])
        searched.meaning.fill(searched.store, embedder, "hashing")
        assert embedder.seen == ["the same text"]
        assert searched.meaning.count(embedder) == 1
        assert len(searched.near("the same text")) == 6

    @needs("keeps", "feed")
    def test_filling_goes_on_where_it_was(self, searched: Searched) -> None:
        embedder = Counting()
        searched.put([memory(f"m{n}", f"text {n}") for n in range(700)])
        lefts = [searched.meaning.fill(searched.store, embedder, "hashing", at_most=100)]
        assert 0 < lefts[0] < 700
        assert [model.complete for model in searched.meaning.models()] == [False]
        assert len(_nearness(searched, "text")) == 700 - lefts[0]
        while lefts[-1]:
            lefts.append(searched.meaning.fill(searched.store, embedder, "hashing", at_most=100))
        assert sorted(embedder.seen) == sorted(f"text {n}" for n in range(700))
        assert [model.complete for model in searched.meaning.models()] == [True]

    @needs("keeps", "feed")
    def test_new_texts_are_missing_until_the_next_fill(self, searched: Searched) -> None:
        searched.put([memory("a", "gate")])
        searched.fill()
        searched.put([memory("b", "walrus"), memory("a", "lamp")])
        assert searched.meaning.missing(searched.embedder) == 2
        assert [hit.key.id for hit in searched.near("walrus")] == []
        searched.fill()
        assert [hit.key.id for hit in searched.near("walrus")] == ["b", "a"]

    @needs("keeps", "feed")
    def test_a_cosine_is_that_of_the_embedder(self, searched: Searched) -> None:
        rows = [m for m in corpus() if Filter().admits(m)]
        searched.put(corpus())
        searched.fill()
        query = "the lamp of the lighthouse, 灯塔"
        hits = searched.near(query)
        asked = searched.embedder.embed([query], "query")[0]
        texts = {(m.key, p.number): p.embedded for m in rows for p in passages(m)}
        assert {hit[:2] for hit in hits} == set(texts)
        exact = searched.embedder.embed([texts[hit[:2]] for hit in hits], "passage") @ asked
        assert np.abs(exact - [hit.score for hit in hits]).max() < ROUNDED
        assert all(one.score >= other.score for one, other in pairwise(hits))
        of = _nearness(searched, query).of([hit.row for hit in hits])
        assert of == pytest.approx([hit.score for hit in hits], abs=1e-5)

    @needs("keeps", "feed")
    def test_the_cosine_of_a_text_is_that_of_its_passages(self, searched: Searched) -> None:
        searched.put([memory("a", "walrus"), memory("b", "walrus"), memory("c", "gate")])
        searched.fill()
        nearness = _nearness(searched, "a walrus at the gate")
        cosines = {hit.key.id: hit.score for hit in searched.near("a walrus at the gate")}
        found = nearness.of_texts(["gate", "walrus", "never there", "walrus"])
        assert found[2] is None
        wanted = [cosines["c"], cosines["a"], cosines["b"]]
        assert [found[0], found[1], found[3]] == pytest.approx(wanted, abs=1e-5)
        assert nearness.of_texts([]) == []

    @needs("keeps", "feed")
    def test_the_k_nearest_are_the_nearest(self, searched: Searched) -> None:
        searched.put(corpus())
        searched.fill()
        for query in ("lighthouse lamp", "ключи", "仓库的钥匙", "walnut bread oven"):
            whole = searched.near(query)
            for k in (1, 7, 40):
                some = searched.near(query, k)
                assert len(some) == k
                assert [h.score for h in some] == pytest.approx(
                    [h.score for h in whole[:k]], abs=1e-5
                )

    @needs("keeps", "feed")
    @pytest.mark.parametrize("name", sorted(ASKED))
    def test_a_filter_admits_what_it_says_by_meaning(self, searched: Searched, name: str) -> None:
        rows, asked = mixed(), ASKED[name]
        searched.put(rows)
        searched.fill()
        wanted = {m.key for m in rows if asked.admits(m) and m.kind not in INTERNAL_KINDS}
        found = [hit.key for hit in searched.near("text 7", 500, asked)]
        assert set(found) == wanted
        assert len(found) == len(wanted)

    @needs("keeps", "feed")
    @pytest.mark.parametrize(("asked", "fields"), FEW)
    def test_few_that_a_filter_admits_among_many_are_the_nearest(
        self, searched: Searched, asked: Filter, fields: dict[str, object]
    ) -> None:
        """They are the farthest: an approximate index that filters what it found has none."""
        rows = [memory(f"m{n:04}", f"the lamp of gate {n}") for n in range(1500)]
        few = [varied(memory(f"few{n}", f"водопад {n}"), **fields) for n in range(3)]
        searched.put([*rows[:700], *few, *rows[700:]])
        searched.fill()
        found = [hit.key.id for hit in searched.near("the lamp of gate 7", 3, asked)]
        assert sorted(found) == ["few0", "few1", "few2"]

    @needs("keeps", "feed")
    def test_words_and_meaning_name_a_passage_by_the_same_row(self, searched: Searched) -> None:
        searched.put(corpus())
        searched.fill()
        near = {hit.row: hit[:2] for hit in searched.near("lamp")}
        for hit in searched.hits("lamp", "oven", "仓", "ключи"):
            assert near[hit.row] == hit[:2]

    @needs("keeps", "feed")
    def test_a_vector_goes_with_the_last_passage_that_holds_its_text(
        self, searched: Searched
    ) -> None:
        twins = [memory("a", "walrus"), memory("b", "walrus"), memory("c", "gate")]
        searched.put(twins)
        searched.fill()
        searched.delete(twins[0])
        assert searched.meaning.count(searched.embedder) == 2
        assert [hit.key.id for hit in searched.near("walrus")] == ["b", "c"]
        searched.delete(twins[1])
        assert searched.meaning.sweep() is True
        assert searched.meaning.count(searched.embedder) == 1
        assert [hit.key.id for hit in searched.near("walrus")] == ["c"]
        searched.put([memory("c", "lamp")])
        assert searched.meaning.sweep() is True
        assert searched.meaning.count(searched.embedder) == 0

    @pytest.mark.promise(12)
    @needs("keeps", "feed")
    def test_a_text_that_goes_while_it_is_embedded_leaves_no_vector(
        self, searched: Searched
    ) -> None:
        gone = memory("gone", "walrus")

        class Deleting(HashingEmbedder):
            def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
                if role == "passage":
                    searched.delete(gone)
                return super().embed(texts, role)

        searched.put([gone, memory("kept", "gate")])
        searched.meaning.fill(searched.store, Deleting(), "hashing")
        searched.meaning.sweep()
        assert searched.meaning.count(searched.embedder) == 1
        assert [hit.key.id for hit in searched.near("walrus")] == ["kept"]

    @pytest.mark.promise(27)
    @needs("keeps", "feed")
    def test_vectors_of_two_models_are_never_compared(self, searched: Searched) -> None:
        texts = [f"text {n} of {n % 9}" for n in range(300)]
        searched.put([memory(f"m{n:03}", text) for n, text in enumerate(texts)])
        searched.fill()
        other = Other()
        left = searched.meaning.fill(searched.store, other, "another", at_most=100)
        assert left > 0
        old, new = searched.meaning.models()
        assert (old.name, old.complete) == (searched.embedder.id, True)
        assert new == (other.id, 64, "another", False)
        assert len(_nearness(searched, "text 3 of 3")) == 300
        assert searched.near("text 3 of 3", 1)[0].key.id == "m003"

        assert searched.meaning.fill(searched.store, other, "another") == 0
        assert [model.name for model in searched.meaning.models()] == [other.id]
        assert searched.meaning.count(searched.embedder) == 0
        assert searched.meaning.count(other) == 300
        assert sorted(other.seen) == sorted(texts)
        asked = other.embed(["text 3 of 3"], "query")[0]
        nearness = searched.meaning.nearness(other, asked)
        ((row, cosine),) = nearness.best(1, Filter())
        assert cosine == pytest.approx(1.0, abs=ROUNDED)
        assert searched.words.hits([(row, cosine)])[0].key.id == "m003"

    @needs("keeps", "feed", "persistent")
    def test_vectors_are_there_when_the_store_is_opened_again(self, searched: Searched) -> None:
        searched.put([memory("a", "walrus"), memory("b", "gate")])
        searched.fill()
        searched.vault.close()
        root = searched.vault.root("user")
        root.catch_up()
        assert root.meaning.missing(searched.embedder) == 0
        assert [model.complete for model in root.meaning.models()] == [True]

    @needs("keeps", "feed")
    def test_a_long_note_is_near_as_a_whole_and_in_its_pieces(self, searched: Searched) -> None:
        body = "\n\n".join(f"walrus{n} " + "filling " * 90 for n in range(6))
        long: Memory = memory("long", body, title="head")
        searched.put([long, memory("b", "gate")])
        searched.fill()
        hits = [hit for hit in searched.near("walrus3 filling") if hit.key.id == "long"]
        assert sorted(hit.passage for hit in hits) == [p.number for p in passages(long)]
        assert len({hit.row - hit.passage for hit in hits}) == 1


def _nearness(searched: Searched, text: str) -> Nearness:
    asked = searched.embedder.embed([text], "query")[0]
    return searched.meaning.nearness(searched.embedder, asked)
