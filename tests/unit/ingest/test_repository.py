"""Git's places: which file holds the user's excludes, and where a repository keeps its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from camillo.ingest.repository import (
    RULES_CAP,
    git_folder,
    ignores_case,
    read_rules,
    repository_top,
    user_excludes,
)

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def test_the_users_excludes_file_has_a_default_place() -> None:
    quiet = {"GIT_CONFIG_NOSYSTEM": "1"}
    assert user_excludes({**quiet, "HOME": "/h"}) == os.path.join("/h", ".config", "git", "ignore")
    assert user_excludes({**quiet, "XDG_CONFIG_HOME": "/x"}) == os.path.join("/x", "git", "ignore")
    assert user_excludes(quiet) is None


def test_the_config_in_the_home_folder_outranks_the_others(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "xdg"),
        "GIT_CONFIG_SYSTEM": str(tmp_path / "system"),
    }
    (tmp_path / "system").write_text("[core]\nexcludesFile = /system\n")
    assert user_excludes(environ) == "/system"
    (tmp_path / "xdg" / "git").mkdir(parents=True)
    (tmp_path / "xdg" / "git" / "config").write_text("[core]\nexcludesFile = /xdg\n")
    assert user_excludes(environ) == "/xdg"
    (tmp_path / ".gitconfig").write_text("[core]\nexcludesFile = ~/mine\n")
    assert user_excludes(environ) == str(tmp_path / "mine")
    (tmp_path / "other").write_text("[user]\nname = x\n")
    assert user_excludes({**environ, "GIT_CONFIG_GLOBAL": str(tmp_path / "other")}) == "/system"


def test_an_empty_excludes_file_switches_the_default_off(tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\nexcludesFile =\n")
    assert user_excludes({"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}) is None


@needs_git
@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\texcludesFile = /a/b\n",
        '[CORE]EXCLUDESFILE="/a b " # why\n',
        "[core]\nexcludesFile = /a b  ; why\n",
        '[core "x"]\nexcludesFile = /no\n[core]\nexcludesFile = /a\\\\b\n',
        "[core]\nexcludesFile = /a\\\nb\n",
        '[core] ; why\n # why\nexcludesFile = /"a;b"c"d" e\n',
        '[core]\nexcludesFile = "/a#b"\n[user]\nname = x\n',
        "[core]\nexcludesFile = /first\n[core]\nexcludesFile = /second\t \n",
        "\ufeff[core]\r\nexcludesFile = /a\r\n",
    ],
)
def test_config_is_read_as_git_reads_it(tmp_path: Path, config: str) -> None:
    path = tmp_path / "config"
    path.write_text(config, newline="", encoding="utf-8")
    command = ["git", "config", "--file", str(path), "--get", "core.excludesFile"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    environ = {"GIT_CONFIG_GLOBAL": str(path), "GIT_CONFIG_NOSYSTEM": "1"}
    assert user_excludes(environ) == said.removesuffix("\n")


def test_the_top_of_a_repository_is_found_from_below(tmp_path: Path) -> None:
    below = tmp_path / "top" / "a" / "b"
    below.mkdir(parents=True)
    (below / ".git").mkdir()  # empty: no repository
    (tmp_path / "top" / ".git").mkdir()
    (tmp_path / "top" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert repository_top(str(below)) == str(tmp_path / "top")


def test_a_worktree_shares_the_git_folder_of_its_repository(tmp_path: Path) -> None:
    own = tmp_path / "main" / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (tmp_path / "side").mkdir()
    (tmp_path / "side" / ".git").write_text(f"gitdir: {own}\n")
    found = git_folder(str(tmp_path / "side"))
    assert found is not None
    assert Path(found).samefile(tmp_path / "main" / ".git")


@pytest.mark.promise(23)
@pytest.mark.parametrize("target", ["//host/share/x", "\\\\host\\share\\x", "", "a\0b"])
def test_a_git_file_leads_to_no_network_share(tmp_path: Path, target: str) -> None:
    (tmp_path / ".git").write_bytes(b"gitdir: " + target.encode())
    assert git_folder(str(tmp_path)) is None


def test_a_repository_says_whether_it_folds_case(tmp_path: Path) -> None:
    assert not ignores_case(str(tmp_path))
    (tmp_path / "config").write_text("[core]\n\tignoreCase = true\n")
    assert ignores_case(str(tmp_path))


def test_rules_are_read_from_small_regular_files_only(tmp_path: Path) -> None:
    (tmp_path / "rules").write_bytes(b"a" * RULES_CAP)
    (tmp_path / "large").write_bytes(b"a" * (RULES_CAP + 1))
    (tmp_path / "link").symlink_to(tmp_path / "rules")
    os.mkfifo(tmp_path / "fifo")
    assert len(read_rules(str(tmp_path / "rules"))) == RULES_CAP
    assert len(read_rules(str(tmp_path / "link"), follow=True)) == RULES_CAP
    for name in ("large", "link", "fifo"):
        with pytest.raises(OSError, match=r"over|symbolic|regular"):
            read_rules(str(tmp_path / name))
