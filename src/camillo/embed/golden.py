"""Golden vectors: what each model gave for a few texts when it was taken in.

Format owned: `golden.json`, id of the embedder → list of text, role, `first` (eight components) and
`norm`. A model that gives others is damaged, or its library computes something else.
"""

from __future__ import annotations

import json
from importlib.resources import files

from camillo.numeric import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.ports import Embedder, Role

__all__ = ["TEXTS", "TOLERANCE", "golden_vectors", "record", "strangeness"]

TOLERANCE = 1e-3  # in each component, on every processor

# One of each role, a long one, and scripts that take other ways through a tokeniser.
TEXTS: tuple[tuple[Role, str], ...] = (
    ("query", "Where did Giulio Camillo keep his drawers?"),
    ("query", "数据库的连接池有多大？"),
    ("passage", "The pool holds 20 connections; raise pool_size in settings.py when it runs dry."),
    ("passage", "Café — naïve ﬁnd １２３ … привет, こんにちは, 안녕하세요."),
    ("passage", "Seven gates, seven rows. " * 40),
)


def golden_vectors(id: str) -> list[dict[str, Any]]:
    """The entries of a model; [] when none were recorded for its id."""
    recorded = json.loads((files("camillo.embed") / "golden.json").read_text("utf-8"))
    entries: list[dict[str, Any]] = recorded.get(id, [])
    return entries


def record(embedder: Embedder) -> list[dict[str, Any]]:
    """Entries to keep for a model."""
    entries = []
    for role, text in TEXTS:
        vector = embedder.embed([text], role)[0]
        first = [round(float(each), 6) for each in vector[:8]]
        norm = round(float(np.linalg.norm(vector)), 6)
        entries.append({"role": role, "text": text, "first": first, "norm": norm})
    return entries


def strangeness(embedder: Embedder) -> float:
    """The largest difference to the golden components; 0.0 when nothing was recorded."""
    most = 0.0
    for entry in golden_vectors(embedder.id):
        vector = embedder.embed([entry["text"]], entry["role"])[0]
        differences = [*(vector[:8] - entry["first"]), np.linalg.norm(vector) - entry["norm"]]
        most = max(most, *map(abs, map(float, differences)))
    return most
