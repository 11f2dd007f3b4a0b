"""Saying that one memory supersedes another, at either end, and taking it back. Pure.

The newer one carries an edge `supersedes`, or the older one the name of the newer: which of the two
a file has is for its dialect. Chains and circles are folded by the graph.
"""

from __future__ import annotations

from collections.abc import Callable

from camillo.errors import DuplicateLink, InvalidValue, SelfLink
from camillo.model import GLOBAL, Key, Memory, replace
from camillo.notes.link import add_edge, remove_edge

__all__ = ["revive", "supersede", "supersede_at_target"]

_SUPERSEDES = "supersedes"


def supersede(newer: Memory, older: Key, exists: Callable[[Key], bool]) -> Memory:
    """The newer one with its edge to the older. Raises what `add_edge` does, InvalidValue for two
    that cannot name each other."""
    _must_reach(newer.key, older)
    return add_edge(newer, _SUPERSEDES, older.id, exists)


def supersede_at_target(older: Memory, newer: Key) -> Memory:
    """The older one with the name of the newer, in place of the one that it had. Raises SelfLink,
    DuplicateLink, InvalidValue."""
    if older.key == newer:
        raise SelfLink(f"{newer.id!r} cannot supersede itself: name another memory")
    _must_reach(older.key, newer)
    if older.superseded_by == newer.id:
        raise DuplicateLink(f"{newer.id!r} supersedes {older.id!r} already")
    return replace(older, superseded_by=newer.id)


def revive(newer: Memory, older: Memory) -> tuple[Memory, Memory]:
    """Both without what said that the newer one supersedes the older, at whichever end; the very
    same where nothing did."""
    if older.superseded_by == newer.id:
        older = replace(older, superseded_by="")
    return remove_edge(newer, older.id, _SUPERSEDES), older


def _must_reach(carrier: Key, named: Key) -> None:
    """A name is meant in the scope of the memory that says it, in its session or globally."""
    if carrier[:2] != named[:2]:
        raise InvalidValue(
            f"{carrier.id!r} is in the {carrier.scope} scope, {named.id!r} in the {named.scope} "
            "scope: one supersedes another only inside a scope"
        )
    if named.session not in (GLOBAL, carrier.session):
        raise InvalidValue(
            f"{named.id!r} belongs to session {named.session!r}: only a memory of that session "
            "can name it"
        )
