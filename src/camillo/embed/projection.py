"""Projections: what a model's token vectors go through before they are kept and compared.

All tokens of a model point much the same way, and each script has a way of its own: the mean of a
token's script is taken off, the rest is turned to the directions in which tokens differ most, cut
to 128 of these, and brought to unit length. What only punctuates is dropped. The numbers are in
`e5_projection.npz`, which `tools/fit_projection.py` makes; how vectors are stored is the index's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from camillo.embed.windows import unit
from camillo.numeric import np
from camillo.ports import TokenVectors
from camillo.text.characters import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy import float16, int32
    from numpy.typing import NDArray

    from camillo.ports import Embedder, Pieces, Projection

__all__ = ["PROJECTED", "Axes", "Kinds", "Plain", "projection_of"]

PROJECTED = os.path.join(os.path.dirname(__file__), "e5_projection.npz")

_E5 = "multilingual-e5-small"
_E5_DIM = 384
_PLAIN = "hashing"
_NOTHING, _OTHER, _CJK = -1, 0, 1  # kinds of tokens; the last two number the means
_CJK_BLOCKS = (  # Han, kana, hangul
    ("\u1100", "\u11ff"), ("\u2e80", "\u2fdf"), ("\u3005", "\u30ff"), ("\u3105", "\u318e"),
    ("\u31a0", "\u31ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\ua960", "\ua97c"),
    ("\uac00", "\ud7ff"), ("\uf900", "\ufaff"), ("\uff66", "\uffdc"),
    ("\U0001aff0", "\U0001b16f"), ("\U00020000", "\U0003ffff"),
)  # fmt: skip


class Kinds:
    """What kind of token each id is, asked of the embedder once."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def of(self, ids: Iterable[int], pieces: Pieces) -> NDArray[int32]:
        """Per token -1 for punctuation, else the number of its script's mean."""
        asked = [int(each) for each in ids]
        new = [each for each in dict.fromkeys(asked) if each not in self._known]
        if new:
            self._known.update(zip(new, map(_kind, pieces(new)), strict=True))
        return np.array([self._known[each] for each in asked], np.int32)


class Axes:
    """A projection that was fitted: `axes` (dim, d) of unit length, `means` (2, d) by script."""

    def __init__(self, axes: NDArray[float16], means: NDArray[float16]) -> None:
        digest = blake2b(axes.tobytes() + means.tobytes(), digest_size=4).hexdigest()
        self.dim = len(axes)
        self.id = f"pca{self.dim}-{digest}"
        self._axes = axes.astype(np.float32).T.copy()
        # Of a mean only what the axes see counts, so it is taken off after they were applied.
        self._means = means.astype(np.float32) @ self._axes
        self._kinds = Kinds()

    def of(self, tokens: TokenVectors, pieces: Pieces) -> TokenVectors:
        kinds = self._kinds.of(tokens.ids, pieces)
        kept = kinds != _NOTHING
        projected = tokens.vectors[kept] @ self._axes - self._means[kinds[kept]]
        return TokenVectors(tokens.ids[kept], unit(projected))


class Plain:
    """No projection: for vectors that need none. Punctuation is dropped as well."""

    def __init__(self, dim: int) -> None:
        self.id = f"plain{dim}"
        self.dim = dim
        self._kinds = Kinds()

    def of(self, tokens: TokenVectors, pieces: Pieces) -> TokenVectors:
        kept = self._kinds.of(tokens.ids, pieces) != _NOTHING
        return TokenVectors(tokens.ids[kept], unit(tokens.vectors[kept]))


def projection_of(embedder: Embedder) -> Projection | None:
    """The projection for an embedder's token vectors, told by its id: nothing is loaded for it.
    None where there is none."""
    model = embedder.id.partition("/")[0]
    if model == _E5 and embedder.dim == _E5_DIM:
        return _fitted(embedder.id)
    return _plain() if model == _PLAIN else None


@lru_cache(maxsize=4)
def _fitted(embedder: str) -> Axes:
    """One for each model: which token an id is, is its tokeniser's to say."""
    with np.load(PROJECTED) as arrays:
        numbers: dict[str, Any] = dict(arrays)
    return Axes(numbers["axes"], numbers["means"])


@lru_cache(maxsize=1)
def _plain() -> Plain:
    from camillo.embed.hashing import TOKEN_DIM

    return Plain(TOKEN_DIM)


def _kind(piece: str) -> int:
    words = words_of(piece)
    if not words:
        return _NOTHING
    return _CJK if any(map(_is_cjk, "".join(words))) else _OTHER


def _is_cjk(sign: str) -> bool:
    return sign >= "\u1100" and any(low <= sign <= high for low, high in _CJK_BLOCKS)
