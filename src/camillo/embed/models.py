"""Model folders: what lies in one, how it is read, how it is checked.

Format owned: `camillo.json`, written last, so that a folder that has one is whole: schema, name,
version, quantisation, dim, limit (tokens), pooling (mean, cls), prefixes by role, licence, source,
and size and SHA-256 of each file. A folder without one, as exported for other tools, is read by the
customs of Hugging Face and sentence-transformers. Nothing here loads a model.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping

from camillo.errors import InvalidValue
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "MANIFEST",
    "ModelFolder",
    "file_facts",
    "is_model_folder",
    "problems",
    "read_model_folder",
]

MANIFEST = "camillo.json"
SCHEMA = 1

_MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
_TOKENIZER = "tokenizer.json"
_PASSAGE_NAMES = ("passage", "document", "corpus")


class ModelFolder(NamedTuple):
    """What is to be known of a model before it is loaded. `limit` counts special tokens too."""

    id: str
    model: str  # path of the ONNX file
    tokenizer: str
    dim: int
    limit: int
    pooling: str = "mean"
    query: str = ""  # prefixes
    passage: str = ""


def is_model_folder(path: str) -> bool:
    """Does it look like one? Says nothing of whether it is whole."""
    return _model_file(path) is not None


def read_model_folder(path: str) -> ModelFolder:
    """Raises InvalidValue that says what is missing."""
    model = _model_file(path)
    if model is None:
        raise InvalidValue(f"{path} holds no model: looked for {', '.join(_MODEL_FILES)}")
    tokenizer = os.path.join(path, _TOKENIZER)
    if not os.path.isfile(tokenizer):
        raise InvalidValue(f"{path} holds no {_TOKENIZER}, which splits its texts into tokens")
    manifest = _json(os.path.join(path, MANIFEST))
    try:
        if manifest:
            return _ours(manifest, model, tokenizer)
        return _foreign(path, model, tokenizer)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValue(f"{path} does not describe its model: {error!r}") from error


def problems(path: str) -> list[str]:
    """What differs from the manifest, file by file; reads every byte."""
    manifest = _json(os.path.join(path, MANIFEST))
    if not manifest:
        return [f"{os.path.join(path, MANIFEST)} is missing or no JSON"]
    found = []
    for name, facts in manifest["files"].items():
        file = os.path.join(path, name)
        if not os.path.isfile(file):
            found.append(f"{file} is missing")
        elif file_facts(file) != facts:
            found.append(f"{file} is damaged: its SHA-256 is not the one in {MANIFEST}")
    return found


def file_facts(path: str) -> dict[str, Any]:
    """`bytes` and `sha256` of a file, as the manifest has them."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}


def _ours(manifest: Mapping[str, Any], model: str, tokenizer: str) -> ModelFolder:
    if manifest["schema"] != SCHEMA:
        raise ValueError(f"schema {manifest['schema']!r}; known: {SCHEMA}")
    names = ("name", "version", "quantisation", "dim")
    return ModelFolder(
        id="/".join(str(manifest[name]) for name in names),
        model=model,
        tokenizer=tokenizer,
        dim=int(manifest["dim"]),
        limit=int(manifest["limit"]),
        pooling=str(manifest["pooling"]),
        query=str(manifest["prefixes"]["query"]),
        passage=str(manifest["prefixes"]["passage"]),
    )


def _foreign(path: str, model: str, tokenizer: str) -> ModelFolder:
    """Its id holds a hash of the weights, for nothing else tells two exports apart."""
    config = _json(os.path.join(path, "config.json"))
    own = _json(os.path.join(path, "tokenizer_config.json"))
    if not config:
        raise InvalidValue(f"{path} holds neither {MANIFEST} nor config.json")
    dim = int(config["hidden_size"])
    name = os.path.basename(os.path.realpath(path))
    positions = int(config.get("max_position_embeddings", 512))
    if config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions -= 2  # these count from the padding id
    limit = min(positions, int(min(own.get("model_max_length", positions), 1 << 30)))
    pooling = _json(os.path.join(path, "1_Pooling", "config.json"))
    query, passage = _prefixes(path, name)
    weights = file_facts(model)["sha256"][:12]
    return ModelFolder(
        id=f"{name}/{weights}/{dim}",
        model=model,
        tokenizer=tokenizer,
        dim=dim,
        limit=limit,
        pooling="cls" if pooling.get("pooling_mode_cls_token") else "mean",
        query=query,
        passage=passage,
    )


def _prefixes(path: str, name: str) -> tuple[str, str]:
    prompts = _json(os.path.join(path, "config_sentence_transformers.json")).get("prompts") or {}
    if not any(prompts.values()):
        return ("query: ", "passage: ") if "e5" in name.lower().split("-") else ("", "")
    return _first(prompts, ("query",)), _first(prompts, _PASSAGE_NAMES)


def _first(prompts: Mapping[str, str], names: Iterable[str]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")


def _model_file(path: str) -> str | None:
    files = (os.path.join(path, *name.split("/")) for name in _MODEL_FILES)
    return next(filter(os.path.isfile, files), None)


def _json(path: str) -> dict[str, Any]:
    """The object in a file; empty when there is none, or something else."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
