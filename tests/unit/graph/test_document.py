"""A neighbourhood or a path as JSON."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from camillo.graph.document import as_json, document, path_document
from camillo.graph.edges import graph_of
from camillo.graph.path import shortest_path
from camillo.graph.walk import walk
from unit.graph.specimens import graph, key, memory, two


def test_root_nodes_and_edges() -> None:
    made = graph_of([memory("a ~b", kind="fact", summary="first"), memory("b", title="second")])
    assert document(walk(made, key("a"))) == {
        "root": {"name": "a", "type": "fact", "description": "first"},
        "nodes": [
            {"name": "a", "type": "fact", "description": "first"},
            {"name": "b", "type": "fact", "description": "second"},
        ],
        "edges": [{"from": "a", "to": "b", "type": "related-to"}],
    }


def test_only_what_is_missing_is_marked() -> None:
    view = walk(graph("a ~b ~gone", "b"), key("a"), dangling=True)
    made = document(view)
    assert [node["name"] for node in made["nodes"] if "dangling" in node] == ["gone"]
    assert [edge["to"] for edge in made["edges"] if "dangling" in edge] == ["gone"]
    assert "truncated" not in made
    assert document(view._replace(truncated=True))["truncated"] is True


def test_a_path_or_the_reason_why_there_is_none() -> None:
    made = graph("a ~b", "b >c", "c")
    assert path_document(shortest_path(made, key("a"), key("c"))) == {
        "path": [
            {"from": "a", "to": "b", "type": "related-to"},
            {"from": "b", "to": "c", "type": "builds-on"},
        ]
    }
    assert path_document(shortest_path(made, key("a"), key("a"))) == {"path": []}
    missing = path_document(shortest_path(made, key("c"), key("a")))
    assert missing == {"path": None, "reason": "unreachable"}


@given(st.text(st.characters(codec=None)))
def test_any_text_survives(id: str) -> None:
    text = as_json(two(id, "z"))
    assert json.loads(text.encode())["root"]["name"] == id
    assert text.endswith("}\n")
