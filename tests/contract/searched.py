"""A store with what searches it, put together by the vault as the product does.

Engines that search by themselves are asked; to any other the vault attaches its local indexes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from camillo import registry
from camillo.config import MemorySettings, SearchSettings, Settings
from camillo.embed.hashing import HashingEmbedder
from camillo.model import Filter, Memory
from camillo.ops.search import SearchReport, SearchResult, find
from camillo.ports import Hit, Meaning, Store, Words
from camillo.roots import Root
from camillo.vault import OpenRoot, Vault
from contract.opener import Clock, Opener

__all__ = ["ENGINE", "Searched"]

ENGINE = "under test"  # the name in the registry of what an opener leads to


class Searched:
    """A vault over the store of an opener. `words` and `meaning` are current when asked for."""

    def __init__(self, opener: Opener, folder: Path) -> None:
        registry.ENGINES[ENGINE] = opener.target
        dsn = opener.path if opener.remote else ""
        settings = Settings(
            memory=MemorySettings(backend=ENGINE, dsn=dsn),
            search=SearchSettings(preset="words", embedder="hashing"),
        )
        root = Root("user", str(folder / "searched"))
        self.vault = Vault(str(folder), settings, {"user": root}, Clock())
        self.root: OpenRoot = self.vault.root("user", create=True)
        self.embedder = HashingEmbedder()

    @property
    def store(self) -> Store:
        return self.root.store

    @property
    def words(self) -> Words:
        self.root.catch_up()
        return self.root.words

    @property
    def meaning(self) -> Meaning:
        self.root.catch_up()
        return self.root.meaning

    def put(self, memories: Sequence[Memory]) -> None:
        self.store.put(memories)

    def delete(self, *memories: Memory) -> None:
        """Erased, and no byte of it is left."""
        self.store.delete([memory.key for memory in memories])
        self.root.catch_up()
        assert self.root.scrub() is True

    def fill(self) -> None:
        assert self.meaning.fill(self.store, self.embedder, "hashing") == 0

    def hits(self, *tokens: str, k: int = 1000, filter: Filter = Filter()) -> list[Hit]:
        words = self.words
        return words.hits(words.keyword(tokens, k, filter))

    def ids(self, *tokens: str, k: int = 1000, filter: Filter = Filter()) -> list[str]:
        """Whose passages hold any of the tokens, best first."""
        return [hit.key.id for hit in self.hits(*tokens, k=k, filter=filter)]

    def near(self, text: str, k: int = 1000, filter: Filter = Filter()) -> list[Hit]:
        """The passages nearest to a text."""
        nearness = self.meaning.nearness(self.embedder, self.embedder.embed([text], "query")[0])
        return self.root.words.hits(nearness.best(k, filter))

    def find(
        self, query: str, k: int = 5, filter: Filter = Filter(), preset: str = "words"
    ) -> SearchReport:
        """The search of every surface."""
        return find(self.vault, [self.root], query, k, SearchReport(), filter, preset)

    def found(
        self, query: str, k: int = 5, filter: Filter = Filter(), preset: str = "words"
    ) -> list[SearchResult]:
        """What it finds; nothing may be missing or behind."""
        report = self.find(query, k, filter, preset)
        assert report.degraded == []
        return report.results

    def close(self) -> None:
        self.vault.close()
        registry.ENGINES.pop(ENGINE, None)
