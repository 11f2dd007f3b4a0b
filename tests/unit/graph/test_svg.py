"""Pictures."""

from __future__ import annotations

import re
from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from camillo.graph.edges import Graph, graph_of
from camillo.graph.svg import svg
from camillo.graph.walk import Neighbourhood, walk
from camillo.model import RELATIONS, Memory
from unit.graph.specimens import graph, graphs, key, two

NAMESPACE = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "rect", "g", "path", "polygon", "text"}


def texts(picture: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(picture).iter(f"{NAMESPACE}text")]


def test_names_kinds_and_relations_are_written() -> None:
    picture = svg(two("a", kind="fact"))
    assert sorted(texts(picture)) == ["a", "b", "builds-on", "fact", "fact"]
    assert picture.endswith("</svg>\n")


def test_the_same_walk_gives_the_same_bytes() -> None:
    spelled = ("a ~b >c", "b =d", "c @b", "d ~a")
    first, second = (
        svg(walk(graph(*spelled), key("a"), depth=3, types=RELATIONS)) for _ in range(2)
    )
    assert first == second


def test_text_cannot_become_markup() -> None:
    made = two("</text><script>alert(1)</script>", "\"' onload='x", kind="<!-- ", relation="]]>&")
    picture = svg(made)
    tags = {each.tag.removeprefix(NAMESPACE) for each in ElementTree.fromstring(picture).iter()}
    assert tags <= ELEMENTS
    assert "</text><script>alert(1)</script>" in texts(picture)


def test_a_long_name_is_cut_and_whole_in_its_tooltip() -> None:
    name = "n" * 300
    picture = svg(two(name))
    assert max(map(len, texts(picture))) <= 36
    assert f"<title>{name} (fact)</title>" in picture


def test_a_tooltip_holds_the_summary() -> None:
    made = graph_of([Memory("a", "", kind="fact", summary="what a is")])
    assert "<title>a (fact): what a is</title>" in svg(walk(made, key("a")))


def test_what_is_missing_is_dashed_and_what_is_left_out_is_said() -> None:
    view = walk(graph("a ~gone"), key("a"), dangling=True)
    picture = svg(view._replace(truncated=True))
    assert "missing" in texts(picture)
    assert "there is more than is drawn" in texts(picture)
    assert 'stroke-dasharray="4 3"' in picture


def test_the_labels_of_a_star_do_not_cover_each_other() -> None:
    spokes = " ".join(f"{sign}s{n}" for n, sign in enumerate("~>!^=" * 8))
    picture = svg(walk(graph(f"hub {spokes}", *(f"s{n} ~hub" for n in range(40))), key("hub")))
    labels = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="15"', picture)
    assert len(labels) == 80
    for (x, y, width), (x2, y2, width2) in combinations(
        [tuple(map(float, label)) for label in labels], 2
    ):
        assert x + width <= x2 or x2 + width2 <= x or abs(y - y2) >= 14


def test_everything_lies_inside_the_picture() -> None:
    for view in (
        walk(graph("a ~a"), key("a")),
        walk(graph("a ~b", "b ~c", "c ~b", "d ~b ~c"), key("a"), depth=3),
    ):
        picture = ElementTree.fromstring(svg(view))
        width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
        for rect in list(picture.iter(f"{NAMESPACE}rect"))[1:]:
            assert float(rect.attrib["x"]) + 24 >= 0
            assert float(rect.attrib["x"]) + float(rect.attrib["width"]) + 24 <= width
            assert float(rect.attrib["y"]) + float(rect.attrib["height"]) + 24 <= height


@given(st.text(), st.text(), st.text(), st.text(min_size=1))
def test_any_text_gives_well_formed_xml(first: str, second: str, kind: str, relation: str) -> None:
    picture = ElementTree.fromstring(svg(two(first, second, kind, relation)))
    assert picture.tag == f"{NAMESPACE}svg"


@given(graphs())
def test_every_node_and_edge_is_drawn(made: Graph) -> None:
    nodes, edges = tuple(made.nodes.values()), tuple(made.edges())
    picture = ElementTree.fromstring(svg(Neighbourhood(nodes[0], nodes, edges)))
    assert len(list(picture.iter(f"{NAMESPACE}polygon"))) == len(edges)
    assert len(list(picture.iter(f"{NAMESPACE}title"))) == len(nodes) + 1
