"""The fields of a memory that most memories lack, as the one column `detail` of an engine's rows.

Format owned: one JSON object of those that are not empty, its keys in order, or nothing at all.
Hashes are made over it, so equal fields must give equal text.
"""

from __future__ import annotations

from camillo.model import Edge, Memory, replace

__all__ = ["detail_of", "with_detail"]


def detail_of(memory: Memory) -> str | None:
    """None when all of them are empty."""
    if not (memory.edges or memory.load_when or memory.tags or memory.aliases or memory.extra):
        return None
    import json  # few memories have any of these

    held = {
        "edges": memory.edges,
        "load_when": memory.load_when,
        "tags": memory.tags,
        "aliases": memory.aliases,
        "extra": memory.extra,
    }
    return json.dumps(
        {name: value for name, value in held.items() if value}, ensure_ascii=False, sort_keys=True
    )


def with_detail(memory: Memory, detail: str) -> Memory:
    """The memory with what `detail_of` wrote. Raises ValueError, TypeError or AttributeError for a
    text that it did not write."""
    import json

    held = json.loads(detail)
    return replace(
        memory,
        edges=tuple(Edge(*edge) for edge in held.get("edges", ())),
        load_when=tuple(held.get("load_when", ())),
        tags=tuple(held.get("tags", ())),
        aliases=tuple(held.get("aliases", ())),
        extra=held.get("extra", {}),
    )
