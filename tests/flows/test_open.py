"""Folders of other programs, open where they lie: found, read-only unless told, nothing put in."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from camillo.errors import Refused
from camillo.ops.signature import run
from camillo.vault import open_vault
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
    assert f"`camillo open {shlex.quote(str(claude))} --write`" in refused.err
    assert files(claude) == before


def test_what_is_open_by_itself_keeps_its_name_and_scope(
    home: Path, claude: Path, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(claude)
    told = camillo("open", claude)
    assert told.first["access"] == "read only"
    assert "open by itself" in told.report["degraded"][0]
    assert camillo("link", "deploys", "deploys2").code != 0
    opened = camillo("open", claude, "--write").first
    assert (opened["root"], opened["form"], opened["scope"], opened["access"]) == (
        "project-claude", "claude", "project", "read and write"
    )  # fmt: skip
    assert files(claude) == before
    assert camillo("revise", "deploys", "--summary", "three").code == 0
    assert "description: three" in (claude / "deploys.md").read_text()
    assert [each["name"] for each in camillo("roots").results] == ["project-claude", "user"]
    monkeypatch.chdir(home / "work")
    assert camillo("search", "heron").code == 1
    assert [each["name"] for each in camillo("roots").results] == ["user"]


def test_two_projects_may_both_write(
    home: Path, claude: Path, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
) -> None:
    camillo("open", claude, "--write")
    other = home / "work" / "till"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    name = re.sub("[^A-Za-z0-9]", "-", str(other.resolve()))
    folder = plant(home / ".claude" / "projects" / name / "memory", {"a.md": "the otter\n"})
    assert camillo("open", folder, "--write").first["root"] == "project-claude"
    assert [each["id"] for each in camillo("search", "otter").results] == ["a"]
    assert camillo("search", "heron").code == 1
    assert camillo("close", "project-claude").code == 0
    assert camillo("revise", "a", "--summary", "x").code == 4
    monkeypatch.chdir(home / "work" / "my.shop")
    assert camillo("revise", "deploys", "--summary", "x").code == 0


def test_a_folder_of_oc_that_is_open_needs_nothing(
    home: Path, claude: Path, camillo: Camillo
) -> None:
    camillo("init", "--scope", "project", "--form", "oc")
    before = files(home / ".camillo")
    ran = camillo("open", ".memory", "--write")
    assert (ran.code, ran.first["root"], ran.first["access"]) == (0, "project-oc", "read and write")
    assert not (home / ".camillo" / ".roots" / "memory").exists()
    assert files(home / ".camillo").keys() == before.keys()
    assert camillo("open", ".memory", "--name", "mine").code == 4


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("shop/.memory", "shop"),
        ("shop/memory", "shop"),
        (".claude/projects/-home-ada-shop/memory", "home_ada_shop"),
        (".commonplace/memory", "commonplace"),
        ("memory/memory", "camillo"),
        ("My Notes", "my_notes"),
    ],
)
def test_no_root_is_called_memory(home: Path, camillo: Camillo, place: str, name: str) -> None:
    folder = plant(home / place, {"a.md": "the walrus\n"})
    ran = camillo("open", folder, "--form", "camillo", "--config", "memory.foreign=claude")
    assert ran.first["root"] == name


def test_names_of_what_opens_by_itself_are_nobody_elses(home: Path, camillo: Camillo) -> None:
    plant(home / "vault", {"a.md": "x\n"})
    for name in ("project-claude", "user-oc", "project-commonplace", "user"):
        assert camillo("open", home / "vault", "--name", name).code == 2
    assert camillo("open", home / "vault", "--name", "user-notes").code == 0


def test_opened_again_it_stays_what_is_not_said_otherwise(
    home: Path, claude: Path, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = plant(home / "vault", {"okf/a.md": "x\n", "b.md": "y\n"})
    camillo("open", vault, "--form", "nullclaw", "--name", "claw", "--scope", "project")
    again = camillo("open", vault, "--write").first
    assert (again["root"], again["form"], again["scope"], again["access"]) == (
        "claw", "nullclaw", "project", "read and write"
    )  # fmt: skip
    monkeypatch.chdir(home / "work")
    elsewhere = camillo("open", vault)
    assert elsewhere.code == 4
    assert "is open in" in elsewhere.err
    assert camillo("open", vault, "--scope", "user").first["scope"] == "user"
    plant(home / "other", {"a.md": "x\n"})
    assert camillo("open", home / "other", "--name", "claw").code == 4


def test_a_name_of_another_project_is_taken(
    home: Path, claude: Path, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(home / "one", {"a.md": "the walrus\n"})
    plant(home / "two", {"a.md": "the zebra\n"})
    camillo("open", home / "one", "--name", "notes", "--scope", "project")
    monkeypatch.chdir(home / "work")
    taken = camillo("open", home / "two", "--name", "notes")
    assert taken.code == 4
    assert "already" in taken.err
    monkeypatch.chdir(home / "work" / "my.shop")
    assert camillo("search", "walrus").code == 0


def test_a_folder_without_notes_is_opened_only_to_write(home: Path, camillo: Camillo) -> None:
    plant(home / "empty", {"README.md": "x\n", "picture.png": "x"})
    ran = camillo("open", home / "empty")
    assert ran.code == 1
    assert "there are no notes" in ran.err
    assert "--write" in ran.err
    assert not (home / ".camillo" / ".roots").exists()
    assert camillo("open", home / "empty", "--write").code == 0
    assert camillo("open", home / "empty").first["access"] == "read only"  # open as it is


def test_databases_are_brought_in_and_not_opened(home: Path, camillo: Camillo) -> None:
    row = '[{"key": "tea", "content": "oolong"}]'
    plant(home / "claw", {"MEMORY_SNAPSHOT.json": row})
    ran = camillo("open", home / "claw")
    assert ran.code == 1
    how = f"`camillo import nullclaw {home / 'claw' / 'MEMORY_SNAPSHOT.json'}` brings it in"
    assert how in ran.err
    plant(home / "claw", {"okf/a.md": "x\n"})
    ran = camillo("open", home / "claw")
    assert ran.code == 0
    assert any(how in each for each in ran.report["degraded"])


def test_notes_that_were_imported_before_are_counted(home: Path, camillo: Camillo) -> None:
    vault = plant(home / "vault", {".obsidian/app.json": "{}", "a.md": "one\n", "b.md": "two\n"})
    camillo("import", "obsidian", vault)
    ran = camillo("open", vault)
    assert [each for each in ran.report["degraded"] if "imported" in each] == [
        "imported before, and found twice now: 2 in user (`camillo list --scope user`)"
    ]
    plant(home / "fresh", {"c.md": "three\n"})
    assert not camillo("open", home / "fresh").report["degraded"]


def test_a_vaults_templates_are_no_notes(home: Path, camillo: Camillo) -> None:
    vault = plant(
        home / "vault",
        {
            ".obsidian/templates.json": '{"folder": "Extra/Forms"}',
            "Templates/daily.md": "the zebra\n",
            "Extra/Forms/weekly.md": "the zebra\n",
            "Extra/a.md": "the walrus\n",
        },
    )
    camillo("open", vault, "--write")
    assert camillo("search", "zebra").code == 1
    assert camillo("search", "walrus").first["source"] == "Extra/a.md"
    ran = camillo("remember", "x", "--name", "y", "--room", "Templates", "--scope", "vault")
    assert ran.code == 2
    assert "templates" in ran.err
    plain = plant(home / "plain", {"Templates/daily.md": "the yak\n"})
    camillo("open", plain)
    assert camillo("search", "yak").code == 0


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


def test_one_process_may_open_it_otherwise(home: Path) -> None:
    folder = plant(home / "vault", {"a.md": "the walrus\n"})
    with open_vault() as vault:
        run(vault, "open", folder=str(folder))
        with pytest.raises(Refused, match="only read"):
            run(vault, "revise", id="a", summary="x", scope="vault")
        run(vault, "open", folder=str(folder), write=True)
        run(vault, "revise", id="a", summary="x", scope="vault")
    assert "description: x" in (folder / "a.md").read_text("utf-8")
