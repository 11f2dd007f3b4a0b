"""The closets index: lines of each source, as many as its drawers say, none of what has gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo.model import Filter, Memory, Origin, Place, drawer_id, replace
from camillo.text.closets import closet_id, pointers
from camillo.vault import OpenRoot, open_vault


@pytest.fixture
def root(home: Path) -> Iterator[OpenRoot]:
    with open_vault() as vault:
        yield vault.root("user", create=True)


def _drawers(name: str, *bodies: str, wing: str = "w") -> list[Memory]:
    at, made = 0, []
    for part, body in enumerate(bodies):
        length = len(body.encode())
        origin = Origin(name, part, part + 1, part + 1, at, at + length)
        made.append(
            Memory(drawer_id(name, part), body, "drawer", place=Place(wing, "r"), origin=origin)
        )
        at += length
    return made


def _file(root: OpenRoot, name: str, *bodies: str, wing: str = "w") -> None:
    source = Memory(
        f"source-{name.strip('/')}", "", "source", origin=Origin(name), extra={"parts": len(bodies)}
    )
    root.store.replace_source(source, _drawers(name, *bodies, wing=wing))


def _lines(root: OpenRoot, name: str) -> list[str]:
    root.catch_up()
    return [line for closet in root.closets.of_source(name) for line in closet.lines]


def test_a_source_has_lines_that_point_at_its_drawers(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n", "# Seven gates\n")
    lines = _lines(root, "/a.md")
    assert [line.split("|")[0] for line in lines] == ["painted doors", "seven gates"]
    assert [pointers(line)[0] for line in lines] == [drawer_id("/a.md", n) for n in range(2)]


@pytest.mark.case("mempalace-15")
def test_a_second_version_with_fewer_topics_replaces_all_of_the_first(root: OpenRoot) -> None:
    topics = [f"# Topic number {n} {'and so on ' * 4}\n" for n in range(40)]
    _file(root, "/a.md", *topics)
    before = _lines(root, "/a.md")
    _file(root, "/a.md", "# Seven gates\n")
    assert len(before) > 1
    assert [line.split("|")[0] for line in _lines(root, "/a.md")] == ["seven gates"]
    [closet] = root.closets.of_source("/a.md")
    assert closet.id == closet_id("w", "r", "/a.md", 1)
    assert root.closets.search(["number"], 50, Filter()) == []


@pytest.mark.case("mempalace-15")
def test_only_the_source_that_changed_is_touched(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n")
    _file(root, "/b.md", "# Seven gates\n")
    before = _lines(root, "/b.md")
    _file(root, "/a.md")
    assert (_lines(root, "/a.md"), _lines(root, "/b.md")) == ([], before)


@pytest.mark.case("mempalace-15")
@pytest.mark.parametrize("how", ["deleted", "archived", "replaced by none"])
def test_without_drawers_there_are_no_lines(root: OpenRoot, how: str) -> None:
    _file(root, "/a.md", "# Painted doors\n", "# Seven gates\n")
    root.catch_up()
    drawers = list(root.store.scan(Filter(source="/a.md")))
    if how == "deleted":
        root.store.delete([drawer.key for drawer in drawers])
    elif how == "archived":
        root.store.put([replace(drawer, archived=5) for drawer in drawers])
    else:
        _file(root, "/a.md")
    assert _lines(root, "/a.md") == []
    assert root.closets.search(["painted", "gates"], 5, Filter()) == []
    assert root.closets.check().problems == ()


def test_one_drawer_of_two_leaves_the_lines_of_the_other(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n", "# Seven gates\n")
    root.catch_up()
    first = next(root.store.scan(Filter(source="/a.md")))
    root.store.put([replace(first, archived=5)])
    assert len(_lines(root, "/a.md")) == 1


@pytest.mark.promise(4)
def test_a_rebuild_makes_the_same_lines(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n", "built the seven gates, built the wall\n")
    _file(root, "/b.md", "Überschrift ohne Kennzeichen\n")
    before = {name: _lines(root, name) for name in ("/a.md", "/b.md")}
    root.rebuild()
    assert {name: _lines(root, name) for name in before} == before


def test_drawers_that_come_in_several_batches_make_the_same_lines(root: OpenRoot) -> None:
    drawers = _drawers("/a.md", "# Painted doors\n", "# Seven gates\n")
    for drawer in drawers:
        root.store.put([drawer])
        root.catch_up()
    in_turns = _lines(root, "/a.md")
    root.rebuild()
    assert in_turns == _lines(root, "/a.md")


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        (Filter(), 2), (Filter(wing="w"), 1), (Filter(source="/b.md"), 1), (Filter(room="x"), 0),
        (Filter(kinds=("note",)), 0), (Filter(scope="project"), 0), (Filter(namespace="n"), 0),
    ],
)  # fmt: skip
def test_a_search_keeps_to_its_filter(root: OpenRoot, filter: Filter, found: int) -> None:
    _file(root, "/a.md", "# Painted doors\n")
    _file(root, "/b.md", "# Painted doors\n", wing="other")
    root.catch_up()
    assert len(root.closets.search(["painted"], 9, filter)) == found


def test_pointers_are_no_words(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n")
    root.catch_up()
    assert root.closets.search([drawer_id("/a.md", 0)], 9, Filter()) == []
    assert root.closets.search([], 9, Filter()) == []
