"""Where boxes and curves of a drawing go: columns by distance, no force and no chance.

A column holds what is equally far from the first node, so an edge joins neighbouring columns or
two boxes of one column and never runs behind a third box. Boxes of a column are as wide as the
widest; a box is high enough for its edges to end apart. Parts that no edge joins stand below each
other. The same nodes and edges in the same order give the same places. Lengths are pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from camillo.graph.edges import GraphEdge, Node
from camillo.model import Key
from camillo.records import NamedTuple

__all__ = ["Box", "Curve", "Layout", "layout"]

_HEIGHT = 44.0  # of a box with few edges: two lines of text
_BETWEEN = 20.0  # boxes of one column
_ENDS = 18.0  # between the ends of two edges on a side; more than a line of their labels
_PARTS = 48.0  # between parts that no edge joins
_SWEEPS = 4  # after which an order seldom gets better (Sugiyama, Tagawa, Toda 1981)


class Box(NamedTuple):
    """`x` and `y` of the upper left corner."""

    x: float
    y: float
    width: float
    height: float


class Curve(NamedTuple):
    """A cubic Bézier from the source's box to the target's; both ends are horizontal."""

    edge: GraphEdge
    points: tuple[tuple[float, float], ...]


class Layout(NamedTuple):
    boxes: Mapping[Key, Box]
    curves: tuple[Curve, ...]
    width: float
    height: float


class _End(NamedTuple):
    """Where an edge, by its number, meets a box: which side, and what lies at the other end."""

    number: int
    box: Key
    right: bool
    other: Key
    at_target: bool


def layout(
    nodes: Sequence[Node], edges: Sequence[GraphEdge], widths: Mapping[Key, float], gap: float
) -> Layout:
    """Places for `nodes`, which hold both ends of every edge. `widths` says how wide each box must
    be, `gap` how far columns stand apart."""
    beside = _neighbours(nodes, edges)
    column: dict[Key, int] = {}
    parts = [_columns(node.key, beside, column) for node in nodes if node.key not in column]
    ends = _ends(edges, column)
    heights = _heights(nodes, ends)
    boxes: dict[Key, Box] = {}
    top = 0.0
    for part in parts:
        _arrange(part, beside)
        top = _place(part, widths, heights, gap, top, boxes) + _PARTS
    curves = _curves(edges, ends, boxes, gap)
    right = max((box.x + box.width for box in boxes.values()), default=0.0)
    bows = (x for curve in curves for x, _ in curve.points)
    return Layout(boxes, curves, max(right, *bows, 0.0), max(top - _PARTS, 0.0))


def _neighbours(nodes: Iterable[Node], edges: Iterable[GraphEdge]) -> dict[Key, list[Key]]:
    beside: dict[Key, list[Key]] = {node.key: [] for node in nodes}
    for edge in edges:
        beside[edge.source].append(edge.target)
        beside[edge.target].append(edge.source)
    return beside


def _columns(
    first: Key, beside: Mapping[Key, Sequence[Key]], column: dict[Key, int]
) -> list[list[Key]]:
    """Everything that edges join to `first`, by distance. Fills in `column`."""
    columns = [[first]]
    column[first] = 0
    while columns[-1]:
        further: list[Key] = []
        for key in columns[-1]:
            for other in beside[key]:
                if other not in column:
                    column[other] = len(columns)
                    further.append(other)
        columns.append(further)
    return columns[:-1]


def _arrange(columns: list[list[Key]], beside: Mapping[Key, Sequence[Key]]) -> None:
    """Order each column by the mean place of its neighbours in the one before or behind."""
    for sweep in range(_SWEEPS):
        numbers = range(1, len(columns)) if sweep % 2 == 0 else range(len(columns) - 2, -1, -1)
        for number in numbers:
            fixed = columns[number - 1 if sweep % 2 == 0 else number + 1]
            place = {key: at / len(fixed) for at, key in enumerate(fixed)}
            own = {key: at / len(columns[number]) for at, key in enumerate(columns[number])}
            means = {
                key: _mean([place[other] for other in beside[key] if other in place], own[key])
                for key in columns[number]
            }
            columns[number].sort(key=means.__getitem__)


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _ends(
    edges: Iterable[GraphEdge], column: Mapping[Key, int]
) -> dict[tuple[Key, bool], list[_End]]:
    """The ends of edges by box and side (True = right). Within a column both are on the right."""
    ends: dict[tuple[Key, bool], list[_End]] = {}
    for number, edge in enumerate(edges):
        source, target = column[edge.source], column[edge.target]
        for box, other, right, at_target in (
            (edge.source, edge.target, source <= target, False),
            (edge.target, edge.source, target <= source, True),
        ):
            end = _End(number, box, right, other, at_target)
            ends.setdefault((box, right), []).append(end)
    return ends


def _heights(
    nodes: Iterable[Node], ends: Mapping[tuple[Key, bool], Sequence[_End]]
) -> dict[Key, float]:
    heights: dict[Key, float] = {}
    for node in nodes:
        most = max(len(ends.get((node.key, right), ())) for right in (False, True))
        heights[node.key] = max(_HEIGHT, _ENDS * (most + 1))
    return heights


def _place(
    columns: Sequence[Sequence[Key]],
    widths: Mapping[Key, float],
    heights: Mapping[Key, float],
    gap: float,
    top: float,
    boxes: dict[Key, Box],
) -> float:
    """Stack each column, centred on the highest. Fills in `boxes`; returns the lower end."""
    totals = [sum(heights[key] + _BETWEEN for key in column) - _BETWEEN for column in columns]
    highest = max(totals)
    x = 0.0
    for column, total in zip(columns, totals, strict=True):
        width = max(widths[key] for key in column)
        y = top + (highest - total) / 2
        for key in column:
            boxes[key] = Box(x, y, width, heights[key])
            y += heights[key] + _BETWEEN
        x += width + gap
    return top + highest


def _curves(
    edges: Sequence[GraphEdge],
    ends: Mapping[tuple[Key, bool], Sequence[_End]],
    boxes: Mapping[Key, Box],
    gap: float,
) -> tuple[Curve, ...]:
    meets: dict[tuple[int, bool], tuple[float, float]] = {}
    for (key, right), own in ends.items():
        box = boxes[key]
        x = box.x + box.width if right else box.x
        step = box.height / (len(own) + 1)
        ordered = sorted(own, key=lambda end: (boxes[end.other].y, end.number))
        for at, end in enumerate(ordered, 1):
            meets[end.number, end.at_target] = x, box.y + at * step
    return tuple(
        Curve(edge, _bend(meets[number, False], meets[number, True], gap))
        for number, edge in enumerate(edges)
    )


def _bend(
    start: tuple[float, float], end: tuple[float, float], gap: float
) -> tuple[tuple[float, float], ...]:
    """Between columns an S; within one a bow to the right, the further apart the wider, so that
    a label as wide as `gap` less 96 on its middle touches neither column."""
    (x0, y0), (x1, y1) = start, end
    if x0 != x1:
        middle = (x0 + x1) / 2
        return start, (middle, y0), (middle, y1), end
    bow = x0 + gap * (0.72 + min(abs(y1 - y0), 400) / 5000)
    return start, (bow, y0), (bow, y1), end
