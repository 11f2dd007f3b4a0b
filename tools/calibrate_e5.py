"""Remakes src/camillo/embed/e5_ranges.npz from texts of yours: needs the `e5` packages.

`python tools/calibrate_e5.py e5-small-q4.bin CORPUS.jsonl...`: the unquantised model reads some
texts of each corpus and some of its own, and each place of `e5_graph` gets its bounds and shifts.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import onnxruntime
import tokenizers
from numpy.typing import NDArray

from camillo.embed.e5_graph import e5_graph
from camillo.embed.e5_tokenizer import e5_tokenizer
from camillo.embed.e5s1 import Weights
from camillo.numeric import np

__all__ = ["main"]

Floats = NDArray[np.float32]

SOURCE = Path(__file__).resolve().parent.parent / "src" / "camillo"
OUT = SOURCE / "embed" / "e5_ranges.npz"
# By place, tried in steps on texts that are not among those below: what share of an activation's
# spread is moved into the weights, and what share of its range is kept (the rest is clipped).
MOVED = {"qkv": 0.7, "fi": 0.6, "fo": 0.7}
KEPT = {"qkv": 1.0, "ao": 1.0, "fi": 1.0, "fo": 0.7}
SHORT = "a 你 x Привет มัน สวัสดี ok? 1 when where こんにちは 안녕하세요 मैं ... !"


def main(arguments: list[str]) -> int:
    weights = Weights(arguments[0])
    low, high = _extremes(weights, _texts(arguments[1:]))
    names = sorted(low)
    shifts = {name: _shifts(weights, name, low[name], high[name]) for name in names}
    bounds = [_bounds(name, shifts[name], low[name], high[name]) for name in names]
    arrays: dict[str, Any] = {"names": names, "bounds": np.array(bounds, np.float32), **shifts}
    np.savez_compressed(OUT, **arrays)
    return 0


def _texts(corpora: Iterable[str]) -> Iterator[str]:
    dice = random.Random(1)
    for corpus in corpora:
        lines = Path(corpus).read_text("utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in dice.sample(lines, 90)]
        yield from (f"passage: {text[:800]}" for text in texts[:60])
        yield from (f"query: {text[:40]}" for text in texts[60:])
    code = "".join(path.read_text("utf-8") for path in sorted(SOURCE.glob("*.py")))
    yield from (f"passage: {code[at : at + 800]}" for at in range(0, 16_000, 800))
    yield from (f"query: {word}" for word in ("", *SHORT.split()))


def _extremes(weights: Weights, texts: Iterable[str]) -> tuple[dict[str, Floats], ...]:
    tokenizer = tokenizers.Tokenizer.from_str(
        json.dumps(e5_tokenizer(weights.pieces, weights.scores))
    )
    tokenizer.enable_truncation(weights.sizes.positions)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model.onnx"))
        e5_graph(weights, None).write(path)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs() if each.name.startswith("l")]
    names.remove("last_hidden_state")
    low: dict[str, Floats] = {}
    high: dict[str, Floats] = {}
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        for name, value in zip(names, session.run(names, feed), strict=True):
            low[name] = np.minimum(low.get(name, 0), value[0].min(axis=0))
            high[name] = np.maximum(high.get(name, 0), value[0].max(axis=0))
    return low, high


def _shifts(weights: Weights, name: str, low: Floats, high: Floats) -> NDArray[np.int8]:
    """Exponents of two: SmoothQuant's factors, about 1 on average. The attention's output is even
    enough as it is."""
    layer, place = name.split(".")
    if place not in MOVED:
        return np.zeros(len(low), np.int8)
    parts = ("q", "k", "v") if place == "qkv" else (place,)
    rows = [weights.tensor(f"{layer}.{part}.w").reshape(-1, len(low)) for part in parts]
    matrix = np.maximum(np.abs(np.concatenate(rows)).max(axis=0), 1e-4)
    activation = np.maximum(np.maximum(-low, high), 1e-3)
    factors = MOVED[place] * np.log2(activation) - (1 - MOVED[place]) * np.log2(matrix)
    shifts: NDArray[np.int8] = np.rint(factors - factors.mean()).astype(np.int8)
    return shifts


def _bounds(name: str, shifts: NDArray[np.int8], low: Floats, high: Floats) -> tuple[float, float]:
    factors = np.exp2(shifts.astype(np.float32))
    kept = KEPT[name.split(".")[1]]
    return kept * float((low / factors).min()), kept * float((high / factors).max())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
