"""The lines of a page that lists notes, one a line, among text that people write. Pure.

A line is a note's when it links to its file. Lines that somebody wrote or changed stay as they are;
one that still says what we made of the note before is made anew.
"""

from __future__ import annotations

import re

__all__ = ["listed", "unlisted"]


def listed(text: str, path: str, line: str, former: str = "") -> str:
    """`text` with a line for the note in `path`: in place of `former` where that stands, else at
    the end unless some line links to the file already."""
    lines = text.splitlines(keepends=True)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    for at, each in enumerate(lines):
        if _links_to(each, path):
            if former and each.rstrip("\r\n") == former:
                lines[at] = line + each[len(former) :]
            return "".join(lines)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    return "".join([*lines, line + end])


def unlisted(text: str, path: str) -> str:
    """`text` without the list lines that link to the file, which is gone."""
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not _links_to(line, path))


def _links_to(line: str, path: str) -> bool:
    found = re.match(r"\s*[-*+]\s+\[[^\]\n]*\]\(<?(?:\./)?([^)>\n]+?)>?\)", line)
    return found is not None and found[1] == path
