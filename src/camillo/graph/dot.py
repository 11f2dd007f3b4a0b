"""A neighbourhood as a Graphviz digraph.

Format: `"id" [label="name (kind)"];` a line, then `"id" -> "id" [label="relation"];`. What is
missing is drawn dashed.
"""

from __future__ import annotations

from camillo.graph.labels import label, names, one_line
from camillo.graph.walk import Neighbourhood

__all__ = ["dot"]

# In a label Graphviz reads backslash sequences and HTML entities; both are quoted away.
_IN_LABEL = str.maketrans({'"': '\\"', "\\": "\\\\", "&": "&amp;"})
_IN_ID = str.maketrans({'"': '\\"', "\\": "\\\\"})


def dot(view: Neighbourhood, *, title: str = "camillo") -> str:
    """`title` is the name of the digraph."""
    ids = {key: id.translate(_IN_ID) for key, id in names(view.nodes).items()}
    lines = [f"digraph {_name(title)} {{", "  rankdir=LR;"]
    for node in view.nodes:
        style = "" if node.present else ", style=dashed"
        lines.append(f'  "{ids[node.key]}" [label="{label(node).translate(_IN_LABEL)}"{style}];')
    for edge in view.edges:
        style = ", style=dashed" if edge.dangling else ""
        relation = one_line(edge.relation).translate(_IN_LABEL)
        ends = f'"{ids[edge.source]}" -> "{ids[edge.target]}"'
        lines.append(f'  {ends} [label="{relation}"{style}];')
    if view.truncated:
        lines.append("  // there is more than is drawn")
    return "\n".join([*lines, "}"]) + "\n"


def _name(title: str) -> str:
    if title.isascii() and title.isidentifier():
        return title
    return f'"{one_line(title).translate(_IN_ID)}"'
