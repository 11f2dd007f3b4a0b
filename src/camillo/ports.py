"""The ports: what the core asks of a store, an index, an importer, a stage.

Obligations stand on the methods; `tests/contract/` holds every implementation to them.
Optional powers are declared in `capabilities` and asked for by name, never by type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from camillo.model import (
    Author,
    Change,
    Filter,
    Health,
    JournalEntry,
    Key,
    Memory,
    Outcome,
    Page,
)
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any, Literal, Protocol

    from numpy import float32, int32
    from numpy.typing import NDArray

    from camillo.retrieval.candidate import Candidate, Context, Query

    Role = Literal["query", "passage"]
else:
    Protocol = object  # ports are for type checkers
    Role = str

__all__ = [
    "Embedder",
    "Hit",
    "Importer",
    "Index",
    "Passage",
    "Role",
    "Stage",
    "Store",
    "TokenVectors",
]


class Hit(NamedTuple):
    """A nomination: which passage of which memory, and the nominator's own score (higher = better).

    The score only orders one nominator's list; the pipeline scores anew. `row` is the passage's own
    number in the root's local indexes, 0 when the nominator is none of them.
    """

    key: Key
    passage: int
    score: float
    row: int = 0


class Store(Protocol):
    """Holds memories. The truth: what `put` acknowledged survives a crash.

    `capabilities` ⊆ {"feed", "manifest", "journal", "keyword", "vector", "df", "transaction",
    "persistent", "keeps"}. "feed" means `changes`; "manifest" means `manifest`; one of the two is
    there. "keeps" means that a put can be read back (the `none` engine lacks it).
    """

    name: str
    capabilities: frozenset[str]

    def put(
        self, memories: Iterable[Memory], by: Author = Author(), *, bulk: bool = False
    ) -> list[Outcome]:
        """Write all or none, and say per memory: stored, updated or deduplicated (the same content
        is there already: nothing changes). Identity is the whole key: the same id in two sessions
        or namespaces is two memories. `created` of the first version is kept. `bulk` may commit
        without waiting for the disk: a crash may lose the call, never damage what was there."""
        ...

    def get(self, keys: Sequence[Key]) -> list[Memory | None]:
        """One per key, in order; None where there is none. A row whose content no longer matches
        its hash raises StoreDamaged naming the key: every row that is handed out is checked, also
        those that a search only scores, or a damaged text could push a true one out of the list."""
        ...

    def find(self, prefix: str, filter: Filter = Filter(), limit: int = 20) -> list[Key]:
        """Keys whose id starts with `prefix`, exact match first, then by id."""
        ...

    def delete(self, keys: Iterable[Key], by: Author = Author(), *, bulk: bool = False) -> int:
        """Erase; how many were there. Leaves a journal line without text, and no byte of the text
        once the indexes have caught up and `scrub` ran."""
        ...

    def replace_source(
        self,
        source: Memory,
        drawers: Sequence[Memory],
        by: Author = Author(),
    ) -> tuple[int, int, int]:
        """In one transaction: the source's record and exactly these drawers; former drawers of the
        source that are not among them go. (new or changed, unchanged, gone)."""
        ...

    def scan(self, filter: Filter = Filter(), page: Page = Page()) -> Iterator[Memory]:
        """All that the filter admits. `oldest`/`newest` order by created then id."""
        ...

    def count(self, filter: Filter = Filter()) -> int: ...

    def tally(self, field: str, filter: Filter = Filter()) -> dict[str, int]:
        """Counts per value of one of: kind, wing, room, session, scope, namespace, source."""
        ...

    def changes(self, since: int, limit: int = 1000) -> list[Change]:
        """[feed] The next changes after number `since`, oldest first, without gaps: a number that
        was handed out is never followed by a smaller one that becomes visible later."""
        ...

    def last_change(self) -> int:
        """[feed] The newest number; equal to an index's cursor when that has caught up."""
        ...

    def manifest(self) -> Iterator[tuple[Key, str]]:
        """[manifest] Every key with a version that differs when the content does."""
        ...

    def journal(self, since: int = 0, limit: int = 100) -> list[JournalEntry]:
        """[journal] Lines after number `since`, oldest first."""
        ...

    def transaction(self, *, bulk: bool = False) -> AbstractContextManager[None]:
        """[transaction] Everything inside is one commit, or nothing; holds the write lock."""
        ...

    def scrub(self, seen: int) -> bool:
        """[feed] Drop the text of versions retired at or before change `seen`, and empty the write-
        ahead log of them. False when a reader still holds the log: call again later."""
        ...

    def erased(self) -> bool:
        """[feed] Was something deleted since the last `scrub`, so that files have to be built anew
        to be rid of it?"""
        ...

    def unclean(self) -> bool:
        """[feed] Is text of retired versions still kept, or was `scrub` held up by a reader?"""
        ...

    def identity(self) -> str:
        """A name that differs for each store ever made: an index of another store is no good."""
        ...

    def health(self, *, deep: bool = False) -> Health:
        """Its own checks; `deep` reads every row and compares hashes."""
        ...

    def close(self) -> None: ...


class Index(Protocol):
    """Derived, rebuildable. Rows and cursor move in one transaction; may be deleted at any time."""

    name: str

    def cursor(self) -> int:
        """The number of the last change that is in here."""
        ...

    def update(self, changes: Sequence[Change], store: Store) -> None:
        """Take in changes in order. Idempotent; safe when two processes do it at once."""
        ...

    def reset(self) -> None:
        """Empty it; the next catch-up builds it anew."""
        ...

    def check(self) -> Health: ...

    def close(self) -> None: ...


class TokenVectors(NamedTuple):
    """The tokens of one text in order, without prefix and special tokens.

    `ids` int32 (t,) are the model's own; `Embedder.pieces` turns them into text, which tells script
    and punctuation, and they are the keys to count how rare a token is. `vectors` float32 (t, d)
    are as the model gives them: neither centred nor of unit length.
    """

    ids: NDArray[int32]
    vectors: NDArray[float32]


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how near they are in meaning.

    `id` names model, version, quantisation and dimension: vectors with different ids are never
    compared. `capabilities` ⊆ {"tokens"}: "tokens" means `embed_tokens` and `pieces`.
    A text's vector depends on nothing but the text and its role: not on what else is in the call,
    nor on the machine (to 1e-3 in each component). Any string is a text; none is ever cut: what is
    longer than `limit` tokens is embedded in windows of equal size and averaged by their length.
    Beside what it returns, memory is bounded by a window, not by the texts. Threads may share one.
    """

    id: str
    dim: int
    limit: int  # tokens in one window; 0 = no limit

    @property
    def capabilities(self) -> frozenset[str]: ...

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        """float32 (n, dim), unit length, in the order of the texts. The role's prefix is put in
        front here, not by the caller. Loads the model on the first call."""
        ...

    def embed_tokens(
        self, texts: Sequence[str], role: Role
    ) -> tuple[NDArray[float32], list[TokenVectors]]:
        """[tokens] What `embed` gives, and the token vectors of each text, from one pass."""
        ...

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """[tokens] The text of each token id; a leading space is kept as one."""
        ...


class Importer(Protocol):
    """Turns one source into passages, word for word."""

    name: str

    def recognises(self, path: str, head: bytes) -> bool:
        """By structure, never by name alone. `head` is the first 4096 bytes."""
        ...

    def read(self, path: str) -> Iterator[Passage]: ...


class Passage(NamedTuple):
    """A piece of a source: text with its place in the bytes on disk."""

    text: str
    part: int
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    raw: bytes | None = None
    extra: dict[str, Any] | None = None


Stage = Callable[["Query", "list[Candidate]", "Context"], "list[Candidate]"]
