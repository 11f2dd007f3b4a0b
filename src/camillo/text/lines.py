"""Numbered lines of a text, for showing a part of it."""

from __future__ import annotations

import re

__all__ = ["numbered"]

_NUMBERED = re.compile(r"\[\d+\] ")


def numbered(text: str, first: int, last: int) -> str:
    """Lines `first` to `last` (from 1, both included) as `[n] line`; "" when there are none. A line
    that carries a number already keeps it."""
    lines = text.splitlines()[max(first, 1) - 1 : max(last, 0)]
    return "\n".join(
        line if _NUMBERED.match(line) else f"[{number}] {line}"
        for number, line in enumerate(lines, max(first, 1))
    )
