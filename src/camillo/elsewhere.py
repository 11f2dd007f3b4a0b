"""Folders of other programs that open in place as roots: oc's, Claude Code's, and those that a
person opened.

Format owned: `.roots/<name>/config.toml` in the user root, with the table `[root]`: `folder`,
`form`, `scope`, `project` (the only project in which a project's root is open), `write`, and `name`
where the root has another than this folder. Beside it lies what camillo keeps of that folder, so
that nothing of ours is put into it; what lies there without a root is cleared away.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from camillo import config
from camillo.errors import CamilloError, InvalidValue
from camillo.leases import lock_file
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
    "is_name",
    "is_open",
    "new_oc_root",
    "oc_root",
    "open_folder",
    "opened_folders",
    "other_roots",
    "reopening",
    "root_of",
    "slot_of",
]

_FOLDER = ".roots"  # in the user root
_CONFIG = "config.toml"
_TAKEN = ("user", "project")
# What those roots are called that are open without being asked for: no other may be.
_BY_THEMSELVES = (
    "user-commonplace",
    "user-oc",
    "project-claude",
    "project-commonplace",
    "project-oc",
)
_LEVELS = 4  # above the working directory in which oc looks for its folder
_KEYS = {
    "name": str, "folder": str, "form": str, "scope": str, "project": str, "write": bool
}  # fmt: skip
_OF_CLAUDE = "claude-"  # before the path of a project whose memory is open by itself
_PATIENCE = 5.0  # seconds in which another process opens or closes a folder, or embeds it
_PAUSE = 0.02
_TRIES = 3  # removals of a folder in which somebody still makes files


class Opened(NamedTuple):
    """A folder that a person opened. `project` is the project it belongs to, "" for the user;
    `slot` is where in `.roots` it is noted, "" under its name."""

    name: str
    folder: str
    form: str
    project: str = ""
    write: bool = False
    slot: str = ""


def other_roots(cwd: str, forms: tuple[str, ...], notes: list[str]) -> Iterator[Root]:
    """Those that exist: what a person opened first, then what lies where its program has it, of
    these forms. `notes` hears of what is wrong."""
    seen: set[str] = set()
    project = find_project_root(cwd) or ""
    _clear_closed()
    for each in opened_folders(notes):
        if each.project in ("", project) and os.path.isdir(each.folder):
            seen.add(os.path.realpath(each.folder))
            yield root_of(each)
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
    state = _slot(f"claude{name}"[:200])
    return Root("project", folder, "claude", writable=False, state=state) if there else None


# --- what a person opened -----------------------------------------------------------------------


def opened_folders(notes: list[str]) -> list[Opened]:
    """By where they are noted. One whose file is wrong is left out, and `notes` says so."""
    found = []
    for slot in _slots():
        path = os.path.join(_slot(slot), _CONFIG)
        try:
            table = config.read_toml(path).get("root")
            if table is not None:
                found.append(_opened(slot, table))
        except InvalidValue as error:
            notes.append(f"{path}: left out: {error}")
    return found


def is_name(name: str) -> bool:
    """May a person call a root so?"""
    return _is_plain(name) and name not in (*_TAKEN, *_BY_THEMSELVES)


def slot_of(root: Root) -> str:
    """Where in `.roots` a root's own things lie."""
    return os.path.basename(root.state)


def root_of(opened: Opened) -> Root:
    return Root(
        "project" if opened.project else "user",
        opened.folder,
        opened.form,
        writable=opened.write,
        state=_slot(opened.slot or opened.name),
        label=opened.name,
    )


def is_open(root: Root) -> bool:
    """Is this folder open yet, if a person opened it? Another process may have closed it."""
    if not (root.label and root.state):
        return True
    try:
        table = config.read_toml(root.config_path).get("root")
    except InvalidValue:  # it is there, and wrong by now
        return True
    return isinstance(table, dict) and table.get("folder") == root.folder


def reopening(folder: str) -> str:
    """The command that lets camillo change the files of a folder that is only read."""
    import shlex

    return f"camillo open {shlex.quote(folder)} --write"


def open_folder(opened: Opened) -> str:
    """Note that this folder is to be open from now on; the path of its configuration."""
    state = _slot(opened.slot or opened.name)
    lines = [
        "[root]",
        *([f"name = {_quoted(opened.name)}"] if opened.slot not in ("", opened.name) else []),
        f"folder = {_quoted(opened.folder)}",
        f"form = {_quoted(opened.form)}",
        f"scope = {_quoted('project' if opened.project else 'user')}",
        *([f"project = {_quoted(opened.project)}"] if opened.project else []),
        f"write = {'true' if opened.write else 'false'}",
    ]
    path = os.path.join(state, _CONFIG)
    made = f"{path}.new"
    with _alone():
        os.makedirs(state, mode=0o700, exist_ok=True)
        with open(made, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)
    return path


def close_folder(opened: Opened, *, keep: bool = False) -> bool:
    """The folder is not open any more, and no process makes anything of it again. What camillo kept
    of it goes, unless it is to be kept; the folder stays as it is. False where a process that
    embeds it holds out: then the next command clears away what is left."""
    state = _slot(opened.slot or opened.name)
    with _alone():
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(state, _CONFIG))
        return keep or _clear(state, _PATIENCE)


def _clear_closed() -> None:
    """What is left of folders that were closed while a process was still at them."""
    left = [
        slot
        for slot in _slots()
        if not slot.startswith(_OF_CLAUDE)
        and not os.path.lexists(os.path.join(_slot(slot), _CONFIG))
    ]
    if left:
        with suppress(OSError, CamilloError), _alone(patience=0) as alone:
            for slot in left if alone else ():
                if not os.path.lexists(os.path.join(_slot(slot), _CONFIG)):
                    _clear(_slot(slot), 0)


def _clear(state: str, patience: float) -> bool:
    """Remove what camillo kept of a folder, once nobody embeds it; False where somebody does."""
    import shutil

    index = os.path.join(state, "index")
    if os.path.isdir(index):
        with _lock(os.path.join(index, "vectors.lock"), patience) as mine:
            if not mine:
                return False
    for _ in range(_TRIES):
        shutil.rmtree(state, ignore_errors=True)
        if not os.path.lexists(state):
            return True
    return False


@contextmanager
def _alone(patience: float = _PATIENCE) -> Iterator[bool]:
    """Other processes that open, close or clear wait; where that cannot be had, they do not."""
    above = os.path.join(user_root().folder, _FOLDER)
    os.makedirs(above, mode=0o700, exist_ok=True)
    with _lock(os.path.join(above, ".lock"), patience) as mine:
        yield mine


@contextmanager
def _lock(path: str, patience: float) -> Iterator[bool]:
    """Yields whether the lock was to be had within so many seconds."""
    until = time.monotonic() + patience
    while True:
        with lock_file(path) as mine:
            if mine or time.monotonic() >= until:
                yield mine
                return
        time.sleep(_PAUSE)


def _slots() -> list[str]:
    try:
        with os.scandir(os.path.join(user_root().folder, _FOLDER)) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())
    except OSError:
        return []


def _opened(slot: str, table: Any) -> Opened:
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
    name, write = table.get("name", slot), table.get("write", False)
    if name in _TAKEN or (name != slot and not _is_plain(name)):
        raise InvalidValue(f"[root] name {name!r} cannot be that of a root")
    return Opened(name, table["folder"], table.get("form", "camillo"), project, write, slot)


def _is_plain(name: str) -> bool:
    plain = name.replace("_", "").replace("-", "")
    return (
        plain.isascii() and plain.isalnum() and name == name.lower()
        and name[0] not in "_-" and len(name) <= 64
    )  # fmt: skip


def _slot(name: str) -> str:
    return os.path.join(user_root().folder, _FOLDER, name)


def _is_oc(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "ROOT.md"))


def _quoted(text: str) -> str:
    """As a basic string of TOML, which JSON's strings are."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
