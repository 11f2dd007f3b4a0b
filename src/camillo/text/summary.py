"""One line for a text that has no summary of its own, taken from its beginning. Pure.

Lengths are counted as oc counts them, in UTF-16 units, but no character that a reader sees is ever
cut in two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from camillo.text.graphemes import safe_cut

__all__ = ["derived", "head"]

_ENOUGH = 90  # units, beyond which no further line is joined
_LONGEST = 140  # units, with the sign that something was cut
_CUT = "…"
# What JavaScript calls white space: Python's own class has control characters, and no U+FEFF.
_BLANK = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_FENCE = r"(`{3,})[^`]*|(~{3,}).*"


def derived(body: str, name: str) -> str:
    """The first lines of the first paragraphs on one line, without headings and code in fences;
    the name where there are none."""
    kept: list[str] = []
    length = -1
    for text in _prose(body):
        kept.append(text)
        length += 1 + _units(text)
        if length > _ENOUGH:
            break
    line = re.sub(f"[{_BLANK}]+", " ", " ".join(kept))
    if _units(line) > _LONGEST:
        line = head(line, _LONGEST - 1) + _CUT
    return line or name


def head(text: str, most: int) -> str:
    """The beginning of `text` that has at most so many UTF-16 units. Only where its first character
    alone has more is that one cut."""
    at = units = 0
    while at < len(text) and units + _width(text[at]) <= most:
        units += _width(text[at])
        at += 1
    return text[: safe_cut(text, at) or at]


def _prose(body: str) -> Iterator[str]:
    """The lines that say something, trimmed."""
    fence = ""
    for line in _lines(body):
        text = line.strip(_BLANK)
        if fence:
            if text.startswith(fence) and not text.strip(fence[0]):
                fence = ""
        elif mark := re.fullmatch(_FENCE, text):
            fence = mark[1] or mark[2]
        elif text and text[0] != "#":
            yield text


def _lines(body: str) -> Iterator[str]:
    """One after the other: most are never asked for."""
    start = 0
    while start <= len(body):
        end = body.find("\n", start)
        end = len(body) if end < 0 else end
        yield body[start:end]
        start = end + 1


def _units(text: str) -> int:
    """The length of a text in UTF-16."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    return 2 if char > "\uffff" else 1
