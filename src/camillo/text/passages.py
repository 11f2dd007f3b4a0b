"""Passages: the unit of every index. A drawer is one; a note is its title and summary, and its
body in pieces of at most 800 characters.

Number 0 is the whole drawer, or a note's title and summary; a note's body pieces count from 1.
The title of a drawer is the end of its source's path, since a file's name says what it is about:
it is searched, but neither shown nor embedded.
Derived from a memory alone, so that a hit (key, number) finds its text again.
"""

from __future__ import annotations

from camillo.model import Memory
from camillo.records import NamedTuple

__all__ = ["PASSAGE_CHARS", "PassageText", "passage", "passages", "text_hash"]

PASSAGE_CHARS = 800
_WHOLE = frozenset({"drawer", "diary"})


class PassageText(NamedTuple):
    """Text by field, as the lexical index keeps it apart."""

    number: int
    title: str
    summary: str
    body: str
    whole: str = ""  # all of a long note: what its passage 0 stands for

    @property
    def text(self) -> str:
        """What words are matched against."""
        return "\n".join(part for part in (self.title, self.summary, self.body) if part)

    @property
    def shown(self) -> str:
        """What people see: the text word for word."""
        return self.body or self.whole or self.text

    @property
    def embedded(self) -> str:
        """What the passage's vector is made of: for number 0 of a long note all of the note, since
        its pieces alone say less than the whole."""
        return self.whole or self.shown


def passages(memory: Memory) -> list[PassageText]:
    """All passages of a memory, in order."""
    if memory.kind in _WHOLE:
        return [PassageText(0, memory.title or _path_end(memory), memory.summary, memory.body)]
    if len(memory.body) <= PASSAGE_CHARS and not memory.title and not memory.summary:
        return [PassageText(0, "", "", memory.body)]
    from camillo.text.chunk import chunk_text

    whole = "\n".join(part for part in (memory.title, memory.summary, memory.body) if part)
    head = PassageText(0, memory.title, memory.summary, "", whole)
    pieces = [piece.text for piece in chunk_text(memory.body, PASSAGE_CHARS)]
    return [head, *(PassageText(n, "", "", text) for n, text in enumerate(pieces, 1))]


def passage(memory: Memory, number: int) -> PassageText:
    """One passage. A number that the memory no longer has gives its first."""
    found = passages(memory)
    return next((each for each in found if each.number == number), found[0])


def text_hash(text: str) -> bytes:
    """8 bytes that tell equal embedded texts: the key of a vector. Two of a million texts share one
    with a chance of 1 in 37 million."""
    from hashlib import blake2b  # only writers need it

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _path_end(memory: Memory) -> str:
    """The file's name and its folder's, of a drawer's source."""
    if memory.origin is None:
        return ""
    parts = memory.origin.source.replace("\\", "/").rsplit("/", 2)
    return "/".join(parts[-2:])
