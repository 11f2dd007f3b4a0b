"""Sync: memories of files that are gone are put away, and of those only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flows.command import Camillo, files, plant, unprivileged


@pytest.fixture
def mined(camillo: Camillo, shop: Path) -> Path:
    plant(shop, {"a.md": "gates\n", "sub/b.md": "doors\n", "sub/c.md": "walls\n"})
    camillo.mine(shop)
    return shop


def test_a_vanished_file_is_no_longer_found(camillo: Camillo, mined: Path) -> None:
    (mined / "sub" / "b.md").unlink()
    ran = camillo("sync", mined)
    assert (ran.code, ran.report["present"], ran.report["drawers"]) == (0, 2, 1)
    assert [result["source"] for result in ran.results] == [str(mined / "sub" / "b.md")]
    assert camillo.texts("doors") == []
    assert camillo.texts("doors", "--archived") == ["doors\n"]
    assert camillo.texts("gates") == ["gates\n"]


def test_a_vanished_folder_in_a_folder_that_is_there_is_gone(camillo: Camillo, mined: Path) -> None:
    for name in ("b.md", "c.md"):
        (mined / "sub" / name).unlink()
    (mined / "sub").rmdir()
    assert len(camillo("sync").results) == 2
    assert [entry["text"] for entry in camillo.listed()] == ["gates\n"]


def test_sync_says_it_once(camillo: Camillo, mined: Path) -> None:
    (mined / "a.md").unlink()
    assert len(camillo("sync").results) == 1
    again = camillo("sync")
    assert (again.code, again.results) == (0, [])


def test_a_file_that_came_back_is_found_again(camillo: Camillo, mined: Path) -> None:
    (mined / "a.md").rename(mined.parent / "a.md")
    camillo("sync")
    (mined.parent / "a.md").rename(mined / "a.md")
    camillo.mine(mined)
    assert camillo.texts("gates") == ["gates\n"]
    assert len(camillo.listed("--archived")) == 3


def test_what_was_archived_by_hand_does_not_come_back_with_its_file(
    camillo: Camillo, mined: Path
) -> None:
    camillo("archive", camillo("search", "gates").first["id"])
    (mined / "a.md").rename(mined.parent / "a.md")
    camillo("sync")
    (mined.parent / "a.md").rename(mined / "a.md")
    camillo.mine(mined)
    assert camillo.texts("gates") == []
    assert camillo.texts("gates", "--archived") == ["gates\n"]


def test_a_dry_run_marks_nothing(camillo: Camillo, mined: Path) -> None:
    (mined / "a.md").unlink()
    assert len(camillo("sync", "--dry-run").results) == 1
    assert camillo.texts("gates") == ["gates\n"]


def test_only_what_was_mined_from_the_path_is_looked_at(camillo: Camillo, mined: Path) -> None:
    (mined / "a.md").unlink()
    (mined / "sub" / "b.md").unlink()
    ran = camillo("sync", mined / "sub")
    assert [os.path.basename(result["source"]) for result in ran.results] == ["b.md"]


def test_a_path_from_which_nothing_was_mined_is_nothing_found(
    camillo: Camillo, mined: Path
) -> None:
    assert camillo("sync", mined.parent / "shopp").code == 1


def test_a_name_that_is_no_unicode_is_not_taken_for_gone(camillo: Camillo, shop: Path) -> None:
    for folder, name in ((b"", b"caf\xe9.md"), (b"/na\xefve", b"b.md")):
        os.makedirs(os.fsencode(shop) + folder, exist_ok=True)
        with open(os.fsencode(shop) + folder + b"/" + name, "wb") as file:
            file.write(b"gates\n")
    camillo.mine(shop)
    ran = camillo("sync")
    assert (ran.code, ran.results, ran.report["present"]) == (0, [], 2)


def test_a_folder_that_is_no_unicode_can_be_mined(camillo: Camillo, home: Path) -> None:
    folder = os.fsencode(home) + b"/caf\xe9"
    os.mkdir(folder)
    with open(folder + b"/a.md", "wb") as file:
        file.write(b"gates\n")
    assert camillo.mine(os.fsdecode(folder))["wing"] == "caf\\xe9"
    assert camillo.texts("gates", "--wing", os.fsdecode(b"caf\xe9")) == ["gates\n"]
    assert camillo("sync").report["present"] == 1


@pytest.mark.parametrize("instead", ["folder", "link"])
def test_a_file_whose_name_is_something_else_now_is_gone(
    camillo: Camillo, mined: Path, instead: str
) -> None:
    (mined / "a.md").unlink()
    if instead == "folder":
        (mined / "a.md").mkdir()
    else:
        (mined / "a.md").symlink_to(mined / "sub" / "b.md")
    assert len(camillo("sync").results) == 1


@pytest.mark.promise(5)
class TestDoubt:
    """Whatever cannot be told changes nothing."""

    def test_a_mined_folder_that_is_not_there(self, camillo: Camillo, mined: Path) -> None:
        mined.rename(mined.parent / "unmounted")
        ran = camillo("sync")
        assert (ran.code, ran.results) == (3, [])
        assert [kept["source"] for kept in ran.report["kept"]] == [str(mined)]
        assert len(camillo.listed()) == 3

    def test_a_mined_folder_that_is_empty_now(self, camillo: Camillo, mined: Path) -> None:
        mined.rename(mined.parent / "unmounted")
        mined.mkdir()  # a mount point without its disk
        ran = camillo("sync")
        assert (ran.code, ran.results) == (3, [])
        assert "--emptied" in ran.report["kept"][0]["reason"]
        assert len(camillo.listed()) == 3
        assert len(camillo("sync", "--emptied").results) == 3
        assert camillo.listed() == []

    def test_mining_a_folder_that_is_empty_now(self, camillo: Camillo, mined: Path) -> None:
        mined.rename(mined.parent / "unmounted")
        mined.mkdir()
        assert camillo.mine(mined)["drawers_removed"] == 0
        assert len(camillo.listed()) == 3

    @pytest.mark.parametrize("command", ["sync", "mine"])
    @pytest.mark.parametrize("mode", [0o000, 0o400])
    def test_a_folder_that_cannot_be_read(
        self, camillo: Camillo, mined: Path, command: str, mode: int
    ) -> None:
        before = camillo.listed("--order", "id")
        (mined / "sub").chmod(mode)
        try:
            ended = unprivileged(command, mined)
        finally:
            (mined / "sub").chmod(0o755)
        assert ended.code == 3, ended
        assert "permission denied" in ended.out.lower()
        assert camillo.listed("--order", "id") == before

    @pytest.mark.parametrize("command", ["sync", "mine"])
    def test_a_file_that_cannot_be_read(self, camillo: Camillo, mined: Path, command: str) -> None:
        before = camillo.listed("--order", "id")
        plant(mined, {"a.md": "changed\n"})
        (mined / "a.md").chmod(0)
        ended = unprivileged(command, mined)
        (mined / "a.md").chmod(0o644)
        assert ended.code == (3 if command == "mine" else 0), ended
        assert camillo.listed("--order", "id") == before

    def test_mining_a_folder_that_cannot_be_read_at_all(
        self, camillo: Camillo, mined: Path
    ) -> None:
        before = camillo.listed("--order", "id")
        mined.chmod(0)
        try:
            ended = unprivileged("mine", mined)
        finally:
            mined.chmod(0o755)
        assert ended.code == 3, ended
        assert camillo.listed("--order", "id") == before


def test_sync_before_anything_was_mined_makes_nothing(
    camillo: Camillo, user: Path, home: Path
) -> None:
    before = files(home)
    assert camillo("sync").code in (0, 1)
    assert files(home) == before
