"""The record of a mined file: what it was when it was read, and by which rules.

Kept as a memory of kind `source`, so that every engine keeps it. Format owned: the keys of its
`extra`.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from camillo.model import Memory, Origin, Place, source_id
from camillo.text.chunk import CHUNKER_VERSION
from camillo.text.normalise import NORMALISER_VERSION
from camillo.text.pointers import CLOSET_VERSION
from camillo.text.tokens import TOKENISER_VERSION

__all__ = ["VERSIONS", "SourceRecord", "on_disk"]

# normaliser, chunker, tokeniser, closet rules: an older one means that the file is mined again
VERSIONS = f"{NORMALISER_VERSION}.{CHUNKER_VERSION}.{TOKENISER_VERSION}.{CLOSET_VERSION}"

_ESCAPED = re.compile(r"\\x([89a-f][0-9a-f])")
_RACY_NS = 2_000_000_000  # a stamp this close to the reading may hide a later write (git's rule)


class SourceRecord(NamedTuple):
    """One mined file. `read_at` is milliseconds; `parts` counts its drawers."""

    name: str
    folder: str  # the folder that was mined
    place: Place
    size: int
    mtime_ns: int
    hash: str
    encoding: str
    bom: int
    parts: int
    read_at: int
    rules: str
    versions: str = VERSIONS
    missing: int = 0  # when sync found it gone, in milliseconds; 0 = it was there

    @property
    def holds_text(self) -> bool:
        """False for what was text once and is binary, empty or too long now."""
        return bool(self.encoding)

    def unchanged(self, size: int, mtime_ns: int, place: Place, rules: str) -> bool:
        """Would reading the file again give the same? False where the stamps cannot tell."""
        return (
            self.size == size
            and self.mtime_ns == mtime_ns
            and mtime_ns < self.read_at * 1_000_000 - _RACY_NS
            and self.same_rules(place, rules)
        )

    def same_rules(self, place: Place, rules: str) -> bool:
        return (
            self.place == place
            and self.rules == rules
            and self.versions == VERSIONS
            and not self.missing
        )

    def memory(self, scope: str, happened_at: str = "") -> Memory:
        return Memory(
            id=source_id(self.name),
            body="",
            kind="source",
            scope=scope,
            place=self.place,
            origin=Origin(self.name),
            happened_at=happened_at,
            extra={
                "folder": self.folder,
                "size": self.size,
                "mtime_ns": self.mtime_ns,
                "hash": self.hash,
                "encoding": self.encoding,
                "bom": self.bom,
                "parts": self.parts,
                "read_at": self.read_at,
                "rules": self.rules,
                "versions": self.versions,
                **({"missing": self.missing} if self.missing else {}),
            },
        )

    @classmethod
    def of(cls, memory: Memory) -> SourceRecord:
        held = memory.extra
        return cls(
            name=memory.origin.source if memory.origin else memory.id,
            folder=held["folder"],
            place=memory.place,
            size=held["size"],
            mtime_ns=held["mtime_ns"],
            hash=held["hash"],
            encoding=held["encoding"],
            bom=held["bom"],
            parts=held["parts"],
            read_at=held["read_at"],
            rules=held["rules"],
            versions=held["versions"],
            missing=int(held.get("missing", 0)),
        )


def on_disk(name: str) -> str:
    """The path that `printable` was given; where two could be meant, the one that is there."""
    if not _ESCAPED.search(name) or os.path.lexists(name):
        return name
    return _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)), name)
