"""Files that cannot be read as notes: told once where people look, named by `roots`, overwritten by
nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.command import Camillo, plant, unprivileged

BROKEN = "---\nname: broken\n\ttab: x\n---\nThe broken gate.\n"
SAID = "1 file cannot be read as a note: `camillo roots` says which and why"


@pytest.fixture
def root(camillo: Camillo, user: Path) -> Path:
    assert camillo("remember", "The gate is of oak.", "--name", "gate").code == 0
    return plant(user, {"broken.md": BROKEN})


@pytest.mark.parametrize(
    "words",
    [["search", "oak"], ["search", "walrus"], ["list"], ["list", "--kind", "rule"],
     ["show", "gate"], ["remember", "Another."]],
)  # fmt: skip
def test_it_is_told_once(camillo: Camillo, root: Path, words: list[str]) -> None:
    assert camillo(*words).report["degraded"].count(SAID) == 1
    (root / "broken.md").unlink()
    assert SAID not in camillo(*words).report["degraded"]


def test_roots_names_it_once_with_its_line(camillo: Camillo, root: Path) -> None:
    [said] = camillo("roots").report["degraded"]
    assert said.startswith(f"{root}/broken.md, line 3: ")
    assert said.count("broken.md") == 1


def test_roots_lists_all_that_is_wrong_with_a_file(camillo: Camillo, root: Path) -> None:
    plant(root, {"broken.md": "---\npinned: maybe\ntrust: so\ncreated: soon\n---\nx\n"})
    said = camillo("roots").report["degraded"]
    assert [each.partition(": ")[0] for each in said] == [
        f"{root}/broken.md, line {line}" for line in (2, 3, 4)
    ]
    assert SAID not in camillo("list").report["degraded"]


def test_show_says_why(camillo: Camillo, root: Path) -> None:
    for name in ("broken", "broken.md"):
        ran = camillo("show", name)
        assert (ran.code, ran.report["error"]["code"]) == (2, "note-broken")
        message = ran.report["error"]["message"]
        assert message.startswith(f"{root}/broken.md cannot be read as a note: line 3: ")


def test_one_that_was_read_before_is_shown_as_it_was(camillo: Camillo, root: Path) -> None:
    plant(root, {"gate.md": BROKEN})
    shown = camillo("show", "gate").first
    assert shown["text"] == "The gate is of oak."
    [problem] = shown["problems"]
    assert problem.startswith("line 3: ")
    assert problem.endswith("; shown as it was before")


def test_its_name_is_not_taken_behind_its_back(camillo: Camillo, root: Path) -> None:
    ran = camillo("remember", "New.", "--name", "broken")
    assert (ran.code, ran.report["error"]["code"]) == (2, "note-broken")
    assert "mend it, or choose another name" in ran.err
    assert camillo("remember", "New.", "--title", "Broken").first["path"] == "broken_2.md"
    assert sorted(each.name for each in root.glob("*.md")) == [
        "broken.md", "broken_2.md", "gate.md",
    ]  # fmt: skip
    assert (root / "broken.md").read_text() == BROKEN


def test_nor_where_another_room_has_it(camillo: Camillo, root: Path) -> None:
    (root / "ops").mkdir()
    (root / "broken.md").rename(root / "ops" / "broken.md")
    assert "ops/broken.md" in camillo("remember", "New.", "--name", "broken").err


def test_in_an_oc_tree_rooms_keep_names_apart(
    camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = plant(home / "work" / "shop", {
        ".memory/ROOT.md": "# Memory\n", ".memory/rules/broken.md": BROKEN,
    })  # fmt: skip
    monkeypatch.chdir(shop)
    words = ("remember", "New.", "--name", "broken", "--scope", "project", "--room")
    assert camillo(*words, "facts").first["id"] == "facts/broken"
    assert camillo(*words, "rules").report["error"]["code"] == "note-broken"


def test_a_text_that_is_no_utf8_is_told(camillo: Camillo, root: Path) -> None:
    plant(root, {"broken.md": b"---\nname: x\n---\n\nGr\xfc\xdfe of oak\n"})
    [said] = camillo("roots").report["degraded"]
    assert said.startswith(f"{root}/broken.md, line 5: bytes that are no UTF-8")
    assert camillo("show", "x").first["problems"] == [said.partition(", ")[2]]
    assert "x" in {each["id"] for each in camillo("search", "oak").results}


def test_a_file_that_may_not_be_read_is_told(camillo: Camillo, root: Path) -> None:
    (root / "broken.md").chmod(0)
    assert SAID in unprivileged("list").report["degraded"]
    [said] = unprivileged("roots").report["degraded"]
    assert said.startswith(f"{root}/broken.md: cannot be read: Permission denied")
