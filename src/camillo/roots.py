"""Roots: the folders that hold memories, and how a project's is found.

A root's layout is DESIGN §4's: `store.db`, `index/index.db`, `config.toml`, notes as Markdown.
This file finds and makes folders; it opens nothing in them.
"""

from __future__ import annotations

import os

from camillo import config
from camillo.errors import Refused, StoreError
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Scope = Literal["user", "project"]

__all__ = [
    "Root",
    "Scope",
    "check_inside",
    "find_project_root",
    "make_root",
    "project_root",
    "user_root",
]

_GITIGNORE = "store.db*\nindex/\nbackups/\n"


class Root(NamedTuple):
    """A folder and the scope of what lives in it. It may not exist yet."""

    scope: Scope
    folder: str

    @property
    def store_path(self) -> str:
        return os.path.join(self.folder, "store.db")

    @property
    def index_path(self) -> str:
        return os.path.join(self.folder, "index", "index.db")

    @property
    def config_path(self) -> str:
        return os.path.join(self.folder, "config.toml")

    def exists(self) -> bool:
        return os.path.isdir(self.folder)


def user_root() -> Root:
    return Root("user", os.path.abspath(config.user_root()))


def project_root(cwd: str) -> Root | None:
    """The root of the project that `cwd` is in, if it has one already."""
    folder = config.project_root_setting() or find_project_root(cwd)
    if not folder:
        return None
    root = Root("project", os.path.join(os.path.abspath(folder), ".camillo"))
    if config.project_root_setting() and os.path.basename(os.path.abspath(folder)) == ".camillo":
        root = Root("project", os.path.abspath(folder))
    return root if root.folder != user_root().folder else None


def find_project_root(cwd: str) -> str | None:
    """The nearest folder at or above `cwd` that holds `.camillo`, `.commonplace` or `.git`, or
    within four levels `.memory/ROOT.md`; never the home folder or one above it. In a git worktree
    it is the main checkout."""
    home = os.path.realpath(os.path.expanduser("~"))
    folder = os.path.realpath(cwd)
    level = 0
    while not (home + os.sep).startswith(folder.rstrip(os.sep) + os.sep):
        if any(os.path.isdir(os.path.join(folder, name)) for name in (".camillo", ".commonplace")):
            return folder
        git = os.path.join(folder, ".git")
        if os.path.exists(git):
            return _main_checkout(git) or folder
        if level < 4 and os.path.isfile(os.path.join(folder, ".memory", "ROOT.md")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder, level = parent, level + 1
    return None


def make_root(root: Root) -> bool:
    """Make the folder, its owner's alone; a project's gets a .gitignore. False if it was there."""
    if root.exists():
        return False
    if os.path.lexists(root.folder):
        raise Refused(f"{root.folder} is a file, not a folder: move it away, then try again")
    try:
        os.makedirs(root.folder, mode=0o700, exist_ok=True)
        if root.scope == "project":
            path = os.path.join(root.folder, ".gitignore")
            with open(path, "x", encoding="utf-8") as file:
                file.write(_GITIGNORE)
    except FileExistsError:
        return False  # another process made it at the same time
    except OSError as error:
        raise StoreError(f"cannot make {root.folder}: {error.strerror}") from error
    return True


def check_inside(root: Root) -> None:
    """Refuse a project root that leads out of its project: git keeps links, and a clone must not
    make somebody's files its store. A root that the environment names is the user's own choice."""
    if root.scope != "project" or config.project_root_setting():
        return
    index = os.path.dirname(root.index_path)
    links = [root.folder] if os.path.islink(root.folder) else [*_links(root.folder), *_links(index)]
    if links:
        raise Refused(
            f"{links[0]} is a link: what a project remembers must lie in the project; "
            "set CAMILLO_PROJECT_DIR to use another folder, or use --scope user"
        )


def _links(folder: str) -> list[str]:
    """Links among the files that are written."""
    try:
        with os.scandir(folder) as entries:
            return [
                entry.path
                for entry in entries
                if entry.is_symlink() and entry.name.startswith(("store.db", "index", "backups"))
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _main_checkout(git: str) -> str | None:
    """A worktree's `.git` is a file that points into the main checkout's `.git/worktrees/`."""
    if not os.path.isfile(git):
        return None
    try:
        with open(git, encoding="utf-8", errors="replace") as file:
            line = file.readline().strip()
    except OSError:
        return None
    pointed = line.removeprefix("gitdir:").strip()
    main, found, _ = pointed.replace(os.sep, "/").partition("/.git/worktrees/")
    return main if found and os.path.isdir(main) else None
