"""Which project roots a person trusts."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.engines.memory import MemoryStore
from camillo.errors import Refused
from camillo.model import Filter
from camillo.roots import Root
from camillo.trust import is_trusted, set_trust
from camillo.vault import OpenRoot, open_vault


@pytest.fixture
def users() -> MemoryStore:
    return MemoryStore()


@pytest.mark.promise(23)
def test_a_folder_is_not_trusted_until_a_person_says_so(users: MemoryStore, tmp_path: Path) -> None:
    folder = str(tmp_path / ".camillo")
    assert not is_trusted(users, folder)
    assert set_trust(users, folder, True)
    assert is_trusted(users, folder)
    assert not is_trusted(users, str(tmp_path / "other" / ".camillo"))


def test_saying_it_twice_changes_nothing(users: MemoryStore, tmp_path: Path) -> None:
    assert set_trust(users, str(tmp_path), True)
    assert not set_trust(users, str(tmp_path), True)
    assert set_trust(users, str(tmp_path), False)
    assert not set_trust(users, str(tmp_path), False)
    assert not is_trusted(users, str(tmp_path))


def test_it_is_the_folder_that_is_trusted_by_whatever_link(
    users: MemoryStore, tmp_path: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    set_trust(users, str(tmp_path / "link"), True)
    assert is_trusted(users, str(tmp_path / "real"))


def test_the_choice_is_no_memory_that_anybody_finds(users: MemoryStore, tmp_path: Path) -> None:
    set_trust(users, str(tmp_path), True)
    assert users.count(Filter(None)) == 0


@pytest.mark.promise(23)
def test_what_came_with_a_clone_cannot_say_that_it_is_trusted(home: Path) -> None:
    project = home / "work" / "clone"
    (project / ".git").mkdir(parents=True)
    theirs = Root("project", str(project / ".camillo"))
    (project / ".camillo").mkdir()
    with open_vault(str(project)) as vault:
        opened: OpenRoot = vault.root("project")
        set_trust(opened.store, theirs.folder, True)  # in its own store: that counts for nothing
        assert not vault.trusts(opened)
        set_trust(vault.root("user", create=True).store, theirs.folder, True)
        assert vault.trusts(opened)


@pytest.mark.promise(23)
def test_a_root_that_leads_out_of_its_project_is_refused(home: Path) -> None:
    project = home / "work" / "clone"
    (project / ".git").mkdir(parents=True)
    (home / "secrets" / "memory").mkdir(parents=True)
    (project / ".commonplace").symlink_to(home / "secrets")
    with open_vault(str(project)) as vault, pytest.raises(Refused, match="is a link"):
        list(vault.roots("project"))
