"""What was erased and must not come back: keyed hashes of texts and of places in sources.

Kept as memories of kind `forgotten` whose id is the hash; the key is a memory of kind `setting`.
Nothing of the text can be read from either without knowing the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import blake2b

from camillo.model import Author, Filter, Key, Memory
from camillo.ports import Store
from camillo.text.normalise import normalise

__all__ = ["Forgotten"]

_KEY_ID = "forget-key"


class Forgotten:
    """The erased texts of one scope of a store."""

    def __init__(self, store: Store, scope: str) -> None:
        self._store = store
        self._scope = scope
        self._key: bytes | None = None
        self._known: set[str] | None = None

    def hides(self, memory: Memory) -> bool:
        """Was this text, or what stood at this place of its source, erased?"""
        known = self._hashes()
        return bool(known) and not known.isdisjoint(self._marks(memory))

    def records(self, memories: Iterable[Memory]) -> list[Memory]:
        """What to write beside the erasure of these memories; the same in one transaction."""
        made = [self._record(mark) for memory in memories for mark in self._marks(memory)]
        self._known = None
        return made

    def allow(self, memories: Iterable[Memory], by: Author) -> int:
        """Let these texts come back."""
        keys = [self._record(mark).key for memory in memories for mark in self._marks(memory)]
        self._known = None
        return self._store.delete(keys, by)

    def _hashes(self) -> set[str]:
        if self._known is None:
            filter = Filter(None, self._scope, kinds=("forgotten",), internal=True)
            self._known = {memory.id for memory in self._store.scan(filter)}
        return self._known

    def _marks(self, memory: Memory) -> list[str]:
        marks = []
        text = normalise(memory.body)
        if text:
            marks.append(self._hash(b"text", text))
        if memory.origin:
            marks.append(self._hash(b"place", f"{memory.origin.source}\0{memory.origin.part}"))
        return marks

    def _hash(self, person: bytes, value: str) -> str:
        data = value.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=20, key=self._secret(), person=person).hexdigest()

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

    def _record(self, mark: str) -> Memory:
        return Memory(id=mark, body="", kind="forgotten", scope=self._scope)
