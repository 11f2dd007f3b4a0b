"""Roots: the folders that hold memories, and how a project's is found.

A root's layout is DESIGN §4's: `store.db`, `index/index.db`, `config.toml`, notes as Markdown.
This file finds and makes folders; it opens nothing in them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

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
    "commonplace_root",
    "find_project_root",
    "foreign_roots",
    "git_folder",
    "keep_out_of_git",
    "make_root",
    "may_hold_notes",
    "project_root",
    "user_root",
]

_OURS = frozenset({"index", "backups"})  # folders of a root that hold no notes
_GITIGNORE = "store.db*\nindex/\nbackups/\n"
_LONGEST = 10_000  # characters of the line that git writes into a worktree's `.git`


class Root(NamedTuple):
    """A folder and the scope of what lives in it. It may not exist yet. `form` is the dialect of
    its notes, which lie in the folder itself. `state` is where camillo keeps its own files of it,
    "" in the same folder; `label` tells it from others of its scope and form."""

    scope: Scope
    folder: str
    form: str = "camillo"
    writable: bool = True
    state: str = ""
    label: str = ""

    @property
    def name(self) -> str:
        """`user`, `project`, or with the form where it is another's: `user-commonplace`."""
        if self.label:
            return self.label
        return self.scope if self.form == "camillo" else f"{self.scope}-{self.form}"

    @property
    def title(self) -> str:
        """What a page calls it: a project by its folder; "" for what holds everywhere."""
        if self.label or self.scope == "user":
            return self.label
        above, name = os.path.split(self.folder)
        return os.path.basename(above) if name.startswith(".") else name

    @property
    def store_path(self) -> str:
        return os.path.join(self.state or self.folder, "store.db")

    @property
    def index_path(self) -> str:
        return os.path.join(self.state or self.folder, "index", "index.db")

    @property
    def config_path(self) -> str:
        return os.path.join(self.state or self.folder, "config.toml")

    @property
    def space(self) -> str:
        """The part of a server that is this root's, unless a setting names another: `camillo`, and
        for a project its folder's name after it, with six hex digits of the folder's path, since
        two projects may have one name."""
        if self.scope == "user" and not self.label:
            return self.name.replace("user", "camillo", 1).replace("-", "_")
        from hashlib import sha256

        folder = self.folder.partition(f"{os.sep}.")[0] or os.path.dirname(self.folder)
        name = self.label or os.path.basename(folder)
        plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower())
        path = os.path.realpath(self.folder).encode("utf-8", "surrogateescape")
        return f"camillo_{plain[:40]}_{sha256(path).hexdigest()[:6]}"

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


def foreign_roots(cwd: str) -> Iterator[Root]:
    """The stores of other systems that open in place, where they exist: commonplace's."""
    user = commonplace_root("user")
    if user.exists():
        yield user
    folder = config.project_root_setting() or find_project_root(cwd)
    if folder or config.commonplace_project_root():
        project = commonplace_root("project", folder or "")
        if project.exists() and project.folder != user.folder:
            yield project


def commonplace_root(scope: Scope, project: str = "") -> Root:
    """Where commonplace keeps, or would keep, what it remembers of a person or of this project."""
    if scope == "user":
        return Root("user", os.path.abspath(config.commonplace_user_root()), "commonplace")
    named = config.commonplace_project_root()
    if named and not config.project_root_setting():
        return Root("project", os.path.abspath(named), "commonplace")
    folder = os.path.abspath(project)
    if os.path.basename(folder) == ".camillo":
        folder = os.path.dirname(folder)
    return Root("project", os.path.join(folder, ".commonplace", "memory"), "commonplace")


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


def git_folder(folder: str) -> str | None:
    """The nearest folder at or above this one that is a git repository."""
    folder = os.path.realpath(folder)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def make_root(root: Root) -> bool:
    """Make the folder, its owner's alone; a project's gets a .gitignore. False if it was there."""
    if root.exists():
        return False
    if os.path.lexists(root.folder):
        raise Refused(f"{root.folder} is a file, not a folder: move it away, then try again")
    try:
        os.makedirs(root.folder, mode=0o700, exist_ok=True)
        keep_out_of_git(root)
    except OSError as error:
        raise StoreError(f"cannot make {root.folder}: {error.strerror}") from error
    return True


def may_hold_notes(folder: str) -> bool:
    """Is anything in this folder that could be a note, or a folder of notes? Quick, since a search
    asks it before it loads what reads them."""
    try:
        with os.scandir(folder) as entries:
            return any(
                entry.name.endswith(".md")
                or (entry.name[0] != "." and entry.name not in _OURS and entry.is_dir())
                for entry in entries
            )
    except OSError:
        return False


def keep_out_of_git(root: Root, *, found: bool = False) -> None:
    """A project's root gets a .gitignore for what is no note, unless it has one. In a root that was
    `found`, not made, it leaves out itself too: who only reads there changes nothing for git."""
    if root.scope == "project" and not root.state:
        try:
            with open(os.path.join(root.folder, ".gitignore"), "x", encoding="utf-8") as file:
                file.write(_GITIGNORE + (".gitignore\n" if found else ""))
        except FileExistsError:
            pass


def check_inside(root: Root) -> None:
    """Refuse a project root that leads out of its project: git keeps links, and a clone must not
    make somebody's files its store. A root that the environment names is the user's own choice."""
    if root.scope != "project" or config.project_root_setting():
        return
    folders = [root.folder]
    if root.form == "commonplace":
        if root.folder == os.path.abspath(config.commonplace_project_root() or os.sep):
            return
        folders.append(os.path.dirname(root.folder))
    links = [folder for folder in folders if os.path.islink(folder)]
    links = links or [*_links(root.folder), *_links(os.path.dirname(root.index_path))]
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
    """A worktree's `.git` is a file that points into the main checkout's `.git/worktrees/`, where
    `gitdir` points back. One that nothing points back to may come from anywhere: it would lend a
    stranger's folder another project's memories."""
    folder = os.path.dirname(git)
    inside = os.path.normpath(
        os.path.join(folder, _first_line(git).removeprefix("gitdir:").strip())
    )
    main, found, name = inside.replace(os.sep, "/").rpartition("/.git/worktrees/")
    if not found or "/" in name or not os.path.isdir(main):
        return None
    back = os.path.join(inside, _first_line(os.path.join(inside, "gitdir")))
    above, last = os.path.split(back)  # a link as `.git` would be followed to where it is true
    return main if last == ".git" and os.path.realpath(above) == folder else None


def _first_line(path: str) -> str:
    """ "" where there is no such file."""
    try:
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.readline(_LONGEST).strip().replace("\0", "")
    except OSError:
        pass
    return ""
