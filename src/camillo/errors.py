"""The error tree: what can go wrong, as the caller sees it.

CamilloError                      code, exit_code; the message names the value and the way out
├── InvalidValue                  an argument or setting that cannot be used
│   ├── UnknownName               a name that is in no table; names the nearest
│   │   └── UnknownRelation       no type of link, or one that nobody may write
│   ├── Ambiguous                 several memories answer to one short id
│   ├── NoteBroken                a note file that is no note; says in which line
│   ├── SelfLink                  a memory cannot be linked to itself
│   └── DuplicateLink             the link is there already
├── NotFound                      nothing has this id
│   ├── UnknownSource             no memory that a link could start from
│   └── UnknownTarget             no memory that a link could lead to
├── SourceUnreadable              a file or folder that cannot be read
├── MissingExtra                  an optional library is not installed
├── Refused                       a rule forbids it (read-only root, a name outside the root)
│   └── NoteChanged               a note is not what it was when it was read
└── StoreError                    the store itself
    ├── StoreBusy                 another process holds it too long
    ├── StoreDamaged              a layer is damaged; the message says which one
    ├── StoreTooNew               written by a newer camillo
    └── StoreFull                 no room on the disk, or it is read-only

Ordinary outcomes (nothing to delete, nothing found by a search) are return values, not errors.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "Ambiguous",
    "CamilloError",
    "DuplicateLink",
    "InvalidValue",
    "MissingExtra",
    "NotFound",
    "NoteBroken",
    "NoteChanged",
    "Refused",
    "SelfLink",
    "SourceUnreadable",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreTooNew",
    "UnknownName",
    "UnknownRelation",
    "UnknownSource",
    "UnknownTarget",
    "nearest",
]


class CamilloError(Exception):
    """Base of all errors. `code` is stable for programs, `exit_code` is the command line's."""

    code = "error"
    exit_code = 4


class InvalidValue(CamilloError):
    code = "invalid-value"
    exit_code = 2


class UnknownName(InvalidValue):
    """`unknown("engine", "sqllite", ["sqlite", …])` builds the message."""

    code = "unknown-name"

    @classmethod
    def of(cls, what: str, name: str, known: Iterable[str]) -> UnknownName:
        names = sorted(known)
        close = nearest(name, names)
        hint = f"did you mean {close!r}? " if close else ""
        return cls(f"no {what} named {name!r}; {hint}known: {', '.join(names)}")


class UnknownRelation(UnknownName):
    code = "unknown-relation"


class Ambiguous(InvalidValue):
    code = "ambiguous"


class NoteBroken(InvalidValue):
    """`path` and `line` (from 1, 0 = the whole file) say where."""

    code = "note-broken"

    def __init__(self, message: str, path: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class SelfLink(InvalidValue):
    code = "self-link"


class DuplicateLink(InvalidValue):
    code = "duplicate-link"


class NotFound(CamilloError):
    code = "not-found"
    exit_code = 1


class UnknownSource(NotFound):
    code = "unknown-source"


class UnknownTarget(NotFound):
    code = "unknown-target"


class SourceUnreadable(CamilloError):
    code = "source-unreadable"


class MissingExtra(CamilloError):
    code = "missing-extra"


class Refused(CamilloError):
    code = "refused"


class NoteChanged(Refused):
    code = "note-changed"


class StoreError(CamilloError):
    code = "store"


class StoreBusy(StoreError):
    code = "store-busy"


class StoreDamaged(StoreError):
    """`path` is the file that is damaged, where that is known."""

    code = "store-damaged"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class StoreTooNew(StoreError):
    code = "store-too-new"


class StoreFull(StoreError):
    code = "store-full"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be, or None."""
    import difflib  # only an error needs it

    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None
