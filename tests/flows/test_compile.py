"""`camillo compile`: pages that say what notes there are, from the command line."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from flows.command import Camillo, files, plant, start, together

NOTES = {
    "deploy.md": "---\ndescription: two approvals\npinned: true\nload_when: [deploying]\n---\nx\n",
    "facts/heron.md": "# Herons\n\nThe heron is grey.\n",
    "rules/tag.md": "---\ndescription: tag releases\nload_when: [releasing]\n---\nx\n",
}


def pages(folder: Path) -> dict[str, str]:
    found = [*folder.glob("ROOT.md"), *folder.glob("**/index.md")]
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in found}


def statuses(camillo: Camillo, *words: object) -> dict[str, str]:
    ran = camillo("compile", *words)
    assert ran.code in (0, 3), ran
    return {each["path"]: each["status"] for each in ran.results}


@pytest.fixture
def notes(user: Path) -> Path:
    return plant(user, NOTES)


def test_where_there_are_no_notes_nothing_is_made(camillo: Camillo, user: Path) -> None:
    ran = camillo("compile")
    assert (ran.code, ran.results) == (1, [])
    assert "no notes" in ran.report["degraded"][0]
    assert not pages(user)


def test_pages_say_what_there_is_and_when_to_read_it(camillo: Camillo, notes: Path) -> None:
    ran = camillo("compile")
    assert ran.code == 0
    assert ran.first == {
        "root": "user", "path": "ROOT.md", "status": "written", "added": ran.first["added"],
        "removed": 0, "reason": "",
    }  # fmt: skip
    assert (ran.report["written"], ran.report["unchanged"]) == (3, 0)
    root = pages(notes)["ROOT.md"]
    assert "| ./ | two approvals | 1 (1 pinned) |" in root
    assert "| facts/ | The heron is grey. | 1 |" in root
    assert "| rules/ | Hard rules: always present, never broken | 1 |" in root
    assert "| deploying | deploy.md | fact |\n| releasing | rules/tag.md | fact |" in root


def test_twice_changes_nothing(camillo: Camillo, notes: Path) -> None:
    camillo("compile")
    before = files(notes / "facts")
    assert set(statuses(camillo).values()) == {"unchanged"}
    assert set(statuses(camillo, "--all").values()) == {"unchanged"}
    assert files(notes / "facts") == before


def test_people_read_only_of_pages_that_changed(camillo: Camillo, notes: Path) -> None:
    assert "would write" in camillo.plain("compile", "--dry-run").out
    assert not pages(notes)
    camillo("compile")
    plant(notes, {"facts/otter.md": "The otter swims.\n"})
    out = camillo.plain("compile").out
    assert "facts/index.md" in out
    assert "rules/index.md" not in out


def test_a_page_by_hand_is_kept_and_told_how_to_get_a_table(camillo: Camillo, notes: Path) -> None:
    plant(notes, {"facts/index.md": "# My facts\n", "ROOT.md": "# Mine\n"})
    ran = camillo("compile")
    assert ran.code == 0
    kept = {each["path"]: each["reason"] for each in ran.results if each["status"] == "kept"}
    assert kept.keys() == {"ROOT.md", "facts/index.md"}
    assert "`<!-- auto:begin facts -->` and `<!-- auto:end -->`" in kept["facts/index.md"]
    assert "`<!-- auto:begin registry -->`" in kept["ROOT.md"]
    plant(notes, {"ROOT.md": "# Mine\n<!-- auto:begin registry -->\n<!-- auto:end -->\n"})
    camillo("compile")
    root = pages(notes)["ROOT.md"]
    assert root.startswith("# Mine\n<!-- auto:begin registry -->\n\n| Folder |")
    assert "| facts/ |" in root


def test_a_note_that_another_supersedes_is_in_its_room_and_led_to_no_more(
    camillo: Camillo, notes: Path
) -> None:
    plant(notes, {"facts/new.md": "---\nsupersedes: [deploy]\nload_when: [deploying]\n---\nx\n"})
    camillo("compile")
    root = pages(notes)["ROOT.md"]
    assert "| ./ | two approvals | 1 (1 pinned) |" in root
    assert "| deploying | facts/new.md | fact |" in root
    assert "deploy.md | fact" not in root


def test_what_is_archived_is_in_no_page(camillo: Camillo, notes: Path) -> None:
    camillo("compile")
    assert camillo("archive", "heron").code == 0
    camillo("compile")
    assert "heron" not in "".join(pages(notes).values())


def test_of_what_is_forgotten_no_page_says_anything(camillo: Camillo, notes: Path) -> None:
    camillo("compile")
    assert camillo("forget", "deploy").code == 0
    assert "approvals" not in "".join(pages(notes).values())
    held = [path for path in notes.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in held if b"two approvals" in path.read_bytes()]


def test_nor_does_one_where_the_page_of_the_root_is_by_hand(camillo: Camillo, notes: Path) -> None:
    plant(notes, {"ROOT.md": "# Mine\n"})
    camillo("compile")
    assert "grey" in pages(notes)["facts/index.md"]
    assert camillo("forget", "heron").code == 0
    assert pages(notes).keys() == {"ROOT.md", "rules/index.md"}
    assert pages(notes)["ROOT.md"] == "# Mine\n"


def test_of_several_roots_those_with_a_plan_are_meant(
    camillo: Camillo, home: Path, notes: Path
) -> None:
    theirs = plant(home / "theirs", {"facts/a.md": "x\n"})
    camillo("open", theirs, "--write")
    ran = camillo("compile")
    assert (ran.code, ran.results) == (1, [])
    why = "it has no ROOT.md yet; `camillo compile --scope {}` makes one"
    assert ran.report["degraded"] == [
        f"user is left alone: {why.format('user')}", f"theirs is left alone: {why.format('theirs')}"
    ]  # fmt: skip
    assert not pages(notes) | pages(theirs)
    assert {each["root"] for each in camillo("compile", "--scope", "user").results} == {"user"}
    ran = camillo("compile")
    assert {(each["root"], each["status"]) for each in ran.results} == {("user", "unchanged")}
    assert ran.report["degraded"] == [f"theirs is left alone: {why.format('theirs')}"]
    assert not pages(theirs)


def test_each_page_says_whose_it_is(camillo: Camillo, home: Path, notes: Path) -> None:
    theirs = plant(home / "theirs", {"ROOT.md": "# Theirs\n", "facts/a.md": "x\n"})
    plant(notes, {"ROOT.md": "# Mine\n"})
    camillo("open", theirs, "--write")
    out = camillo.plain("compile").out
    assert re.search(r"^theirs +facts/index\.md +written", out, re.MULTILINE)
    assert re.search(r"^user +facts/index\.md +written", out, re.MULTILINE)


def test_in_chinese(camillo: Camillo, notes: Path) -> None:
    camillo("compile", "--language", "zh")
    found = pages(notes)
    assert found["facts/index.md"].startswith("# facts 索引\n")
    assert "| rules/ | 不可违反的硬规则,常驻 | 1 |" in found["ROOT.md"]
    assert set(statuses(camillo).values()) == {"unchanged"}


def test_pages_of_another_program_are_left_to_it(camillo: Camillo, home: Path, notes: Path) -> None:
    theirs = plant(home / "theirs", {"a.md": "---\nname: a\ndescription: d\ntype: user\n---\nx\n"})
    camillo("open", theirs, "--form", "commonplace", "--write")
    ran = camillo("compile")
    assert "theirs is left alone: its pages are those of commonplace" in ran.report["degraded"]
    assert {each["root"] for each in ran.results} == {"user"}
    assert not pages(theirs)


def test_a_folder_that_is_only_read_gets_none(camillo: Camillo, home: Path) -> None:
    theirs = plant(home / "theirs", {"facts/a.md": "x\n"})
    camillo("open", theirs, "--form", "oc")
    ran = camillo("compile", "--scope", "theirs")
    assert ran.code == 1
    assert "--write" in ran.report["degraded"][0]
    assert not pages(theirs)


def test_a_tree_of_oc_is_compiled_as_oc_does_it(camillo: Camillo, home: Path) -> None:
    theirs = plant(home / "theirs", {"facts/a.md": "---\nsummary: s\n---\n\nx\n"})
    camillo("open", theirs, "--form", "oc", "--write")
    assert camillo("compile", "--scope", "theirs").code == 0
    found = pages(theirs)
    assert found["ROOT.md"].startswith("# 记忆总纲 — ")
    assert found["facts/index.md"] == (
        "# facts 索引\n\n<!-- auto:begin facts -->\n\n| 文件 | 概述 | 重点 |\n|---|---|---|\n"
        "| a.md | s | — |\n<!-- auto:end -->\n"
    )


def test_a_page_that_fails_is_done_in_part(camillo: Camillo, notes: Path) -> None:
    (notes / "facts/index.md").symlink_to(notes.parent / "elsewhere.md")
    ran = camillo("compile")
    assert ran.code == 3
    assert (ran.report["failed"], ran.report["written"]) == (1, 2)


def test_several_at_once_leave_whole_pages(camillo: Camillo, notes: Path) -> None:
    plant(notes, {f"facts/{n}.md": f"Fact number {n}.\n" for n in range(40)})
    ran = together([("compile", "--json")] * 4)
    assert [each.code for each in ran] == [0] * 4
    found = pages(notes)
    assert set(statuses(camillo, "--all").values()) == {"unchanged"}
    assert pages(notes) == found
    assert "Fact number 39." in found["facts/index.md"]
    assert not list(notes.rglob("*.conflict-*"))


KILLED = """
import os, signal, sys
from camillo.engines.markdown.folder import NoteFolder
left, write = int(sys.argv.pop(1)), NoteFolder.write
def dies(*arguments):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(*arguments)
NoteFolder.write = dies
from camillo.surfaces.cli import run
run()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
@pytest.mark.parametrize("writes", [0, 1, 2])
def test_a_killed_one_leaves_whole_pages_and_the_next_one_finishes(
    camillo: Camillo, notes: Path, writes: int
) -> None:
    with start(writes, "compile", code=KILLED) as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    between = pages(notes)
    assert len(between) == writes
    statuses(camillo)
    after = pages(notes)
    assert len(after) == 3
    assert between.items() <= after.items()
