"""Adding a link to a memory and taking one away. Pure: what is there is asked of the caller.

A link leads from the memory that carries it to a name, meant in its namespace and scope, in its
session and then among the global memories. Mentions are written in the body, never here.
"""

from __future__ import annotations

from collections.abc import Callable

from camillo.errors import (
    DuplicateLink,
    SelfLink,
    UnknownRelation,
    UnknownSource,
    UnknownTarget,
)
from camillo.model import GLOBAL, RELATIONS, Edge, Key, Memory, replace

__all__ = ["LINKABLE", "add_edge", "remove_edge"]

_MENTIONS = "mentions"

LINKABLE = tuple(relation for relation in RELATIONS if relation != _MENTIONS)


def add_edge(memory: Memory, relation: str, target: str, exists: Callable[[Key], bool]) -> Memory:
    """The memory with one more link, after its others.

    Raises UnknownRelation, UnknownSource (it is gone by now), SelfLink, UnknownTarget,
    DuplicateLink: the first that applies, in this order.
    """
    _must_be_relation(relation, LINKABLE)
    key = memory.key
    if not exists(key):
        raise UnknownSource(f"no memory {key.id!r} in the {key.scope} scope to link from")
    if target == key.id:
        raise SelfLink(f"{target!r} cannot be linked to itself: name another memory")
    meant = key._replace(id=target)
    if not exists(meant) and not exists(meant._replace(session=GLOBAL)):
        raise UnknownTarget(
            f"no memory {target!r} in the {key.scope} scope to link to: links do not leave a scope"
        )
    edge = Edge(relation, target)
    if edge in memory.edges:
        raise DuplicateLink(f"{key.id!r} {relation} {target!r} is there already")
    return replace(memory, edges=(*memory.edges, edge))


def remove_edge(memory: Memory, target: str, relation: str | None = None) -> Memory:
    """The memory without its links to `target`, of one relation or of all. The very same memory
    when it has none. The target may be gone. Raises UnknownRelation."""
    if relation is not None:
        _must_be_relation(relation, {*LINKABLE, *(edge.relation for edge in memory.edges)})
    kept = tuple(
        edge
        for edge in memory.edges
        if edge.target != target or relation not in (None, edge.relation)
    )
    return memory if len(kept) == len(memory.edges) else replace(memory, edges=kept)


def _must_be_relation(name: str, known: tuple[str, ...] | set[str]) -> None:
    if name in known:
        return
    if name == _MENTIONS:
        raise UnknownRelation(
            "a mention is no link of its own: write [[name]] into the body, or take it out there"
        )
    raise UnknownRelation.of("relation", name, known)
