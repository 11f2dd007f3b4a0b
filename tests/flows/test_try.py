"""Try: an answer from a folder, and nothing kept of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from flows.command import Camillo, files, plant


@pytest.fixture(autouse=True)
def scratch(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    folder = home / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_it_answers_like_a_search(camillo: Camillo, shop: Path) -> None:
    plant(shop, {"a.md": "# Gates\n\nThe theatre has seven gates.\n", "b.md": "doors\n"})
    ran = camillo("try", shop, "seven gates")
    assert (ran.code, ran.report["files"], ran.report["drawers"]) == (0, 2, 2)
    camillo.mine(shop)
    assert ran.results == camillo("search", "seven gates", "-k", "3").results


def test_it_keeps_nothing(camillo: Camillo, shop: Path, user: Path, scratch: Path) -> None:
    plant(shop, {"a.md": "gates\n"})
    before = files(shop)
    camillo("try", shop, "gates")
    assert files(shop) == before
    assert list(scratch.iterdir()) == []
    assert not user.exists()


def test_it_leaves_the_users_root_alone(camillo: Camillo, shop: Path, user: Path) -> None:
    plant(shop, {"a.md": "gates\n"})
    camillo.mine(shop)
    before = camillo("stats").out
    plant(shop, {"b.md": "more gates\n"})
    assert len(camillo("try", shop, "gates").results) == 2
    assert camillo("stats").out == before


@pytest.mark.parametrize(("question", "code"), [("zeppelin", 1), ("", 1)])
def test_no_answer_is_code_one(
    camillo: Camillo, shop: Path, scratch: Path, question: str, code: int
) -> None:
    plant(shop, {"a.md": "gates\n"})
    assert camillo("try", shop, question).code == code
    assert list(scratch.iterdir()) == []


def test_a_folder_that_is_not_there_leaves_nothing_either(
    camillo: Camillo, shop: Path, scratch: Path
) -> None:
    assert camillo("try", shop / "nowhere", "gates").code == 2
    assert list(scratch.iterdir()) == []


def test_skipped_files_are_counted(camillo: Camillo, shop: Path) -> None:
    plant(shop, {"a.md": "gates\n", "b.bin": b"\0\1"})
    assert camillo("try", shop, "gates").report["skipped"] == 1


def test_what_was_forgotten_is_no_matter_of_it(camillo: Camillo, shop: Path) -> None:
    """It reads the folder as it is."""
    plant(shop, {"a.md": "gates\n"})
    camillo.mine(shop)
    camillo("forget", camillo("search", "gates").first["id"])
    assert len(camillo("try", shop, "gates").results) == 1
