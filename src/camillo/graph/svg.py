"""A neighbourhood as an SVG picture: boxes in columns, labelled arrows, no script, no style sheet.

Every text is escaped and every length is rounded, so that equal input gives equal bytes. Where
boxes go is decided in layout.py. The width of text is estimated: a viewer's font is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from unicodedata import category, east_asian_width

from camillo.graph.edges import GraphEdge, Node
from camillo.graph.labels import caption, label, name, one_line
from camillo.graph.layout import Box, Curve, layout
from camillo.graph.walk import Neighbourhood
from camillo.records import NamedTuple

__all__ = ["svg"]

_MARGIN = 24.0
_NAME_SIZE, _SMALL_SIZE = 13, 11
_MOST_NAME = 36  # characters; the whole of it is in the tooltip
_MOST_RELATION = 24
_MOST_SUMMARY = 240
_ARROW = 8.0
_LABEL_HEIGHT = 15.0
_ROOM = 96.0  # between columns, beside the widest label of an edge
# Of a curve: where its label may stand, best first. Near the end with fewer edges they lie apart.
_MIDDLE = (0.5, 0.42, 0.58, 0.34, 0.66)
_LATE = (0.74, 0.66, 0.58, 0.5)
_EARLY = tuple(1 - share for share in _LATE)
_LEAST_WIDTH = 160.0

_PAPER, _INK, _FAINT = "#ffffff", "#1d2330", "#5b6472"
# Colour and dashes by relation. The label says it too: nothing rests on colour alone.
_STROKES = {
    "related-to": ("#5b6472", ""),
    "builds-on": ("#1f6f4a", ""),
    "contradicts": ("#b3261e", ""),
    "child-of": ("#2b5fa8", ""),
    "supersedes": ("#8a4f00", "7 4"),
    "mentions": ("#6f747c", "2 4"),
}
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_WIDE = frozenset("MWmw@%")


class _Label(NamedTuple):
    """Words on an edge: their middle, half of their width."""

    x: float
    y: float
    half: float
    text: str
    colour: str


def svg(view: Neighbourhood) -> str:
    widths = {node.key: _box_width(node) for node in view.nodes}
    relations = {_small(edge.relation) for edge in view.edges}
    gap = _ROOM + max((_width(text, _SMALL_SIZE) for text in relations), default=0.0)
    placed = layout(view.nodes, view.edges, widths, gap)
    labels = list(_set_labels(placed.curves))
    width = max(placed.width, *(label.x + label.half for label in labels), _LEAST_WIDTH)
    height = placed.height + (24 if view.truncated else 0)
    lines = [_opening(view, width + 2 * _MARGIN, height + 2 * _MARGIN)]
    lines += ['<g fill="none" stroke-width="1.5">', *map(_line, placed.curves), "</g>"]
    lines += [_arrow(curve) for curve in placed.curves]
    lines += [_box(node, placed.boxes[node.key], node == view.root) for node in view.nodes]
    lines += map(_relation, labels)
    if view.truncated:
        y = placed.height + 24
        lines.append(_text(0, y, _SMALL_SIZE, "there is more than is drawn", _FAINT, "start"))
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


def _opening(view: Neighbourhood, width: float, height: float) -> str:
    size = f"{_number(width)} {_number(height)}"
    title = _escaped(f"around {label(view.root)}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}"'
            f' width="{_number(width)}" height="{_number(height)}" role="img"'
            ' font-family="system-ui, sans-serif">',
            f"<title>{title}</title>",
            f'<rect width="100%" height="100%" fill="{_PAPER}"/>',
            f'<g transform="translate({_number(_MARGIN)} {_number(_MARGIN)})">',
        ]
    )


def _box(node: Node, box: Box, root: bool) -> str:
    middle, centre = box.x + box.width / 2, box.y + box.height / 2
    stroke = f'stroke="{_INK}" stroke-width="{2.5 if root else 1.2}"'
    if not node.present:
        stroke += ' stroke-dasharray="4 3"'
    shape = (
        f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}"'
        f' height="{_number(box.height)}" rx="7" fill="#f6f7f9" {stroke}/>'
    )
    below = caption(node)
    shown = one_line(name(node), _MOST_NAME)
    texts = [_text(middle, centre - 2 if below else centre + 4, _NAME_SIZE, shown, _INK)]
    if below:
        texts.append(_text(middle, centre + 13, _SMALL_SIZE, _small(below), _FAINT))
    return f"<g><title>{_escaped(_tooltip(node))}</title>{shape}{''.join(texts)}</g>"


def _tooltip(node: Node) -> str:
    more = one_line(node.summary or node.title, _MOST_SUMMARY)
    return f"{label(node)}: {more}" if more else label(node)


def _line(curve: Curve) -> str:
    start, bend, other, end = curve.points
    end = end[0] - _heading(curve) * _ARROW, end[1]  # the arrow's point is the end
    colour, dashes = _stroke(curve.edge)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    points = f"M{_point(start)} C{_point(bend)} {_point(other)} {_point(end)}"
    return f'<path d="{points}" stroke="{colour}"{dashed}/>'


def _arrow(curve: Curve) -> str:
    x, y = curve.points[3]
    back = x - _heading(curve) * _ARROW
    corners = " ".join(map(_point, ((x, y), (back, y - 4), (back, y + 4))))
    return f'<polygon points="{corners}" fill="{_stroke(curve.edge)[0]}"/>'


def _heading(curve: Curve) -> int:
    """1 when the curve ends to the right, -1 to the left."""
    return 1 if curve.points[3][0] > curve.points[2][0] else -1


def _stroke(edge: GraphEdge) -> tuple[str, str]:
    return _STROKES.get(edge.relation, _STROKES["related-to"])


def _set_labels(curves: Iterable[Curve]) -> Iterator[_Label]:
    """The labels of edges, each on its curve where no earlier one lies."""
    curves = list(curves)
    ends = Counter(end for curve in curves for end in (curve.edge.source, curve.edge.target))
    taken: dict[tuple[int, int], list[_Label]] = {}
    for curve in curves:
        text = _small(curve.edge.relation)
        half = _width(text, _SMALL_SIZE) / 2
        colour = _stroke(curve.edge)[0]
        more = ends[curve.edge.source] - ends[curve.edge.target]
        shares = _LATE if more > 0 else _EARLY if more < 0 else _MIDDLE
        places = [_Label(*_at(curve, share), half, text, colour) for share in shares]
        label = next((place for place in places if _is_free(place, taken)), places[0])
        for cell in _cells(label):
            taken.setdefault(cell, []).append(label)
        yield label


def _is_free(label: _Label, taken: Mapping[tuple[int, int], Sequence[_Label]]) -> bool:
    return not any(
        abs(label.x - other.x) < label.half + other.half + 4
        and abs(label.y - other.y) < _LABEL_HEIGHT
        for cell in _cells(label)
        for other in taken.get(cell, ())
    )


def _cells(label: _Label) -> Iterator[tuple[int, int]]:
    """Squares of 64 pixels that a label touches: only labels that share one can overlap."""
    x, y, reach = label.x, label.y, label.half + 4
    for column in range(int((x - reach) // 64), int((x + reach) // 64) + 1):
        for row in range(int((y - 16) // 64), int((y + 16) // 64) + 1):
            yield column, row


def _relation(label: _Label) -> str:
    x, y, half = label.x, label.y, label.half
    back = (
        f'<rect x="{_number(x - half - 2)}" y="{_number(y - _LABEL_HEIGHT / 2)}"'
        f' width="{_number(2 * half + 4)}" height="{_number(_LABEL_HEIGHT)}" rx="3"'
        f' fill="{_PAPER}" fill-opacity="0.9"/>'
    )
    return back + _text(x, y + 4, _SMALL_SIZE, label.text, label.colour)


def _at(curve: Curve, share: float) -> tuple[float, float]:
    """The point of the curve at `share` of its parameter."""
    rest = 1 - share
    weights = rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3
    x = sum(weight * point[0] for weight, point in zip(weights, curve.points, strict=True))
    y = sum(weight * point[1] for weight, point in zip(weights, curve.points, strict=True))
    return x, y


def _box_width(node: Node) -> float:
    widest = _width(one_line(name(node), _MOST_NAME), _NAME_SIZE)
    return max(72.0, widest + 24, _width(_small(caption(node)), _SMALL_SIZE) + 24)


def _small(text: str) -> str:
    return one_line(text, _MOST_RELATION)


def _width(text: str, size: int) -> float:
    return size * sum(map(_em, text))


def _em(char: str) -> float:
    """How wide a character is, in sizes of the font; on the wide side."""
    if category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    if east_asian_width(char) in "WF":
        return 1.05
    if char in _WIDE:
        return 0.95
    return 0.74 if char.isupper() else 0.62


def _text(x: float, y: float, size: int, text: str, fill: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" font-size="{size}" fill="{fill}"'
        f' text-anchor="{anchor}">{_escaped(text)}</text>'
    )


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _point(point: tuple[float, float]) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value + 0.0:.1f}".removesuffix(".0")
