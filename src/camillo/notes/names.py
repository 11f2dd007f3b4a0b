"""A note's name from its title: what its file is called and `[[name]]` links to.

Words joined by `_`, in lower case and normal form NFC. Latin letters lose their accents, so that a
name of Latin words is what a mention may hold; other scripts stay as they are. At most 100
characters and 200 bytes (file names have 255, and a file being written a longer one), never a name
that a compiled page or Windows has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from camillo.text.graphemes import safe_cut

__all__ = ["NAME_BYTES", "NAME_CHARS", "slug", "unique_name"]

NAME_CHARS = 100
NAME_BYTES = 200

_NAMELESS = "note"
_PAGES = {"index", "memory", "readme", "root"}
_DEVICES = {"aux", "con", "nul", "prn"} | {
    f"{port}{n}" for port in ("com", "lpt") for n in range(10)
}
_RESERVED = frozenset(_PAGES | _DEVICES)
# Latin letters that have no accent to lose.
_SPELLED = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


def slug(title: str) -> str:
    """The name that a title gives; `note` for one without letters and digits."""
    text = "".join(map(_plain, title)).lower().translate(_SPELLED)
    words = "".join(_characters(text)).split("_")
    name = unicodedata.normalize("NFC", "_".join(word for word in words if word))
    name = _shortened(name, NAME_CHARS, NAME_BYTES) or _NAMELESS
    return f"{name}_{_NAMELESS}" if name in _RESERVED else name


def unique_name(title: str, taken: Iterable[str]) -> str:
    """The name that a title gives, with the first number from 2 that makes it differ from those
    that are taken, also where a file system looks away from case and normal form."""
    held = {_folded(name) for name in taken}
    name = first = slug(title)
    number = 1
    while _folded(name) in held:
        number += 1
        end = f"_{number}"
        name = _shortened(first, NAME_CHARS - len(end), NAME_BYTES - len(end)) + end
    return name


def _plain(char: str) -> str:
    """Full-width forms, ligatures and the like as the ASCII that they stand for. Nothing else: of
    Thai, NFKC takes letters apart."""
    if char.isascii():
        return char
    plain = unicodedata.normalize("NFKC", char)
    return plain if plain.isascii() and plain.isalnum() else char


def _characters(text: str) -> Iterator[str]:
    """Letters, digits and what marks them; everything else divides words."""
    after_latin = letter = False
    for char in unicodedata.normalize("NFD", text):
        category = unicodedata.category(char)
        if category[0] == "M":
            if letter and not after_latin:
                yield char
        elif category == "Cf":  # joiners and the like stand inside words
            continue
        else:
            letter = category[0] in "LN"
            after_latin = letter and (char.isascii() or "LATIN" in unicodedata.name(char, ""))
            yield char if letter else "_"


def _shortened(name: str, chars: int, size: int) -> str:
    """Cut between graphemes, where words end if one does in the last quarter."""
    end = min(len(name), chars)
    while len(name[:end].encode("utf-8", "surrogatepass")) > size:
        end -= 1
    if end == len(name):
        return name
    end = safe_cut(name, end)
    between = name.rfind("_", 0, end + 1)
    return name[: between if between >= end * 3 // 4 else end].strip("_")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
