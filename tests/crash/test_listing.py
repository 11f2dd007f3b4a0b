"""The page in which another program lists its notes, when a process dies on the way to it: the next
one finishes."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from flows.command import Camillo, plant, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signal")

# A command that dies at the write of MEMORY.md of this number.
DYING = """
import os, signal, sys
from camillo.engines.markdown.folder import NoteFolder
left, write = int(sys.argv.pop(1)), NoteFolder.write
def dies(self, path, content, expected):
    global left
    left -= path == "MEMORY.md"
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return write(self, path, content, expected)
NoteFolder.write = dies
from camillo.surfaces.cli import run
run()
"""
PAGE = "# Memory\n\n- [A](a.md) — one\n- [Mine](gone.md) — by hand\n- [B](b.md) — two\n"
NOTE = "---\nname: {0}\ndescription: d\nmetadata:\n  type: user\n---\nOf the {0}.\n"


@pytest.fixture
def camillo(capsys: pytest.CaptureFixture[str]) -> Camillo:
    return Camillo(capsys)


@pytest.fixture
def folder(home: Path, camillo: Camillo) -> Path:
    """What Claude Code remembers, open to be written."""
    tree = {"MEMORY.md": PAGE, "a.md": NOTE.format("heron"), "b.md": NOTE.format("otter")}
    folder = plant(home / "theirs", tree)
    assert camillo("open", folder, "--write", "--form", "claude").code == 0
    return folder


def die(number: int, *words: object) -> None:
    with start(number, *words, code=DYING) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, err


@pytest.mark.promise(12)
@pytest.mark.parametrize(
    "words", [["list"], ["search", "otter"], ["remember", "x", "--scope", "theirs"], ["sync"]]
)
def test_the_line_of_a_forgotten_note_goes_with_the_next_command(
    camillo: Camillo, folder: Path, words: list[str]
) -> None:
    die(0, "forget", "a")
    assert not (folder / "a.md").exists()
    assert "(a.md)" in (folder / "MEMORY.md").read_text()
    assert camillo(*words).code == 0
    page = (folder / "MEMORY.md").read_text()
    assert page.startswith("# Memory\n\n- [Mine](gone.md) — by hand\n- [B](b.md) — two\n")


def test_a_note_that_took_the_name_meanwhile_keeps_its_line(camillo: Camillo, folder: Path) -> None:
    die(0, "forget", "a")
    plant(folder, {"a.md": NOTE.format("walrus")})
    assert camillo("list").code == 0
    assert (folder / "MEMORY.md").read_text() == PAGE


def test_a_page_that_cannot_be_written_is_told_and_written_later(
    camillo: Camillo, folder: Path
) -> None:
    (folder / "MEMORY.md").rename(folder.parent / "page")
    (folder / "MEMORY.md").mkdir()
    ran = camillo("forget", "a")
    assert ran.code == 0
    assert ran.report["degraded"][0].startswith("MEMORY.md still lists them: ")
    assert ran.report["still_held_by"] == []
    (folder / "MEMORY.md").rmdir()
    (folder.parent / "page").rename(folder / "MEMORY.md")
    assert camillo("list").code == 0
    assert (folder / "MEMORY.md").read_text() == PAGE.replace("- [A](a.md) — one\n", "")


@pytest.mark.parametrize("number", [0, 1])
def test_what_a_killed_export_did_not_list_the_next_one_does(
    camillo: Camillo, user: Path, home: Path, number: int
) -> None:
    plant(user, {"a.md": "# Of the heron\n", "b.md": "# Of the otter\n", "c.md": "x\n"})
    die(number, "export", home / "out", "--form", "claude")
    assert camillo("export", home / "out", "--form", "claude").code == 0
    page = (home / "out" / "MEMORY.md").read_text()
    assert [page.count(f"({name}.md)") for name in "abc"] == [1, 1, 1]
    assert camillo("export", home / "out", "--form", "claude").report["unchanged"] == 3
    assert (home / "out" / "MEMORY.md").read_text() == page
    plant(home / "out", {"MEMORY.md": "# Mine\n"})
    camillo("export", home / "out", "--form", "claude", "--dry-run")
    assert (home / "out" / "MEMORY.md").read_text() == "# Mine\n"


@pytest.fixture
def user(home: Path) -> Path:
    return home / ".camillo"
