"""Pointer lines and closets as they are written, and what they are called.

This file owns the line, `topic|entities|→ids` or `topic|entities|YYYY-MM-DD:Lx-Ly|→ids`, its
escapes, the packing of lines into closets and the ids of closets. Making lines from a text is left
to `closets`.
"""

from __future__ import annotations

from collections.abc import Sequence

from camillo.records import NamedTuple

__all__ = [
    "CLOSET_VERSION",
    "ClosetLine",
    "ClosetRules",
    "closet_id",
    "pack",
    "parse_line",
    "pointers",
    "render_line",
    "said",
]

# Raised whenever the same text would give other lines; an older one means: mine the source again.
CLOSET_VERSION = 1


class ClosetRules(NamedTuple):
    """How much of a source becomes lines. `window` 0 reads all of it."""

    topics: int = 12
    quotes: int = 3
    entities: int = 5
    ids_per_line: int = 3
    closet_chars: int = 1_500
    window: int = 0
    definitions: bool = True


class ClosetLine(NamedTuple):
    """One pointer: what stands where, on which day."""

    topic: str
    entities: tuple[str, ...]
    date: str | None
    line_start: int | None
    line_end: int | None
    ids: tuple[str, ...]


# Lines. A backslash keeps the next separator; U+2424 and U+240D stand for line ends, so that an
# old line with a Windows path in it (`c:\new`) still reads as it was written.

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "|": "\\|", "→": "\\→", ";": "\\;", ",": "\\,", "\n": "\\␤", "\r": "\\␍"}
)
_TOPIC_ESCAPES = str.maketrans({"\\": "\\\\", "|": "\\|", "→": "\\→", "\n": "\\␤", "\r": "\\␍"})
_ESCAPED = r"\\([\\|→;,␤␍])"
_LINE_ENDS = {"␤": "\n", "␍": "\r"}


def render_line(line: ClosetLine) -> str:
    """The line as stored: four fields where date and lines are known, else three."""
    fields = [
        line.topic.translate(_TOPIC_ESCAPES),
        ";".join(entity.translate(_ESCAPES) for entity in line.entities),
    ]
    if line.date and line.line_start is not None and line.line_end is not None:
        fields.append(f"{line.date}:L{line.line_start}-L{line.line_end}")
    return "|".join(fields) + "|→" + ",".join(name.translate(_ESCAPES) for name in line.ids)


def parse_line(text: str) -> ClosetLine | None:
    """A line of either form, ours or an older one without escapes; `None` without a pointer."""
    *head, tail = _fields(text.rstrip("\r\n"), "→")
    if not head:
        return None
    fields = _fields("→".join(head), "|")
    if len(fields) > 1 and not fields[-1]:
        fields.pop()
    dated = _dated(fields[-1]) if len(fields) > 2 else None
    if dated:
        fields.pop()
    date, first, last = dated or (None, None, None)
    # An unescaped bar of an older line belongs to its topic.
    entities = _fields(fields.pop(), ";") if len(fields) > 1 else []
    return ClosetLine(
        _unescaped("|".join(fields)),
        tuple(_unescaped(entity) for entity in entities if entity),
        date,
        first,
        last,
        tuple(_unescaped(name) for name in _fields(tail, ",") if name),
    )


def said(text: str) -> str | None:
    """What a line says, topic and entities as one text, without reading its pointers."""
    head, arrow, _ = text.rpartition("→")
    if not arrow or "\\" in text:
        line = parse_line(text)
        return f"{line.topic} {' '.join(line.entities)}" if line else None
    fields = head.removesuffix("|").split("|")
    if len(fields) > 2 and _dated(fields[-1]):
        fields.pop()
    entities = fields.pop().replace(";", " ") if len(fields) > 1 else ""
    return f"{'|'.join(fields)} {entities}"


def _dated(field: str) -> tuple[str, int, int] | None:
    """`YYYY-MM-DD:Lx-Ly` as date and lines."""
    day, _, lines = field.partition(":L")
    first, _, last = lines.partition("-L")
    if [len(part) for part in day.split("-")] != [4, 2, 2]:
        return None
    digits = f"{day.replace('-', '')}{first}{last}"
    if not (first and last and digits.isascii() and digits.isdigit()):
        return None
    return day, int(first), int(last)


def _fields(text: str, mark: str) -> list[str]:
    """The parts of a text between unescaped marks, still escaped."""
    if "\\" not in text:
        return text.split(mark)
    import re  # 5 ms of a cold start, and few lines have escapes

    field = re.compile(rf"(?s)((?:[^\\{mark}]|\\.|\\\Z)*+)(?:[{mark}]|\Z)")
    parts: list[str] = []
    at = 0
    while at <= len(text):
        found = field.match(text, at)
        assert found is not None
        parts.append(found[1])
        if found.end() == found.end(1):
            break
        at = found.end()
    return parts


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    import re

    return re.sub(_ESCAPED, lambda match: _LINE_ENDS.get(match[1], match[1]), text)


def pointers(closet_text: str) -> list[str]:
    """The drawer ids of a closet in order, each once."""
    lines = (parse_line(line) for line in closet_text.split("\n"))
    return list(dict.fromkeys(name for line in lines if line for name in line.ids))


# Closets


def pack(lines: Sequence[str], limit: int = 1_500) -> list[str]:
    """Closets of at most `limit` characters; a line is never split, a longer one stands alone."""
    closets: list[list[str]] = []
    size = 0
    for line in lines:
        if not closets or size + 1 + len(line) > limit:
            closets.append([line])
            size = len(line)
        else:
            closets[-1].append(line)
            size += 1 + len(line)
    return ["\n".join(closet) for closet in closets]


def closet_id(wing: str, room: str, source: str, number: int) -> str:
    """`closet_{wing}_{room}_{sha256 of the source, 24 digits}_{number}`, numbers from 01."""
    import hashlib  # loads OpenSSL

    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"closet_{wing}_{room}_{digest}_{number:02d}"
