"""A note's file that goes to another room: where to, and how nothing is lost on the way."""

from __future__ import annotations

from contextlib import suppress

from camillo.errors import CamilloError, InvalidValue
from camillo.model import Memory
from camillo.ports import NoteFolder, NoteStat

__all__ = ["home_of", "moved"]


def home_of(folder: NoteFolder, path: str, memory: Memory, now: Memory) -> str:
    """Where the file of a note belongs when its room is another than it was. Raises InvalidValue
    for one that holds no notes."""
    room = memory.place.room
    if room == now.place.room or "place" not in folder.dialect.fields:
        return path
    name = path.rpartition("/")[2]
    home = f"{room}/{name}" if room else name
    if not folder.dialect.is_note(home):
        raise InvalidValue(f"{room!r} is a folder of camillo's own, not a room")
    return folder.free_path(home)


def moved(folder: NoteFolder, path: str, home: str, content: bytes, former: bytes) -> NoteStat:
    """The note in its new file, and then no longer in the former one: a process that dies between
    leaves it in both. Raises NoteChanged when that one does not hold `former`; then it stays."""
    stat = folder.write(home, content, None)
    try:
        folder.remove(path, former)
    except CamilloError:
        with suppress(CamilloError):
            folder.remove(home, content)
        raise
    return stat
