"""A neighbourhood as a Mermaid flowchart, in a fence as Markdown shows it.

Format: `id["name (kind)"]` a line, then `id -- "relation" --> id`; dotted where an end is missing.
An id of letters, digits and underscores stays as it is, any other becomes `n` and a number.
"""

from __future__ import annotations

from collections.abc import Iterable

from camillo.graph.edges import Node
from camillo.graph.labels import label, one_line
from camillo.graph.walk import Neighbourhood
from camillo.model import Key

__all__ = ["mermaid"]

# An id that reads as one of these ends the drawing.
_WORDS = frozenset(
    {"accdescr", "acctitle", "call", "class", "classdef", "click", "default", "direction", "end"}
    | {"_blank", "_parent", "_self", "_top"}
    | {"flowchart", "graph", "href", "interpolate", "linkstyle", "style", "subgraph"}
)
_PLAIN = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
# Mermaid's own entities. `%` would open a directive, `:` before an entity loses its semicolon.
_ENTITIES = str.maketrans(
    {char: f"#{ord(char)};" for char in '#"&<>`%:'},
)


def mermaid(view: Neighbourhood, *, fenced: bool = True) -> str:
    ids = _ids(view.nodes)
    lines = ["flowchart LR"]
    lines += [f'  {ids[node.key]}["{_escaped(label(node))}"]' for node in view.nodes]
    for edge in view.edges:
        start, end = ("-.", ".->") if edge.dangling else ("--", "-->")
        relation = _escaped(one_line(edge.relation))
        lines.append(f'  {ids[edge.source]} {start} "{relation}" {end} {ids[edge.target]}')
    if view.truncated:
        lines.append("  %% there is more than is drawn")
    if fenced:
        lines = ["```mermaid", *lines, "```"]
    return "\n".join(lines) + "\n"


def _ids(nodes: Iterable[Node]) -> dict[Key, str]:
    nodes = list(nodes)
    plain = {node.key.id for node in nodes if _is_plain(node.key.id)}
    ids: dict[Key, str] = {}
    taken: set[str] = set()
    for number, node in enumerate(nodes):
        id = node.key.id
        if id not in plain or id in taken:
            id = f"n{number}"
            while id in plain:
                id += "_"
        taken.add(id)
        ids[node.key] = id
    return ids


def _is_plain(id: str) -> bool:
    return bool(id) and _PLAIN.issuperset(id) and id.lower() not in _WORDS


def _escaped(text: str) -> str:
    return text.translate(_ENTITIES)
