"""Where boxes and curves go."""

from __future__ import annotations

import pytest
from hypothesis import given

from camillo.graph.edges import Graph
from camillo.graph.layout import Layout, layout
from unit.graph.specimens import graph, graphs, key

GAP = 150.0


def placed(made: Graph) -> Layout:
    return layout(
        list(made.nodes.values()), list(made.edges()), dict.fromkeys(made.nodes, 100.0), GAP
    )


def test_columns_are_distances() -> None:
    boxes = placed(graph("a ~b ~c", "b", "c", "d >b")).boxes
    assert {box.id: boxes[box].x for box in boxes} == {"a": 0, "b": 250, "c": 250, "d": 500}


def test_parts_that_no_edge_joins_stand_below_each_other() -> None:
    boxes = placed(graph("a ~b", "b", "c ~d", "d")).boxes
    assert boxes[key("c")].x == boxes[key("a")].x
    assert boxes[key("c")].y > boxes[key("a")].y + boxes[key("a")].height


def test_a_column_is_ordered_so_that_edges_need_not_cross() -> None:
    boxes = placed(graph("r ~a ~b", "a ~y", "b ~x", "x", "y")).boxes
    assert (boxes[key("a")].y < boxes[key("b")].y) == (boxes[key("y")].y < boxes[key("x")].y)


def test_a_box_grows_with_its_edges() -> None:
    hub = placed(graph("hub " + " ".join(f"~s{n}" for n in range(40)))).boxes[key("hub")]
    assert hub.height > 40 * 14


def test_nothing_gives_an_empty_picture() -> None:
    empty = layout([], [], {}, GAP)
    assert (empty.boxes, empty.curves, empty.width, empty.height) == ({}, (), 0.0, 0.0)


@given(graphs())
def test_boxes_do_not_overlap_and_curves_end_at_theirs(made: Graph) -> None:
    whole = placed(made)
    boxes = list(whole.boxes.values())
    for number, one in enumerate(boxes):
        assert one.x >= 0
        assert one.y >= 0
        assert one.x + one.width <= whole.width
        assert one.y + one.height <= whole.height + 1e-6
        for other in boxes[:number]:
            apart_x = abs(one.x - other.x) >= 100
            apart_y = one.y >= other.y + other.height or other.y >= one.y + one.height
            assert apart_x or apart_y
    for curve in whole.curves:
        for (x, y), end in (
            (curve.points[0], curve.edge.source),
            (curve.points[3], curve.edge.target),
        ):
            box = whole.boxes[end]
            assert x in (box.x, box.x + box.width)
            assert box.y < y < box.y + box.height


@given(graphs())
def test_no_edge_runs_behind_a_third_box(made: Graph) -> None:
    whole = placed(made)
    for curve in whole.curves:
        left, right = sorted((curve.points[0][0], curve.points[3][0]))
        assert right - left in (pytest.approx(0), pytest.approx(GAP))


@given(graphs())
def test_ends_of_edges_on_one_side_are_apart(made: Graph) -> None:
    ends = [point for curve in placed(made).curves for point in (curve.points[0], curve.points[3])]
    for number, (x, y) in enumerate(ends):
        assert all(abs(x - x2) > 1 or abs(y - y2) > 14 for x2, y2 in ends[:number])
