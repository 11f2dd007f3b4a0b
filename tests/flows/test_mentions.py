"""Links that people write in passing, walked and searched in every form of a root."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.command import Camillo, plant

BODY = "As [[no-force-push|we said]] and [[Deploy Rule#Why]] have it; `[[lamp]]` is code.\n"


@pytest.fixture
def notes(user: Path) -> Path:
    return plant(user, {
        "a.md": BODY, "rules/no-force-push.md": "Push with care.\n",
        "deploy.md": "---\naliases: [Deploy Rule]\n---\nTwo approvals.\n", "lamp.md": "A lamp.\n",
    })  # fmt: skip


def test_they_lead_to_names_and_aliases(camillo: Camillo, notes: Path) -> None:
    words = ("graph", "a", "--relation", "mentions")
    assert {each["name"] for each in camillo(*words).results} == {"a", "no-force-push", "deploy"}
    assert camillo("path", "a", "deploy", "--relation", "mentions").results == [
        {"from": "a", "relation": "mentions", "to": "deploy"}
    ]
    found = camillo("search", "As we said", "--expand", "one-hop", "--expand-types", "mentions")
    assert {each["id"] for each in found.results} == {"a", "no-force-push", "deploy"}
    assert camillo("path", "a", "lamp").code == 1


def test_a_graph_says_how_many_it_leaves_out(camillo: Camillo, notes: Path) -> None:
    def said(*words: str) -> list[str]:
        found: list[str] = camillo("graph", *words).report["degraded"]
        return found

    assert said("a") == ["2 mentions are left out; --relation mentions shows them"]
    assert said("deploy") == ["1 mention is left out; --relation mentions shows it"]
    assert said("deploy", "--direction", "out") == said("lamp") == []
    assert said("a", "--relation", "mentions") == said("a", "--relation", "builds-on") == []


def test_where_notes_are_called_by_their_paths_a_file_name_will_do(
    camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = plant(home / "work" / "shop", {
        ".memory/ROOT.md": "# Memory\n", ".memory/facts/a.md": BODY,
        ".memory/rules/no-force-push.md": "Push with care.\n",
    })  # fmt: skip
    monkeypatch.chdir(shop)
    way = camillo("path", "facts/a", "no-force-push")
    assert way.results == [{"from": "facts/a", "relation": "mentions", "to": "rules/no-force-push"}]
    words = ("--expand", "one-hop", "--expand-types", "mentions")
    found = camillo("search", "As we said", *words).results
    assert [each["id"] for each in found] == ["facts/a", "rules/no-force-push"]


def test_in_a_store_of_commonplace_they_are_its_own(camillo: Camillo, home: Path) -> None:
    head = "---\nname: {}\ndescription: d\ntype: reference\n---\n"
    plant(home / ".commonplace" / "memory", {
        "a.md": head.format("a") + "[[b]] `[[c]]` [[b|label]] [[No-Such]]\n",
        "b.md": head.format("b") + "B.\n", "c.md": head.format("c") + "C.\n",
    })  # fmt: skip
    found = camillo("graph", "a", "--relation", "mentions").results
    assert {each["name"] for each in found} == {"a", "b", "c"}
