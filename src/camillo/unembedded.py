"""Passages without a vector, and how they get theirs: what every index of meaning does alike.

Each batch is kept as soon as it is embedded, so that a crash at any point loses nothing. How a
passage without a vector is found and where its vector is kept is left to the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from camillo.errors import InvalidValue, StoreDamaged
from camillo.model import Key, Memory
from camillo.ports import Embedder, Store
from camillo.records import NamedTuple
from camillo.text.passages import passage

TYPE_CHECKING = False  # NumPy is the embedder's
if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["Unembedded", "embed_all"]


class Unembedded(NamedTuple):
    """`row` is the passage's row, `hash` that of its text when it was indexed."""

    row: int
    key: Key
    number: int
    hash: bytes


def embed_all(
    following: Callable[[int], Sequence[Unembedded]],
    keep: Callable[[Sequence[Unembedded], NDArray[float32]], int],
    hash_of: Callable[[str], bytes],
    store: Store,
    embedder: Embedder,
    *,
    embed: Callable[[Sequence[tuple[Unembedded, str]]], NDArray[float32]] | None = None,
    newest_first: bool = False,
    at_most: int | None = None,
    told: Callable[[int], None] = lambda done: None,
) -> None:
    """Embed each text that has no vector, once; or at most so many.

    `following` gives the next batch above a row, or with `newest_first` below it (0: the first of
    all), its rows rising, () when there is none; `keep` writes vectors and says how many, since
    that of a text which was forgotten meanwhile is not kept. `embed` makes them of a batch in
    another way than the embedder's plain one. `told` hears how many texts each batch had.
    """
    after = done = written = 0
    while at_most is None or done < at_most:
        waiting = following(after)
        if not waiting:
            if not written:
                break
            after = written = 0  # rows may have come in before the last one
            continue
        once = list({each.hash: each for each in waiting}.values())
        if at_most is not None and len(once) > at_most - done:
            most = at_most - done
            once = once[-most:] if newest_first else once[:most]
            waiting = once
        after = waiting[0].row if newest_first else waiting[-1].row
        batch = list(_with_texts(once, store, hash_of))
        if batch:
            if embed is not None:
                vectors = embed(batch)
            else:
                vectors = embedder.embed([text for _, text in batch], "passage")
            _check_shape(vectors.shape, (len(batch), embedder.dim))
            written += keep([each for each, _ in batch], vectors)
            done += len(batch)
            told(len(batch))


def _with_texts(
    waiting: Sequence[Unembedded], store: Store, hash_of: Callable[[str], bytes]
) -> Iterator[tuple[Unembedded, str]]:
    """Each with its text. One that has changed since it was indexed waits for the catch-up, one
    that is damaged for its mending."""
    memories = _held(store, [each.key for each in waiting])
    for each, memory in zip(waiting, memories, strict=True):
        if memory is not None:
            text = passage(memory, each.number).embedded
            if hash_of(text) == each.hash:
                yield each, text


def _held(store: Store, keys: Sequence[Key]) -> Iterator[Memory | None]:
    """The memories of these keys; None for one that is gone or damaged."""
    try:
        yield from store.get(keys)
    except StoreDamaged:
        if len(keys) == 1:
            yield None
        else:
            for key in keys:
                yield from _held(store, [key])


def _check_shape(shape: tuple[int, ...], wanted: tuple[int, int]) -> None:
    if shape != wanted:
        raise InvalidValue(
            f"the embedder gave vectors of shape {shape}, not {wanted}; check its settings"
        )
