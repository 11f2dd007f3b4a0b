"""What a node is called in a drawing: one line of printable text, not yet escaped for a format.

Ids, titles and relations may hold anything that a person or a mined file put there: line ends,
control characters, marks that turn the direction of writing. Each format escapes the rest itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from camillo.graph.edges import Node
from camillo.model import Key, short_id
from camillo.text.graphemes import safe_cut
from camillo.text.printable import printable

__all__ = ["MISSING", "caption", "label", "name", "names", "one_line"]

MISSING = "missing"

_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_NO_XML = "\ufffe\uffff"
_SPACES = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
_PLAIN = {**dict.fromkeys(_SPACES, " "), **dict.fromkeys(map(ord, _TURNING + _NO_XML), "")}


def one_line(text: str, most: int = 0) -> str:
    """`text` on one line without control characters, cut to `most` characters with an ellipsis
    (0 = whole)."""
    line = " ".join(printable(text).translate(_PLAIN).split())
    if most and len(line) > most:
        return line[: safe_cut(line, most - 1)].rstrip() + "…"
    return line


def name(node: Node) -> str:
    """A note's slug; the title of what has an id of our making, or that id's first characters."""
    short = short_id(node.key.id)
    if short != node.key.id and node.title:
        return one_line(node.title)
    return one_line(short)


def caption(node: Node) -> str:
    """The kind, or that it is missing."""
    return one_line(node.kind) if node.present else MISSING


def label(node: Node) -> str:
    """`name (kind)`."""
    kind = caption(node)
    return f"{name(node)} ({kind})" if kind else name(node)


def names(nodes: Iterable[Node]) -> dict[Key, str]:
    """A different name for every node: its id, numbered where two would have the same."""
    given: dict[Key, str] = {}
    times: dict[str, int] = {}
    taken: set[str] = set()
    for node in nodes:
        plain = wanted = one_line(node.key.id)
        while wanted in taken:
            times[plain] = times.get(plain, 1) + 1
            wanted = f"{plain} ({times[plain]})"
        taken.add(wanted)
        given[node.key] = wanted
    return given
