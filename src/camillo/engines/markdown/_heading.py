"""The first heading of a body, which is the title of a note that says none.

Headings are lines with `#` before them; lines in fenced code are none. Lines underlined with `=` or
`-` are text here, as in oc.
"""

from __future__ import annotations

import re

__all__ = ["heading"]

_HEADING = r" {0,3}(#{1,6})[ \t]+(.*)"
_FENCE = r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)\Z"


def heading(body: str, deepest: int = 6) -> str:
    """The text of the first one of these levels; "" where there is none."""
    if "#" not in body:
        return ""
    fence = ""
    for line in body.split("\n"):
        if fence:
            text = line.strip()
            if text.startswith(fence) and not text.strip(fence[0]):
                fence = ""
        elif mark := re.match(_FENCE, line):
            fence = mark[1] or mark[2]
        elif (
            (found := re.match(_HEADING, line))
            and len(found[1]) <= deepest
            and (text := _without_closing(found[2].strip()))
        ):
            return text
    return ""


def _without_closing(text: str) -> str:
    """`Title ##` says `Title`."""
    bare = text.rstrip("#")
    return bare.rstrip() if bare != text and bare[-1:] in ("", " ", "\t") else text
