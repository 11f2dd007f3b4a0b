"""Folders of other programs: which are found from where, and what is noted of those opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.elsewhere import (
    Opened,
    claude_root,
    close_folder,
    is_name,
    is_open,
    oc_root,
    open_folder,
    opened_folders,
    other_roots,
    root_of,
)


def _oc(folder: Path, *, root: bool = True) -> Path:
    memory = folder / ".memory"
    memory.mkdir(parents=True)
    if root:
        (memory / "ROOT.md").write_text("# plan\n")
    return memory


@pytest.mark.case("OC23")
def test_the_nearest_folder_within_four_levels_counts(home: Path) -> None:
    memory = _oc(home / "work" / "a")
    deep = home / "work" / "a" / "b" / "c" / "d" / "e"
    (deep / "f").mkdir(parents=True)
    found = oc_root("project", str(deep))
    assert found is not None
    assert Path(found.folder) == memory.resolve()
    assert found.name == "project-oc"
    assert oc_root("project", str(deep / "f")) is None


@pytest.mark.case("OC23")
def test_a_folder_without_its_plan_is_none(home: Path) -> None:
    _oc(home / "work", root=False)
    assert oc_root("project", str(home / "work")) is None


def test_the_home_folder_is_no_project(home: Path) -> None:
    _oc(home)
    assert oc_root("project", str(home / "work")) is None


def test_the_users_own_lies_where_opencode_keeps_things(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert oc_root("user") is None
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(home / "oc"))
    (home / "oc" / "memory").mkdir(parents=True)
    (home / "oc" / "memory" / "ROOT.md").write_text("# plan\n")
    found = oc_root("user")
    assert found is not None
    assert (found.folder, found.scope) == (str(home / "oc" / "memory"), "user")


def test_claudes_folder_is_named_after_the_projects_path(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "cc"))
    project = home / "work" / "my.shop_2"
    (project / ".git").mkdir(parents=True)
    coded = "".join(c if c.isalnum() else "-" for c in str(project.resolve()))
    folder = home / "cc" / "projects" / coded / "memory"
    folder.mkdir(parents=True)
    assert claude_root(str(project)) is None  # nothing is in it
    (folder / "a.md").write_text("x")
    found = claude_root(str(project))
    assert found is not None
    assert (found.folder, found.writable) == (str(folder), False)
    assert not found.state.startswith(str(folder))


def test_what_was_opened_is_read_back_and_ends(home: Path) -> None:
    odd = home / 'a "b" \\ é\x7f'
    odd.mkdir()
    opened = Opened("odd", str(odd), "oc", str(home / "work"), write=True, slot="odd")
    open_folder(opened)
    notes: list[str] = []
    assert opened_folders(notes) == [opened]
    assert notes == []
    assert is_open(root_of(opened))
    assert close_folder(opened)
    assert close_folder(opened)  # as another process did meanwhile
    assert not is_open(root_of(opened))
    assert opened_folders(notes) == []


def test_one_may_be_noted_under_another_name(home: Path) -> None:
    opened = Opened("project-claude", str(home), "claude", str(home / "work"), slot="claude-x")
    open_folder(opened)
    assert opened_folders([]) == [opened]
    root = root_of(opened)
    assert (root.name, Path(root.state).name) == ("project-claude", "claude-x")
    (Path(root.state) / "store.db").touch()
    assert close_folder(opened, keep=True)
    assert (Path(root.state) / "store.db").exists()


def test_a_folder_that_is_opened_in_the_place_of_another_is_not_that(home: Path) -> None:
    """Who still works on the former writes nothing of it into the store of the new one."""
    former = root_of(Opened("notes", str(home), "camillo"))
    open_folder(Opened("notes", str(home / "work"), "camillo"))
    assert not is_open(former)


@pytest.mark.parametrize("name", ["user", "project-oc", "a b", "", "-a", "Ä", "../x", "x" * 65])
def test_what_is_no_name_of_an_opened_root(name: str) -> None:
    assert not is_name(name)
    assert is_name("user-notes")


@pytest.mark.parametrize(
    "line",
    [
        "scope = 'team'",
        "scope = 'project'",
        "form = 3",
        "colour = 'red'",
        "folder = 'rel'",
        "name = 'user'",
        "name = '../x'",
    ],
)
def test_a_wrong_file_is_told_and_left_out(home: Path, line: str) -> None:
    state = home / ".camillo" / ".roots" / "x"
    state.mkdir(parents=True)
    said = line if line.startswith("folder") else f"folder = '{home}'\n{line}"
    (state / "config.toml").write_text(f"[root]\n{said}\n")
    notes: list[str] = []
    assert opened_folders(notes) == []
    assert len(notes) == 1
    assert str(state) in notes[0]


def test_what_is_opened_by_hand_is_not_opened_by_itself_too(home: Path) -> None:
    project = home / "work" / "shop"
    memory = _oc(project)
    open_folder(Opened("mine", str(memory), "oc", write=True))
    found = list(other_roots(str(project), ("oc",), []))
    assert [root.name for root in found] == ["mine"]
