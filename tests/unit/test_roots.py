"""Where roots are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from camillo.errors import Refused, StoreError
from camillo.roots import (
    Root,
    check_inside,
    find_project_root,
    make_root,
    project_root,
    user_root,
)


@pytest.fixture
def work(home: Path) -> Path:
    return home / "work"


@pytest.mark.parametrize("mark", [".camillo/", ".commonplace/", ".git/", ".git"])
def test_a_project_is_the_nearest_folder_with_a_mark(work: Path, mark: str) -> None:
    for folder in (work / "shop", work / "shop" / "part"):
        folder.mkdir()
        if mark.endswith("/"):
            (folder / mark).mkdir()
        else:
            (folder / mark).write_text("gitdir: elsewhere\n", "utf-8")
    deep = work / "shop" / "part" / "a" / "b"
    deep.mkdir(parents=True)
    assert find_project_root(str(deep)) == str(work / "shop" / "part")
    assert find_project_root(str(work / "shop")) == str(work / "shop")


def test_without_a_mark_there_is_none(work: Path) -> None:
    assert find_project_root(str(work)) is None
    assert project_root(str(work)) is None


def test_an_oc_tree_counts_within_four_levels(work: Path) -> None:
    (work / ".memory").mkdir()
    (work / ".memory" / "ROOT.md").write_text("x", "utf-8")
    near, far = work / "1/2/3", work / "1/2/3/4/5"
    far.mkdir(parents=True)
    assert find_project_root(str(near)) == str(work)
    assert find_project_root(str(far)) is None


def test_the_home_folder_and_what_is_above_are_never_a_project(home: Path, work: Path) -> None:
    (home / ".git").mkdir()
    assert find_project_root(str(work)) is None
    assert find_project_root(str(home)) is None
    assert find_project_root("/") is None


def test_the_user_root_is_no_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAMILLO_USER_DIR", str(home / "work" / ".camillo"))
    (home / "work" / ".camillo").mkdir()
    assert project_root(str(home / "work")) is None


def test_a_worktree_belongs_to_its_main_checkout(work: Path) -> None:
    for back in (f"{work}/tree/.git", "../../../../tree/.git"):  # git writes either
        _worktree(work / "main", work / "tree", back)
        assert find_project_root(str(work / "tree")) == str(work / "main")


def test_also_when_it_says_where_by_a_relative_path(work: Path) -> None:
    _worktree(work / "main", work / "tree", f"{work}/tree/.git")
    (work / "tree" / ".git").write_text("gitdir: ../main/.git/worktrees/x\n", "utf-8")
    (work / "tree" / "deep").mkdir()
    assert find_project_root(str(work / "tree" / "deep")) == str(work / "main")


def test_git_itself_makes_such_worktrees(work: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("no git here")
    main, tree = work / "main", work / "tree"
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (
        ("init", "-q", str(main)),
        ("-C", str(main), *who, "commit", "-q", "--allow-empty", "-m", "first"),
        ("-C", str(main), "worktree", "add", "-q", str(tree)),
    ):
        subprocess.run(["git", *words], check=True, stdin=subprocess.DEVNULL, timeout=60)
    assert find_project_root(str(tree)) == str(main)


@pytest.mark.promise(23)
class TestWorktreesOfStrangers:
    """A folder that came from elsewhere says that it is a worktree of a project that is here."""

    @pytest.fixture
    def stranger(self, work: Path) -> Path:
        (work / "stranger").mkdir()
        (work / "ours" / ".git").mkdir(parents=True)
        return work / "stranger"

    def test_of_one_that_has_none(self, work: Path, stranger: Path) -> None:
        _point(stranger, work / "ours")
        assert find_project_root(str(stranger)) == str(stranger)

    @pytest.mark.parametrize("back", ["", "\n", "{work}/tree/.git\n", "a\0b/.git\n"])
    def test_of_one_that_has_another(self, work: Path, stranger: Path, back: str) -> None:
        _worktree(work / "ours", work / "tree", f"{work}/tree/.git")
        (work / "ours/.git/worktrees/x/gitdir").write_text(back.format(work=work), "utf-8")
        _point(stranger, work / "ours")
        assert find_project_root(str(stranger)) == str(stranger)

    def test_by_a_link_to_the_file_of_another(self, work: Path, stranger: Path) -> None:
        _worktree(work / "ours", work / "tree", f"{work}/tree/.git")
        (stranger / ".git").symlink_to(work / "tree" / ".git")
        assert find_project_root(str(stranger)) == str(stranger)

    @pytest.mark.parametrize("name", ["x/../x", "a/b", "..", ""])
    def test_by_a_path_that_leads_elsewhere(self, work: Path, stranger: Path, name: str) -> None:
        (work / "ours/.git/worktrees").mkdir()
        (stranger / ".git").write_text(f"gitdir: {work}/ours/.git/worktrees/{name}\n", "utf-8")
        assert find_project_root(str(stranger)) == str(stranger)


def _worktree(main: Path, tree: Path, back: str) -> None:
    """As `git worktree add` makes one; `back` is what leads from the main checkout to it."""
    inside = main / ".git" / "worktrees" / "x"
    for folder in (inside, tree):
        folder.mkdir(parents=True, exist_ok=True)
    _point(tree, main)
    (inside / "gitdir").write_text(f"{back}\n", "utf-8")


def _point(tree: Path, main: Path) -> None:
    (tree / ".git").write_text(f"gitdir: {main}/.git/worktrees/x\n", "utf-8")


def test_the_environment_names_the_project_or_its_root(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for named in (work / "p", work / "p" / ".camillo"):
        monkeypatch.setenv("CAMILLO_PROJECT_DIR", str(named))
        found = project_root(str(work))
        assert found == Root("project", str(work / "p" / ".camillo"))


def test_the_user_root_lies_at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_root() == Root("user", str(home / ".camillo"))
    monkeypatch.delenv("CAMILLO_USER_DIR")
    assert user_root().folder == str(home / ".camillo")


class TestMaking:
    def test_a_root_is_private_and_made_once(self, work: Path) -> None:
        root = Root("project", str(work / "p" / ".camillo"))
        assert make_root(root)
        assert not make_root(root)
        assert Path(root.folder).stat().st_mode & 0o777 == 0o700
        assert "store.db*" in (Path(root.folder) / ".gitignore").read_text("utf-8")

    def test_a_user_root_needs_no_gitignore(self, home: Path) -> None:
        make_root(user_root())
        assert list((home / ".camillo").iterdir()) == []

    def test_a_file_in_its_place_is_refused(self, work: Path) -> None:
        (work / "root").write_text("x", "utf-8")
        with pytest.raises(Refused, match="root is a file"):
            make_root(Root("user", str(work / "root")))

    def test_a_place_where_none_can_be_is_named(self, work: Path) -> None:
        (work / "file").write_text("x", "utf-8")
        with pytest.raises(StoreError, match="file/root"):
            make_root(Root("user", str(work / "file" / "root")))


@pytest.mark.promise(23)
class TestLinks:
    @pytest.mark.parametrize(
        "name", ["store.db", "store.db-wal", "index", "index/index.db", "backups"]
    )
    def test_a_project_root_holds_none(self, work: Path, name: str) -> None:
        root = Root("project", str(work / ".camillo"))
        link = work / ".camillo" / name
        link.parent.mkdir(parents=True)
        check_inside(root)
        link.symlink_to(work / "elsewhere")
        with pytest.raises(Refused, match=f"{name} is a link"):
            check_inside(root)

    def test_nor_is_one(self, work: Path) -> None:
        (work / "elsewhere").mkdir()
        (work / ".camillo").symlink_to(work / "elsewhere")
        with pytest.raises(Refused, match="camillo is a link"):
            check_inside(Root("project", str(work / ".camillo")))

    def test_a_user_may_put_a_root_wherever_they_like(
        self, work: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (work / "elsewhere").mkdir()
        (work / ".camillo").symlink_to(work / "elsewhere")
        check_inside(Root("user", str(work / ".camillo")))
        monkeypatch.setenv("CAMILLO_PROJECT_DIR", str(work))
        check_inside(Root("project", str(work / ".camillo")))
