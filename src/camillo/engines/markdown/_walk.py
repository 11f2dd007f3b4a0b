"""One pass over a folder of notes: which files and folders there are. It reads no file.

Links are not followed, hidden files are not seen. A name that is no text, or that no path to a note
may hold, hides no other one: its file is among the notes, for whoever reads it to say why not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from camillo.engines.markdown._files import leftover, sweep
from camillo.engines.markdown._names import CONFLICT, ODD, is_odd
from camillo.engines.markdown._reading import open_below, open_room
from camillo.ports import NoteStat

__all__ = ["Walk"]

_DEEPEST = 32
_PAGES = frozenset({"root.md", "index.md", "readme.md", "memory.md"})
_TOO_DEEP = f"lies more than {_DEEPEST} folders deep: move it up, no note in it is read"


class Walk:
    """`unreadable` are the folders of whose files nothing is known, `unread` those in which no note
    is read, with why. Paths are as the system gives them: they need not be Unicode. Leftovers of
    killed writers from before `before` are cleared away at the time `now`."""

    def __init__(
        self,
        folder: str,
        is_note: Callable[[str], bool],
        enters: Callable[[str], bool],
        before: float,
        now: float,
    ) -> None:
        self.notes: dict[str, NoteStat] = {}
        self.unreadable: list[str] = []
        self.unread: list[tuple[str, str]] = []
        self.conflicts: list[str] = []
        self.pages: list[str] = []
        self._folder, self._is_note, self._enters = folder, is_note, enters
        self._before, self._now = before, now

    def run(self) -> None:
        try:
            held = open_below(self._folder, [])
        except OSError as error:
            self._shut(".", error)
        else:
            self._look(held, "", 0)

    def _look(self, held: int | None, room: str, depth: int) -> None:
        """Takes in one folder and closes it."""
        try:
            with os.scandir(self._path(room) if held is None else held) as entries:
                rooms = self._files(entries, held, room + "/" if room else "")
            for name in rooms:
                self._enter(held, name, f"{room}/{name}" if room else name, depth + 1)
        except OSError as error:
            self._shut(room or ".", error)
        finally:
            if held is not None:
                os.close(held)

    def _files(
        self, entries: Iterator[os.DirEntry[str]], held: int | None, above: str
    ) -> list[str]:
        """Notes the files; the folders to enter."""
        is_note, notes, rooms = self._is_note, self.notes, []
        made, stat_of = tuple.__new__, os.DirEntry.stat
        for entry in entries:
            name = entry.name
            path = above + name
            if name.endswith(".md") and entry.is_file(follow_symlinks=False):
                if is_note(path):
                    status = stat_of(entry, follow_symlinks=False)
                    notes[path] = made(NoteStat, (status.st_mtime_ns, status.st_size))
                elif name.lower() in _PAGES:
                    self.pages.append(path)
                elif re.fullmatch(CONFLICT, name):
                    self.conflicts.append(path)
            elif leftover(name):
                self._clear(entry, held)
            elif entry.is_dir(follow_symlinks=False) and self._enters(path):
                rooms.append(name)
        return rooms

    def _enter(self, held: int | None, name: str, room: str, depth: int) -> None:
        if depth > _DEEPEST:
            self.unreadable.append(room)
            self.unread.append((room, _TOO_DEEP))
            return
        try:
            inner = None if held is None else open_room(held, name)
        except OSError as error:
            self._shut(room, error)
            return
        before = len(self.notes)
        self._look(inner, room, depth)
        above = room[: -len(name) - 1]
        if is_odd(room) and not is_odd(above) and len(self.notes) == before:  # its notes tell
            self.unread.append((room, ODD))

    def _shut(self, room: str, error: OSError) -> None:
        self.unreadable.append(room)
        self.unread.append((room, f"cannot be read: {error.strerror}; check its permissions"))

    def _clear(self, entry: os.DirEntry[str], held: int | None) -> None:
        """A leftover of a killed writer. That it stays hurts nobody, so errors do not either."""
        try:
            status = entry.stat(follow_symlinks=False)
            if max(status.st_mtime, status.st_ctime) < self._before:
                sweep(entry.path if held is None else entry.name, held, self._now)
        except OSError:
            return

    def _path(self, room: str) -> str:
        return os.path.join(self._folder, *room.split("/")) if room else self._folder
