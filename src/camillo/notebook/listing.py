"""Keeping the page in which another program lists its notes, beside the notes that we write there.

What a line says is the dialect's, where it goes `text/listing.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable

from camillo.errors import NoteChanged, NotFound
from camillo.model import Memory
from camillo.ports import NoteFolder
from camillo.text.frontmatter import to_bytes, to_text
from camillo.text.listing import listed, unlisted

__all__ = ["list_note", "unlist_notes"]

_TRIES = 5  # while somebody else writes the page


def list_note(folder: NoteFolder, memory: Memory, path: str, former: Memory | None = None) -> bool:
    """Give a note that was written its line; was the page changed? Nothing in a dialect without
    such a page."""
    dialect = folder.dialect
    before = dialect.line(former, path) if former else ""
    return _rewritten(folder, lambda text: listed(text, path, dialect.line(memory, path), before))


def unlist_notes(folder: NoteFolder, paths: list[str]) -> bool:
    """Take out the lines of notes whose files are gone."""

    def without(text: str) -> str:
        for path in paths:
            text = unlisted(text, path)
        return text

    return _rewritten(folder, without)


def _rewritten(folder: NoteFolder, change: Callable[[str], str]) -> bool:
    page = folder.dialect.listing
    if not page:
        return False
    for left in reversed(range(_TRIES)):
        try:
            former: bytes | None = folder.read(page)
        except NotFound:
            former = None
        text = to_text(former or b"")
        made = change(text)
        if made == text:
            return False
        try:
            folder.write(page, to_bytes(made), former)
        except NoteChanged:
            if not left:
                raise
        else:
            return True
    return False
