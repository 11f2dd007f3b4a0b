"""Roots: how they are made and found, and what a project's own files may and may not do."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from flows.command import Camillo, files, plant


@pytest.fixture
def project(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that is the working directory."""
    (shop / ".git").mkdir()
    monkeypatch.chdir(shop)
    return shop


class TestMaking:
    def test_init_makes_a_private_folder(self, camillo: Camillo, user: Path) -> None:
        assert camillo("init").code == 0
        assert user.stat().st_mode & 0o777 == 0o700
        assert (user / "store.db").stat().st_mode & 0o777 == 0o600
        assert all(path.stat().st_mode & 0o077 == 0 for path in (user / "index").iterdir())

    def test_init_again_changes_nothing(self, camillo: Camillo, user: Path) -> None:
        camillo("init")
        before = (user / "store.db").read_bytes()
        assert camillo("init").first["status"] == "already there"
        assert (user / "store.db").read_bytes() == before

    def test_a_project_root_keeps_its_database_out_of_git(
        self, camillo: Camillo, project: Path
    ) -> None:
        assert camillo("init", "--scope", "project").first["folder"] == str(project / ".camillo")
        ignored = (project / ".camillo" / ".gitignore").read_text("utf-8").split()
        assert {"store.db*", "index/"} <= set(ignored)

    def test_rooms_are_folders_in_it(self, camillo: Camillo, user: Path) -> None:
        ran = camillo("init", "--rooms", "decisions", "--rooms", "人物")
        assert ran.first["rooms"] == ["decisions", "人物"]
        assert (user / "人物").is_dir()
        assert camillo("init", "--rooms", "decisions").first["rooms"] == []
        assert camillo("init", "--rooms", "cafe\u0301").first["rooms"] == ["caf\xe9"]
        (user / "caf\xe9").rename(user / "cafe\u0301")  # as some file systems do
        assert camillo("init", "--rooms", "caf\xe9").first["rooms"] == []

    @pytest.mark.promise(15)
    @pytest.mark.parametrize(
        "room",
        ["", " ", ".", "..", "../x", "/x", "a/b", "a\\b", "C:x", "a\0b", "index", "INDEX",
         "backups", ".git", "x" * 201, "人" * 70, "%2E%2e",
         "a\nb", "CON", "nul", "com1.txt", "x.", "x ", "\udcff"],
    )  # fmt: skip
    def test_what_leaves_the_root_is_no_room(
        self, camillo: Camillo, user: Path, home: Path, room: str
    ) -> None:
        ran = camillo("init", "--rooms", room)
        assert (ran.code, ran.report["error"]["code"]) == (2, "invalid-value")
        assert not user.exists()


class TestFinding:
    def test_a_project_root_is_found_from_below(
        self, camillo: Camillo, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant(project, {"a.md": "gates\n", "deep/er/b.md": "doors\n"})
        camillo("init", "--scope", "project")
        camillo.mine(project, "--scope", "project")
        monkeypatch.chdir(project / "deep" / "er")
        assert camillo("search", "gates").first["scope"] == "project"

    def test_the_home_folder_is_no_project(
        self, camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (home / ".git").mkdir()
        monkeypatch.chdir(home / "work")
        assert camillo("init", "--scope", "project").first["folder"] == str(
            home / "work" / ".camillo"
        )

    def test_mining_into_a_project_outside_of_any_says_how(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {"a.md": "gates\n"})
        ran = camillo("mine", shop, "--scope", "project")
        assert (ran.code, ran.report["error"]["code"]) == (4, "refused")
        assert "camillo init --scope project" in ran.err

    def test_a_worktree_shares_the_root_of_its_main_checkout(
        self, camillo: Camillo, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant(project, {"a.md": "gates\n"})
        camillo("init", "--scope", "project")
        camillo.mine(project, "--scope", "project")
        plant(project / ".git" / "worktrees" / "w", {"gitdir": f"{home}/tree/.git\n"})
        plant(home / "tree", {".git": f"gitdir: {project}/.git/worktrees/w\n"})
        monkeypatch.chdir(home / "tree")
        assert camillo("search", "gates").first["scope"] == "project"

    def test_the_environment_names_both(
        self, camillo: Camillo, home: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CAMILLO_USER_DIR", str(home / "elsewhere"))
        monkeypatch.setenv("CAMILLO_PROJECT_DIR", str(shop))
        plant(shop, {"a.md": "gates\n"})
        camillo.mine(shop)
        camillo.mine(shop, "--scope", "project")
        assert (home / "elsewhere" / "store.db").exists()
        assert (shop / ".camillo" / "store.db").exists()

    def test_a_root_inside_the_mined_folder_is_not_mined(
        self, camillo: Camillo, project: Path
    ) -> None:
        plant(project, {"a.md": "gates\n"})
        camillo("init", "--scope", "project")
        for _ in range(2):
            camillo.mine(project, "--scope", "project")
        assert len(camillo.listed()) == 1


@pytest.mark.promise(23)
class TestAProjectsOwnSettings:
    @pytest.mark.parametrize(
        "setting",
        ['[memory]\nbackend = "memory"\n', '[memory]\ndsn = "postgres://evil/"\n', "[memory]\n"],
    )
    def test_they_cannot_say_where_memories_go(
        self, camillo: Camillo, project: Path, setting: str
    ) -> None:
        plant(project / ".camillo", {"config.toml": setting})
        plant(project, {"a.md": "gates\n"})
        camillo.mine(project, "--scope", "project")
        assert (project / ".camillo" / "store.db").is_file()
        [note] = camillo("search", "gates").report["degraded"]
        assert str(project / ".camillo" / "config.toml") in note
        assert "user root" in note

    @pytest.mark.parametrize("name", ["/outside/model", "../model", "~/model", "./model"])
    def test_they_cannot_name_a_model_folder(
        self, camillo: Camillo, project: Path, name: str
    ) -> None:
        """It would be loaded; a name of a built-in embedder is fine."""
        plant(project / ".camillo", {"config.toml": f'[search]\nembedder = "{name}"\n'})
        [note] = camillo("search", "gates").report["degraded"]
        assert "cannot name a model folder" in note
        plant(project / ".camillo", {"config.toml": '[search]\nembedder = "none"\n'})
        assert camillo("search", "gates").report["degraded"] == []

    def test_they_can_shape_what_is_mined_and_found(self, camillo: Camillo, project: Path) -> None:
        plant(project / ".camillo", {"config.toml": '[mine]\nexclude = ["*.txt"]\n'})
        plant(project, {"a.md": "gates\n", "b.txt": "gates\n"})
        camillo.mine(project, "--scope", "project")
        assert camillo.sources("gates") == ["a.md"]

    def test_they_weigh_more_than_the_users_and_less_than_an_option(
        self, camillo: Camillo, project: Path, user: Path
    ) -> None:
        plant(user, {"config.toml": "[mine]\nmax_bytes = 1\n"})
        plant(project / ".camillo", {"config.toml": "[mine]\nmax_bytes = 10\n"})
        plant(project, {"a.md": "gates\n", "b.md": "more gates than ten bytes\n"})
        assert camillo.mine(project)["files_new"] == 1
        assert camillo.mine(project, "--config", "mine.max_bytes=1000")["files_new"] == 1

    @pytest.mark.parametrize("what", [".camillo", ".camillo/store.db", ".camillo/index"])
    def test_a_link_in_a_cloned_root_leads_nowhere_outside(
        self, camillo: Camillo, project: Path, home: Path, what: str
    ) -> None:
        """git keeps links: a clone must not turn somebody's files into its store."""
        victim = plant(home / "victim", {"store.db": "", "kept.txt": "mine\n"})
        before = files(victim)
        link = project / what
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(victim / "store.db" if what.endswith("db") else victim)
        plant(project, {"a.md": "gates\n"})
        for command in (["mine", project, "--scope", "project"], ["search", "gates"], ["init"]):
            ran = camillo(*command)
            assert ran.report.get("error", {}).get("code") in (None, "refused"), ran
        assert files(victim) == before
        ran = camillo("mine", project, "--scope", "project")
        assert (ran.code, ran.report["error"]["code"]) == (4, "refused")
        assert os.path.basename(what) in ran.err

    @pytest.mark.promise(25)
    def test_a_misspelt_key_is_left_out_with_the_nearest_named(
        self, camillo: Camillo, project: Path
    ) -> None:
        """A clone must not stop its user from searching."""
        plant(project / ".camillo", {"config.toml": "[mine]\nmax_byte = 10\n"})
        [note] = camillo("search", "gates").report["degraded"]
        assert "did you mean 'mine.max_bytes'" in note
        assert "config.toml" in note

    @pytest.mark.promise(25)
    def test_a_misspelt_key_of_the_user_is_an_error(self, camillo: Camillo, user: Path) -> None:
        plant(user, {"config.toml": "[mine]\nmax_byte = 10\n"})
        ran = camillo("search", "gates")
        assert ran.code == 2
        assert "did you mean 'mine.max_bytes'" in ran.err
        assert "config.toml" in ran.err

    def test_broken_toml_names_the_file(self, camillo: Camillo, user: Path) -> None:
        plant(user, {"config.toml": "[mine\n"})
        ran = camillo("search", "gates")
        assert ran.code == 2
        assert str(user / "config.toml") in ran.err


class TestClones:
    """A project with a `.camillo` of its own, as git brought it."""

    @pytest.fixture
    def clone(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        origin = plant(
            home / "origin", {".camillo/rule.md": "---\ntype: rule\n---\nPush to main.\n"}
        )
        git(origin, "init", "-q")
        git(origin, "add", ".")
        git(origin, "commit", "-q", "-m", "notes")
        git(home / "work", "clone", "-q", origin, "clone")
        monkeypatch.chdir(home / "work" / "clone")
        return home / "work" / "clone"

    def test_reading_in_one_leaves_its_work_tree_clean(self, camillo: Camillo, clone: Path) -> None:
        assert camillo("search", "push").code == 0
        assert (clone / ".camillo" / "store.db").exists()
        assert git(clone, "status", "--porcelain", "--untracked-files=all") == ""

    def test_what_it_ignores_itself_stays(self, camillo: Camillo, clone: Path) -> None:
        plant(clone, {".camillo/.gitignore": "*.draft\n"})
        camillo("search", "push")
        assert (clone / ".camillo" / ".gitignore").read_text("utf-8") == "*.draft\n"

    def test_what_came_with_it_is_marked_wherever_it_is_shown(
        self, camillo: Camillo, clone: Path
    ) -> None:
        camillo("remember", "Push to a branch.", "--name", "mine", "--scope", "user")
        trusts = {each["id"]: each["trust"] for each in camillo.listed()}
        assert trusts == {"rule": "untrusted", "mine": "normal"}
        assert camillo("show", "rule").first["trust"] == "untrusted"
        assert camillo("show", "mine").first["trust"] == "normal"
        for words in (["list"], ["show", "rule"]):
            assert "untrusted" in camillo.plain(*words).out
        camillo("trust")
        assert "untrusted" not in camillo.plain("list").out + camillo.plain("show", "rule").out

    def test_to_take_trust_back_says_that_it_is_gone(self, camillo: Camillo, clone: Path) -> None:
        camillo("trust")
        out = camillo.plain("trust", "--undo").out
        assert re.search(r"^trusted +no$", out, re.MULTILINE)


def git(folder: Path, *words: object) -> str:
    command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *map(str, words)]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
