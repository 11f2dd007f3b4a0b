"""Which pages beside the notes hold the text of a note that was forgotten: what people wrote there,
or what nobody may change, is not erased but named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

from camillo.errors import CamilloError, NotFound
from camillo.model import Memory
from camillo.notebook import Notebook
from camillo.text.printable import printable
from camillo.text.summary import derived, head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class _Root(Protocol):
        @property
        def notebook(self) -> Notebook | None: ...


__all__ = ["pages_holding"]

_UNITS = 40  # of a text that are looked for: a page that describes a room by it has no more
_FEWEST = 3  # characters; fewer of ASCII stand in any text
_ASCII_WORD = "[A-Za-z0-9_]"


def pages_holding(
    root: _Root, memories: Sequence[Memory], known: Collection[str] = ()
) -> list[str]:
    """The pages, and what editors saved while one was written, that hold the beginning of the
    title, the summary or the first line of one of these. One that cannot be read is named too, and
    none of those that are `known`. For after the pages were compiled."""
    patterns = {_pattern(text) for memory in memories for text in _said(memory)} - {""}
    if root.notebook is None or not patterns:
        return []
    folder, found = root.notebook.folder, []
    for path in [*folder.pages(), *folder.conflicts()]:
        shown = printable(os.path.join(folder.folder, path))
        try:
            page = _plain(folder.read(path).decode("utf-8", "replace"))
        except NotFound:
            continue
        except CamilloError as error:
            found.append(f"{shown}, perhaps: {error}")
            continue
        if shown not in known and re.search("|".join(patterns), page):
            found.append(shown)
    return found


def _said(memory: Memory) -> list[str]:
    """What a page may say of a note. Its name is no text of it: the journal keeps that too."""
    frontmatter = memory.extra.get("frontmatter") or {}
    title = memory.title if memory.title != memory.id.rpartition("/")[2] else ""
    lines = [line.strip() for line in memory.body.splitlines() if line.strip("# \t")]
    prose = [line for line in lines if line[0] != "#"]
    said = [title, memory.summary, derived(memory.body, ""), *lines[:1], *prose[:1]]
    return [*(line.lstrip("# ") for line in said), str(frontmatter.get("highlight") or "")]


def _pattern(text: str) -> str:
    """What finds the beginning of a text in a page; "" for one that would be found in any."""
    text = _plain(text)
    begun = head(text, _UNITS)
    if len(begun) < _FEWEST and begun.isascii():
        return ""
    before = f"(?<!{_ASCII_WORD})" if re.match(_ASCII_WORD, begun) else ""
    whole = begun == text and re.match(_ASCII_WORD, begun[-1])
    return f"{before}{re.escape(begun)}" + (f"(?!{_ASCII_WORD})" if whole else "")


def _plain(text: str) -> str:
    """On one line, without what a table of ours puts into a text."""
    text = text.replace("\\|", "|").replace("&lt;!-- auto:", "<!-- auto:")
    return " ".join(text.split())
