"""What a file of notes may be called: strictly for one that we make, loosely for one that is there.

A name that we give has to mean the same file on every system, so that a folder can be copied or
checked out anywhere. A name that we read only has to lie inside the folder.
"""

from __future__ import annotations

import re
from unicodedata import category, normalize

from camillo.errors import InvalidValue, Refused
from camillo.text.printable import printable

__all__ = [
    "CONFLICT", "LONGEST", "ODD", "check_inside", "check_new", "check_slug", "clipped",
    "is_odd", "is_strange",
]  # fmt: skip

LONGEST = 200  # bytes of UTF-8; file systems have 255, and `.embedding` or a stamp must still fit
_MOST_CHARACTERS = 100

# <slug>.conflict-20260102T030405Z.md, with -2, -3 … for several in one second
CONFLICT = r".+\.conflict-\d{8}T\d{6}Z(?:-\d+)?\.md"

# Signs that no path to a note has: control characters, a backslash, a drive's letter.
_STRANGE = r"[\0-\x1f\x7f\\]|\A[A-Za-z]:"
ODD = "its path is no UTF-8, or holds a backslash, a line break or a drive's letter: rename it"

_RESERVED = r"(?i)(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|conin\$|conout\$) *(?:\.|\Z)"
_PUNCTUATION = '<>:"/\\|?*'
_ESCAPED = r"(?i)%(?:2e|2f|5c|00)"
_PAGES = ("index", "readme", "root")


def check_inside(path: str) -> None:
    """Raises Refused unless `path` names a Markdown file inside the folder, in `/` form, that is
    not hidden."""
    parts = path.split("/")
    if is_strange(path):
        raise Refused(f"{path!r} names no note: {ODD}")
    if "" in parts or any(part.startswith(".") for part in parts):
        raise Refused(f"{path!r} leads out of the folder of notes, or to a hidden file")
    if not path.endswith(".md"):
        raise Refused(f"{path!r}: the file of a note or a page ends in '.md'")


def is_odd(path: str) -> bool:
    """Can no note be read from this path, whatever file is there?"""
    return printable(path) != path or is_strange(path)


def is_strange(path: str) -> bool:
    """Has it a sign that no path to a note has?"""
    return re.search(_STRANGE, path) is not None


def check_new(path: str) -> None:
    """Raises InvalidValue for a path that not every file system takes as it is."""
    check_inside(path)
    for name in path.removesuffix(".md").split("/"):
        _check_name(name)


def check_slug(slug: str) -> None:
    """Raises InvalidValue unless `slug` is letters of any script, digits, `-` and `_`, in NFC."""
    strange = next((char for char in slug if not _is_word(char)), None)
    if strange is not None or not slug:
        raise InvalidValue(
            f"{slug!r} is no name for a note: letters, digits, '-' and '_' make one"
            + (f", not {strange!r}" if strange else "")
        )
    if normalize("NFC", slug) != slug:
        raise InvalidValue(f"{slug!r} is in a decomposed form; use {normalize('NFC', slug)!r}")
    if slug.casefold() in _PAGES:
        raise InvalidValue(f"{slug!r} is the name of a page, not of a note; choose another")
    _check_name(slug)


def clipped(stem: str, most: int) -> str:
    """The beginning of `stem` that fits in `most` bytes."""
    raw = stem.encode("utf-8", "surrogateescape")
    return stem if len(raw) <= most else raw[:most].decode("utf-8", "ignore")


def _is_word(char: str) -> bool:
    return char in "-_" or category(char)[0] in "LMN"


def _check_name(name: str) -> None:
    if len(name) > _MOST_CHARACTERS or len(name.encode("utf-8", "surrogatepass")) > LONGEST:
        raise InvalidValue(
            f"{name[:20]!r}… is too long for a file: {_MOST_CHARACTERS} characters and {LONGEST} "
            "bytes are the most"
        )
    strange = next((c for c in name if c in _PUNCTUATION or category(c).startswith("C")), None)
    if strange is not None:
        raise InvalidValue(f"{name!r}: not every system takes {strange!r} in a file's name")
    if name and category(name[0]).startswith("M"):
        raise InvalidValue(f"{name!r} starts with an accent that has no letter")
    if re.match(_RESERVED, name):
        raise InvalidValue(f"{name!r} is the name of a device on Windows; choose another")
    if name != name.strip() or name.endswith(".") or name.startswith("."):
        raise InvalidValue(f"{name!r}: a file's name starts and ends with neither '.' nor a blank")
    if re.search(_ESCAPED, name) or re.search(r"[/\\]|\.\.", normalize("NFKC", name)):
        raise InvalidValue(f"{name!r} could be read as a path that leads elsewhere")
