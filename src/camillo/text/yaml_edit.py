"""Changing keys of a note's frontmatter and nothing else.

The lines of a changed key are replaced, new keys get lines of their own, and every other byte
stays: unknown keys, comments, order, the body, CRLF, a byte order mark, a missing final newline.
Places come from the YAML parser. What was made is read again, and refused when another key has a
new value. Of a list in lines, the items that stay keep their lines; another comment in the middle
of a changed value goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from camillo.records import NamedTuple
from camillo.text.frontmatter import FrontmatterError, Split, readable, split, to_bytes, to_text
from camillo.text.yaml_read import Node, nodes
from camillo.text.yaml_write import KEY_ORDER, item_text, pair_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr, Final

__all__ = ["REMOVE", "edit"]

_KEEPS = r"(?:!\S+[ \t]+)*[|>]\d?\+"


class _Remove:
    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()  # as a value: take the key out


class _Entry(NamedTuple):
    """A key and its value, which ends at `content`. Their lines are from `start` to `after`; up to
    `end` follow comments that are indented deeper than the key."""

    key: Node
    value: Node
    start: int
    content: int
    after: int
    end: int


def edit(content: AnyStr, changes: Mapping[str, Any]) -> AnyStr:
    """`content` with `changes` to its top-level keys; the same object when they change nothing.

    A new key goes where `KEY_ORDER` has it, else to the end. A note without a frontmatter gets one.
    Raises FrontmatterError when the frontmatter cannot be read, or a key cannot be changed alone;
    InvalidValue for a value that YAML cannot hold.
    """
    given: Any = content
    text = to_text(given) if isinstance(given, bytes) else given
    made: Any = _edited(text, changes)
    if made == text:
        return content
    if isinstance(given, bytes):
        made = to_bytes(made)
    return made  # type: ignore[no-any-return]


def _edited(text: str, changes: Mapping[str, Any]) -> str:
    parts = split(text)
    root = nodes(parts.text, parts.text_line)
    now = root.value if root else {}
    changes = {key: new for key, new in changes.items() if not _stands(now, key, new)}
    if not changes:
        return text
    if root and root.style == "flow":
        raise FrontmatterError(
            "keys in braces are not edited; write one key a line", parts.text_line
        )
    if not parts.opening:
        return _with_frontmatter(parts, changes)
    for gently in (True, False):  # the items of lists and deeper comments as they are, or not
        pieces = _applied(parts, root, changes, gently)
        made = parts._replace(text=_joined(parts.text, pieces)).join()
        if _is_right(made, parts, now, changes):
            return made
    raise FrontmatterError(
        f"{', '.join(map(repr, changes))} cannot be changed without touching other lines; "
        "edit the file by hand",
        _first_line(parts, root, changes),
    )


def _stands(now: Mapping[str, Any], key: str, new: Any) -> bool:
    if new is REMOVE:
        return key not in now
    return key in now and _same(now[key], new)


def _same(one: Any, other: Any) -> bool:
    """Equal in value and in kind: 1, 1.0 and true are three values. Text is compared as it is read,
    bytes that are no UTF-8 as U+FFFD."""
    if isinstance(one, str) and isinstance(other, str):
        return readable(one) == readable(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and (one == other or (one != one and other != other))


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _with_frontmatter(parts: Split, changes: Mapping[str, Any]) -> str:
    lines = "".join(pair_text(key, changes[key]) for key in _in_order(changes))
    text = f"---\n{lines}---\n".replace("\n", parts.newline)
    return parts.bom + text + parts.body


def _in_order(keys: Mapping[str, Any]) -> list[str]:
    known = [key for key in KEY_ORDER if key in keys]
    return known + [key for key in keys if key not in KEY_ORDER]


def _joined(text: str, pieces: list[tuple[int, int, str]]) -> str:
    """`text` with each (start, end, replacement) of `pieces`, which do not overlap."""
    made = []
    at = 0
    # An insertion comes before what starts at the same place.
    for start, end, replacement in sorted(pieces, key=lambda piece: piece[:2]):
        made += [text[at:start], replacement]
        at = end
    return "".join([*made, text[at:]])


def _applied(
    parts: Split, root: Node | None, changes: Mapping[str, Any], gently: bool
) -> list[tuple[int, int, str]]:
    entries = {entry.key.value: entry for entry in _entries(parts.text, root)}
    indent = _column(parts.text, root.start) if root else 0
    pieces: list[tuple[int, int, str]] = []
    before: _Entry | None = None
    for key, entry in entries.items():
        if key in changes:
            lines = _lines(parts.text, entry, changes[key], indent, gently)
            comments = parts.text[entry.after : entry.end]
            if not gently:
                # They might be read as a part of this value, or of the one before.
                comments = re.sub(r"^[ \t]+(?=#)", " " * indent, comments, flags=re.MULTILINE)
            end = entry.end
            if _ends_blank(lines) if lines else before and _keeps(parts.text, before):
                # Blank lines would become a part of it too.
                comments = comments[_after_blank_lines(comments, 0) :]
                end = end if comments else _after_blank_lines(parts.text, end)
            made = (lines + comments.replace("\r\n", "\n")).replace("\n", parts.newline)
            pieces.append((entry.start, end, made))
            entries[key] = entry = entry._replace(end=end)
        before = entry
    added: dict[int, str] = {}
    for key in _in_order(changes):
        if key not in entries and changes[key] is not REMOVE:
            at = _place(key, list(entries.values()), len(parts.text))
            added[at] = added.get(at, "") + pair_text(key, changes[key], indent)
    for at, lines in added.items():
        end = _after_blank_lines(parts.text, at) if _ends_blank(lines) else at
        pieces.append((at, end, lines.replace("\n", parts.newline)))
    return pieces


def _entries(text: str, root: Node | None) -> Iterator[_Entry]:
    if root is None:
        return
    for key, value in zip(root.keys, root.inner, strict=True):
        start = text.rfind("\n", 0, key.start) + 1
        content = max(key.end, value.end)
        after = text.find("\n", content) + 1 or len(text)
        entry = _Entry(key, value, start, content, after, after)
        if _keeps(text, entry):
            after = _after_blank_lines(text, after)
        deeper = re.compile(rf"(?:(?:[ \t]*\r?\n)*[ ]{{{key.start - start + 1},}}[ \t]*#.*\n)*")
        comments = deeper.match(text, after)
        end = comments.end() if comments else after
        yield entry._replace(after=after, end=end)


def _column(text: str, offset: int) -> int:
    return offset - (text.rfind("\n", 0, offset) + 1)


def _place(key: str, entries: list[_Entry], default: int) -> int:
    """Where the lines of a new key go: behind the key that comes before it in `KEY_ORDER`, else
    before the one that comes after it, else behind all."""
    if key in KEY_ORDER:
        rank = KEY_ORDER.index(key)
        ranked = {entry.key.value: entry for entry in entries if entry.key.value in KEY_ORDER}
        for other in reversed(KEY_ORDER[:rank]):
            if other in ranked:
                return ranked[other].end
        for other in KEY_ORDER[rank:]:
            if other in ranked:
                return ranked[other].start
    return entries[-1].end if entries else default


def _lines(text: str, entry: _Entry, new: Any, indent: int, gently: bool) -> str:
    """The new lines of a key, with "\\n"; "" for one that is taken out."""
    if new is REMOVE:
        return ""
    if gently and entry.value.style == "sequence" and _is_list(new) and new:
        kept = _with_items(text, entry, new)
        if kept:
            return kept
    lines = pair_text(entry.key.value, new, indent)
    beside = text[entry.content : entry.after].rstrip()
    if not beside.lstrip().startswith("#"):
        return lines
    if lines.count("\n") == 1:
        return lines.removesuffix("\n") + beside + "\n"
    return " " * indent + beside.lstrip() + "\n" + lines


def _with_items(text: str, entry: _Entry, new: Sequence[Any]) -> str:
    """The lines of a list in which the items that stay, in their order, keep their own; "" when
    none stays."""
    ends = [text.find("\n", node.end) + 1 or len(text) for node in entry.value.inner]
    head = text.find("\n", entry.key.end) + 1
    starts = [head, *ends[:-1]]  # an item has the comments above it
    column = _column(text, entry.value.start)
    made = [text[entry.start : head]]
    at = 0
    for item in new:
        found = _find(entry.value.inner, item, at)
        if found is None:
            made.append(item_text(item, column))
        else:
            made.append(text[starts[found] : ends[found]])
            at = found + 1
    return "".join(made).replace("\r\n", "\n") if at else ""


def _find(items: Sequence[Node], value: Any, at: int) -> int | None:
    return next((k for k in range(at, len(items)) if _same(items[k].value, value)), None)


def _keeps(text: str, entry: _Entry) -> bool:
    """Whether blank lines behind the value may be its own: those of a block `|+` or `>+`."""
    last = entry.value
    while last.inner:
        last = last.inner[-1]
    return last.style == "block" and re.match(_KEEPS, text[last.start :]) is not None


def _ends_blank(lines: str) -> bool:
    return not lines.rstrip("\n").rpartition("\n")[2].strip() or lines.endswith("\n\n")


def _after_blank_lines(text: str, at: int) -> int:
    blank = re.compile(r"(?:[ \t]*\r?\n)*").match(text, at)
    return blank.end() if blank else at


def _is_right(
    made: str, parts: Split, before: Mapping[str, Any], changes: Mapping[str, Any]
) -> bool:
    """Whether `made` says what it should: the changed keys their new values, all others theirs."""
    try:
        again = split(made)
        root = nodes(again.text, again.text_line)
    except FrontmatterError:
        return False
    now = root.value if root else {}
    wanted = {key: value for key, value in {**before, **changes}.items() if value is not REMOVE}
    return again.body == parts.body and _same(now, wanted)


def _first_line(parts: Split, root: Node | None, changes: Mapping[str, Any]) -> int:
    starts = [key.start for key in root.keys if key.value in changes] if root else []
    return parts.text_line + parts.text.count("\n", 0, min(starts, default=0))
