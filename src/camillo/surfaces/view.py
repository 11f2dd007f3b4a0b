"""How a report is to be shown: the circumstances, and the small texts that depend on them."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from camillo.model import short_id
from camillo.records import NamedTuple
from camillo.surfaces.terminal import DEFAULT_WIDTH, Style, clean_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["View"]

_TIMES = frozenset({"at", "created", "updated", "expires", "archived"})
_HASH = 12  # digits of one: enough to say which, and for --expect
_PATHS = frozenset({"config", "file", "folder", "path", "root", "source"})


class View(NamedTuple):
    """`width` is None where no terminal sets one. `arguments` are those of the operation."""

    arguments: Mapping[str, Any] = {}
    style: Style = Style(color=False)
    width: int | None = None
    full: bool = False
    cwd: str = ""
    home: str = ""

    @property
    def columns(self) -> int:
        return self.width or DEFAULT_WIDTH

    def path(self, path: str) -> str:
        """Relative below the working directory, unless everything lies below that; `~/…` below
        home, else as it is."""
        near = "" if self.cwd == os.sep else self.cwd
        for folder, shown in ((near, ""), (self.home, f"~{os.sep}")):
            head = folder.rstrip(os.sep) + os.sep
            if folder and path.startswith(head) and len(path) > len(head):
                return clean_line(shown + path[len(head) :])
        return clean_line(path)

    def value(self, key: str, value: Any) -> str:
        """A cell: one line, whatever the value is."""
        if value is None or value == "" or (key in _TIMES and value == 0):
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int):
            return _time(value) if key in _TIMES else f"{value:,}"
        if isinstance(value, float):
            return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
        if isinstance(value, Mapping):
            shown = (f"{name} {self.value(name, each)}" for name, each in value.items() if each)
            return clean_line(", ".join(shown))
        if isinstance(value, list):
            return ", ".join(self.value(key, each) for each in value)
        return self._text(key, str(value))

    def _text(self, key: str, text: str) -> str:
        if key in _PATHS:
            return self.path(text)
        if key == "hash":
            return clean_line(text[:_HASH])
        return clean_line(short_id(text) if key == "id" else text)


def _time(milliseconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%MZ", time.gmtime(milliseconds / 1000))
