"""Stage `closets`: what a pointer line adds, and to whom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo import registry
from camillo.config import SearchSettings
from camillo.model import Filter, Memory, Origin, Place, drawer_id
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.closets import BOOSTS, ELSEWHERE
from camillo.retrieval.pipeline import run
from camillo.vault import OpenRoot, open_vault

FILLER = "Ordinary words go on and on here. " * 20


@pytest.fixture
def root(home: Path) -> Iterator[OpenRoot]:
    with open_vault() as vault:
        yield vault.root("user", create=True)


def _file(root: OpenRoot, name: str, *bodies: str, wing: str = "w") -> None:
    """A source with one drawer for each body."""
    at = 0
    drawers = []
    for part, body in enumerate(bodies):
        origin = Origin(name, part, part + 1, part + 1, at, at + len(body))
        drawers.append(
            Memory(drawer_id(name, part), body, "drawer", place=Place(wing, "r"), origin=origin)
        )
        at += len(body)
    source = Memory(
        f"source-{name.strip('/')}", "", "source", origin=Origin(name), extra={"parts": len(bodies)}
    )
    root.store.replace_source(source, drawers)


def _search(
    root: OpenRoot, text: str, *names: str, filter: Filter = Filter(), boost: bool = True
) -> list[Candidate]:
    root.catch_up()
    chosen = [
        (name, registry.load("stage", name))
        for name in names or ("expand", "keyword", "read", "closets")
    ]
    context = Context((root,), SearchSettings(closet_boost=boost))
    return run(Query(text, 20, filter), chosen, context)


def test_the_drawer_that_a_line_points_at_gets_the_boost_of_its_rank(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n\nthey are of wood\n")
    [found] = _search(root, "painted doors")
    plain = found.signals["keyword"]
    assert found.closet_boost == pytest.approx(BOOSTS[0] * (1 - plain))
    assert found.score == pytest.approx(plain + found.closet_boost)
    assert found.score <= 1
    assert found.closet_preview.startswith("painted doors|")


def test_other_drawers_of_the_source_get_half_of_it(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n\n" + FILLER, FILLER + " a door was painted by somebody")
    found = _search(root, "painted doors")
    boosts = {c.memory.id: c.closet_boost / (1 - c.signals["keyword"]) for c in found}
    assert boosts == {
        drawer_id("/a.md", 0): pytest.approx(BOOSTS[0]),
        drawer_id("/a.md", 1): pytest.approx(BOOSTS[0] * ELSEWHERE),
    }


def test_ranks_count_sources_and_not_closets(root: OpenRoot) -> None:
    for n in range(7):
        _file(root, f"/{n}.md", f"# Painted doors\n\nnumber {n}\n# Painted doors again {n}\n")
    boosts = [
        round(each.closet_boost / (1 - each.signals["keyword"]), 4)
        for each in _search(root, "painted doors")
    ]
    assert sorted(boosts, reverse=True) == [*BOOSTS, 0, 0]


def test_a_line_that_holds_less_than_half_of_the_question_adds_nothing(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n\nthe theatre of Camillo in Venice\n")
    _file(root, "/b.md", "Venice has canals, and Camillo lived there.\n")
    found = _search(root, "camillo venice theatre doors")
    assert [each.closet_boost for each in found] == [0, 0]


def test_a_boost_only_ever_adds(root: OpenRoot) -> None:
    for n in range(12):
        _file(root, f"/{n}.md", f"# Door {n}\n\n" + FILLER, f"a door that is {'painted ' * n}\n")
    without = {c.key: c.score for c in _search(root, "painted door", boost=False)}
    boosted = {c.key: c.score for c in _search(root, "painted door")}
    assert without.keys() <= boosted.keys()
    assert all(boosted[key] >= score for key, score in without.items())


def test_what_it_brings_in_is_within_the_filter(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n", wing="one")
    _file(root, "/b.md", "# Painted doors\n", wing="two")
    for asked in (Filter(wing="one"), Filter(source="/a.md")):
        found = _search(root, "painted doors", filter=asked)
        assert [each.memory.place.wing for each in found] == ["one"]
    assert _search(root, "painted doors", filter=Filter(kinds=("note",))) == []
    assert _search(root, "painted doors", filter=Filter(since="2020-01-01")) == []


def test_a_pointer_whose_drawer_is_gone_is_dropped(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n")
    root.catch_up()
    [drawer] = root.store.scan(Filter(source="/a.md"))
    root.store.delete([drawer.key])
    names = ("expand", "keyword", "read", "closets")
    chosen = [(name, registry.load("stage", name)) for name in names]
    assert run(Query("painted doors"), chosen, Context((root,), SearchSettings())) == []


@pytest.mark.case("mempalace-58")
def test_switched_off_it_adds_nothing(root: OpenRoot) -> None:
    _file(root, "/a.md", "# Painted doors\n")
    [found] = _search(root, "painted doors", boost=False)
    assert (found.closet_boost, found.closet_preview, "closet" in found.signals) == (0, "", False)
