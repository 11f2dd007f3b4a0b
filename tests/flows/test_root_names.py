"""`--scope` names a scope or one root: which of several that hold a note of one name."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.command import Camillo, plant

OURS = "---\nname: gate\n---\nOak, says camillo.\n"
THEIRS = "---\nname: gate\ndescription: d\ntype: reference\n---\nOak, says commonplace.\n"


@pytest.fixture
def both(user: Path, home: Path) -> tuple[Path, Path]:
    """Two roots of the user, each with a note of the same name."""
    store = home / ".commonplace" / "memory"
    return plant(user, {"gate.md": OURS}), plant(store, {"gate.md": THEIRS})


@pytest.fixture
def project(both: tuple[Path, Path], home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """And two of a project."""
    shop = home / "work" / "shop"
    plant(shop / ".camillo", {"gate.md": OURS})
    plant(shop / ".commonplace" / "memory", {"gate.md": THEIRS})
    monkeypatch.chdir(shop)
    return shop


def said(camillo: Camillo, *words: object) -> str:
    """The message of the error that a command ends with."""
    ran = camillo(*words)
    assert ran.code == 2, ran
    assert ran.report["error"]["code"] == "ambiguous"
    return str(ran.report["error"]["message"])


COMMANDS = [
    ("show", "gate"), ("revise", "gate", "--summary", "s"), ("archive", "gate"),
    ("forget", "gate", "--dry-run"), ("graph", "gate"),
    ("link", "gate", "hinge"), ("supersede", "gate", "hinge"), ("path", "gate", "hinge"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_the_choices_that_an_error_names_work(
    camillo: Camillo, both: tuple[Path, Path], words: tuple[str, ...]
) -> None:
    for folder in both:
        plant(folder, {"hinge.md": OURS.replace("gate", "hinge")})
        if words[0] == "path":
            assert camillo("link", "gate", "hinge", "--scope", _name(folder)).code == 0
    message = said(camillo, *words)
    assert "--scope user or --scope user-commonplace" in message
    for choice in ("user", "user-commonplace"):
        ran = camillo(*words, "--scope", choice)
        assert ran.code == 0, ran


def test_each_root_is_written_by_its_name(camillo: Camillo, both: tuple[Path, Path]) -> None:
    ours, theirs = both
    camillo("remember", "New, for camillo.", "--name", "gate", "--scope", "user")
    camillo("remember", "New, for both?", "--name", "gate", "--scope", "user-commonplace")
    camillo("remember", "Another.", "--name", "door", "--scope", "user-commonplace")
    assert "New, for camillo." in (ours / "gate.md").read_text("utf-8")
    assert "New, for both?" in (theirs / "gate.md").read_text("utf-8")
    assert (theirs / "door.md").is_file()
    assert not (ours / "door.md").exists()
    camillo("forget", "gate", "--scope", "user-commonplace")
    assert (ours / "gate.md").is_file()
    assert not (theirs / "gate.md").exists()


@pytest.mark.parametrize("words", [("search", "oak"), ("list",), ("stats",), ("roots",)])
def test_a_root_is_read_by_its_name_and_a_scope_has_all_of_its_roots(
    camillo: Camillo, project: Path, words: tuple[str, ...]
) -> None:
    for name, found in {"user": 2, "user-commonplace": 1, "project": 2,
                        "project-commonplace": 1}.items():  # fmt: skip
        ran = camillo(*words, "--scope", name)
        assert (ran.code, len(ran.results)) == (0, found)
    texts = camillo.texts("oak", "--scope", "project-commonplace")
    assert ["commonplace" in text for text in texts] == [True]


def test_roots_are_listed_with_their_names(camillo: Camillo, project: Path) -> None:
    assert {each["name"] for each in camillo("roots").results} == {
        "user", "user-commonplace", "project", "project-commonplace"
    }  # fmt: skip


def test_of_all_roots_that_hold_it_each_is_named(camillo: Camillo, project: Path) -> None:
    for words in (("show", "gate"), ("graph", "gate")):
        message = said(camillo, *words)
        for name in ("user", "user-commonplace", "project", "project-commonplace"):
            assert f"--scope {name}" in message


@pytest.mark.promise(25)
@pytest.mark.parametrize(
    "words",
    [*COMMANDS, ("search", "oak"), ("list",), ("stats",), ("roots",), ("sync",), ("watch",),
     ("embed", "--embedder", "hashing"), ("remember", "x"), ("unlink", "gate", "hinge")],
)  # fmt: skip
def test_an_unknown_root_is_an_error_that_names_those_that_are_open(
    camillo: Camillo, both: tuple[Path, Path], words: tuple[str, ...]
) -> None:
    ran = camillo(*words, "--scope", "user-commonplase")
    assert (ran.code, ran.report["error"]["code"]) == (2, "unknown-name")
    message = ran.report["error"]["message"]
    assert "did you mean 'user-commonplace'" in message
    assert "known: project, user, user-commonplace" in message


def test_a_name_is_taken_whole(camillo: Camillo, both: tuple[Path, Path]) -> None:
    (both[1] / "gate.md").unlink()
    plant(both[1], {"gateway.md": THEIRS.replace("name: gate", "name: gateway")})
    assert "camillo" in camillo("show", "gate").first["text"]
    (both[0] / "gate.md").unlink()
    ran = camillo("show", "gate")
    assert ran.code == 1
    assert "did you mean 'gateway'" in ran.err


def _name(folder: Path) -> str:
    return "user-commonplace" if ".commonplace" in folder.parts else "user"
