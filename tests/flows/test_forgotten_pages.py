"""What was forgotten, in pages beside the notes: gone from what is made, else its page is named."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from flows.command import Camillo, files, plant

SECRET = "the vltava freezes at night"
TABLE = f"| File | Summary | Highlight |\n|---|---|---|\n| k.md | {SECRET} | — |\n"


@pytest.fixture
def compiled(camillo: Camillo, user: Path) -> Path:
    """A note in a room with its page, and one beside it that stays."""
    words = ("--name", "k", "--room", "rz", "--summary", SECRET)
    assert camillo("remember", "Its body.", *words).code == 0
    assert camillo("remember", "The heron is grey.", "--name", "heron", "--room", "rz").code == 0
    assert camillo("compile").code == 0
    return user


def forgotten(camillo: Camillo, name: str = "k") -> list[str]:
    """What the reply names as holding the text yet."""
    ran = camillo("forget", name)
    assert ran.code == 0, ran
    held: list[str] = ran.report["still_held_by"]
    return held


def holding(root: Path) -> list[str]:
    return [
        path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*"))
        if path.is_file() and b"vltava" in path.read_bytes().lower()
    ]


@pytest.mark.promise(12)
@pytest.mark.parametrize("plan", ["compiled", "by hand", "none"])
def test_the_page_of_a_room_that_was_moved_loses_it(
    camillo: Camillo, compiled: Path, plan: str
) -> None:
    if plan == "by hand":
        plant(compiled, {"ROOT.md": "# Mine\n"})
    elif plan == "none":
        (compiled / "ROOT.md").unlink()
    (compiled / "rz").rename(compiled / "rmoved")
    assert forgotten(camillo) == []
    assert holding(compiled) == []
    assert "| heron.md |" in (compiled / "rmoved" / "index.md").read_text()
    assert (compiled / "ROOT.md").exists() == (plan != "none")


@pytest.mark.promise(12)
def test_so_does_one_without_notes_that_was_copied(camillo: Camillo, compiled: Path) -> None:
    for name in ("copy", "mine"):
        (compiled / name).mkdir()
        shutil.copy(compiled / "rz" / "index.md", compiled / name)
    with (compiled / "mine" / "index.md").open("a") as file:
        file.write("My own words.\n")
    assert forgotten(camillo) == []
    assert holding(compiled) == []
    assert not (compiled / "copy" / "index.md").exists()
    assert "My own words." in (compiled / "mine" / "index.md").read_text()


@pytest.mark.promise(12)
def test_also_where_the_index_is_new_and_none_is_made(camillo: Camillo, compiled: Path) -> None:
    shutil.rmtree(compiled / "index")
    (compiled / "ROOT.md").unlink()
    plant(compiled, {"new/otter.md": "The otter swims.\n"})
    assert forgotten(camillo) == []
    assert holding(compiled) == []
    assert not (compiled / "new" / "index.md").exists()
    assert not (compiled / "ROOT.md").exists()


@pytest.mark.promise(12)
def test_also_where_pages_are_not_kept_in_step(camillo: Camillo, compiled: Path) -> None:
    (compiled / "rz").rename(compiled / "rmoved")
    ran = camillo("forget", "k", "--config", "outline.compile=off")
    assert ran.report["still_held_by"] == []
    assert holding(compiled) == []


def _without_end(page: Path) -> None:
    page.write_text(page.read_text().replace("<!-- auto:end -->\n", ""))


@pytest.mark.promise(12)
def test_pages_that_nobody_may_change_are_named(camillo: Camillo, compiled: Path) -> None:
    _without_end(compiled / "rz" / "index.md")
    mine = {
        "INDEX.md": f"# Mine\n<!-- auto:begin rz -->\n{TABLE}<!-- auto:end -->\n",
        "a/README.md": "Remember:\nthe vltava\n  freezes at night, says Eva.\n",
        "a/index.md": "Nothing of it.\n",
    }
    plant(compiled, mine)
    before = {name: (compiled / name).read_bytes() for name in mine}
    held = forgotten(camillo)
    assert held == [str(compiled / name) for name in ("INDEX.md", "a/README.md", "rz/index.md")]
    assert {name: (compiled / name).read_bytes() for name in mine} == before


@pytest.mark.promise(12)
@pytest.mark.parametrize(
    ("note", "page"),
    [
        ("---\ntitle: The | Vltava\n---\nx\n", "| n.md | The \\| Vltava | — |"),
        ("---\ndescription: the vltava\n---\nx\n", "about the vltava."),
        ("# A heading\n\nThe vltava is cold.\n\nMore of it.\n", "> The vltava is cold."),
        ("The vltava is cold and dark and deep and long and wide.\nSo it is.\n",
         "| rz/ | The vltava is cold and dark and deep and | 1 |"),
        ("---\nhighlight: vltava!\n---\nx\n", "| n.md | x | vltava! |"),
    ],
)  # fmt: skip
def test_title_summary_and_first_line_are_looked_for(
    camillo: Camillo, user: Path, note: str, page: str
) -> None:
    plant(user, {"n.md": note, "README.md": f"{page}\n"})
    assert forgotten(camillo, "n") == [str(user / "README.md")]


@pytest.mark.parametrize(
    "page", ["see n.md and [[gate]]\n", "The gate is shut.\n", "An Xyzzyx is no such thing.\n"]
)
def test_a_page_that_only_mentions_it_is_not_named(camillo: Camillo, user: Path, page: str) -> None:
    plant(user, {"gate.md": "---\ndescription: Xyzzy\n---\nx\n", "README.md": page})
    assert forgotten(camillo, "gate") == []


@pytest.mark.promise(12)
@pytest.mark.skipif(sys.platform != "linux", reason="names are text here")
def test_a_page_in_a_folder_that_is_no_room_is_named(camillo: Camillo, compiled: Path) -> None:
    odd = os.fsencode(compiled) + b"/r\xe9"
    os.mkdir(odd)
    shutil.copy(os.fsencode(compiled) + b"/rz/index.md", odd)
    assert forgotten(camillo) == [f"{compiled}/r\\xe9/index.md"]


@pytest.mark.promise(12)
def test_what_an_editor_saved_meanwhile_is_named(camillo: Camillo, compiled: Path) -> None:
    shutil.copy(compiled / "rz/index.md", compiled / "rz/index.conflict-20260102T030405Z.md")
    held = forgotten(camillo)
    assert held == [str(compiled / "rz/index.conflict-20260102T030405Z.md")]


@pytest.mark.promise(12)
def test_an_index_of_claude_is_looked_through(camillo: Camillo, home: Path) -> None:
    page = f"# Memory\n\n- [K](k.md) — {SECRET}\n\nBy hand: {SECRET}.\n"
    note = f"---\nname: K\ndescription: {SECRET}\nmetadata:\n  type: user\n---\nx\n"
    folder = plant(home / "theirs", {"MEMORY.md": page, "k.md": note})
    camillo("open", folder, "--write", "--form", "claude")
    assert forgotten(camillo) == [str(folder / "MEMORY.md")]
    assert (folder / "MEMORY.md").read_text() == f"# Memory\n\n\nBy hand: {SECRET}.\n"


@pytest.mark.promise(12)
def test_backups_of_an_opened_folder_lie_beside_its_store(camillo: Camillo, home: Path) -> None:
    folder = plant(home / "vault", {"k.md": f"{SECRET}\n", "backups/mine.txt": "mine"})
    camillo("open", folder, "--write")
    state = home / ".camillo" / ".roots" / "vault"
    assert (state / "store.db").exists()
    backup = plant(state / "backups", {"store.v0.db": SECRET}) / "store.v0.db"
    before = files(folder / "backups")
    assert forgotten(camillo) == [str(backup)]
    assert files(folder / "backups") == before
