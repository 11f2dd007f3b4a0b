"""The `hashing` embedder: words and their trigrams hashed into a vector. For tests and trials.

It knows no meaning, but equal words attract, it costs nothing, and it is the same everywhere. It
leaves the splitting of text to `camillo.text.tokens`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from zlib import crc32

from camillo.errors import InvalidValue
from camillo.numeric import np
from camillo.ports import Role, TokenVectors
from camillo.text.tokens import tokenise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["TOKEN_DIM", "HashingEmbedder"]

TOKEN_DIM = 32
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]|[^\W\u3040-\u9fff\uac00-\ud7a3]+")


class HashingEmbedder:
    """256 dimensions. `query` and `passage` are the same."""

    id = "hashing/1/f32/256"
    dim = 256
    limit = 0
    capabilities = frozenset({"tokens"})

    def __init__(self, folder: str = "") -> None:
        if folder:
            raise InvalidValue(f"the hashing embedder has no weights to read from {folder!r}")
        self._pieces: dict[int, str] = {}  # of the tokens given out

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for feature in _features(text):
                number = crc32(feature.encode("utf-8", "surrogatepass"))
                row[number % self.dim] += 1.0 if number & 0x8000_0000 else -1.0
            row[0] += 1e-3  # a text without words has a direction too
            row /= np.linalg.norm(row)
        return vectors

    def embed_tokens(
        self, texts: Sequence[str], role: Role
    ) -> tuple[NDArray[float32], list[TokenVectors]]:
        return self.embed(texts, role), [self._token_vectors(text) for text in texts]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Of the tokens that this instance gave out."""
        return [self._pieces[each] for each in ids]

    def _token_vectors(self, text: str) -> TokenVectors:
        words = _WORD.findall(text.casefold())
        ids = [crc32(word.encode("utf-8", "surrogatepass")) & 0x7FFF_FFFF for word in words]
        self._pieces.update(zip(ids, (f" {word}" for word in words), strict=True))
        vectors = [np.random.default_rng(each).standard_normal(TOKEN_DIM) for each in ids]
        shaped = np.array(vectors, np.float32).reshape(len(ids), TOKEN_DIM)
        return TokenVectors(np.array(ids, np.int32), shaped)


def _features(text: str) -> Iterable[str]:
    for word in tokenise(text):
        yield word
        padded = f"<{word}>"
        yield from (padded[at : at + 3] for at in range(len(padded) - 2))
