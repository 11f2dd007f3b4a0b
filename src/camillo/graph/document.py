"""A neighbourhood or a path as plain dicts, and as JSON text.

Format: `{root, nodes, edges}` with nodes `{name, type, description}` and edges
`{from, to, type}`; a path is `{path}`, with a `reason` where there is none. `dangling` stands only
on what has an end missing, `truncated` only where there is more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from camillo.graph.edges import GraphEdge, Node
from camillo.graph.path import Path
from camillo.graph.walk import Neighbourhood

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["as_json", "document", "path_document"]


def document(view: Neighbourhood) -> dict[str, Any]:
    made: dict[str, Any] = {
        "root": _node(view.root),
        "nodes": [_node(node) for node in view.nodes],
        "edges": _edges(view.edges),
    }
    return {**made, "truncated": True} if view.truncated else made


def path_document(path: Path) -> dict[str, Any]:
    if path.edges is None:
        return {"path": None, "reason": path.reason}
    return {"path": _edges(path.edges)}


def as_json(view: Neighbourhood) -> str:
    """The document with two spaces of indent and a line end."""
    content = document(view)
    text = json.dumps(content, indent=2, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair: only as an escape
        text = json.dumps(content, indent=2)
    return text + "\n"


def _node(node: Node) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": node.key.id,
        "type": node.kind,
        "description": node.summary or node.title,
    }
    return made if node.present else {**made, "dangling": True}


def _edges(edges: Sequence[GraphEdge]) -> list[dict[str, Any]]:
    return [_edge(edge) for edge in edges]


def _edge(edge: GraphEdge) -> dict[str, Any]:
    made: dict[str, Any] = {
        "from": edge.source.id,
        "to": edge.target.id,
        "type": edge.relation,
    }
    return {**made, "dangling": True} if edge.dangling else made
