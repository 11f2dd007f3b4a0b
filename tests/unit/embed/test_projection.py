"""Projections: what becomes of a model's token vectors before they are compared."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from camillo.embed.hashing import HashingEmbedder
from camillo.embed.onnx import OnnxEmbedder
from camillo.embed.projection import PROJECTED, Axes, projection_of
from camillo.ports import Projection, TokenVectors

PIECES = {1: " gate", 2: "s", 3: ".", 4: "，", 5: "门", 6: " 中", 7: "か", 8: "문", 9: " ❤", 10: ""}


class E5:
    """What is asked of an embedder to tell its projection."""

    id = "multilingual-e5-small/of-a-test/384"
    dim = 384


def pieces(ids: Iterable[int]) -> list[str]:
    return [PIECES[each] for each in ids]


@pytest.fixture
def shipped() -> Projection:
    found = projection_of(E5())  # type: ignore[arg-type]
    assert found is not None
    return found


def _tokens(ids: Iterable[int], dim: int = 384) -> TokenVectors:
    numbers = np.array(list(ids), np.int32)
    chance = np.random.default_rng(1)
    return TokenVectors(numbers, chance.standard_normal((len(numbers), dim)).astype(np.float32))


def test_what_only_punctuates_is_dropped_and_all_else_is_of_unit_length(
    shipped: Projection,
) -> None:
    found = shipped.of(_tokens(PIECES), pieces)
    assert found.ids.tolist() == [1, 2, 5, 6, 7, 8, 9]
    assert found.vectors.shape == (7, shipped.dim)
    assert found.vectors.dtype == np.float32
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("ids", [(), (3, 4)])
def test_a_text_may_have_no_token_that_says_something(
    shipped: Projection, ids: tuple[int, ...]
) -> None:
    found = shipped.of(_tokens(ids), pieces)
    assert (len(found.ids), found.vectors.shape) == (0, (0, shipped.dim))


def test_the_mean_of_the_tokens_own_script_is_taken_off() -> None:
    axes = np.eye(3, 4, dtype=np.float16)
    means = np.array([[1, 0, 0, 5], [0, 2, 0, 5]], np.float16)
    vectors = np.array([[4, 0, 0, 9], [0, 6, 0, 9], [1, 0, 3, 9]], np.float32)
    ids = np.array([1, 5, 2], np.int32)
    found = Axes(axes, means).of(TokenVectors(ids, vectors), pieces)
    assert found.vectors == pytest.approx(np.eye(3, dtype=np.float32)[[0, 1, 2]])


def test_the_id_tells_other_numbers_apart() -> None:
    axes, means = np.eye(3, 4, dtype=np.float16), np.zeros((2, 4), np.float16)
    one, same = Axes(axes, means), Axes(axes.copy(), means.copy())
    assert one.id == same.id
    assert one.id.startswith("pca3-")
    means[1, 2] = 1
    assert Axes(axes, means).id != one.id


def test_the_shipped_one_is_small_and_whole(shipped: Projection) -> None:
    assert Path(PROJECTED).stat().st_size <= 200_000
    assert (shipped.dim, len(shipped.id)) == (128, len("pca128-") + 8)
    with np.load(PROJECTED) as arrays:
        axes = arrays["axes"].astype(np.float64)
        assert (axes.shape, arrays["means"].shape) == ((128, 384), (2, 384))
    assert axes @ axes.T == pytest.approx(np.eye(128), abs=2e-3)


def test_a_model_without_one_has_none() -> None:
    class Other(E5):
        id = "all-MiniLM-L6-v2/0123456789ab/384"

    class Larger(E5):
        id = "multilingual-e5-small/1/768"
        dim = 768

    assert projection_of(Other()) is None  # type: ignore[arg-type]
    assert projection_of(Larger()) is None  # type: ignore[arg-type]
    plain = projection_of(HashingEmbedder())
    assert plain is not None
    assert plain.id == "plain32"


def test_the_same_texts_give_the_same_axes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root / "tools"))
    from fit_projection import fitted  # type: ignore[import-not-found]

    sys.modules.pop("fit_projection")
    chance = np.random.default_rng(2)
    spread = np.linspace(1, 3, 130)
    vectors = (chance.standard_normal((4000, 130)) * spread + 7).astype(np.float32)
    kinds = (np.arange(4000) % 3 == 0).astype(np.int32)
    axes, means = fitted(vectors, kinds)
    assert means.astype(np.float32) == pytest.approx(
        np.array([vectors[kinds == each].mean(axis=0) for each in (0, 1)]), abs=1e-2
    )
    largest = axes[np.arange(128), np.abs(axes).argmax(axis=1)]
    assert (largest > 0).all()
    shuffled = chance.permutation(4000)
    again, _ = fitted(vectors[shuffled], kinds[shuffled])
    assert np.abs(again.astype(np.float32) - axes.astype(np.float32)).max() < 0.02
    assert np.abs(axes[0].astype(np.float32)).argmax() > 100  # where it varies most


@pytest.mark.slow
def test_words_of_one_meaning_come_nearer_by_it_than_others(models: Path) -> None:
    folder = models / "e5"
    if not folder.is_dir():
        pytest.skip("e5 is not set up on this machine")
    embedder = OnnxEmbedder(str(folder))
    projection = projection_of(embedder)
    assert projection is not None
    texts = ["The cat sleeps on the sofa.", "猫在沙发上睡觉。", "We filed the taxes in April."]
    cat, mao, tax = (
        projection.of(each, embedder.pieces).vectors
        for each in embedder.embed_tokens(texts, "passage")[1]
    )
    assert (cat @ mao.T).max(axis=1).mean() > (cat @ tax.T).max(axis=1).mean() + 0.1
