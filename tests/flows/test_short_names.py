"""A note that is called by its path is meant by its file's name too: by every command alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.command import Camillo, plant

RULE = (
    "---\nid: rules/push.md\nkind: rule\nsummary: s\n---\n\nNever force push, says the project.\n"
)
OURS = "---\nname: push\n---\nPush on Mondays, says the user.\n"

COMMANDS = [
    ("show", "push"), ("archive", "push"), ("forget", "push", "--dry-run"),
    ("revise", "push", "--summary", "s"), ("graph", "push"), ("path", "push", "push"),
    ("link", "push", "pull"), ("supersede", "push", "pull"),
]  # fmt: skip


@pytest.fixture
def tree(home: Path, user: Path, monkeypatch: pytest.MonkeyPatch, camillo: Camillo) -> Path:
    """A project's tree whose rule has the name of a note of the user's."""
    (home / "work" / "shop" / ".git").mkdir(parents=True)
    monkeypatch.chdir(home / "work" / "shop")
    words = ("--scope", "project", "--form", "oc", "--rooms", "rules", "--language", "en")
    assert camillo("init", *words).code == 0
    plant(user, {"push.md": OURS, "pull.md": OURS.replace("push", "pull")})
    return plant(home / "work" / "shop" / ".memory", {"rules/push.md": RULE})


@pytest.mark.parametrize("words", COMMANDS)
def test_where_another_root_has_the_name_each_command_asks_which(
    camillo: Camillo, tree: Path, words: tuple[str, ...]
) -> None:
    ran = camillo(*words)
    assert (ran.code, ran.report["error"]["code"]) == (2, "ambiguous")
    message = ran.report["error"]["message"]
    assert "rules/push" in message
    assert "--scope project-oc or --scope user" in message
    assert camillo(*words, "--scope", "user").code == 0


def test_what_is_chosen_is_what_is_acted_on(camillo: Camillo, user: Path, tree: Path) -> None:
    assert "project" in camillo("show", "push", "--scope", "project-oc").first["text"]
    assert "user" in camillo("show", "push", "--scope", "user").first["text"]
    assert camillo("show", "rules/push").first["id"] == "rules/push"
    assert camillo("forget", "push", "--scope", "project-oc").first["id"] == "rules/push"
    assert (user / "push.md").is_file()
    assert not (tree / "rules" / "push.md").exists()


def test_a_name_that_begins_another_is_no_reason_to_overlook_it(
    camillo: Camillo, user: Path, tree: Path
) -> None:
    """A room may begin as the note is called."""
    plant(tree, {"pushes/x.md": "A push takes a minute.\n"})
    (user / "push.md").unlink()
    assert camillo("show", "push").first["id"] == "rules/push"
