"""Folders of other programs that open in place as roots: oc's, Claude Code's, and those that a
person opened.

Format owned: `.roots/<name>/config.toml` in the user root, with the table `[root]`: `folder`,
`form`, `scope`, `project` (the only project in which a project's root is open) and `write`. Beside
it lies what camillo keeps of that folder, so that nothing of ours is put into it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from camillo import config
from camillo.errors import InvalidValue
from camillo.records import NamedTuple
from camillo.roots import Root, find_project_root, user_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.roots import Scope

__all__ = [
    "Opened",
    "claude_root",
    "close_folder",
    "form_of",
    "is_name",
    "new_oc_root",
    "oc_root",
    "open_folder",
    "opened_folders",
    "other_roots",
]

_FOLDER = ".roots"  # in the user root
_TAKEN = ("user", "project")
_LEVELS = 4  # above the working directory in which oc looks for its folder
_KEYS = {"folder": str, "form": str, "scope": str, "project": str, "write": bool}


class Opened(NamedTuple):
    """A folder that a person opened. `project` is the project it belongs to, "" for the user."""

    name: str
    folder: str
    form: str
    project: str = ""
    write: bool = False


def other_roots(cwd: str, forms: tuple[str, ...], notes: list[str]) -> Iterator[Root]:
    """Those that exist: what a person opened first, then what lies where its program has it, of
    these forms. `notes` hears of what is wrong."""
    seen: set[str] = set()
    project = find_project_root(cwd) or ""
    for each in opened_folders(notes):
        if each.project in ("", project) and os.path.isdir(each.folder):
            seen.add(os.path.realpath(each.folder))
            yield _root_of(each)
    for root in (oc_root("project", cwd), oc_root("user"), claude_root(cwd)):
        if root and root.form in forms and os.path.realpath(root.folder) not in seen:
            yield root


def oc_root(scope: Scope, cwd: str = "") -> Root | None:
    """oc's folder of this scope where there is one, which its `ROOT.md` says: a project's is the
    nearest `.memory` at or up to four levels above the working directory, never in the home folder.
    """
    if scope == "user":
        folder = os.path.join(config.opencode_folder(), "memory")
        return Root("user", folder, "oc") if _is_oc(folder) else None
    home = os.path.realpath(os.path.expanduser("~"))
    above = os.path.realpath(cwd)
    for _ in range(_LEVELS + 1):
        if (home + os.sep).startswith(above.rstrip(os.sep) + os.sep):
            return None
        folder = os.path.join(above, ".memory")
        if _is_oc(folder):
            return Root("project", folder, "oc")
        above = os.path.dirname(above)
    return None


def new_oc_root(scope: Scope, project: str) -> Root:
    """Where oc would look for this folder."""
    if scope == "user":
        return Root("user", os.path.join(config.opencode_folder(), "memory"), "oc")
    return Root("project", os.path.join(os.path.abspath(project), ".memory"), "oc")


def claude_root(cwd: str) -> Root | None:
    """What Claude Code remembers of this project, if anything: read-only."""
    project = find_project_root(cwd) or os.path.realpath(cwd)
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in project)
    folder = os.path.join(config.claude_folder(), "projects", name, "memory")
    try:
        with os.scandir(folder) as entries:
            there = any(entry.name.endswith(".md") for entry in entries)
    except OSError:
        return None
    state = _state(f"claude{name}"[:200])
    return Root("project", folder, "claude", writable=False, state=state) if there else None


def form_of(folder: str) -> str:
    """Which program laid out the notes of a folder, by the names in it; camillo's own form reads
    any other."""
    with os.scandir(folder) as entries:
        names = {entry.name for entry in entries}
    if "MEMORY.md" in names:
        return "nullclaw" if names & {"memory", "okf", "SOUL.md", "AGENTS.md"} else "claude"
    if any(name.endswith(".embedding") for name in names):
        return "commonplace"
    if "ROOT.md" in names and os.path.basename(folder) == ".memory":
        return "oc"
    return "camillo"


# --- what a person opened -----------------------------------------------------------------------


def opened_folders(notes: list[str]) -> list[Opened]:
    """By name. One whose file is wrong is left out, and `notes` says so."""
    try:
        with os.scandir(os.path.join(user_root().folder, _FOLDER)) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []
    found = []
    for name in names:
        path = os.path.join(_state(name), "config.toml")
        try:
            table = config.read_toml(path).get("root")
            if table is not None:
                found.append(_opened(name, table))
        except InvalidValue as error:
            notes.append(f"{path}: left out: {error}")
    return found


def is_name(name: str) -> bool:
    """May a person call a root so?"""
    plain = name.replace("_", "").replace("-", "")
    return (
        plain.isascii() and plain.isalnum() and name == name.lower()
        and name[0] not in "_-" and len(name) <= 64 and name not in _TAKEN
    )  # fmt: skip


def open_folder(opened: Opened) -> str:
    """Note that this folder is to be open from now on; the path of its configuration."""
    state = _state(opened.name)
    os.makedirs(state, mode=0o700, exist_ok=True)
    path = os.path.join(state, "config.toml")
    lines = [
        "[root]",
        f"folder = {_quoted(opened.folder)}",
        f"form = {_quoted(opened.form)}",
        f"scope = {_quoted('project' if opened.project else 'user')}",
        *([f"project = {_quoted(opened.project)}"] if opened.project else []),
        f"write = {'true' if opened.write else 'false'}",
    ]
    made = f"{path}.new"
    with open(made, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(made, path)
    return path


def close_folder(name: str) -> bool:
    """The folder is not open any more. What camillo kept of it goes; the folder stays as it is.
    False when none has this name."""
    state = _state(name)
    if not is_name(name) or not os.path.isfile(os.path.join(state, "config.toml")):
        return False
    import shutil

    shutil.rmtree(state)
    return True


def _opened(name: str, table: Any) -> Opened:
    if not isinstance(table, dict):
        raise InvalidValue("root must be a table, [root]")
    for key, value in table.items():
        if key not in _KEYS:
            raise InvalidValue(f"[root] has no key {key!r}; known: {', '.join(_KEYS)}")
        if not isinstance(value, _KEYS[key]):
            raise InvalidValue(f"[root] {key} must be {_KEYS[key].__name__}, not {value!r}")
    if not os.path.isabs(table.get("folder", "")):
        raise InvalidValue(f"[root] folder must be an absolute path, not {table.get('folder')!r}")
    scope = table.get("scope", "user")
    project = table.get("project", "")
    if scope not in ("user", "project") or (scope == "project") != bool(project):
        raise InvalidValue('[root] scope is "user", or "project" with the path of its project')
    return Opened(
        name, table["folder"], table.get("form", "camillo"), project, table.get("write", False)
    )


def _root_of(opened: Opened) -> Root:
    return Root(
        "project" if opened.project else "user",
        opened.folder,
        opened.form,
        writable=opened.write,
        state=_state(opened.name),
        label=opened.name,
    )


def _state(name: str) -> str:
    return os.path.join(user_root().folder, _FOLDER, name)


def _is_oc(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "ROOT.md"))


def _quoted(text: str) -> str:
    """As a basic string of TOML, which JSON's strings are."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
