"""An ONNX folder as an embedder: prefixes, pooling, windows, on a model small enough to follow."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from camillo.embed.models import MANIFEST
from camillo.embed.onnx import OnnxEmbedder
from embedding.tiny import DIM, LIMIT, tiny_folder


def embedder(folder: Path, pooling: str = "mean", **prefixes: str) -> OnnxEmbedder:
    tiny_folder(folder)
    described = {
        "schema": 1, "name": "tiny", "version": "1", "quantisation": "none", "dim": DIM,
        "limit": LIMIT, "pooling": pooling,
        "prefixes": {"query": "", "passage": ""} | prefixes, "files": {},
    }  # fmt: skip
    (folder / MANIFEST).write_text(json.dumps(described), "utf-8")
    return OnnxEmbedder(str(folder))


def test_each_role_has_its_prefix(tmp_path: Path) -> None:
    plain = embedder(tmp_path)
    want = plain.embed(["query gate", "passage gate"], "query")
    prefixed = embedder(tmp_path, query="query ", passage="passage ")
    assert prefixed.embed(["gate"], "query")[0] == pytest.approx(want[0], abs=1e-6)
    assert prefixed.embed(["gate"], "passage")[0] == pytest.approx(want[1], abs=1e-6)


def test_the_first_token_can_stand_for_all(tmp_path: Path) -> None:
    found = embedder(tmp_path, "cls").embed(["gate", "rain tuesday"], "query")
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_a_text_of_many_windows_is_the_mean_of_its_parts(tmp_path: Path) -> None:
    model = embedder(tmp_path, query="row ")
    room = LIMIT - 3  # two special tokens, and the prefix
    parts = ["gate " * room, "rain " * room]
    whole = model.embed(["".join(parts)], "query")[0]
    _, tokens = model.embed_tokens(["".join(parts)], "query")
    _, [one, two] = model.embed_tokens(parts, "query")
    assert np.concatenate([one.ids, two.ids]).tolist() == tokens[0].ids.tolist()
    assert tokens[0].vectors == pytest.approx(np.concatenate([one.vectors, two.vectors]), abs=1e-6)
    halves = model.embed(parts, "query")
    turned = np.linalg.norm(whole - (halves[0] + halves[1]) / np.linalg.norm(halves.sum(axis=0)))
    assert turned < 0.2


def test_pieces_keep_their_leading_spaces_only_where_the_model_marks_them(tmp_path: Path) -> None:
    model = embedder(tmp_path)
    _, [(ids, _)] = model.embed_tokens(["drawers"], "passage")
    assert model.pieces(ids) == ["drawer", "s"]
