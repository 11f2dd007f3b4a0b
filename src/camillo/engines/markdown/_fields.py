"""The fields of one note file, read with patience: what is wrong is left out and told, with its
line, and the rest of the note stands.

Which keys there are and what they mean is the dialect's. Writing is in `_editing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from camillo.errors import NoteBroken
from camillo.model import Edge
from camillo.text.frontmatter import FrontmatterError, Split, read, readable, split
from camillo.text.printable import printable
from camillo.text.yaml_read import Node, nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Fields", "iso", "listed_edges"]

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0", "")
_INFINITE = float("inf")


class Fields:
    """`problems` grows as fields are read: short strings, `line 5: pinned is 'maybe' …`."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        try:
            self._parts: Split = split(content)
            note = read(content)
        except FrontmatterError as error:
            raise NoteBroken(f"{printable(path)}: {error}", printable(path), error.line) from None
        self.values = {readable(key): _plain(value) for key, value in note.fields.items()}
        self.body = note.body
        self.problems: list[str] = _no_utf8(content)
        self._root: Node | None = None

    @property
    def has_frontmatter(self) -> bool:
        return bool(self._parts.opening)

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".md")

    @property
    def room(self) -> str:
        return self.path.rpartition("/")[0]

    def report(self, what: str, key: str, item: int | None = None) -> None:
        """Adds a problem with the line of a key, or of an item of its list."""
        self.problems.append(f"line {self._line(key, item)}: {what}")

    def text(self, key: str) -> str:
        """A scalar as text: `2024` and `true` as they are written."""
        value = self.values.get(key)
        if isinstance(value, list | dict):
            self.report(f"{key} is no text; left out", key)
            return ""
        return "" if value is None else self._as_written(value, key)

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if isinstance(value, bool):
            return value
        said = str(value).strip().lower() if isinstance(value, str | int) else "?"
        if said in _TRUE or said in _FALSE:
            self.report(f"{key} is {value!r}; write true or false", key)
            return said in _TRUE
        self.report(f"{key} is neither true nor false; taken for false", key)
        return False

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one text counts as several between commas."""
        value = self.values.get(key)
        if value is None:
            return ()
        if isinstance(value, dict):
            self.report(f"{key} is no list; left out", key)
            return ()
        if not isinstance(value, list):
            said = self._as_written(value, key)
            return _once(said.replace("，", ",").replace("、", ",").split(","))
        return _once(self._items(key, value))

    def time(self, key: str) -> int:
        """Milliseconds since 1970 of an ISO date or time (UTC where it names no zone), or of a
        number of milliseconds; 0 for none."""
        value = self.values.get(key)
        if value is None or value == "":
            return 0
        if type(value) is int:
            value = self._as_written(value, key) if 1e7 <= value < 1e8 else value  # 20260131
        if type(value) is int and abs(value) < 2**63:
            return value
        try:
            return _milliseconds(value)
        except (ValueError, OverflowError):
            self.report(f"{key} is no date; write one as 2026-01-31 or 2026-01-31T09:00:00Z", key)
            return 0

    def edges(
        self, source: str, relations: tuple[str, ...], is_target: Callable[[str], bool]
    ) -> tuple[Edge, ...]:
        """What `relations` and `supersedes` say, each once; entries that say nothing are told."""
        made: dict[Edge, None] = {}
        for key in ("relations", "supersedes"):
            value = self.values.get(key)
            if key in self.values and not isinstance(value, list):
                self.report(f"{key} is no list; left out", key)
            for at, (edge, wrong) in enumerate(listed_edges(key, value, relations, is_target)):
                if edge is None:
                    self.report(wrong, key, at)
                elif edge.target == source:
                    self.report(f"{key}: a note has no relation to itself; left out", key, at)
                else:
                    made[edge] = None
        return tuple(made)

    def others(self, known: frozenset[str]) -> dict[str, Any]:
        return {key: value for key, value in self.values.items() if key not in known}

    def _items(self, key: str, values: list[Any]) -> Iterator[str]:
        for at, value in enumerate(values):
            if isinstance(value, list | dict):
                self.report(f"{key}: an entry is no text; left out", key, at)
            elif value is not None:
                yield self._as_written(value, key, at)

    def _as_written(self, value: Any, key: str, item: int | None = None) -> str:
        if isinstance(value, str):
            return value
        node = self._node(key, item)
        return self._parts.text[node.start : node.end] if node else str(value)

    def _line(self, key: str, item: int | None) -> int:
        node = self._node(key, item)
        if node is None:
            return 1
        return self._parts.text_line + self._parts.text.count("\n", 0, node.start)

    def _node(self, key: str, item: int | None = None) -> Node | None:
        """The value of a key, with its place; made on the first question."""
        if self._root is None:
            self._root = nodes(self._parts.text, self._parts.text_line)
        if self._root is None:
            return None
        for name, value in zip(self._root.keys, self._root.inner, strict=True):
            if name.value == key:
                inner = value.inner if item is not None else ()
                return inner[item] if item is not None and item < len(inner) else value
        return None


def listed_edges(
    key: str, value: Any, relations: tuple[str, ...], is_target: Callable[[str], bool]
) -> Iterator[tuple[Edge | None, str]]:
    """For each entry of a list of `relations` or `supersedes`: its edge, or what is wrong."""
    for entry in value if isinstance(value, list) else ():
        target: Any = entry
        relation: Any = "supersedes"
        if key == "relations":
            if not isinstance(entry, dict):
                yield None, f"{key}: an entry has 'to' and 'type'; left out"
                continue
            target, relation = entry.get("to"), entry.get("type")
        if not isinstance(target, str) or not is_target(target):
            yield None, f"{key}: {target!r} is no name of a note; left out"
        elif key == "relations" and relation not in relations:
            yield None, f"{key}: type {relation!r} is none of {', '.join(relations)}; left out"
        else:
            yield Edge(relation, target), ""


def iso(milliseconds: int) -> str | int:
    """The time as ISO 8601 in UTC; the number itself where no calendar has it."""
    from datetime import UTC, datetime, timedelta  # loaded for a note with a time

    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return milliseconds
    exact = "milliseconds" if milliseconds % 1000 else "seconds"
    return moment.isoformat(timespec=exact).replace("+00:00", "Z")


def _milliseconds(value: Any) -> int:
    if not isinstance(value, str):
        raise ValueError(value)
    from datetime import UTC, datetime, timedelta

    moment = datetime.fromisoformat(value.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _no_utf8(content: bytes) -> list[str]:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        return [f"line {line}: bytes that are no UTF-8; shown as \ufffd, and kept as they are"]
    return []


def _once(texts: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _plain(value: Any) -> Any:
    """As JSON can hold it: text without lone surrogates, a number beyond all numbers as text."""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float) and not abs(value) < _INFINITE:
        return repr(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {readable(key): _plain(item) for key, item in value.items()}
    return value
