"""The ports: what the core asks of a store, an index, an importer, a stage.

Obligations stand on the methods; `tests/contract/` holds every implementation to them.
Optional powers are declared in `capabilities` and asked for by name, never by type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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

    from numpy import bool_, float32, int32, int64
    from numpy.typing import NDArray

    from camillo.retrieval.candidate import Candidate, Context, Query

    Role = Literal["query", "passage"]
else:
    Protocol = object  # ports are for type checkers
    Role = str

__all__ = [
    "Closeness",
    "Dialect",
    "Embedder",
    "Entry",
    "Hit",
    "Importer",
    "Index",
    "KnownFile",
    "Meaning",
    "Model",
    "Nearness",
    "NoteFolder",
    "NoteStat",
    "Occurrences",
    "Outline",
    "Passage",
    "Pieces",
    "Projection",
    "Role",
    "Room",
    "Stage",
    "Store",
    "TokenVectors",
    "Tokens",
    "Usage",
    "Words",
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

    `capabilities` ⊆ {"feed", "manifest", "journal", "keyword", "vector", "transaction",
    "persistent", "keeps"}. "feed" means `changes`; "manifest" means `manifest`; one of the two is
    there. "keeps" means that a put can be read back (the `none` engine lacks it). "keyword" means
    `words`, "vector" means `meaning`; where one is missing the vault attaches local indexes in
    place of both, since they name passages by the same row. What an engine can do may depend on
    its server: then an instance declares more than its class.

    An engine is constructed as `Engine(address, clock=…)`; the address is a file's path, or for
    one that declares `remote = True` that of a server, with `space=…` for the part of the server
    that is this root's.
    """

    name: str
    remote: bool  # is each call a way to a server and back?
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

    def waiting(self, since: int) -> int:
        """[feed] How many changes come after number `since`; numbers may have gaps."""
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

    def words(self) -> Words:
        """[keyword] Its own search by words, always current: rows move with `put` itself."""
        ...

    def meaning(self) -> Meaning:
        """[vector] Its own vectors."""
        ...

    def lacks(self) -> str:
        """What its server is missing and does without, in words for a report; "" for nothing."""
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


class Occurrences(Protocol):
    """Where tokens stand among the passages of one state of an index, as columns."""

    @property
    def rows(self) -> NDArray[int64]:
        """(n,) the passages by their rows, rising."""
        ...

    @property
    def words(self) -> NDArray[float32]:
        """(n,) how many words each has."""
        ...

    def of(self, token: str) -> tuple[NDArray[int32], NDArray[float32]]:
        """Of a token that was asked for: the places (in `rows`) of the passages that hold it,
        rising, and how often each does."""
        ...

    def admitted(self, filter: Filter) -> NDArray[bool_] | None:
        """(n,) which passages the filter admits; None when all are."""
        ...


class Words(Protocol):
    """Search by words over the passages of one store: a local index, or what a server has.

    Passages are those of `text/passages.py`, tokens those of `text/tokens.py`. It nominates;
    scoring is the pipeline's. Memories of internal kinds have no passages.
    """

    def size(self) -> tuple[int, int]:
        """(passages, words in them all)."""
        ...

    def df(self, tokens: Iterable[str]) -> dict[str, int]:
        """In how many passages each token stands; one entry a token, exact."""
        ...

    def keyword(self, tokens: Sequence[str], k: int, filter: Filter) -> list[tuple[int, float]]:
        """(row, score) of the k passages within the filter that hold any of the tokens, best first
        by the engine's own measure: BM25 or one like it, higher = better, above 0. The passages of
        one memory, and messages written one after another, have rows that follow each other."""
        ...

    def hits(self, chosen: Sequence[tuple[int, float]]) -> list[Hit]:
        """The passages behind these (row, score), in order; one that is gone is left out."""
        ...

    def occurrences(self, tokens: Sequence[str]) -> Occurrences | None:
        """Where each token stands, of all passages; None where that cannot be told cheaply. For a
        process that searches often: it may keep what it was asked for."""
        ...

    def conversations(self) -> bool:
        """Does any passage belong to a session?"""
        ...

    def kinds(self) -> frozenset[str]:
        """The kinds of the memories that have passages here, and perhaps some that had."""
        ...

    def same_text(self, texts: Sequence[str]) -> list[Key]:
        """The memories that hold one of these texts as a passage, letter for letter."""
        ...


class Model(NamedTuple):
    """An embedder that made vectors. `complete`: every passage had one once, so that searches may
    use it. `made_with` is what the setting `search.embedder` would call it."""

    name: str
    dim: int
    made_with: str
    complete: bool


class Nearness(Protocol):
    """How near the passages of one store are to one query."""

    def __len__(self) -> int:
        """How many passages have a vector."""
        ...

    def of(self, rows: Sequence[int]) -> list[float | None]:
        """The cosine of each passage by its row; None where it has no vector."""
        ...

    def of_texts(self, texts: Sequence[str]) -> list[float | None]:
        """The cosine of each embedded text of a passage; None where it has no vector."""
        ...

    def best(self, k: int, filter: Filter) -> list[tuple[int, float]]:
        """(row, cosine) of the k nearest passages that the filter admits, nearest first."""
        ...


class Meaning(Protocol):
    """Vectors of the passages of one store, by model; vectors of two are never compared.

    A vector is keyed by (model, hash of the passage's text): equal texts have one, and it goes
    with the last passage that holds the text. One that is damaged counts as still to be made.
    """

    def models(self) -> list[Model]:
        """The models that have vectors here, oldest first."""
        ...

    def missing(self, embedder: Embedder) -> int:
        """How many texts have no vector of this model yet, or not their token vectors."""
        ...

    def fill(
        self,
        store: Store,
        embedder: Embedder,
        made_with: str,
        *,
        at_most: int | None = None,
        told: Callable[[int], None] = lambda done: None,
    ) -> int:
        """Embed what has no vector; how many texts are left. May be killed and run again without
        double work. When none is left the model is complete and vectors of others go."""
        ...

    def nearness(self, embedder: Embedder, vector: NDArray[float32]) -> Nearness:
        """To a query's vector, float32 (dim,), unit length, of this embedder."""
        ...

    def count(self, embedder: Embedder) -> int:
        """How many vectors of this model there are."""
        ...

    def sweep(self) -> bool:
        """Drop vectors of texts that no passage holds any more. False: call again later."""
        ...


class Projection(Protocol):
    """What becomes of a model's token vectors before they are compared, so that they tell tokens
    apart and take little room. Its id holds a checksum of its numbers."""

    id: str
    dim: int

    def of(self, tokens: TokenVectors, pieces: Pieces) -> TokenVectors:
        """The tokens that say something (no punctuation), float32 (t, dim), unit length. `pieces`
        is the embedder's."""
        ...


class Closeness(Protocol):
    """How near each token of one question comes to the tokens of passages (late interaction,
    Khattab and Zaharia 2020: MaxSim)."""

    @property
    def asked(self) -> int:
        """How many tokens the question has. Of a long one only the rarest are compared."""
        ...

    @property
    def weights(self) -> NDArray[float32]:
        """(q,) what each token that is compared weighs: its idf over the texts that are kept here,
        summing to 1."""
        ...

    def maxima(self, rows: Sequence[int]) -> NDArray[float32]:
        """(n, q) the best cosine of each token of the question among the tokens of each passage,
        by its row; NaN for one whose tokens are not kept. A memory that is kept as a whole speaks
        for all of its passages."""
        ...

    def around(self, rows: Sequence[int], reach: int, step: float) -> NDArray[float32]:
        """The same of the memory of each passage together with `reach` on each side of it in its
        session, nominated or not; what is n away has `step` times n taken off."""
        ...


class Tokens(Protocol):
    """Token vectors of passages, by model, inside a budget: of notes and of what was said, newest
    first, and not of files of projects. Derived; follows the passages that `Words` numbers.

    A model's id names its projection too: vectors of two are never compared.
    """

    def behind(self, embedder: Embedder) -> int:
        """How many passages that should have token vectors have come in since the last time that
        none was missing; all of them where there was none."""
        ...

    def count(self, embedder: Embedder) -> int:
        """How many texts have some."""
        ...

    def closeness(self, embedder: Embedder, query: TokenVectors) -> Closeness | None:
        """To a question's tokens; None where no passage has any of this model."""
        ...

    def sweep(self) -> bool:
        """Drop those of texts that no passage holds any more. False: call again later."""
        ...


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


class Dialect(Protocol):
    """One way of laying a note out in a file. Pure: bytes to memory and back.

    Paths are relative to the notes' folder, with `/`. A note's `id` is its name, `title` and
    `summary` what the file calls so, `kind` its type, `place.room` its folder (where the dialect
    has rooms); `edges` are the authored relations and supersedes, mentions stay in the body.
    `extra["frontmatter"]` holds keys that mean nothing to us, as read, `extra["problems"]` what of
    a note could not be used. `fields` are those of a memory that a file can hold; the others live
    in its row alone.
    """

    name: str
    fields: frozenset[str]
    locks: bool  # does another program that knows the dialect lock its notes by a folder?
    kinds: tuple[str, ...]  # that its notes may have, the last one for all others; () for any
    relations: tuple[str, ...]  # that its notes may carry
    marks_superseded: bool  # does a note there say itself which other one replaces it?
    usage: str  # the file in which one that knows it counts how often a note was used; "" for none
    listing: str  # the page that lists notes one a line beside hand-written text; "" for none
    not_rooms: frozenset[str]  # camillo's own folders, case folded, where they lie beside the notes

    def is_note(self, path: str) -> bool:
        """Does a file of this name hold a note? Compiled and hand-written pages do not."""
        ...

    def enters(self, folder: str) -> bool:
        """May notes lie in this folder, or below it?"""
        ...

    def parse(self, path: str, content: bytes) -> Memory:
        """Raises NoteBroken with the line, for content that cannot be read as a note."""
        ...

    def render(self, memory: Memory, former: bytes | None = None) -> bytes:
        """The file of a note. Over a former content only what differs is changed: unknown keys,
        comments, order, line ends, a byte order mark and the body's bytes stay. Raises NoteBroken
        for a former content that cannot be edited safely."""
        ...

    def path_of(self, memory: Memory) -> str:
        """Where a new note goes. Raises InvalidValue for a name that no file may have."""
        ...

    def id_of(self, name: str, room: str) -> str:
        """The id of the note that has this name in this room: the name itself where names are
        unique in a folder, the path without its ending where they are only unique in a room."""
        ...

    def line(self, memory: Memory, path: str) -> str:
        """The line of a note in `listing`, without its end; "" where there is no such page."""
        ...


class Usage(NamedTuple):
    """How often a note was used, and when last (milliseconds since 1970; 0 = never)."""

    hits: int
    last: int


class NoteStat(NamedTuple):
    """A file as `stat` tells it: nanoseconds, bytes."""

    mtime_ns: int
    size: int


class KnownFile(NamedTuple):
    """A file as it was read. `key` is that of its note, None where it is none; `problems` say why
    not, or what of it could not be used, as `line 3: a tab`. A `broken` one cannot be read as a
    note now; its key is that of the note which it was before."""

    path: str
    stat: NoteStat
    hash: bytes
    key: Key | None
    problems: tuple[str, ...] = ()
    broken: bool = False


class NoteFolder(Protocol):
    """The files of one folder of notes, in one dialect: the only code that touches them.

    Names that differ by case or Unicode form are different notes, also where the file system says
    otherwise. Nothing outside the folder is ever read or written, by link or by name.
    """

    folder: str
    writable: bool

    @property
    def dialect(self) -> Dialect: ...

    def scan(self) -> tuple[dict[str, NoteStat], list[str]]:
        """Every note file by path, and the folders that could not be read: of files below those
        nothing is known. A path need not be Unicode; one that cannot be read by its name is there
        too, and `read` refuses it."""
        ...

    def unread(self) -> list[tuple[str, str]]:
        """The folders in which no note is read, by path, each with why."""
        ...

    def read(self, path: str) -> bytes:
        """Raises NotFound, SourceUnreadable, Refused, InvalidValue over the size cap."""
        ...

    def write(self, path: str, content: bytes, expected: bytes | None) -> NoteStat:
        """Atomic and durable. `expected` is what the file held when it was read, None for a new
        one; raises NoteChanged when it holds something else now, and nothing is written. What an
        editor saves in the very moment of writing is kept beside it as a conflict file."""
        ...

    def remove(self, path: str, expected: bytes) -> None:
        """As `write`: raises NoteChanged when the file holds something else."""
        ...

    def free_path(self, path: str) -> str:
        """The path, or one beside it where the file system would fold it together with another."""
        ...

    def conflicts(self) -> list[str]:
        """What editors saved in the moment of a write, kept beside its note."""
        ...

    def sweep(self, older_than: float = 0.0) -> None:
        """Clear away what killed writers left, if it is older than so many seconds."""
        ...

    def pages(self) -> list[str]:
        """The Markdown files of this folder that are pages, not notes, by path: `ROOT.md`, an
        `index.md` in a room."""
        ...

    def usage(self) -> dict[str, Usage]:
        """By path, what the dialect's usage file says; {} without one, or for one that is damaged.
        Entries that make no sense are left out."""
        ...

    def used(self, paths: Sequence[str], at: int) -> None:
        """Count these notes as used once more, at this time (milliseconds since 1970), in the usage
        file: atomic, entries and keys that we do not know stay. Nothing without such a file in the
        dialect, or where the folder is read-only."""
        ...

    def locked(self, path: str) -> AbstractContextManager[None]:
        """Keeps other programs that know the dialect out, as the reference's own lock does."""
        ...


class Entry(NamedTuple):
    """A note as the outline has it. `path` is its file's, `room` the folder of that, `summary` what
    it says, else what is derived from its text, never "". `description` is what it says of its
    room. `rule`: is it a hard rule? `created` and `updated` are milliseconds since 1970."""

    key: Key
    path: str
    room: str
    title: str
    summary: str
    highlight: str
    description: str
    kind: str
    load_when: tuple[str, ...]
    pinned: bool
    rule: bool
    superseded_by: str
    created: int
    updated: int


class Room(NamedTuple):
    """A room as the outline has it: how many notes, how many of them pinned. `description` is that
    of the first note which says one, else ""; `first` is the summary of its first note."""

    name: str
    notes: int
    pinned: int
    rules: int
    description: str
    first: str


class Outline(Index, Protocol):
    """What there is in a root, told from the frontmatter of its notes: rooms, notes, when to read
    which. Archived notes are not in it; of one that another supersedes the row stays.

    Orders are those of `text/collation.py`, the same on every machine.
    """

    def rooms(self) -> list[Room]:
        """The rooms that hold notes, in order."""
        ...

    def entries(self, room: str) -> list[Entry]:
        """The notes of a room, by the name of their file, in order."""
        ...

    def routes(self) -> list[tuple[str, Entry]]:
        """Every `load_when` with its note, in no order."""
        ...

    def standing(self) -> list[Entry]:
        """The hard rules and the pinned notes, rules first, each in the order of their paths."""
        ...

    def stale(self) -> list[str]:
        """The rooms whose notes changed since `compiled` was told of them; "" also where a room
        emptied, of which nothing is kept."""
        ...

    def pages(self) -> dict[str, bytes]:
        """By path, the digest of each page that `compiled` was told of."""
        ...

    def compiled(self, rooms: Sequence[str], seen: int, pages: Mapping[str, bytes]) -> None:
        """The pages of these rooms say what `cursor` = `seen` has; a change after it counts. Of
        `pages` these are the digests now, b"" for one that is gone."""
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


Pieces = Callable[[Iterable[int]], "list[str]"]
Stage = Callable[["Query", "list[Candidate]", "Context"], "list[Candidate]"]
