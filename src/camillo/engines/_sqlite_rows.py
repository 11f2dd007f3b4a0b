"""A memory as a row of `memories` in `store.db`, and back.

Format owned: the hash of a row, over all but the times of writing.
"""

from __future__ import annotations

from collections.abc import Sequence

from camillo.engines._detail import detail_of, with_detail
from camillo.engines._sqlite_schema import COLUMNS
from camillo.engines._sqlite_shared import Shared
from camillo.errors import StoreDamaged
from camillo.model import Memory, Origin
from camillo.text.blake2 import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "LIVE",
    "VERSION",
    "checked",
    "content_of",
    "damaged",
    "digest",
    "intact",
    "memory_of",
    "mismatch",
]

# The number of a version, then its columns. Functions over rows take them in this order.
VERSION = f"SELECT m.seq, {', '.join(f'm.{column}' for column in COLUMNS)}"
LIVE = f"{VERSION} FROM memories m"


def content_of(memory: Memory, shared: Shared) -> tuple[Any, ...]:
    """The row of a memory without its hash, and without the times of writing."""
    m = memory
    origin = m.origin
    spot = origin[1:] if origin else (None,) * 5
    owner = shared.owner(m.namespace, m.scope, m.session)
    place = shared.place(m.kind, *m.place, origin.source if origin else "")
    return (
        m.id, owner, place, m.title or None, m.summary or None, m.body, *spot,
        m.happened_at or None, None, None, m.expires or None,
        m.archived or None, m.superseded_by or None, int(m.pinned) or None,
        None if m.trust == "normal" else m.trust, m.written_by or None, detail_of(m),
    )  # fmt: skip


def checked(row: Sequence[Any], shared: Shared, path: str) -> Memory:
    """`intact`, or StoreDamaged that names the row and the store's file."""
    memory = intact(row, shared)
    if memory is None:
        raise damaged(path, row[1])
    return memory


def damaged(path: str, id_: str) -> StoreDamaged:
    return StoreDamaged(
        f"{path}: {mismatch(id_)}; restore it from a backup, or mine its source again"
    )


def mismatch(id_: str) -> str:
    return f"the row of {id_!r} no longer matches its hash"


def intact(row: Sequence[Any], shared: Shared) -> Memory | None:
    """The memory of a row that still says what its hash was made of."""
    try:
        return memory_of(row, shared) if digest(row[1:-1], shared) == row[-1] else None
    except (ValueError, TypeError, AttributeError):  # `detail` is no JSON of ours any more
        return None


def memory_of(row: Sequence[Any], shared: Shared) -> Memory:
    (_, id_, owner, place, title, summary, body, part, line_start, line_end, byte_start,
     byte_end, happened_at, created, updated, expires, archived, superseded_by, pinned, trust,
     written_by, detail, _) = row  # fmt: skip
    filed = shared.place_of(place)
    origin = None
    if filed.source:
        origin = Origin(filed.source, part, line_start, line_end, byte_start, byte_end)
    # By position, in the order of Memory's fields: twice as fast as by name.
    memory = Memory(
        id_, body, filed.kind, title or "", summary or "", *shared.owned_by(owner),
        filed.place, origin, (), (), (), (), bool(pinned), trust or "normal",
        written_by or "", happened_at or "", created, updated or 0, expires or 0,
        archived or 0, superseded_by or "", {},
    )  # fmt: skip
    return with_detail(memory, detail) if detail else memory


def digest(content: Sequence[Any], shared: Shared) -> bytes:
    """16 bytes over everything but the times of writing: equal content, equal digest.

    `content` is a row from `id` to `detail`. A NUL ends what cannot hold one (the id, what
    `repr` made); the body, which may, comes last.
    """
    (id_, owner, place, title, summary, body, part, line_start, line_end, byte_start, byte_end,
     happened_at, _, _, expires, archived, superseded_by, pinned, trust, written_by,
     detail) = content  # fmt: skip
    rare = ""  # what most rows leave empty
    if (
        title or summary or happened_at or expires or archived or superseded_by or pinned
        or trust or written_by or detail
    ):  # fmt: skip
        rare = repr(
            (title, summary, happened_at, expires, archived, superseded_by, pinned, trust,
             written_by, detail)
        )  # fmt: skip
    text = (
        f"{shared.owned_by(owner)}{shared.place_of(place).hashed}{id_}\0"
        f"{part} {line_start} {line_end} {byte_start} {byte_end}{rare}\0{body}"
    )
    return blake2b(text.encode(), digest_size=16).digest()
