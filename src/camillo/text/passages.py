"""Passages: the unit of every index. A drawer is one; a note is its title and summary, and its
body in pieces of at most 800 characters.

Number 0 is the whole drawer, or a note's title and summary; a note's body pieces count from 1.
Derived from a memory alone, so that a hit (key, number) finds its text again.
"""

from __future__ import annotations

from camillo.model import Memory
from camillo.records import NamedTuple

__all__ = ["PASSAGE_CHARS", "PassageText", "passage", "passages"]

PASSAGE_CHARS = 800
_WHOLE = frozenset({"drawer", "diary"})


class PassageText(NamedTuple):
    """Text by field, as the lexical index keeps it apart."""

    number: int
    title: str
    summary: str
    body: str

    @property
    def text(self) -> str:
        return "\n".join(part for part in (self.title, self.summary, self.body) if part)


def passages(memory: Memory) -> list[PassageText]:
    """All passages of a memory, in order."""
    if memory.kind in _WHOLE or (not memory.title and len(memory.body) <= PASSAGE_CHARS):
        return [PassageText(0, memory.title, memory.summary, memory.body)]
    from camillo.text.chunk import chunk_text

    head = PassageText(0, memory.title, memory.summary, "")
    pieces = [piece.text for piece in chunk_text(memory.body, PASSAGE_CHARS)]
    return [head, *(PassageText(n, "", "", text) for n, text in enumerate(pieces, 1))]


def passage(memory: Memory, number: int) -> PassageText:
    """One passage. A number that the memory no longer has gives its first."""
    found = passages(memory)
    return found[number] if number < len(found) else found[0]
