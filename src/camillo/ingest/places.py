"""Where a file's drawers are filed: wing and room from its folders, options or rules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from unicodedata import normalize

from camillo.model import Place

__all__ = ["GENERAL", "Placing"]

GENERAL = "general"  # the room of what lies at the top of a project


class Placing:
    """Files under `folder` → wing and room. An option beats a rule, a rule the folder's name.

    The wing is the folder that was mined (of a file, the folder it lies in); the room is the first
    folder below it; both in NFC. Patterns are shell patterns: of wings over the absolute folder, of
    rooms over the path below it.
    """

    def __init__(
        self,
        folder: str,
        wing: str = "",
        room: str = "",
        wings: Mapping[str, str] | None = None,
        rooms: Mapping[str, str] | None = None,
    ) -> None:
        self._room = room
        self._named = bool(wing or room)
        self._rooms = dict(rooms or {})
        ruled = next((w for p, w in (wings or {}).items() if fnmatchcase(folder, p)), "")
        self._ruled = bool(ruled)
        wing = wing or ruled or os.path.basename(folder.rstrip(os.sep)) or "root"
        self.wing = normalize("NFC", wing)

    def place(self, relative: str, former: Place | None = None) -> Place:
        """The place of a file, by its path below the folder, with `/` between the parts. A file
        that is filed already stays at its `former` place unless a wing or room was named."""
        if former is not None and not self._named and not self._rooms and not self._ruled:
            return former
        return Place(self.wing, normalize("NFC", self._room or self._room_of(relative)))

    def _room_of(self, relative: str) -> str:
        for pattern, room in self._rooms.items():
            if fnmatchcase(relative, pattern):
                return room
        first, nested, _ = relative.partition("/")
        return first if nested else GENERAL
