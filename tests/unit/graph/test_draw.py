"""Formats by name."""

from __future__ import annotations

import pytest

from camillo.errors import UnknownName
from camillo.graph.draw import FORMATS, draw
from camillo.graph.walk import walk
from unit.graph.specimens import graph, key


@pytest.mark.parametrize(
    ("format", "opening"),
    [("mermaid", "```mermaid\n"), ("dot", "digraph "), ("json", "{\n"), ("svg", "<svg ")],
)
def test_each_format_has_its_name(format: str, opening: str) -> None:
    drawn = draw(walk(graph("a ~b", "b"), key("a")), format)
    assert drawn.startswith(opening)
    assert drawn.endswith("\n")
    assert format in FORMATS


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'mermaid'"):
        draw(walk(graph("a"), key("a")), "mermade")
