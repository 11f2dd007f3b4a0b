"""The records: what a memory is, where it lives, what a filter asks, what a change says.

Everything that is written is a `Memory`; all other records describe one or point at one.
This file holds data and the arithmetic of identity; it reads nothing and decides nothing.
Times are integers, milliseconds since 1970 UTC; `happened_at` is ISO 8601 as precise as known.
"""

from __future__ import annotations

from collections.abc import Mapping

from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeVar

    AnyRecord = TypeVar("AnyRecord", bound=NamedTuple)

__all__ = [
    "DEFAULT_NAMESPACE",
    "GLOBAL",
    "INTERNAL_KINDS",
    "NOT_NOTES",
    "RELATIONS",
    "Author",
    "Change",
    "Edge",
    "Filter",
    "Health",
    "JournalEntry",
    "Key",
    "Memory",
    "Origin",
    "Outcome",
    "Page",
    "Place",
    "Session",
    "drawer_id",
    "replace",
    "short_id",
    "source_id",
]

DEFAULT_NAMESPACE = ""
GLOBAL = ""  # the session of memories that belong to no conversation

RELATIONS = ("related-to", "builds-on", "contradicts", "child-of", "supersedes", "mentions")

# Bookkeeping that the store keeps as memories, so that every engine keeps it: one `source` per
# mined file, one `forgotten` per erased text, `setting` for keys of the store itself, `expectation`
# for what a search is to find.
INTERNAL_KINDS = frozenset({"source", "forgotten", "setting", "expectation"})

# What is filed or logged is no note: it has no file, and is neither rewritten nor linked.
NOT_NOTES = frozenset({"drawer", "diary", "conversation"})


class Key(NamedTuple):
    """Identity, in every engine: (namespace, scope, session, id)."""

    namespace: str
    scope: str
    session: str
    id: str


class Place(NamedTuple):
    """Subject, topic inside it, theme: wing / room / hall."""

    wing: str = ""
    room: str = ""
    hall: str = ""


class Origin(NamedTuple):
    """Where a drawer came from. Lines count from 1, bytes from 0, `byte_end` is exclusive."""

    source: str
    part: int = 0
    line_start: int = 0
    line_end: int = 0
    byte_start: int = 0
    byte_end: int = 0


class Edge(NamedTuple):
    """A typed link from the memory that carries it."""

    relation: str
    target: str


class Memory(NamedTuple):
    """One record, the only thing that is written.

    `body` is the text word for word. For a note it is the Markdown below the frontmatter, for a
    drawer the characters of its source between `origin.byte_start` and `origin.byte_end`; where
    those bytes were no valid text, `extra["raw"]` holds them (base64).
    """

    id: str
    body: str
    kind: str = "fact"
    title: str = ""
    summary: str = ""
    namespace: str = DEFAULT_NAMESPACE
    scope: str = "user"
    session: str = GLOBAL
    place: Place = Place()
    origin: Origin | None = None
    edges: tuple[Edge, ...] = ()
    load_when: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    pinned: bool = False
    trust: str = "normal"  # normal, untrusted, quarantined
    written_by: str = ""
    happened_at: str = ""
    created: int = 0
    updated: int = 0
    expires: int = 0
    archived: int = 0  # when it was archived; 0 = live
    superseded_by: str = ""
    extra: Mapping[str, Any] = {}

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.scope, self.session, self.id)


class Session(NamedTuple):
    """The four values of a session filter."""

    mode: Literal["any", "global", "only", "with-global"] = "any"
    id: str = ""


class Filter(NamedTuple):
    """What a query may see. Applied inside the engine, before its limit. None = no restriction."""

    namespace: str | None = DEFAULT_NAMESPACE
    scope: str | None = None
    session: Session = Session()
    kinds: tuple[str, ...] | None = None
    wing: str | None = None
    room: str | None = None
    source: str | None = None
    under: str | None = None  # a folder: sources in it, at any depth
    since: str = ""  # ISO date, inclusive, on happened_at
    before: str = ""  # ISO date, exclusive, on happened_at
    archived: bool = False  # also archived memories
    internal: bool = False  # also INTERNAL_KINDS

    def admits(self, memory: Memory) -> bool:
        """The filter's meaning, for engines that cannot express it in their query language."""
        return (
            (self.namespace is None or memory.namespace == self.namespace)
            and (self.scope is None or memory.scope == self.scope)
            and self._session_admits(memory.session)
            and (self.kinds is None or memory.kind in self.kinds)
            and (self.internal or memory.kind not in INTERNAL_KINDS)
            and (self.wing is None or memory.place.wing == self.wing)
            and (self.room is None or memory.place.room == self.room)
            and (self.source is None or _source_of(memory) == self.source)
            and (self.under is None or (_source_of(memory) or "").startswith(self.under))
            and (not self.since or memory.happened_at >= self.since)
            and (not self.before or "" < memory.happened_at < self.before)
            and (self.archived or not memory.archived)
        )

    def _session_admits(self, session: str) -> bool:
        mode, wanted = self.session
        if mode == "any":
            return True
        if mode == "global":
            return session == GLOBAL
        return session == wanted or (mode == "with-global" and session == GLOBAL)


class Page(NamedTuple):
    """A window over a scan: at most `limit` rows after skipping `offset`; 0 = no limit."""

    limit: int = 0
    offset: int = 0
    order: Literal["oldest", "newest", "id"] = "oldest"


class Author(NamedTuple):
    """Who writes, and by which path; goes to the journal."""

    who: str = ""
    via: str = "python"


class Change(NamedTuple):
    """One line of a store's feed, in the order of `seq`.

    `memory` is the new version, None when this line retires one. A retiring line carries the
    number of the version that went and, while the store still has it, that version itself, so
    that an index can take back exactly what it wrote.
    """

    seq: int
    key: Key
    memory: Memory | None
    former_seq: int = 0
    former: Memory | None = None


class Outcome(NamedTuple):
    """The reply to a write: `status` and the key that holds the text now."""

    status: Literal["stored", "updated", "deduplicated", "rejected"]
    key: Key
    reason: str = ""


class JournalEntry(NamedTuple):
    """A line of the store's log; never holds text of a memory."""

    number: int
    at: int
    who: str
    via: str
    what: str
    key: str
    times: int = 1


class Health(NamedTuple):
    """A store's or an index's own report; `problems` is empty when all is well."""

    name: str
    problems: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


def drawer_id(source: str, part: int) -> str:
    """24 hex digits from the length-prefixed source and part: stable when re-mined, and no two
    (source, part) pairs run together into the same string."""
    raw = source.encode("utf-8", "surrogatepass")
    return _sha256(b"%d:%b:%d" % (len(raw), raw, part))[:24]


def source_id(source: str) -> str:
    """24 hex digits of SHA-256 over the source's name."""
    return _sha256(source.encode("utf-8", "surrogatepass"))[:24]


def short_id(id: str) -> str:
    """What people see and type: eight characters of an id that we made, a slug as it is."""
    return id[:8] if len(id) == 24 and all(c in "0123456789abcdef" for c in id) else id


def replace(record: AnyRecord, **changes: Any) -> AnyRecord:
    """The record with some fields changed."""
    return record._replace(**changes)


def _sha256(content: bytes) -> str:
    import hashlib  # loads OpenSSL: 3 ms that a search does without

    return hashlib.sha256(content).hexdigest()


def _source_of(memory: Memory) -> str | None:
    return memory.origin.source if memory.origin else None
