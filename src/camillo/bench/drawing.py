"""Drawings of lines, boxes, areas and words, written as SVG by ourselves or as PNG by Pillow.

A drawing is data; what it shows is left to plots.py. Pillow is optional (the `plots` extra) and
brings its own letters, so that a PNG looks the same on a machine without fonts.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple
from xml.sax.saxutils import escape

from camillo.errors import MissingExtra

__all__ = ["Area", "Box", "Drawing", "Line", "Words", "pillow", "png", "svg"]

Anchor = Literal["start", "middle", "end"]
_SCALE = 2  # pixels of a PNG to one unit


class Line(NamedTuple):
    points: tuple[tuple[float, float], ...]
    color: str
    width: float = 1.0


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    color: str


class Area(NamedTuple):
    points: tuple[tuple[float, float], ...]
    color: str


class Words(NamedTuple):
    """`x`, `y` is the point that `anchor` names, on the middle of the line's height."""

    x: float
    y: float
    text: str
    size: float = 13
    anchor: Anchor = "start"
    color: str = "#222222"


class Drawing(NamedTuple):
    """Shapes from back to front, on white."""

    width: int
    height: int
    shapes: Sequence[Line | Box | Area | Words]
    title: str = ""


def svg(drawing: Drawing) -> bytes:
    width, height = drawing.width, drawing.height
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" role="img">'
    )
    lines = [head, f"<title>{_escaped(drawing.title)}</title>"]
    lines.append(f'<rect width="{width}" height="{height}" fill="#ffffff"/>')
    return "\n".join([*lines, *_elements(drawing), "</svg>\n"]).encode()


def pillow() -> tuple[Any, Any, Any]:
    """Its modules for images, pens and fonts. Raises MissingExtra where it is not installed."""
    try:
        return (
            importlib.import_module("PIL.Image"),
            importlib.import_module("PIL.ImageDraw"),
            importlib.import_module("PIL.ImageFont"),
        )
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "a PNG needs Pillow, which is not installed: name a .svg file, "
            "or pip install 'camillo[plots]'"
        ) from error


def png(drawing: Drawing) -> bytes:
    """Raises MissingExtra where Pillow is not installed."""
    images, pens, fonts = pillow()
    size = (drawing.width * _SCALE, drawing.height * _SCALE)
    image = images.new("RGB", size, "#ffffff")
    pen = pens.Draw(image)
    for shape in drawing.shapes:
        _paint(pen, fonts, shape)
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _elements(drawing: Drawing) -> Iterator[str]:
    for shape in drawing.shapes:
        match shape:
            case Line(points, color, width):
                yield (
                    f'<polyline points="{_points(points)}" fill="none" stroke="{color}" '
                    f'stroke-width="{width:g}"/>'
                )
            case Box(x, y, width, height, color):
                yield (
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                    f'fill="{color}"/>'
                )
            case Area(points, color):
                yield f'<polygon points="{_points(points)}" fill="{color}"/>'
            case Words(x, y, text, size, anchor, color):
                yield (
                    f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" '
                    f'dominant-baseline="central" fill="{color}">{_escaped(text)}</text>'
                )


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _escaped(text: str) -> str:
    """XML holds no control characters, in no spelling."""
    return escape("".join(c if c.isprintable() else " " for c in text))


def _paint(pen: Any, fonts: Any, shape: Line | Box | Area | Words) -> None:
    match shape:
        case Line(points, color, width):
            pen.line(_scaled(points), fill=color, width=max(1, round(width * _SCALE)))
        case Box(x, y, width, height, color):
            pen.rectangle(_scaled([(x, y), (x + width, y + height)]), fill=color)
        case Area(points, color):
            pen.polygon(_scaled(points), fill=color)
        case Words(x, y, text, size, anchor, color):
            font = fonts.load_default(size=size * _SCALE)
            at = (x * _SCALE, y * _SCALE)
            pen.text(at, text, fill=color, font=font, anchor=f"{_PILLOW_ANCHORS[anchor]}m")


def _scaled(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x * _SCALE, y * _SCALE) for x, y in points]


_PILLOW_ANCHORS = {"start": "l", "middle": "m", "end": "r"}
