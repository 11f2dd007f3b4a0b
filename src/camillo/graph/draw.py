"""The formats that a neighbourhood is drawn in, by name. Each is a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from camillo.errors import UnknownName
from camillo.graph.document import as_json
from camillo.graph.dot import dot
from camillo.graph.mermaid import mermaid
from camillo.graph.svg import svg
from camillo.graph.walk import Neighbourhood

__all__ = ["FORMATS", "draw"]

FORMATS: Mapping[str, Callable[[Neighbourhood], str]] = {
    "mermaid": mermaid,
    "dot": dot,
    "json": as_json,
    "svg": svg,
}


def draw(view: Neighbourhood, format: str = "mermaid") -> str:
    """The text of the drawing, with a line end. UnknownName for a format that is none."""
    if format not in FORMATS:
        raise UnknownName.of("format", format, FORMATS)
    return FORMATS[format](view)
