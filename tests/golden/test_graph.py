"""Walks, paths and drawings against what the reference printed for the same memories.

The recordings lie beside the checkout, or in the folder that CAMILLO_GOLDEN names; without them
nothing here runs.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from camillo.errors import CamilloError, InvalidValue, NotFound, UnknownName
from camillo.graph.document import as_json, document, path_document
from camillo.graph.dot import dot
from camillo.graph.edges import AUTHORED, Graph, graph_of
from camillo.graph.mermaid import mermaid
from camillo.graph.path import Path as Way
from camillo.graph.path import shortest_path
from camillo.graph.walk import Neighbourhood, walk
from camillo.model import Edge, Key, Memory
from camillo.text.mentions import mentions

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "golden"
GOLDEN = Path(os.environ.get("CAMILLO_GOLDEN") or BESIDE)

if not (GOLDEN / "cli.json").is_file():
    pytest.skip("no recordings of the reference: set CAMILLO_GOLDEN", allow_module_level=True)

FIXTURES = GOLDEN / "upstream_graph_fixtures"


@cache
def recorded(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def note(path: Path, scope: str) -> Memory | None:
    """Reads what the recorded stores hold: flat keys, relations, supersedes."""
    found = re.fullmatch(r"---\n(.*?)\n---\n(.*)", path.read_text(encoding="utf-8"), re.DOTALL)
    if found is None:
        return None
    head, body = found.groups()
    keys = dict(re.findall(r"^(\w+): (.*)$", head, re.MULTILINE))
    edges = [
        Edge(relation, to) for to, relation in re.findall(r"- to: (\w+)\n    type: ([\w-]+)", head)
    ]
    _, _, superseded = head.partition("supersedes:\n")
    edges += [Edge("supersedes", to) for to in re.findall(r"^  - (\w+)$", superseded, re.MULTILINE)]
    return Memory(
        keys["name"],
        body,
        kind=keys["type"],
        summary=keys["description"],
        scope=scope,
        edges=tuple(edges),
    )


@cache
def store() -> Graph:
    notes = [
        note(path, scope)
        for scope in ("user", "project")
        for path in sorted((GOLDEN / f"store_{scope}").glob("*.md"))
    ]
    return graph_of([each for each in notes if each is not None], mentions)


def resolved(name: str, scope: str | None) -> Key:
    """As the reference takes a name: the only scope that has it, user when none has."""
    keys = [key for key in store().named(name) if scope in (None, "both", key.scope)]
    if len(keys) > 1:
        raise InvalidValue(f"{name!r} is in several scopes")
    return keys[0] if keys else Key("", "user", "", name)


def drawn(view: Neighbourhood, format: str) -> str:
    if format == "dot":
        return dot(view, title="commonplace")
    return as_json(view) if format == "json" else mermaid(view)


def on_command_line(arguments: list[str]) -> str:
    name, *rest = arguments
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    view = walk(
        store(),
        resolved(name, options.get("--scope")),
        depth=int(options.get("--depth", 1)),
        types=options["--types"].split(",") if "--types" in options else AUTHORED,
        direction=options.get("--direction", "both"),
    )
    return drawn(view, options.get("--format", "mermaid"))


def by_tool(name: str, given: dict[str, Any]) -> dict[str, Any]:
    if name == "memory_path":
        return path_document(way(given))
    view = walk(
        store(),
        resolved(given["name"], given.get("scope")),
        depth=given.get("depth", 1),
        types=given.get("types", AUTHORED),
        direction=given.get("direction", "both"),
    )
    return document(view)


def way(given: dict[str, Any]) -> Way:
    start = resolved(given["from"], given.get("scope"))
    goal = start._replace(id=given["to"])
    depth, types = given.get("maxDepth", 5), given.get("types")
    return shortest_path(store(), start, goal, depth=depth, types=types)


def commands() -> list[Any]:
    """Every `graph` command that got as far as the graph; the others are about arguments."""
    cases = [case for case in recorded("cli.json") if case["label"].startswith("graph_")]
    drawn = [case for case in cases if case["stdout"]]
    return [pytest.param(case, id=case["label"]) for case in drawn]


def calls() -> list[Any]:
    messages = recorded("mcp_dual_read.json")["messages"]
    replies = {each["id"]: each["result"] for each in messages if "result" in each}
    asked = [each for each in messages if each["dir"] == "in" and "id" in each]
    return [
        pytest.param(each["params"], replies[each["id"]], id=f"{each['id']}")
        for each in asked
        if each.get("params", {}).get("name") in ("memory_graph", "memory_path")
    ]


@pytest.mark.case("CP42", "CP45")
@pytest.mark.parametrize("case", commands())
def test_a_drawing_is_the_references_to_the_byte(case: dict[str, Any]) -> None:
    assert on_command_line(case["argv"][1:]) == case["stdout"]


@pytest.mark.case("CP42", "CP43")
@pytest.mark.parametrize(("call", "reply"), calls())
def test_a_tools_answer_is_the_references_and_so_is_its_refusal(
    call: dict[str, Any], reply: dict[str, Any]
) -> None:
    text = reply["content"][0]["text"]
    if not reply.get("isError"):
        made = by_tool(call["name"], call["arguments"])
        assert json.dumps(made, separators=(",", ":"), ensure_ascii=False) == text
        return
    expected = NotFound if "does not exist" in text or "must match" in text else InvalidValue
    with pytest.raises(expected):
        by_tool(call["name"], call["arguments"])


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
@pytest.mark.parametrize("format", ["mermaid", "dot"])
def test_a_fixture_is_drawn_to_the_byte(path: Path, format: str) -> None:
    fixture = json.loads(path.read_text(encoding="utf-8"))
    graph = graph_of(
        Memory(
            each["name"],
            "",
            kind="reference",
            edges=tuple(Edge(link["type"], link["to"]) for link in each.get("relations", ())),
        )
        for each in fixture["memories"]
    )
    view = walk(graph, Key("", "user", "", fixture["root"]), depth=fixture["depth"])
    assert drawn(view, format) == path.with_suffix(f".{format}").read_text(encoding="utf-8")


@pytest.mark.case("CP45")
@pytest.mark.parametrize(
    ("label", "error"),
    [
        ("graph_missing", NotFound),
        ("graph_bad_name", NotFound),
        ("graph_ambig", InvalidValue),
        ("graph_neg_depth", InvalidValue),
        ("graph_bad_types", UnknownName),
    ],
)
def test_what_the_reference_refuses_is_refused(label: str, error: type[CamilloError]) -> None:
    case = next(case for case in recorded("cli.json") if case["label"] == label)
    assert case["exit"] > 0
    name, *options = case["argv"][1:]
    with pytest.raises(error):  # the reference looks at options before it looks for the name
        on_command_line(["scope_new" if options else name, *options])
