"""`revise` and `remember` set and unset each part of a note, and move it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.command import Camillo, Ran, plant


@pytest.fixture
def note(camillo: Camillo, user: Path) -> Path:
    words = ("--pinned", "--tag", "wood,oak", "--tag", "gate", "--expires", "2030-01-31")
    routes = ("--load-when", "building, or mending", "--load-when", "painting")
    assert camillo("remember", "The gate is of oak.", "--name", "gate", *words, *routes).code == 0
    return user


def revised(camillo: Camillo, *words: str) -> Ran:
    ran = camillo("revise", "gate", *words)
    assert ran.code == 0, ran
    return ran


def shown(camillo: Camillo, key: str) -> object:
    return camillo("show", "gate").first.get(key)


def test_tags_are_split_at_commas_and_conditions_are_not(camillo: Camillo, note: Path) -> None:
    assert shown(camillo, "tags") == ["wood", "oak", "gate"]
    assert shown(camillo, "load_when") == ["building, or mending", "painting"]
    revised(camillo, "--tag", "elm, ,elm,ash")
    assert shown(camillo, "tags") == ["elm", "ash"]


def test_each_part_can_be_changed_and_taken_away(camillo: Camillo, note: Path) -> None:
    assert "expires: 2030-01-31T00:00:00Z\n" in (note / "gate.md").read_text()
    revised(camillo, "--load-when", "cleaning")
    assert shown(camillo, "load_when") == ["cleaning"]
    revised(camillo, "--no-pinned", "--tag", "", "--load-when", "", "--expires", "")
    head = (note / "gate.md").read_text().partition("\n---\n")[0]
    for key in ("pinned", "tags", "load_when", "expires"):
        assert key not in head
    assert not shown(camillo, "pinned")


def test_remember_unpins_too(camillo: Camillo, note: Path) -> None:
    camillo("remember", "The gate is of elm.", "--name", "gate", "--no-pinned")
    assert not shown(camillo, "pinned")


class TestRooms:
    def test_a_note_moves_with_its_file(self, camillo: Camillo, note: Path) -> None:
        plant(
            note, {"gate.md": (note / "gate.md").read_text().replace("---\n", "---\nx: 1 # !\n", 1)}
        )
        held = (note / "gate.md").read_text()
        reply = revised(camillo, "--room", "doors/front").first
        assert (reply["id"], reply["path"]) == ("gate", "doors/front/gate.md")
        assert not (note / "gate.md").exists()
        moved = (note / "doors" / "front" / "gate.md").read_text()
        assert [line for line in moved.splitlines() if "updated" not in line] == [
            line for line in held.splitlines() if "updated" not in line
        ]
        assert shown(camillo, "room") == "doors/front"
        assert [each["id"] for each in camillo.listed("--room", "doors/front")] == ["gate"]
        assert camillo("roots").report["degraded"] == []
        revised(camillo, "--room", "")
        assert (note / "gate.md").is_file()
        assert [each["id"] for each in camillo.listed()] == ["gate"]

    def test_with_other_changes_at_once(self, camillo: Camillo, note: Path) -> None:
        reply = revised(camillo, "--room", "doors", "--text", "Of elm.").first
        assert reply["status"] == "updated"
        assert camillo("search", "elm").first["path"] == "doors/gate.md"
        assert camillo.texts("oak") == []

    def test_remember_moves_it_where_a_room_is_given(self, camillo: Camillo, note: Path) -> None:
        reply = camillo(
            "remember", "The gate is of oak.", "--name", "gate", "--room", "doors"
        ).first
        assert reply["path"] == "doors/gate.md"
        again = camillo("remember", "Of elm.", "--name", "gate").first
        assert again["path"] == "doors/gate.md"

    def test_a_file_that_is_there_stays(self, camillo: Camillo, note: Path) -> None:
        plant(note, {"doors/gate.md": "---\nname: other\n---\nAnother.\n"})
        assert revised(camillo, "--room", "doors").first["path"] == "doors/gate-2.md"
        assert camillo("show", "other").first["text"] == "Another.\n"

    def test_to_the_room_that_it_is_in_nothing_moves(self, camillo: Camillo, note: Path) -> None:
        revised(camillo, "--room", "doors")
        assert revised(camillo, "--room", "doors").first["status"] == "deduplicated"

    @pytest.mark.promise(15)
    @pytest.mark.parametrize("room", ["..", "a/../..", "/x", "index", ".git", "a\\b", "%2e%2e/x"])
    def test_no_room_is_outside_or_the_roots_own(
        self, camillo: Camillo, note: Path, home: Path, room: str
    ) -> None:
        before = set(home.rglob("*.md"))
        ran = camillo("revise", "gate", "--room", room)
        assert (ran.code, ran.report["error"]["code"]) == (2, "invalid-value")
        assert set(home.rglob("*.md")) == before

    def test_where_the_room_is_part_of_the_name_it_is_refused(
        self, camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shop = plant(home / "work" / "shop", {
            ".memory/ROOT.md": "# Memory\n", ".memory/rules/push.md": "Push with care.\n",
        })  # fmt: skip
        monkeypatch.chdir(shop)
        ran = camillo("revise", "push", "--room", "facts")
        assert ran.code == 2
        assert "remember it as 'facts/push', then forget 'rules/push'" in ran.err
        assert (shop / ".memory" / "rules" / "push.md").is_file()

    def test_a_store_without_rooms_keeps_the_room_beside_the_file(
        self, camillo: Camillo, home: Path
    ) -> None:
        head = "---\nname: gate\ndescription: d\ntype: reference\n---\nOf oak.\n"
        store = plant(home / ".commonplace" / "memory", {"gate.md": head})
        revised(camillo, "--room", "doors")
        assert (store / "gate.md").read_text() == head
        assert shown(camillo, "room") == "doors"
