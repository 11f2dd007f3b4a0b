"""`graph` as commonplace has it: what is drawn is the same, and so is the code that it ends with.

Two of its options have other names here, a fence around a drawing is for pages, and the name of a
graph of DOT is the program's.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.command import Camillo

OPTIONS = {"--format": "--form", "--types": "--relation"}
# An ambiguous name is an argument that cannot be used here, as everywhere; 01 is a number, and svg
# a form that commonplace has not.
OTHERWISE = {"graph_ambig": 2, "graph_bad_depth2": 0, "graph_bad_format": 0}


@pytest.fixture
def stores(golden: Path, home: Path) -> None:
    (home / "work" / ".git").mkdir()
    for name, folder in (("store_user", home), ("store_project", home / "work")):
        shutil.copytree(golden / name, folder / ".commonplace" / "memory")


@pytest.fixture
def cases(golden: Path) -> dict[str, dict[str, Any]]:
    found = json.loads((golden / "cli.json").read_text("utf-8"))
    return {case["label"]: case for case in found if case["argv"][:1] == ["graph"]}


@pytest.mark.case("CP42", "CP45")
@pytest.mark.usefixtures("stores")
def test_a_graph_is_drawn_or_refused_as_there(
    camillo: Camillo, cases: dict[str, dict[str, Any]]
) -> None:
    for label, case in cases.items():
        ran = camillo.plain(*words(case["argv"]))
        assert ran.code == OTHERWISE.get(label, case["exit"]), (label, ran)
        assert ran.out == plain(case["stdout"]) or label in OTHERWISE, label


def words(argv: list[str]) -> Iterator[str]:
    """A command of commonplace as it is given here: an option that takes a list is repeated. The
    note `a` is not there: commonplace looks at options first."""
    rest = iter(argv)
    for word in rest:
        values = next(rest).split(",") if word == "--types" else []
        if not values:
            yield "scope_new" if word == "a" else OPTIONS.get(word, word)
        for value in values:
            yield from (OPTIONS[word], value)


def plain(drawing: str) -> str:
    inside = drawing.removeprefix("```mermaid\n").removesuffix("```\n")
    return inside.replace("digraph commonplace {", "digraph camillo {")
