"""A memory as a row of `memories`, and back; a filter as SQL over such rows.

Format owned: how a text is written. PostgreSQL cannot keep U+0000, so it and U+0001 are written as
two characters (U+0001 followed by U+0001 or U+0002): no two texts run together, and order and
prefixes stay as they are. The hash of a row covers all but the times of writing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

from camillo.engines._detail import detail_of, with_detail
from camillo.model import INTERNAL_KINDS, Filter, Key, Memory, Origin, Place, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "COLUMNS",
    "TYPES",
    "after",
    "asked",
    "bound",
    "demand_times",
    "digest_of",
    "intact",
    "key_digest",
    "read_text",
    "row_of",
    "where",
    "written",
]

# The columns of one version, in the order in which rows are read and written, with their types.
_TYPED = {
    "key": "bytea", "namespace": "text", "scope": "text", "session": "text", "id": "text",
    "kind": "text", "wing": "text", "room": "text", "hall": "text",
    "title": "text", "summary": "text", "body": "text",
    "source": "text", "part": "bigint", "line_start": "bigint", "line_end": "bigint",
    "byte_start": "bigint", "byte_end": "bigint",
    "happened_at": "text", "created": "bigint", "updated": "bigint", "expires": "bigint",
    "archived": "bigint", "superseded_by": "text", "pinned": "boolean", "trust": "text",
    "written_by": "text", "detail": "text", "hash": "bytea",
}  # fmt: skip
COLUMNS = tuple(_TYPED)
TYPES = tuple(_TYPED.values())

_ESCAPE = "\x01"
_NEVER = "\x01\x03"  # begins no text that was written


def written(text: str) -> str:
    """A text as it is kept."""
    if _ESCAPE in text or "\0" in text:
        return text.replace(_ESCAPE, "\x01\x02").replace("\0", "\x01\x01")
    return text


def read_text(text: str) -> str:
    """What `written` was given."""
    if _ESCAPE not in text:
        return text
    return text.replace("\x01\x01", "\0").replace("\x01\x02", _ESCAPE)


def asked(text: str) -> str:
    """A text to compare with. Half a surrogate pair is in no row: it becomes what equals none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _NEVER
    return written(text)


def bound(text: str) -> str:
    """A text that rows are above or below. Of half a surrogate pair the place in the order is
    that of the first character above all halves."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        text = text[: error.start] + "\ue000"
    return written(text)


def after(prefix: str) -> str:
    """The first kept text above all that start with `prefix`, itself as it is kept."""
    while prefix.endswith("\U0010ffff"):
        prefix = prefix[:-1]
    if not prefix:
        return "\U0010ffff" * 64
    following = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if 0xD800 <= following < 0xE000 else following)


def digest_of(*texts: str) -> bytes:
    """16 bytes that tell texts apart, of any length: what a unique index holds."""
    joined = "\0".join(map(written, texts))
    return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def key_digest(key: Key) -> bytes:
    return digest_of(*key)


def row_of(memory: Memory) -> list[Any]:
    """The row of a memory; the times of writing are its own."""
    m = memory
    origin = m.origin
    texts = (
        m.namespace, m.scope, m.session, m.id, m.kind, *m.place, m.title, m.summary, m.body,
        origin.source if origin else "", m.happened_at, m.superseded_by, m.trust, m.written_by,
    )  # fmt: skip
    whole = "".join(texts)
    if _ESCAPE in whole or "\0" in whole:
        texts = tuple(map(written, texts))  # type: ignore[assignment]
    (namespace, scope, session, id_, kind, wing, room, hall, title, summary, body, source,
     happened_at, superseded_by, trust, written_by) = texts  # fmt: skip
    row: list[Any] = [
        key_digest(m.key), namespace, scope, session, id_, kind, wing, room, hall,
        title or None, summary or None, body, source or None,
        *(origin[1:] if origin else (None,) * 5),
        happened_at or None, m.created, m.updated or None, m.expires or None, m.archived or None,
        superseded_by or None, m.pinned or None, None if trust == "normal" else trust,
        written_by or None, detail_of(m),
    ]  # fmt: skip
    row.append(_digest(_content(row)))
    return row


def intact(row: Sequence[Any]) -> Memory | None:
    """The memory of a row that still says what its hash was made of."""
    content = _content(row)
    if _digest(content) != row[-1]:
        return None
    try:
        return _memory(row, _ESCAPE in content)
    except (ValueError, TypeError, AttributeError):  # `detail` is no JSON of ours any more
        return None


def _memory(row: Sequence[Any], escaped: bool) -> Memory:
    if escaped:
        row = [read_text(each) if isinstance(each, str) else each for each in row]
    (_, namespace, scope, session, id_, kind, wing, room, hall, title, summary, body, source, part,
     line_start, line_end, byte_start, byte_end, happened_at, created, updated, expires, archived,
     superseded_by, pinned, trust, written_by, detail, _) = row  # fmt: skip
    origin = None
    if source is not None:
        origin = Origin(source, part, line_start, line_end, byte_start, byte_end)
    memory = Memory(
        id_, body, kind, title or "", summary or "", namespace, scope, session,
        Place(wing, room, hall), origin, (), (), (), (), bool(pinned), trust or "normal",
        written_by or "", happened_at or "", created, updated or 0, expires or 0, archived or 0,
        superseded_by or "", {},
    )  # fmt: skip
    return with_detail(memory, detail) if detail else memory


def _content(row: Sequence[Any]) -> str:
    """All but the key, the times of writing and the hash; no kept text holds a NUL."""
    (_, namespace, scope, session, id_, kind, wing, room, hall, title, summary, body, source, part,
     line_start, line_end, byte_start, byte_end, happened_at, _, _, expires, archived,
     superseded_by, pinned, trust, written_by, detail, _) = (*row, None)[:29]  # fmt: skip
    return (
        f"{namespace}\0{scope}\0{session}\0{id_}\0{kind}\0{wing}\0{room}\0{hall}\0{title or ''}\0"
        f"{summary or ''}\0{source or ''}\0{part} {line_start} {line_end} {byte_start} {byte_end} "
        f"{expires} {archived} {pinned}\0{happened_at or ''}\0{superseded_by or ''}\0{trust or ''}"
        f"\0{written_by or ''}\0{detail or ''}\0{body}"
    )


def _digest(content: str) -> bytes:
    return blake2b(content.encode(), digest_size=16).digest()


def where(filter: Filter) -> tuple[str, list[Any]]:
    """The filter as SQL over a row `m` of `memories`."""
    clauses = ["true"]
    arguments: list[Any] = []

    def demand(clause: str, *values: Any) -> None:
        clauses.append(clause)
        arguments.extend(values)

    for column in ("namespace", "scope", "wing", "room"):
        text = getattr(filter, column)
        if text is not None:
            demand(f"m.{column} = %s", asked(text))
    if filter.source is not None:
        text = asked(filter.source)
        demand("left(m.source, 200) = %s AND m.source = %s", text[:200], text)
    _demand_session(filter.session, demand)
    if filter.kinds is not None:
        demand("m.kind = ANY(%s::text[])", [asked(kind) for kind in filter.kinds])
    if not filter.internal:
        demand("m.kind <> ALL(%s::text[])", sorted(INTERNAL_KINDS))
    if filter.under:
        prefix = asked(filter.under)
        short = prefix[:200]
        demand(
            "left(m.source, 200) >= %s AND left(m.source, 200) < %s "
            "AND m.source >= %s AND m.source < %s",
            short, after(short), prefix, after(prefix),
        )  # fmt: skip
    demand_times(filter, "m", demand)
    if not filter.archived:
        demand("m.archived IS NULL")
    return " AND ".join(clauses), arguments


def demand_times(filter: Filter, table: str, demand: Callable[..., None]) -> None:
    if filter.since:
        demand(f"{table}.happened_at >= %s", bound(filter.since))
    if filter.before:
        demand(f"{table}.happened_at < %s", bound(filter.before))


def _demand_session(session: Session, demand: Callable[..., None]) -> None:
    if session.mode == "global":
        demand("m.session = ''")
    elif session.mode == "only":
        demand("m.session = %s", asked(session.id))
    elif session.mode == "with-global":
        demand("m.session IN ('', %s)", asked(session.id))
