"""A haystack: one `conv` of a corpus as a store of its own, searched by the real pipeline.

The texts become memories in a throwaway root and are taken in by its indexes as any others are, so
statistics, projection and limits see nothing else. A text with a speaker is a message of its
session's conversation, one without a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from camillo.bench.records import Text, happened_at
from camillo.model import GLOBAL, Author, Memory
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.pipeline import run

if TYPE_CHECKING:
    from camillo.config import SearchSettings
    from camillo.ports import Embedder, Stage
    from camillo.vault import OpenRoot

__all__ = ["Haystack", "memory_of"]

_BY = Author(via="bench")
_FIRST = 1_577_836_800_000  # 2020-01-01: when the first text is said to have been written
_STEP = 1000  # and the next ones, a second apart, so that their order is kept


class Haystack:
    """A filled root. `rank` or `search` with one pipeline or another; `degraded` says what was
    missing."""

    def __init__(
        self,
        root: OpenRoot,
        texts: Sequence[Text],
        settings: SearchSettings,
        embedder: Embedder | None = None,
    ) -> None:
        self._root = root
        self._embedder = embedder
        self._settings = settings
        self.degraded: dict[str, None] = {}
        root.store.put(_memories(texts), _BY, bulk=True)
        left = root.catch_up()
        if left:
            self.degraded[f"the index is {left} changes behind"] = None

    def rank(self, stages: Sequence[tuple[str, Stage]], text: str, k: int) -> list[str]:
        """The ids of the first k texts, best first."""
        found = self.search(stages, text, k)
        return list(dict.fromkeys(candidate.memory.id for candidate in found))[:k]

    def search(self, stages: Sequence[tuple[str, Stage]], text: str, k: int) -> list[Candidate]:
        """The first k results, best first."""
        context = Context([self._root], self._settings, self._embedder, warm=True)
        candidates = run(Query(text, k), stages, context)
        self.degraded.update(dict.fromkeys(context.degraded))
        return candidates


def memory_of(text: Text, place: int) -> Memory:
    """The memory that a text becomes; `place` is its rank by age in the haystack."""
    extra: dict[str, Any] = {"speaker": text.speaker} if text.speaker else {}
    return Memory(
        id=text.id,
        body=text.indexed,
        kind="conversation" if text.speaker else "note",
        session=text.session if text.speaker else GLOBAL,
        happened_at=happened_at(text.time),
        created=_FIRST + place * _STEP,
        extra=extra,
    )


def _memories(texts: Sequence[Text]) -> Iterator[Memory]:
    return (memory_of(text, place) for place, text in enumerate(texts))
