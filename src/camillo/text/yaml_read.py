"""YAML of a frontmatter as values, each with its place in the text.

The meaning is YAML 1.2 core: `yes`, `no`, `on`, dates and `12:30` are strings, `017` is seventeen,
`<<` is a key like any other. Anchors, aliases, duplicate keys, further documents, more than 64 KiB
and more than 32 levels are refused. PyYAML finds the structure, loaded when a frontmatter is read;
values are made here. Where a frontmatter lies in a note is in `frontmatter`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from camillo.errors import InvalidValue
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, TypeAlias

    import yaml

    Value: TypeAlias = str | int | float | bool | list["Value"] | dict[str, "Value"] | None

__all__ = ["DEEPEST", "LARGEST", "FrontmatterError", "Node", "nodes", "values"]

# A frontmatter of people and tools has some hundred characters. One beyond this is a body that got
# between the delimiters, or an attack; each scan of a folder that saw it change would parse it.
LARGEST = 64 * 1024
DEEPEST = 32

_CORE = "tag:yaml.org,2002:"
_NULL = ("", "~", "null", "Null", "NULL")
_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
_INTEGER = r"[-+]?[0-9]+"
_BASED = r"0o[0-7]+|0x[0-9a-fA-F]+"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
_INFINITE = r"[-+]?\.(?:inf|Inf|INF)"
_NAN = (".nan", ".NaN", ".NAN")
_MOST_DIGITS = 4000  # Python's own limit is 4300

_STYLES = {"'": "quoted", '"': "quoted", "|": "block", ">": "block"}

# Ordinary characters to YAML 1.2 or to the tools that write notes; PyYAML follows 1.1 and takes
# them for line breaks, for marks or for errors. They are read as private-use characters.
_STRANGE = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]"
_PRIVATE = 0x100000
# A block that starts with a tab, an escaped half of a surrogate pair: each such place is one more
# pass.
_MOST_MENDED = 20
_QUOTED_REST = r'(?:[^"\\]|\\.)*'
_HALF_ESCAPE = r"\\(?:u([dD][89a-fA-F][0-9a-fA-F]{2})|.)"

_HINTS = {
    "mapping values are not allowed": "a value that holds ': ' needs quotes",
    "cannot start any token": "a value that starts with '@', '%' or a backtick needs quotes, and "
    "lines are indented with spaces",
    "undefined alias": "a value that starts with '*' needs quotes",
    "end of stream": "a quote or a bracket is not closed",
    "could not find expected ':'": "each line is 'key: value'",
}


class FrontmatterError(InvalidValue):
    """A frontmatter that cannot be read or edited; `line` counts from 1, in the file."""

    code = "invalid-frontmatter"

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"frontmatter, line {line}: {message}")
        self.line = line


class Node(NamedTuple):
    """A value and where it stands: `start` and `end` are offsets, in characters.

    `style` is "plain", "quoted", "block", "flow" (a collection in brackets), "sequence" or
    "mapping". `keys` has a node for each key of a mapping, `inner` one for each of its values or
    for each item. `end` is behind the last character of the value, not behind its line.
    """

    value: Any
    start: int
    end: int
    style: str
    keys: tuple[Node, ...] = ()
    inner: tuple[Node, ...] = ()


def values(text: str, line: int = 1) -> dict[str, Value]:
    """The mapping that `text` holds; an empty one when it holds nothing.

    `line` is that of the file on which `text` starts. Raises FrontmatterError.
    """
    root = nodes(text, line)
    return root.value if root else {}


def nodes(text: str, line: int = 1) -> Node | None:
    """As `values`, with places; None when `text` holds nothing."""
    if len(text) > LARGEST:
        raise FrontmatterError(
            f"{len(text):,} characters are too many; {LARGEST:,} are read. Is the closing '---' "
            "missing?",
            line,
        )
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    sent = _Disguise(text)
    for _ in range(_MOST_MENDED):
        try:
            root = _Composer(yaml, loader, sent, line).root()
        except yaml.YAMLError as error:
            if sent.mend(error):
                continue
            raise _explained(error, line) from None
        if root and not isinstance(root.value, dict):
            starts = line + text.count("\n", 0, root.start)
            raise FrontmatterError("not a mapping of keys to values", starts)
        return root
    raise FrontmatterError("too many blocks start with a tab", line)


class _Composer:
    """One pass over the events of a parser."""

    def __init__(self, library: Any, loader: Any, sent: _Disguise, line: int) -> None:
        self._yaml = library
        self._events: Iterator[Any] = library.parse(sent.text, Loader=loader)
        self._sent = sent
        self._line = line

    def root(self) -> Node | None:
        self._next()  # the stream
        event = self._next()
        if isinstance(event, self._yaml.StreamEndEvent):
            return None
        root = self._node(self._next(), 0)
        self._next()  # the document's end
        event = self._next()
        if not isinstance(event, self._yaml.StreamEndEvent):
            self._refuse("a second document starts here; a frontmatter is one", event)
        return root

    def _next(self) -> Any:
        return next(self._events)

    def _node(self, event: Any, depth: int) -> Node:
        if isinstance(event, self._yaml.AliasEvent) or event.anchor is not None:
            self._refuse(
                "anchors (&name) and aliases (*name) are not read; write the value out, or quote "
                "a value that starts with '&' or '*'",
                event,
            )
        if depth > DEEPEST:
            self._refuse(f"more than {DEEPEST} levels", event)
        if isinstance(event, self._yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, self._yaml.MappingStartEvent):
            return self._mapping(event, depth)
        return self._sequence(event, depth)

    def _scalar(self, event: Any) -> Node:
        text = self._sent.restored(event.value)
        style = _STYLES.get(event.style, "plain")
        if event.tag is not None:
            value = _tagged(text, event.tag)
        else:
            value = _resolved(text) if style == "plain" else text
        start, end = event.start_mark.index, event.end_mark.index
        if style == "block":
            end = start + len(self._sent.text[start:end].rstrip())
        return Node(value, start, end, style)

    def _sequence(self, event: Any, depth: int) -> Node:
        inner = []
        while not isinstance(ending := self._next(), self._yaml.SequenceEndEvent):
            inner.append(self._node(ending, depth + 1))
        return self._collection([node.value for node in inner], event, ending, (), tuple(inner))

    def _mapping(self, event: Any, depth: int) -> Node:
        keys: list[Node] = []
        inner: list[Node] = []
        value: dict[str, Any] = {}
        while not isinstance(ending := self._next(), self._yaml.MappingEndEvent):
            key = self._key(ending, value)
            keys.append(key)
            inner.append(self._node(self._next(), depth + 1))
            value[key.value] = inner[-1].value
        return self._collection(value, event, ending, tuple(keys), tuple(inner))

    def _key(self, event: Any, seen: dict[str, Any]) -> Node:
        """A key is its text as written: `1` is "1", `true` is "true"."""
        if not isinstance(event, self._yaml.ScalarEvent):
            self._refuse("a key is text, not a list, a mapping or an alias", event)
        node = self._node(event, 0)._replace(value=self._sent.restored(event.value))
        if node.value in seen:
            self._refuse(f"{node.value!r} stands here a second time; keep one of them", event)
        return node

    def _collection(
        self, value: Any, event: Any, ending: Any, keys: tuple[Node, ...], inner: tuple[Node, ...]
    ) -> Node:
        start = event.start_mark.index
        if event.flow_style:
            return Node(value, start, ending.end_mark.index, "flow", keys, inner)
        # The end that a parser reports is the start of what follows.
        end = max(node.end for node in (*keys, *inner)) if inner else event.end_mark.index
        return Node(value, start, end, "mapping" if keys else "sequence", keys, inner)

    def _refuse(self, message: str, event: Any) -> NoReturn:
        raise FrontmatterError(message, self._line + event.start_mark.line)


class _Disguise:
    """A text as PyYAML can read it, of the same length: private-use characters stand for strange
    ones, and for what it turned out to mind."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._back: dict[int, str] = {}
        self._present = set(text)
        strange = sorted(set(re.findall(_STRANGE, text)))
        if strange:
            self.text = text.translate({ord(one): self._stand_in(one) for one in strange})

    def restored(self, text: str) -> str:
        if self._back:
            text = text.translate(self._back)
        if not re.search("[\ud800-\udfff]", text):
            return text
        # An escape may name the halves of a pair one by one.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

    def mend(self, error: Any) -> bool:
        """Whether `error` came of something that is YAML to the tools that write notes, and is
        hidden from now on."""
        problem = getattr(error, "problem", None) or ""
        at = error.problem_mark.index if getattr(error, "problem_mark", None) else 0
        if "found a tab character where an indentation" in problem and self.text[at] == "\t":
            self.text = self.text[:at] + self._stand_in("\t") + self.text[at + 1 :]
            return True
        if "invalid Unicode character escape" in problem:
            quoted = re.compile(_QUOTED_REST, re.DOTALL).match(self.text, at - 2)
            before = self.text
            if quoted:
                rest = re.sub(_HALF_ESCAPE, self._half, quoted[0], flags=re.DOTALL)
                self.text = before[: at - 2] + rest + before[quoted.end() :]
            return self.text != before
        return False

    def _half(self, escape: re.Match[str]) -> str:
        if not escape[1]:
            return escape[0]
        return self._stand_in(chr(int(escape[1], 16))) + self._stand_in("") * 5

    def _stand_in(self, meant: str) -> str:
        """The character that stands for `meant`."""
        for code, known in self._back.items():
            if known == meant:
                return chr(code)
        code = max(self._back, default=_PRIVATE - 1) + 1
        while chr(code) in self._present:
            code += 1
        self._back[code] = meant
        return chr(code)


def _resolved(text: str) -> Value:
    """What plain text stands for in the core schema."""
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text[0] not in "+-.0123456789" or len(text) > _MOST_DIGITS:
        return text
    if re.fullmatch(_INTEGER, text):
        return int(text)
    if re.fullmatch(_BASED, text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    if re.fullmatch(_FLOAT, text):
        return float(text)
    if re.fullmatch(_INFINITE, text):
        return float(text.replace(".", ""))
    return float("nan") if text in _NAN else text


def _tagged(text: str, tag: str) -> Value:
    """`!!int "3"` is 3; with another tag, `!` among them, a scalar is text."""
    value = _resolved(text)
    if tag == _CORE + "float" and type(value) is int:
        return float(value)
    kinds = {"int": int, "float": float, "bool": bool, "null": type(None)}
    wanted = kinds.get(tag.removeprefix(_CORE))
    return value if wanted and type(value) is wanted else text


def _explained(error: yaml.YAMLError, line: int) -> FrontmatterError:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
    context = getattr(error, "context", None) or ""
    told = f"{context}: {problem}" if context else problem
    hint = next((f"; {hint}" for sign, hint in _HINTS.items() if sign in told), "")
    # A quote that is not closed is noticed at the end, and is to be mended where it starts.
    mark = getattr(error, "context_mark" if "end of stream" in told else "problem_mark", None)
    return FrontmatterError(f"not valid YAML: {told}{hint}", line + (mark.line if mark else 0))
