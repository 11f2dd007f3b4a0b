"""Remakes src/camillo/embed/e5_projection.npz from texts of yours: needs the model `e5`.

`python tools/fit_projection.py CORPUS.jsonl...`: the tokens of all texts, less the mean of their
script, give the 128 directions in which they differ most (principal components). What is shipped
was made of texts under the MIT and Apache licences alone: MemoryBank-SiliconFriend and EverMemOS
(English and Chinese chats), MADial-Bench (Chinese); docs/decisions/0017 has more of it.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from numpy.typing import NDArray

from camillo.bench.records import read_corpus
from camillo.config import models_folder
from camillo.embed.onnx import OnnxEmbedder
from camillo.embed.projection import PROJECTED, Axes, Kinds
from camillo.numeric import np

__all__ = ["fitted", "main"]

DIM = 128
AT_ONCE = 64

Floats = NDArray[np.float32]


def main(arguments: list[str]) -> int:
    embedder = OnnxEmbedder(str(Path(models_folder(), "e5")))
    axes, means = fitted(*_tokens(embedder, _texts(arguments)))
    np.savez_compressed(PROJECTED, axes=axes, means=means)
    print(f"{PROJECTED}: {Path(PROJECTED).stat().st_size} bytes, {Axes(axes, means).id}")
    return 0


def fitted(vectors: Floats, kinds: NDArray[np.int32]) -> tuple[NDArray[np.float16], ...]:
    """`axes` (128, d), greatest variance first, and `means` (2, d). The sign of an axis is that of
    its largest component, so that the same texts give the same file."""
    means = np.stack([vectors[kinds == each].mean(axis=0, dtype=np.float64) for each in (0, 1)])
    rest = vectors - means[kinds]
    _, found = np.linalg.eigh(rest.T @ rest / len(rest))
    axes = found[:, ::-1][:, :DIM].T
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return (axes * np.sign(largest)).astype(np.float16), means.astype(np.float16)


def _texts(corpora: Iterable[str]) -> Iterator[str]:
    for path in corpora:
        corpus = read_corpus(path)
        for conv in corpus.places:
            yield from (text.indexed for text in corpus.haystack(conv))


def _tokens(embedder: OnnxEmbedder, texts: Iterable[str]) -> tuple[Floats, NDArray[np.int32]]:
    """The vectors of all tokens that say something, and which script each is of."""
    kinds_of, vectors, kinds = Kinds(), [], []
    every = list(texts)
    for at in range(0, len(every), AT_ONCE):
        for each in embedder.embed_tokens(every[at : at + AT_ONCE], "passage")[1]:
            found = kinds_of.of(each.ids, embedder.pieces)
            vectors.append(each.vectors[found >= 0])
            kinds.append(found[found >= 0])
    return np.concatenate(vectors), np.concatenate(kinds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
