"""The definition of an embedder: subclass `EmbedderContract` and give it an `embedder` fixture.

Cases about token vectors are skipped for an embedder that does not declare "tokens"; all others
must pass. The obligations are those of `camillo.ports.Embedder`.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest

from camillo.errors import InvalidValue
from camillo.ports import Embedder, Role

__all__ = ["EmbedderContract"]

SHORT = "Seven gates lead to the drawers."
LONG = " ".join(f"Row {n} of the theatre holds drawer {n * n % 97}." for n in range(400))
SAYINGS = [
    SHORT,
    "数据库的连接池有多大？",
    "",
    "Привет, мир! مرحبا नमस्ते 안녕하세요",
    "x" * 3000,
    "\ud800 half a pair \udc00",
    "\x00\x07 control\r\n\u2028characters",
    "1 2 3 ½ ﬁ Ǻ 👩‍👩‍👧",
    LONG[:800],
]
ROLES: tuple[Role, Role] = ("query", "passage")


class EmbedderContract:
    """Every case."""

    @pytest.fixture
    def tokens(self, embedder: Embedder) -> Embedder:
        if "tokens" not in embedder.capabilities:
            pytest.skip("declares no token vectors")
        return embedder

    @pytest.mark.promise(27)
    def test_the_id_ends_with_the_dimension(self, embedder: Embedder) -> None:
        assert embedder.id.endswith(f"/{embedder.dim}")

    @pytest.mark.parametrize("role", ROLES)
    def test_vectors_are_float32_of_unit_length(self, embedder: Embedder, role: Role) -> None:
        vectors = embedder.embed(SAYINGS, role)
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(SAYINGS), embedder.dim)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-4)

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        assert embedder.embed([], "query").shape == (0, embedder.dim)

    def test_a_vector_does_not_depend_on_its_company(self, embedder: Embedder) -> None:
        together = embedder.embed(SAYINGS, "passage")
        alone = np.concatenate([embedder.embed([text], "passage") for text in SAYINGS])
        turned = embedder.embed(SAYINGS[::-1], "passage")[::-1]
        assert together == pytest.approx(alone, abs=1e-5)
        assert together == pytest.approx(turned, abs=1e-5)

    @pytest.mark.parametrize("place", [0, 0.5, 0.97])
    def test_nothing_of_a_long_text_is_cut(self, embedder: Embedder, place: float) -> None:
        at = int(len(LONG) * place)
        changed = f"{LONG[:at]} A volcano of purple butterflies erupts. {LONG[at:]}"
        before, after = embedder.embed([LONG, changed], "passage")
        assert np.abs(before - after).max() > 1e-4

    def test_a_repeated_word_is_nearer_than_another(self, embedder: Embedder) -> None:
        question = embedder.embed(["Where are the drawers?"], "query")[0]
        near, far = embedder.embed([SHORT, "Rain fell on Tuesday."], "passage")
        assert question @ near > question @ far

    def test_threads_may_share_one(self, embedder: Embedder) -> None:
        expected = embedder.embed(SAYINGS, "passage")
        found: list[object] = [None] * 4

        def work(slot: int) -> None:
            found[slot] = embedder.embed(SAYINGS, "passage")

        threads = [threading.Thread(target=work, args=(slot,)) for slot in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(each == pytest.approx(expected, abs=1e-6) for each in found)

    @pytest.mark.parametrize("role", ROLES)
    def test_token_vectors_come_with_the_same_vectors(self, tokens: Embedder, role: Role) -> None:
        pooled, each = tokens.embed_tokens(SAYINGS, role)
        assert pooled == pytest.approx(tokens.embed(SAYINGS, role), abs=1e-6)
        assert len(each) == len(SAYINGS)
        for ids, vectors in each:
            assert ids.dtype == np.int32
            assert vectors.dtype == np.float32
            assert len(ids) == len(vectors)

    @pytest.mark.parametrize("role", ROLES)
    def test_pieces_spell_the_text_without_its_prefix(self, tokens: Embedder, role: Role) -> None:
        _, [(ids, _)] = tokens.embed_tokens(["drawers and gates"], role)
        spelt = "".join(tokens.pieces(ids)).lower()
        assert "gate" in spelt
        assert spelt.count("drawer") == 1
        assert role not in spelt

    def test_a_long_text_keeps_all_its_tokens(self, tokens: Embedder) -> None:
        _, [one, many] = tokens.embed_tokens(["gate " * 10, "gate " * 5000], "passage")
        assert len(one.ids) >= 10
        assert len(many.ids) >= 5000
        assert len(many.vectors) == len(many.ids)

    def test_an_embedder_without_token_vectors_says_so(self, embedder: Embedder) -> None:
        if "tokens" in embedder.capabilities:
            pytest.skip("has them")
        with pytest.raises(InvalidValue, match="has no token vectors"):
            embedder.embed_tokens([SHORT], "query")
        with pytest.raises(InvalidValue, match="has no token vectors"):
            embedder.pieces([1])
