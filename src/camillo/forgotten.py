"""What was erased and must not come back: keyed hashes of texts.

Kept as memories of kind `forgotten` whose id is the hash; the key is a memory of kind `setting`.
Nothing of the text can be read from either without knowing the text. Format owned: their `extra`.
For the source that a text was erased from there is a rolling sum besides, which finds the text
wherever it stands in the file: cut at other places, or moved by an edit before it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from camillo.model import Author, Filter, Key, Memory
from camillo.ports import Store
from camillo.text.blake2 import blake2b
from camillo.text.normalise import normalise

__all__ = ["Forgotten"]

_KEY_ID = "forget-key"
_PRIME = 2**61 - 1  # of the rolling sum
_BROKEN = re.compile("[\ud800-\udfff]")  # bytes that are no text; a drawer has U+FFFD there


class _Within(NamedTuple):
    """A text that was erased from one source: its length and sum, and its hash to make sure."""

    chars: int
    sum: int
    text: str


class Forgotten:
    """The erased texts of one scope of a store."""

    def __init__(self, store: Store, scope: str) -> None:
        self._store = store
        self._scope = scope
        self._key: bytes | None = None
        self._known: set[str] | None = None
        self._within: dict[str, list[_Within]] = {}  # by the hash of a source's name

    def hides(self, memory: Memory) -> bool:
        """Was this text erased, from whatever source?"""
        known = self._hashes()
        return bool(known) and self._mark(memory) in known

    def spans(self, source: str, text: str) -> list[tuple[int, int]]:
        """Where texts that were erased from this source stand in `text`: (start, end) each."""
        if not self._hashes() or not self._within:
            return []
        wanted = self._within.get(self._hash(b"source", source), [])
        if not wanted:
            return []
        plain, offsets = _flattened(_BROKEN.sub("\ufffd", text))
        base = self._base()
        return [
            (offsets[start], offsets[start + each.chars - 1] + 1)
            for each in wanted
            for start in _places(plain, each, base)
            if self._hash(b"text", plain[start : start + each.chars]) == each.text
        ]

    def records(self, memories: Iterable[Memory]) -> list[Memory]:
        """What to write beside the erasure of these memories; the same in one transaction."""
        made = [each for memory in memories for each in self._records(memory)]
        self._known = None
        return made

    def allow(self, memories: Iterable[Memory], by: Author) -> int:
        """Let these texts come back."""
        keys = [each.key for memory in memories for each in self._records(memory)]
        self._known = None
        return self._store.delete(keys, by)

    def _records(self, memory: Memory) -> Iterator[Memory]:
        text = normalise(memory.body)
        mark = self._mark(memory)
        if mark:
            yield self._record(mark, {})
        if mark and memory.origin:
            extra = {
                "source": self._hash(b"source", memory.origin.source),
                "chars": len(text),
                "sum": _sum(text, self._base()),
                "text": mark,
            }
            yield self._record(self._hash(b"within", f"{extra['source']}\0{mark}"), extra)

    def _hashes(self) -> set[str]:
        if self._known is None:
            filter = Filter(None, self._scope, kinds=("forgotten",), internal=True)
            self._known = set()
            self._within = {}
            for memory in self._store.scan(filter):
                self._known.add(memory.id)
                held = memory.extra
                if held:
                    within = _Within(held["chars"], held["sum"], held["text"])
                    self._within.setdefault(held["source"], []).append(within)
        return self._known

    def _mark(self, memory: Memory) -> str:
        text = normalise(memory.body)
        return self._hash(b"text", text) if text else ""

    def _hash(self, person: bytes, value: str) -> str:
        data = value.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=20, key=self._secret(), person=person).hexdigest()

    def _base(self) -> int:
        return int(self._hash(b"sum", ""), 16) % _PRIME

    def _secret(self) -> bytes:
        if self._key is None:
            held = self._store.get([Key("", self._scope, "", _KEY_ID)])[0]
            if held is None:
                held = Memory(
                    id=_KEY_ID, body=os.urandom(32).hex(), kind="setting", scope=self._scope
                )
                with self._store.transaction():
                    again = self._store.get([held.key])[0]
                    if again is None:
                        self._store.put([held], Author(via="forget"))
                    else:
                        held = again
            self._key = bytes.fromhex(held.body)
        return self._key

    def _record(self, mark: str, extra: dict[str, object]) -> Memory:
        return Memory(id=mark, body="", kind="forgotten", scope=self._scope, extra=extra)


def _sum(text: str, base: int) -> int:
    total = 0
    for character in text:
        total = (total * base + ord(character)) % _PRIME
    return total


def _places(text: str, wanted: _Within, base: int) -> Iterator[int]:
    """Where a stretch of the wanted length has the wanted sum (Rabin and Karp 1987)."""
    size = wanted.chars
    if size > len(text):
        return
    codes = list(map(ord, text))
    last = pow(base, size - 1, _PRIME)
    total = _sum(text[:size], base)
    for start in range(len(text) - size + 1):
        if total == wanted.sum:
            yield start
        if start + size < len(codes):
            total = ((total - codes[start] * last) * base + codes[start + size]) % _PRIME


def _flattened(text: str) -> tuple[str, Sequence[int]]:
    """The normal form of a text, with the offset in the text of each of its characters."""
    pieces: list[str] = []
    offsets: list[int] = []
    for found in re.finditer(r"\S+", text):
        word = normalise(found[0])
        if pieces:
            pieces.append(" ")
            offsets.append(found.start() - 1)
        pieces.append(word)
        if len(word) == len(found[0]):
            offsets.extend(range(found.start(), found.end()))
        else:  # composed: an offset may lie some characters before its own
            scale = len(found[0]) / len(word)
            offsets.extend(found.start() + int(at * scale) for at in range(len(word)))
    return "".join(pieces), offsets
