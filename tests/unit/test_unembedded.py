"""How texts get their vectors: each once, all of them, and never for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from camillo.embed.hashing import HashingEmbedder
from camillo.engines.memory import MemoryStore
from camillo.errors import InvalidValue
from camillo.model import Memory
from camillo.text.passages import passage, text_hash
from camillo.unembedded import Unembedded, embed_all

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from camillo.ports import Role


class Shorter(HashingEmbedder):
    """One whose vectors are not as long as it says."""

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        return super().embed(texts, role)[:, :7]


class Index:
    """Passages by row, and the vectors of their texts by hash."""

    def __init__(self, *bodies: str) -> None:
        self.store = MemoryStore()
        self.embedder = HashingEmbedder()
        self.passages: dict[int, Unembedded] = {}
        self.vectors: dict[bytes, Any] = {}
        self.forgotten: set[bytes] = set()
        self.told: list[int] = []
        for row, body in enumerate(bodies, 10):
            self.take_in(row, body)

    def take_in(self, row: int, body: str) -> None:
        memory = Memory(f"m{row}", body)
        self.store.put([memory])
        hash_ = text_hash(passage(memory, 0).embedded)
        self.passages[row] = Unembedded(row, memory.key, 0, hash_)

    def following(self, after: int) -> list[Unembedded]:
        rows = sorted(row for row in self.passages if row > after)
        return [p for p in map(self.passages.__getitem__, rows) if p.hash not in self.vectors][:2]

    def keep(self, passages: Sequence[Unembedded], vectors: Any) -> int:
        kept = [each for each in zip(passages, vectors, strict=True)
                if each[0].hash not in self.forgotten]  # fmt: skip
        self.vectors.update((each.hash, vector) for each, vector in kept)
        return len(kept)

    def embed(self, at_most: int | None = None) -> None:
        embed_all(
            self.following, self.keep, text_hash, self.store, self.embedder,
            at_most=at_most, told=self.told.append,
        )  # fmt: skip

    def left(self) -> list[int]:
        return [row for row, each in self.passages.items() if each.hash not in self.vectors]


def test_each_text_is_embedded_once_and_has_its_own_vector() -> None:
    index = Index("gate", "gate", "wall", "lamp", "gate")
    index.embed()
    assert index.left() == []
    assert sum(index.told) == 3
    for body in ("gate", "wall", "lamp"):
        (wanted,) = index.embedder.embed([body], "passage")
        assert index.vectors[text_hash(body)] == pytest.approx(wanted)


def test_a_part_of_them_is_no_more_than_was_asked_for() -> None:
    index = Index("gate", "wall", "lamp", "door", "roof")
    index.embed(at_most=3)
    assert index.told == [2, 1]
    assert index.left() == [13, 14]


def test_what_comes_in_below_the_last_row_is_not_left_out() -> None:
    index = Index("gate", "wall", "lamp")
    following = index.following

    def late(after: int) -> list[Unembedded]:
        if after == 12 and 1 not in index.passages:
            index.take_in(1, "late")
        return following(after)

    index.following = late  # type: ignore[method-assign]
    index.embed()
    assert 1 in index.passages
    assert index.left() == []


def test_a_text_that_changed_waits_and_keeps_no_other_waiting() -> None:
    index = Index("gate", "wall", "lamp")
    index.store.put([Memory("m11", "another wall")])
    index.store.delete([index.passages[12].key])
    index.embed()
    assert index.left() == [11, 12]
    assert index.told == [1]


def test_what_is_never_kept_is_not_tried_for_ever() -> None:
    index = Index("gate", "wall", "lamp")
    index.forgotten = {index.passages[11].hash}
    index.embed()
    assert index.left() == [11]
    assert sum(index.told) == 4  # once more, since others were kept


def test_vectors_of_another_size_are_refused_before_any_is_kept() -> None:
    index = Index("gate", "wall")
    index.embedder = Shorter()
    with pytest.raises(InvalidValue, match=r"vectors of shape \(2, 7\), not \(2, 256\)"):
        index.embed()
    assert index.vectors == {}
