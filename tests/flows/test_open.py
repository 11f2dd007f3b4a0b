"""Folders of other programs, open where they lie: found, read-only unless told, nothing put in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flows.command import Camillo, files, plant


@pytest.fixture
def claude(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What Claude Code remembers of the project that the test is in."""
    project = home / "work" / "my.shop"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    name = re.sub("[^A-Za-z0-9]", "-", str(project.resolve()))
    folder = home / ".claude" / "projects" / name / "memory"
    plant(
        folder,
        {
            "MEMORY.md": "# Memory\n\n- [Deploys](deploys.md) — two\n",
            "deploys.md": "---\nname: Deploys\ndescription: two approvals\nmetadata: \n"
            "  node_type: memory\n  type: project\n---\nNeeds the heron and the otter.\n",
        },
    )
    return folder


def test_claudes_memory_of_a_project_is_searched_and_left_alone(
    claude: Path, camillo: Camillo
) -> None:
    before = files(claude)
    found = camillo("search", "heron", "--json").report["results"][0]
    assert (found["id"], found["source"]) == ("deploys", "deploys.md")
    refused = camillo("revise", "deploys", "--summary", "x")
    assert refused.code == 4
    assert "only read: `camillo open` it with --write" in refused.err
    assert files(claude) == before


def test_a_folder_opened_for_writing_keeps_its_index(claude: Path, camillo: Camillo) -> None:
    opened = camillo("open", str(claude), "--scope", "project", "--name", "cc", "--write", "--json")
    assert opened.report["results"][0]["form"] == "claude"
    assert camillo("remember", "Four spaces.", "--name", "tabs", "--summary", "when formatting",
                   "--kind", "feedback", "--scope", "cc").code == 0  # fmt: skip
    index = (claude / "MEMORY.md").read_text()
    assert index == (
        "# Memory\n\n- [Deploys](deploys.md) — two\n- [tabs](tabs.md) — when formatting\n"
    )
    camillo("revise", "tabs", "--summary", "always")
    assert "- [tabs](tabs.md) — always\n" in (claude / "MEMORY.md").read_text()
    assert camillo("forget", "tabs").code == 0
    assert (claude / "MEMORY.md").read_text() == "# Memory\n\n- [Deploys](deploys.md) — two\n"
    assert sorted(path.name for path in claude.iterdir()) == ["MEMORY.md", "deploys.md"]


def test_a_project_sees_only_what_was_opened_for_it(
    home: Path, claude: Path, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(home / "vault", {"a.md": "the walrus\n"})
    camillo("open", str(home / "vault"), "--scope", "project")
    assert camillo("search", "walrus").code == 0
    monkeypatch.chdir(home / "work")
    assert camillo("search", "walrus").code == 1
    assert camillo("search", "heron").code == 1


def test_an_opened_folder_is_a_root_until_it_is_closed(home: Path, camillo: Camillo) -> None:
    vault = home / "vault"
    plant(vault, {"people/ada.md": "# Ada\nlikes the walrus\n", ".obsidian/app.json": "{}"})
    before = files(vault)
    assert camillo("open", str(vault)).code == 0
    assert camillo("search", "walrus", "--json").report["results"][0]["source"] == "people/ada.md"
    names = [each["name"] for each in camillo("roots", "--json").report["results"]]
    assert "vault" in names
    assert camillo("close", "vault").code == 0
    assert camillo("search", "walrus").code == 1
    assert files(vault) == before
    again = camillo("close", "vault")
    assert again.code == 1
    assert "no folder is open as 'vault'" in again.err


def test_nothing_is_opened_twice_nor_inside_another(home: Path, camillo: Camillo) -> None:
    plant(home / "vault", {"a/b.md": "x\n"})
    camillo("init")
    camillo("open", str(home / "vault"))
    assert camillo("open", str(home / "vault")).code == 0  # the same again
    inside = camillo("open", str(home / "vault" / "a"))
    assert inside.code == 4
    assert "lie inside each other" in inside.err
    assert "is open as 'vault'" in camillo("open", str(home / "vault"), "--name", "other").err
    assert "is a root already" in camillo("open", str(home / ".camillo")).err
    assert "no folder" in camillo("open", str(home / "nowhere")).err
    assert "cannot be the name" in camillo("open", str(home / "vault" / "a"), "--name", "user").err


def test_a_wrong_configuration_is_told_and_hides_nothing(home: Path, camillo: Camillo) -> None:
    camillo("remember", "the walrus")
    plant(home / ".camillo" / ".roots" / "x", {"config.toml": '[root]\nfolder = "vault"\n'})
    found = camillo("search", "walrus", "--json")
    assert found.code == 0
    assert any("must be an absolute path" in each for each in found.report["degraded"])


@pytest.mark.parametrize(
    ("names", "form"),
    [
        (["MEMORY.md", "a.md"], "claude"),
        (["MEMORY.md", "memory/2026-01-01.md"], "nullclaw"),
        (["a.md", "a.embedding"], "commonplace"),
        (["a.md", "b/c.md"], "camillo"),
    ],
)
def test_the_form_is_told_by_what_is_there(
    home: Path, camillo: Camillo, names: list[str], form: str
) -> None:
    plant(home / "place", dict.fromkeys(names, "---\nname: a\n---\nx\n"))
    assert camillo("open", str(home / "place"), "--json").report["results"][0]["form"] == form


def test_foreign_folders_stay_closed_where_a_setting_says_so(
    claude: Path, camillo: Camillo
) -> None:
    assert camillo("search", "heron", "--config", "memory.foreign=commonplace").code == 1
    wrong = camillo("search", "heron", "--config", "memory.foreign=cursor")
    assert wrong.code == 2
