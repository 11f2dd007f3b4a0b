"""What a search works on: the query, its candidates, and the context that stages share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from camillo.errors import StoreDamaged
from camillo.model import Filter, Key, Memory
from camillo.records import NamedTuple
from camillo.text.tokens import Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from camillo.config import SearchSettings
    from camillo.ports import Embedder, Store
    from camillo.retrieval.keyword import Counts
else:
    Protocol = object  # for type checkers

__all__ = ["Candidate", "Context", "Query", "SearchRoot", "Step"]


class SearchRoot(Protocol):
    """An opened root as stages see it. `lexical` and `closets` are its local indexes."""

    @property
    def store(self) -> Store: ...
    @property
    def lexical(self) -> Any: ...
    @property
    def closets(self) -> Any: ...
    @property
    def vectors(self) -> Any: ...


class Query(NamedTuple):
    """What is asked. `k` is how many results are wanted."""

    text: str
    k: int = 10
    filter: Filter = Filter()


class Candidate:
    """A memory under consideration, through its best passage. `score` is on 0 to 1.

    `root` says which of the context's roots it lives in, `row` is its passage's number there,
    `counts` what its words are,
    `also_in` the sources of equal texts that were folded into this one.
    """

    __slots__ = (
        "also_in", "closet_boost", "closet_preview", "counts", "memory", "passage", "root", "row",
        "score", "signals",
    )  # fmt: skip

    def __init__(
        self,
        memory: Memory,
        root: int,
        passage: int = 0,
        score: float = 0.0,
        signals: dict[str, float] | None = None,
        row: int = 0,
    ) -> None:
        self.row = row
        self.counts: Counts | None = None
        self.memory = memory
        self.root = root
        self.passage = passage
        self.score = score
        self.signals = {} if signals is None else signals
        self.closet_boost = 0.0
        self.closet_preview = ""
        self.also_in: list[str] = []

    @property
    def key(self) -> Key:
        return self.memory.key


class Step(NamedTuple):
    """One line of a search's trace. `ms` is CPU time."""

    stage: str
    before: int
    after: int
    ms: float


class Context:
    """What stages share during one search."""

    def __init__(
        self,
        roots: Sequence[SearchRoot],
        settings: SearchSettings,
        embedder: Embedder | None = None,
    ) -> None:
        self.roots = roots
        self.settings = settings
        self.terms: tuple[Term, ...] = ()
        self.weights: list[float] = []  # per term: weight times idf
        self.known_mass = 0.0  # share of the weights whose terms occur in the store
        self.average = 0.0  # words of a passage, on average
        self.nominating: list[str] = []  # tokens that engines are asked for
        self.embedder = embedder
        # opens the embedder of vectors that were made earlier; None where that cannot be
        self.reopen: Callable[[str], Embedder | None] = lambda name: None
        self.trace: list[Step] = []
        self.degraded: list[str] = []

    def held(self, root: int, keys: Sequence[Key]) -> list[Memory | None]:
        """What a root's store holds under these keys. A row that is damaged counts as gone, and
        is told of; where all are, that is raised."""
        store = self.roots[root].store
        try:
            return store.get(keys)
        except StoreDamaged as error:
            if len(keys) == 1:
                self.degraded.append(str(error))
                return [None]
        found = [memory for key in keys for memory in self.held(root, [key])]
        return found if any(found) else store.get(keys)
