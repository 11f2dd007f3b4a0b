"""What a search works on: the query, its candidates, and the context that stages share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from camillo.errors import StoreDamaged
from camillo.model import Filter, Key, Memory
from camillo.records import NamedTuple
from camillo.text.tokens import Term

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, Protocol

    from camillo.config import SearchSettings
    from camillo.ports import Embedder, Meaning, Nearness, Store, Tokens, TokenVectors, Words
    from camillo.retrieval.exact import Scores
    from camillo.retrieval.fuse import Scale
    from camillo.retrieval.late import LateScale
else:
    Protocol = object  # for type checkers

__all__ = [
    "BY_COMMAND",
    "Aliases",
    "Bar",
    "Candidate",
    "Context",
    "Counts",
    "Edges",
    "Expansion",
    "Nomination",
    "Query",
    "SearchRoot",
    "Step",
    "Via",
]


BY_COMMAND = "`camillo embed` takes them in"  # how missing vectors come


class Edges(Protocol):
    """The links between the memories of one root, as (source, relation, target). An end that was
    only named is meant in its own session, and where it is not there among the global ones."""

    def empty(self) -> bool: ...

    def outbound(
        self, keys: Sequence[Key], relations: Sequence[str] | None = None
    ) -> Sequence[tuple[Key, str, Key]]:
        """The links out of these memories, in the order of `keys`, then of their memory."""

    def inbound_counts(self, keys: Sequence[Key]) -> Mapping[Key, int]:
        """How many authored links lead to each; one without any may be missing."""


class Aliases(Protocol):
    """What the memories of one root are called, as phrases of folded words and of stems."""

    def empty(self) -> bool: ...

    def begun(self, heads: Iterable[str]) -> Sequence[tuple[str, Key, bool]]:
        """The names that begin with one of these, as (phrase, memory, is it only a title?): with a
        word, where that is all of the name, else with two and a space between them."""

    def near(self, word: str) -> Sequence[str]:
        """The words of names that this folded word may be a slip for."""


class SearchRoot(Protocol):
    """An opened root as stages see it. `words` and `meaning` search its passages: local indexes,
    or what its store has of its own."""

    @property
    def store(self) -> Store: ...
    @property
    def words(self) -> Words: ...
    @property
    def meaning(self) -> Meaning: ...
    @property
    def tokens(self) -> Tokens | None: ...
    @property
    def closets(self) -> Any: ...
    @property
    def edges(self) -> Edges: ...
    @property
    def aliases(self) -> Aliases: ...


class Expansion(NamedTuple):
    """Which neighbours of the hits are considered as well: along `relations`, at most `limit` for
    each hit (one-hop), or all parents over child-of (hierarchical). A neighbour has at least the
    hit's score times `decay`, a parent that of its best child times `parent_decay`."""

    mode: Literal["none", "one-hop", "hierarchical"] = "none"
    relations: tuple[str, ...] = ("builds-on", "related-to")
    limit: int = 2
    decay: float = 0.7
    parent_decay: float = 0.9


class Query(NamedTuple):
    """What is asked. `k` is how many results are wanted."""

    text: str
    k: int = 10
    filter: Filter = Filter()
    expansion: Expansion = Expansion()
    include_superseded: bool = False


class Via(NamedTuple):
    """The link over which a hit brought a candidate in, or lifted it."""

    relation: str
    hit: Key


class Counts(NamedTuple):
    """Per term how often it stands in a text, and how many words the text has."""

    tf: list[int]
    words: int


class Nomination:
    """A passage that may be worth reading: what the engine's words say of it, on 0 to 1 of the
    best (0: words did not nominate it), and how near it is in meaning. `near`: meaning nominated
    it."""

    __slots__ = ("cosine", "near", "root", "row", "said")

    def __init__(self, root: int, row: int, said: float = 0.0, cosine: float | None = None) -> None:
        self.root = root
        self.row = row
        self.said = said
        self.cosine = cosine
        self.near = cosine is not None


class Candidate:
    """A memory under consideration, through its best passage. `score` is on 0 to 1, `parts` say by
    signal what it is the sum of.

    `root` says which of the context's roots it lives in, `row` is its passage's number there,
    `confident` whether it says enough of the question to be taken for an answer,
    `counts` what its words are,
    `also_in` the sources of equal texts that were folded into this one,
    `via` the link that it owes its place to.
    """

    __slots__ = (
        "also_in", "closet_boost", "closet_preview", "confident", "counts", "memory", "parts",
        "passage", "root", "row", "score", "signals", "via",
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
        self.parts: dict[str, float] = {}
        self.confident = False
        self.closet_boost = 0.0
        self.closet_preview = ""
        self.also_in: list[str] = []
        self.via: Via | None = None

    @property
    def key(self) -> Key:
        return self.memory.key


class Bar(NamedTuple):
    """What `read` knew of each nominated passage by its row, and how much it took to be read."""

    least: float
    standing: dict[int, float]


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
        *,
        warm: bool = False,
    ) -> None:
        self.roots = roots
        self.warm = warm  # does this process search often? Then indexes keep columns in memory
        self.settings = settings
        self.terms: tuple[Term, ...] = ()
        self.weights: list[float] = []  # per term: weight times idf
        self.known_mass = 0.0  # share of the weights whose terms occur in the store
        self.average = 0.0  # words of a passage, on average
        self.passages = 0  # in all roots
        self.sizes: dict[int, int] = {}  # by root: its passages
        self.nominated: list[Nomination] = []  # not read yet
        self.exact: dict[int, Scores] = {}  # by root, where every passage's words are known
        self.loudest: dict[int, float] = {}  # by root: the best score of what words nominated
        # by root: what words could say at most of a passage that they did not nominate
        self.unheard: dict[int, float] = {}
        self.nearness: dict[int, Nearness] = {}  # by root
        self.models: dict[int, str] = {}  # by root: the id of the embedder that answers there
        # by root: the embedder that answers there, and what it makes of the question's tokens
        self.asked: dict[int, tuple[Embedder, TokenVectors]] = {}
        self.scales: dict[int, Scale] = {}  # by root: how words and meaning were made one score
        self.late: dict[int, LateScale] = {}  # by root: how late signals came to it
        self.cosines: dict[int, tuple[float, float]] = {}  # by root: the range of all nominated
        self.nominating: list[str] = []  # tokens that engines are asked for
        self.embedder = embedder
        # opens the embedder of vectors that were made earlier; None where that cannot be
        self.reopen: Callable[[str], Embedder | None] = lambda name: None
        # of a root whose passages have not all their vectors, by the number of those that lack one:
        # makes some, and says how the others come
        self.embed_new: Callable[[int, int], str] = lambda root, behind: BY_COMMAND
        self.explain = False  # is what a stage adds to a score asked for?
        self.bars: dict[int, Bar] = {}  # by root, when it is: what was not worth reading
        self.trace: list[Step] = []
        self.degraded: list[str] = []
        # memories that a newer one supersedes, each with the one that stands for it
        self.superseded: Mapping[Key, Key] = {}
        # by root: those of them that were nominated, each with how loudly
        self.hidden: dict[int, dict[Key, float]] = {}

    def hide(self, root: int, key: Key, loud: float) -> None:
        """A memory that something newer replaces, and that the question would have met."""
        hidden = self.hidden.setdefault(root, {})
        hidden[key] = max(loud, hidden.get(key, 0.0))

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
