"""A root with its links, as stages see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from camillo import registry
from camillo.config import SearchSettings
from camillo.graph.edges import graph_of
from camillo.graph.folding import fold
from camillo.model import GLOBAL, Filter, Key, Memory
from camillo.ports import Embedder, Meaning, Store, Words
from camillo.projection import catch_up
from camillo.retrieval.candidate import Candidate, Context, Expansion, Query
from camillo.retrieval.pipeline import run
from camillo.vault import OpenRoot, Vault

__all__ = ["LinkedRoot", "search"]

WORDS = ("expand", "keyword", "superseded", "read", "grains", "notes", "newest", "related",
         "closets", "connected", "limit")  # fmt: skip
HYBRID = ("expand", "keyword", "vector", "superseded", "read", "grains", "fuse", "notes", "newest",
          "related", "closets", "connected", "limit")  # fmt: skip
VECTORS = ("vector", "superseded", "read", "newest", "related", "connected", "limit")


class LinkedRoot:
    """An opened root with an edges index beside its others."""

    def __init__(self, root: OpenRoot, vault: Vault | None = None) -> None:
        self.root = root
        self._vault = vault
        self._file = registry.open_index_file(root.root.index_path, root.store.identity())
        self.edges: Any = registry.load("index", "edges")(self._file)

    @property
    def store(self) -> Store:
        return self.root.store

    @property
    def words(self) -> Words:
        return self.root.words

    @property
    def meaning(self) -> Meaning:
        return self.root.meaning

    @property
    def closets(self) -> Any:
        return self.root.closets

    def put(self, *memories: Memory) -> None:
        self.store.put(memories)
        self.catch_up()

    def catch_up(self) -> None:
        self.root.catch_up()
        catch_up(self.store, [self.edges])
        if self._vault is not None:
            self._vault.embed(self.root)

    def superseded(self) -> Mapping[Key, Key]:
        """Who stands for whom, folded over what is there."""
        named = {key for link in self.edges.superseders() for key in (link.source, link.target)}
        ends = sorted(named | {key._replace(session=GLOBAL) for key in named})
        living = [each for each in self.store.get(ends) if each and not each.archived]
        return fold(graph_of(living)).newest

    def close(self) -> None:
        self._file.close()


def search(
    roots: LinkedRoot | Iterable[LinkedRoot],
    text: str,
    k: int = 10,
    *,
    stages: tuple[str, ...] = WORDS,
    expansion: Expansion = Expansion(),
    filter: Filter = Filter(),
    include_superseded: bool = False,
    embedder: Embedder | None = None,
) -> list[Candidate]:
    opened = [roots] if isinstance(roots, LinkedRoot) else list(roots)
    context = Context(opened, SearchSettings(), embedder)
    for root in opened:
        context.superseded = {**context.superseded, **root.superseded()}
    chosen = [(name, registry.load("stage", name)) for name in stages]
    query = Query(text, k, filter, expansion, include_superseded)
    return run(query, chosen, context)
