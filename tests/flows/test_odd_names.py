"""Files and folders that are not read as notes: told by `roots`, left as they are, hiding none."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from flows.command import Camillo, files, plant, unprivileged

NOTE = "---\nname: {0}\ndescription: of the heron\ntype: project\n---\nThe heron {0} is grey.\n"
COMMANDS = (
    ("search", "heron"), ("list",), ("roots",), ("compile", "--all"), ("sync",), ("stats",),
)  # fmt: skip

bytes_are_names = pytest.mark.skipif(sys.platform != "linux", reason="names are text here")


def put(folder: Path, name: bytes, text: str) -> None:
    """A file whose name need not be text."""
    path = os.path.join(os.fsencode(folder), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode())


def places(home: Path) -> dict[str, tuple[Path, str]]:
    """By form, a folder of it and the room of its notes."""
    project = home / "work" / "shop"
    (project / ".git").mkdir(parents=True)
    os.chdir(project)
    claude = "".join(c if c.isascii() and c.isalnum() else "-" for c in os.path.realpath(project))
    return {
        "camillo": (home / ".camillo", "r/"),
        "cloned": (project / ".camillo", "r/"),
        "commonplace": (home / ".commonplace" / "memory", ""),
        "oc": (project / ".memory", "r/"),
        "claude": (home / ".claude" / "projects" / claude / "memory", ""),
        "nullclaw": (home / "claw", "okf/"),
        "vault": (home / "vault", "r/"),
    }


def told(camillo: Camillo) -> list[str]:
    return [each for each in camillo("roots").report["degraded"] if "\\" in each]


@bytes_are_names
@pytest.mark.parametrize(
    "form", ["camillo", "cloned", "commonplace", "oc", "claude", "nullclaw", "vault"]
)
def test_a_name_that_is_no_utf8_is_told_and_hides_nothing(
    camillo: Camillo, home: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)  # comes back
    folder, room = places(home)[form]
    plant(folder, {f"{room}good.md": NOTE.format("good")})
    if form == "oc":
        plant(folder, {"ROOT.md": "# Plan\n<!-- auto:begin registry -->\n<!-- auto:end -->\n"})
    odd = [room.encode() + b"caf\xe9.md", room.encode() + b"\xed\xa0\x80.md"]
    if room:
        odd.append(b"r\xe9/x.md" if room == "r/" else room.encode() + b"r\xe9/x.md")
    for name in odd:
        put(folder, name, NOTE.format("bad"))
    if form in ("nullclaw", "vault"):
        shape = "nullclaw" if form == "nullclaw" else "camillo"
        opened = camillo("open", folder, "--write", "--form", shape)
        assert opened.code == 0, opened
        assert opened.first["memories"] == 1
        assert sum("\\xe9" in each for each in opened.report["degraded"]) == len(odd) - 1
    before = {name: Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).read_bytes()
              for name in odd}  # fmt: skip
    for words in COMMANDS:
        ran = camillo(*words)
        assert "Unicode" not in ran.err, words
        assert ran.code in (0, 1, 3), (words, ran)
    assert [each["id"].rpartition("/")[2] for each in camillo("search", "heron").results] == [
        "good"
    ]
    assert len(told(camillo)) == len(odd), told(camillo)
    assert all("rename it" in each for each in told(camillo))
    for name, content in before.items():
        assert Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).read_bytes() == content
    put(folder, odd[0], NOTE.format("changed"))
    os.rename(os.path.join(os.fsencode(folder), odd[0]),
              os.path.join(os.fsencode(folder), odd[0].replace(b"\xe9", b"e")))  # fmt: skip
    assert len(told(camillo)) == len(odd) - 1
    assert len(camillo("search", "heron").results) == 2


@bytes_are_names
def test_notes_are_written_beside_them(camillo: Camillo, user: Path) -> None:
    plant(user, {"r/good.md": NOTE.format("good")})
    for name in (b"caf\xe9.md", b"r\xe9/index.md", b"r\xe9/x.md", b"r/caf\xe9.md"):
        put(user, name, "# A page\n")
    assert camillo("remember", "The otter swims.", "--name", "otter").code == 0
    assert camillo("revise", "otter", "--summary", "swims").code == 0
    assert camillo("archive", "otter").code == 0
    assert camillo("compile", "--all").code == 0
    assert camillo("forget", "good").code == 0
    assert len(told(camillo)) == 3


@bytes_are_names
def test_a_folder_with_such_a_name_is_told_where_no_note_in_it_is(
    camillo: Camillo, user: Path
) -> None:
    plant(user, {"good.md": NOTE.format("good")})
    put(user, b"r\xe9/index.md", "# A page\n")
    assert camillo("compile", "--all").code == 0
    [said] = told(camillo)
    assert said.startswith(f"{user}/r\\xe9: ")


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
@pytest.mark.parametrize("name", ["C:a.md", "back\\slash.md", "line\nfeed.md", "r/ta\tb.md"])
def test_a_name_that_is_no_path_everywhere_is_told(camillo: Camillo, home: Path, name: str) -> None:
    folder = plant(home / "vault", {name: NOTE.format("odd"), "good.md": NOTE.format("good")})
    ran = camillo("open", folder)
    [said] = ran.report["degraded"]
    assert "rename it" in said
    assert said.isprintable()
    assert camillo("roots").report["degraded"] == [said]
    assert len(camillo("search", "heron").results) == 1
    (folder / name).unlink()
    assert camillo("roots").report["degraded"] == []


def test_a_colon_further_on_is_one_like_any_other(camillo: Camillo, home: Path) -> None:
    if sys.platform == "win32":
        pytest.skip("no such names there")
    tree = {"Meeting 10:30.md": "the heron\n", "r/Q: why.md": "the heron too\n"}
    camillo("open", plant(home / "vault", tree))
    assert camillo("roots").report["degraded"] == []
    assert len(camillo("search", "heron").results) == 2


def test_folders_of_a_vault_may_be_called_as_camillos_own(camillo: Camillo, home: Path) -> None:
    tree = {"index/a.md": "the heron\n", "Backups/deep/b.md": "the otter\n"}
    folder = plant(home / "vault", tree)
    opened = camillo("open", folder, "--write")
    assert (opened.code, opened.first["memories"]) == (0, 2)
    assert camillo("search", "heron").code == 0
    assert camillo("search", "otter").first["id"] == "b"
    made = camillo("remember", "A walrus.", "--name", "c", "--room", "index", "--scope", "vault")
    assert (made.code, made.first["path"]) == (0, "index/c.md")
    assert camillo("compile", "--scope", "vault").code == 0
    assert "| a.md | the heron |" in (folder / "index" / "index.md").read_text()


def test_where_they_are_camillos_own_they_are_no_rooms(camillo: Camillo, user: Path) -> None:
    plant(user, {"index/a.md": "the heron\n", "backups/b.md": "the heron\n", "c.md": "x\n"})
    assert camillo("search", "heron").code == 1
    ran = camillo("remember", "x", "--name", "n", "--room", "index")
    assert ran.code == 2
    assert "camillo's own" in ran.err


def test_folders_that_are_not_read_are_told(camillo: Camillo, home: Path) -> None:
    deep = "/".join("d" * 33)
    tree = {"shut/a.md": "the heron\n", f"{deep}/b.md": "the heron\n", "c.md": "the heron\n"}
    folder = plant(home / "vault", tree)
    (folder / "shut").chmod(0)
    before = files(folder)
    try:
        opened = unprivileged("open", folder)
        ran = unprivileged("roots")
    finally:
        (folder / "shut").chmod(0o700)
    said = sorted(ran.report["degraded"])
    assert sorted(opened.report["degraded"]) == said
    assert sum(each["problems"] for each in ran.results) == len(said) == 2
    assert said[0].startswith(f"{folder}/{deep}: ")
    assert "32" in said[0]
    assert said[1].startswith(f"{folder}/shut: ")
    assert "permission" in said[1].lower()
    assert files(folder).keys() == before.keys()


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
@pytest.mark.parametrize(
    "room",
    ["a|b", 'C++ "notes"', "<x>", "what?", "a*", "\u200fשלום", "con", "dot.", "x" * 150, "a b",
     "<!-- auto:end -->", "-->", "50%20"],
)  # fmt: skip
def test_a_room_that_is_there_gets_its_page(camillo: Camillo, user: Path, room: str) -> None:
    plant(user, {f"{room}/a.md": "The heron is grey.\n", f"{room}/b/c.md": "x\n"})
    ran = camillo("compile")
    assert (ran.code, ran.report["failed"]) == (0, 0), ran
    assert "| a.md | The heron is grey. | — |" in (user / room / "index.md").read_text()
    assert "| c.md | x | — |" in (user / room / "b" / "index.md").read_text()
    before = files(user / room)
    again = camillo("compile", "--all")
    assert again.report["unchanged"] == 3, again
    assert files(user / room) == before
    assert camillo("forget", "a").code == 0
    assert not (user / room / "index.md").exists()
