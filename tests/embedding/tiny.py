"""A transformer without layers in a folder as other tools export them: 20 words, 8 dimensions."""

from __future__ import annotations

import json
import string
from pathlib import Path

import numpy as np

from camillo.embed.onnx_file import Graph

__all__ = ["DIM", "LIMIT", "tiny_folder"]

DIM, LIMIT = 8, 16
_WORDS = ("drawer", "##s", "gate", "row", "query", "passage", "where", "rain", "tuesday", "theatre")
_VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *_WORDS, *string.printable.strip())
_VOCABULARY += tuple(f"##{each}" for each in string.ascii_lowercase + string.digits)


def tiny_folder(folder: Path, **config: object) -> Path:
    """Writes `model.onnx`, `tokenizer.json` and `config.json`; token n is n's own direction, and
    its place in the text turns it a little."""
    ids = {word: at for at, word in enumerate(dict.fromkeys(_VOCABULARY))}
    _model(len(ids)).write(str(folder / "model.onnx"))
    (folder / "tokenizer.json").write_text(json.dumps(_tokenizer(ids)), "utf-8")
    known = {"hidden_size": DIM, "max_position_embeddings": LIMIT, "model_type": "bert"}
    (folder / "config.json").write_text(json.dumps(known | config), "utf-8")
    return folder


def _model(words: int) -> Graph:
    dice = np.random.default_rng(7)
    graph = Graph("tiny")
    ids = graph.input("input_ids", "int64", "texts", "tokens")
    graph.input("attention_mask", "int64", "texts", "tokens")
    table = graph.weight("table", dice.standard_normal((words, DIM)).astype(np.float32))
    places = graph.weight("places", 0.01 * dice.standard_normal((LIMIT, DIM)).astype(np.float32))
    zero, one, two = (graph.weight(str(n), np.array([n], np.int64)) for n in range(3))
    length = graph.op("Slice", graph.op("Shape", ids), one, two)
    first = graph.op("Slice", places, zero, length, zero)
    states = graph.op("Add", graph.op("Gather", table, ids), first)
    graph.output(states, "last_hidden_state", "float32", "texts", "tokens", DIM)
    return graph


def _tokenizer(ids: dict[str, int]) -> dict[str, object]:
    special = [
        {"id": at, "content": word, "special": True, "normalized": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        for word, at in list(ids.items())[:4]
    ]
    return {
        "version": "1.0",
        "added_tokens": special,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }
