"""A filter as SQL over rows of `store.db`, and texts as such SQL may compare them."""

from __future__ import annotations

from collections.abc import Callable

from camillo.model import INTERNAL_KINDS, Filter, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["JOIN", "after", "asked", "where"]

# What a filter may ask of a row `m`: its owner, its place, its source.
JOIN = (
    " JOIN owners o ON o.rowid = m.owner JOIN places p ON p.rowid = m.place"
    " LEFT JOIN sources s ON s.rowid = p.source"
)


def where(filter: Filter) -> tuple[str, list[Any]]:
    """The filter as SQL over m, o, p and s, with its arguments."""
    clauses = ["1"]
    arguments: list[Any] = []

    def demand(clause: str, *values: Any) -> None:
        clauses.append(clause)
        arguments.extend(map(asked, values))

    if filter.namespace is not None:
        demand("o.namespace = ?", filter.namespace)
    if filter.scope is not None:
        demand("o.scope = ?", filter.scope)
    _demand_session(filter.session, demand)
    if filter.kinds is not None:
        demand(f"p.kind IN ({', '.join('?' * len(filter.kinds))})", *filter.kinds)
    if not filter.internal:
        demand(f"p.kind NOT IN ({', '.join('?' * len(INTERNAL_KINDS))})", *sorted(INTERNAL_KINDS))
    for column, value in (("p.wing", filter.wing), ("p.room", filter.room)):
        if value is not None:
            demand(f"{column} = ?", value)
    if filter.source is not None:
        demand("p.source = (SELECT rowid FROM sources WHERE name = ?)", filter.source)
    if filter.under is not None:
        demand("s.name >= ? AND s.name < ?", filter.under, filter.under + "\U0010ffff")
    if filter.since:
        demand("m.happened_at >= ?", filter.since)
    if filter.before:
        demand("m.happened_at < ?", filter.before)
    if not filter.archived:
        demand("m.archived IS NULL")
    return " AND ".join(clauses), arguments


def _demand_session(session: Session, demand: Callable[..., None]) -> None:
    if session.mode == "global":
        demand("o.session = ''")
    elif session.mode == "only":
        demand("o.session = ?", session.id)
    elif session.mode == "with-global":
        demand("o.session IN ('', ?)", session.id)


def asked(text: str) -> str | bytes:
    """A text to compare with. Half a surrogate pair is in no row and cannot be handed to SQLite;
    bytes can, and are equal to no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def after(prefix: str) -> str:
    """The first text above all that start with `prefix`; for an empty one, above all ids."""
    while prefix.endswith("\U0010ffff"):
        prefix = prefix[:-1]
    if not prefix:
        return "\U0010ffff" * 64
    following = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if 0xD800 <= following < 0xE000 else following)
