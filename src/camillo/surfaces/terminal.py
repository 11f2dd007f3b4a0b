"""What a terminal may be given: clean text, measured in columns, with or without color.

Stored text is never trusted: control characters (a terminal would obey them) and bidirectional
controls (they show a text in another order than it has) are written out as escapes.
"""

from __future__ import annotations

import io
import os
import sys
import unicodedata

TYPE_CHECKING = False  # not from typing: `camillo --help` does without it
if TYPE_CHECKING:
    from typing import TextIO

__all__ = [
    "DEFAULT_WIDTH",
    "Style",
    "clean",
    "clean_line",
    "columns",
    "cut",
    "json_safe",
    "pad",
    "use_utf8",
    "width_of",
    "wrapped",
]

DEFAULT_WIDTH = 100

_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_BIDI = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_SEPARATORS = [0x2028, 0x2029]
_SURROGATES_SHOWN = "backslashreplace"

_ESCAPES = {
    **{code: f"\\x{code:02x}" for code in _CONTROLS if code not in (0x09, 0x0A)},
    **{code: f"\\u{code:04x}" for code in [*_BIDI, *_SEPARATORS]},
}
_LINE_ESCAPES = {**_ESCAPES, 0x09: " ", 0x0A: " "}
_JSON_ESCAPES = {code: f"\\u{code:04x}" for code in [*range(0x7F, 0xA0), *_BIDI, *_SEPARATORS]}


class Style:
    """ANSI styles, or plain text when `color` is off."""

    def __init__(self, *, color: bool) -> None:
        self.color = color

    def bold(self, text: str) -> str:
        return self._with("1", text)

    def dim(self, text: str) -> str:
        return self._with("2", text)

    def path(self, text: str) -> str:
        return self._with("36", text)

    def mark(self, text: str) -> str:
        return self._with("1;33", text)

    def _with(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text


def clean(text: str) -> str:
    """`text` with nothing in it that a terminal would obey; newlines and tabs stay."""
    return text.replace("\r\n", "\n").translate(_ESCAPES)


def clean_line(text: str) -> str:
    """The same on one line: newlines and tabs become spaces."""
    return text.translate(_LINE_ESCAPES)


def json_safe(text: str) -> str:
    """JSON text with what `clean` would escape as `\\uXXXX`: it reads back as the same value."""
    return text.translate(_JSON_ESCAPES)


def width_of(text: str) -> int:
    """Columns that `text` takes: two for wide characters, none for combining ones."""
    return len(text) if text.isascii() else sum(map(_width_of_character, text))


def cut(text: str, width: int) -> str:
    """At most `width` columns of `text`, with an ellipsis where something is missing."""
    if width_of(text) <= width:
        return text
    return f"{text[: _fitting(text, width - 1)]}…"


def pad(text: str, width: int, *, right: bool = False) -> str:
    """`text` filled up with spaces to `width` columns."""
    space = " " * max(0, width - width_of(text))
    return space + text if right else text + space


def wrapped(line: str, width: int) -> list[str]:
    """One line as lines of at most `width` columns, broken at spaces where there are any."""
    if width_of(line) <= width:
        return [line]
    lines, start = [], 0
    while start < len(line):
        window = line[start : start + 4 * width]  # not all of it: a line may be megabytes long
        end = max(1, _fitting(window, width))
        space = window.rfind(" ", end // 2, end + 1)
        if start + end == len(line) or space < 1:
            lines.append(window[:end])
            start += end
        else:
            lines.append(window[:space])
            start += space + 1
    return lines


def columns(stream: TextIO | None) -> int | None:
    """The width of the terminal behind `stream`; None when there is no terminal."""
    try:
        if stream is None or not stream.isatty():
            return None
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError):
        return None


def use_utf8() -> None:
    """Standard streams write UTF-8, and show what no encoding can write instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=_SURROGATES_SHOWN)


def _width_of_character(character: str) -> int:
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.category(character) in ("Mn", "Me", "Cf") else 1


def _fitting(text: str, width: int) -> int:
    """How many characters of the text fit into `width` columns."""
    used = 0
    for index, character in enumerate(text):
        used += _width_of_character(character)
        if used > width:
            return index
    return len(text)
