"""Which notes are hard rules: always present, never faded. Pure."""

from __future__ import annotations

__all__ = ["RULES", "is_rule"]

RULES = "rules"  # the room of them


def is_rule(room: str, kind: str) -> bool:
    """Those in the room `rules` or below it, and those of kind `rule` in any case."""
    return room == RULES or room.startswith(f"{RULES}/") or kind.lower() == "rule"
