"""One pass of embedding that fills the `tokens` index beside another: vectors and token vectors
come from one run of the model over a text."""

from __future__ import annotations

from collections.abc import Sequence

from camillo.indexes._token_codes import packed
from camillo.indexes._token_rows import Row, add, evict
from camillo.numeric import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw
    from numpy import float32
    from numpy.typing import NDArray

    from camillo.indexes.tokens import TokenIndex
    from camillo.ports import Embedder, Projection
    from camillo.unembedded import Unembedded

__all__ = ["TokenFilling"]

_AT_ONCE = 32  # texts whose token vectors are in memory together, as the model gives them


class TokenFilling:
    """`embed` a batch, then `write` it in the transaction that keeps its vectors. `most` tokens are
    kept of the model."""

    def __init__(
        self, index: TokenIndex, embedder: Embedder, projection: Projection, model: int, most: int
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._projection = projection
        self._model = model
        self._most = most
        self._made: list[Row] = []

    def embed(self, batch: Sequence[tuple[Unembedded, str]]) -> NDArray[float32]:
        """The vectors of these texts. Token vectors are made of those that should have some."""
        self._made = []
        if "tokens" not in self._embedder.capabilities:  # loads the model
            self._index.give_up(self._embedder)
        wanted = self._index.wanting(self._embedder, [each.row for each, _ in batch])
        plain = [at for at, (each, _) in enumerate(batch) if each.row not in wanted]
        rest = [at for at, (each, _) in enumerate(batch) if each.row in wanted]
        rest.sort(key=lambda at: len(batch[at][1]))  # those that a model takes together
        parts = [self._embedder.embed([batch[at][1] for at in plain], "passage")] if plain else []
        parts += [
            self._embed_tokens([batch[at] for at in rest[start : start + _AT_ONCE]])
            for start in range(0, len(rest), _AT_ONCE)
        ]
        vectors = np.concatenate(parts)
        return vectors[np.argsort(plain + rest)]

    def _embed_tokens(self, some: Sequence[tuple[Unembedded, str]]) -> NDArray[float32]:
        vectors, tokens = self._embedder.embed_tokens([text for _, text in some], "passage")
        for (each, _), found in zip(some, tokens, strict=True):
            kept = self._projection.of(found, self._embedder.pieces)
            self._made.append(Row(each.row, each.hash, len(kept.ids), *packed(kept)))
        return vectors

    def write(self, connection: apsw.Connection) -> int:
        """Keep what the last batch gave; how many texts."""
        written = add(connection, self._model, self._made)
        self._made = []
        evict(connection, self._model, self._most)
        return written
