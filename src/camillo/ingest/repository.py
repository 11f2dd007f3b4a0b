"""What a git repository and its user say about ignoring: where the rules lie, read as git reads.

Finds the top of a repository, its shared git folder (worktrees and submodules included),
`core.ignoreCase` and the user's `core.excludesFile`. Never runs git and never takes a path
from a repository's own config. The rules themselves are gitignore.py.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping

__all__ = [
    "RULES_CAP",
    "git_folder",
    "ignores_case",
    "read_rules",
    "repository_top",
    "user_excludes",
]

RULES_CAP = 1 << 18  # bytes; a larger file of rules is reported and not read

_SECTION = re.compile(r'\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]')
_SETTING = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$", re.DOTALL)
_VALUE = re.compile(r'\\(.)|(")|([#;])|([^\\"#;]+)', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def read_rules(path: str, *, follow: bool = False) -> bytes:
    """The bytes of a small regular file; OSError for anything else. A symlink only if `follow`."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    flags |= 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        text = file.read(RULES_CAP + 1)
    if len(text) > RULES_CAP:
        raise OSError(errno.EFBIG, f"over {RULES_CAP} bytes", path)
    return text


def repository_top(folder: str) -> str | None:
    """The nearest folder, `folder` itself or above it, that is the top of a repository."""
    while git_folder(folder) is None:
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def git_folder(top: str) -> str | None:
    """The git folder that the worktrees of a repository share, or None: not the top of one."""
    folder = os.path.join(top, ".git")
    if os.path.lexists(os.path.join(folder, "HEAD")):
        return folder
    target = _pointer(folder, "gitdir:")
    if target is None:
        return None
    folder = os.path.join(top, target)
    common = _pointer(os.path.join(folder, "commondir"), "")
    return folder if common is None else os.path.join(folder, common)


def _pointer(path: str, label: str) -> str | None:
    """The path that a one-line file names. A network share is not followed: looking is telling."""
    try:
        text = os.fsdecode(read_rules(path))
    except OSError:
        return None
    target = text.removeprefix(label).strip("\r\n ")
    refused = not target or "\0" in target or target.startswith(("//", "\\\\"))
    return target if text.startswith(label) and not refused else None


def ignores_case(git: str) -> bool:
    """`core.ignoreCase`, which git sets where the file system folds case."""
    value = _core(os.path.join(git, "config")).get("ignorecase", "false")
    return value.lower() in ("true", "yes", "on", "1")


def user_excludes(environ: Mapping[str, str]) -> str | None:
    """The user's global excludes: `core.excludesFile` of the user's or the system's config, else
    `git/ignore` in the XDG config folder. The file need not exist."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    xdg = environ.get("XDG_CONFIG_HOME") or (os.path.join(home, ".config") if home else "")
    value: str | None = None
    for config in _configs(environ, home, xdg):
        value = _core(config).get("excludesfile", value)
    if value is None:
        return os.path.join(xdg, "git", "ignore") if xdg else None
    if value.startswith("~/"):
        value = os.path.join(home, value[2:]) if home else ""
    return value if os.path.isabs(value) else None


def _configs(environ: Mapping[str, str], home: str, xdg: str) -> Iterator[str]:
    """The config files that git would read for any repository, the strongest last."""
    if environ.get("GIT_CONFIG_NOSYSTEM", "").lower() not in ("1", "true", "yes", "on"):
        yield environ.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
    if "GIT_CONFIG_GLOBAL" in environ:
        yield environ["GIT_CONFIG_GLOBAL"]
        return
    if xdg:
        yield os.path.join(xdg, "git", "config")
    if home:
        yield os.path.join(home, ".gitconfig")


def _core(path: str) -> dict[str, str]:
    """The settings of `[core]`, names in lower case; empty where the file cannot be read.
    `[include]` is not followed."""
    try:
        text = os.fsdecode(read_rules(path, follow=True))
    except (OSError, ValueError):
        return {}
    settings: dict[str, str] = {}
    section = ""
    for line in _lines(text):
        header = _SECTION.match(line)
        if header:
            section = "" if header[2] is not None else header[1].lower()
        rest = line[header.end() :].lstrip() if header else line
        if section == "core" and (setting := _SETTING.match(rest)):
            settings[setting[1].lower()] = "true" if setting[2] is None else _value(setting[2])
    return settings


def _lines(text: str) -> Iterator[str]:
    joined = re.sub(r"((?<!\\)(?:\\\\)*)\\\r?\n", r"\1", text.removeprefix("\ufeff"))
    return (line.strip() for line in joined.split("\n"))


def _value(raw: str) -> str:
    """Quotes, escapes and the comment taken out, and the spaces outside quotes at its end."""
    parts: list[str] = []
    quoted = False
    kept = 0  # parts before this one are safe from the trim
    for escape, quote, comment, plain in _VALUE.findall(raw):
        if quote:
            quoted = not quoted
        elif comment and not quoted:
            break
        else:
            parts.append(_ESCAPES.get(escape, escape) if escape else comment or plain)
        if quoted or escape:
            kept = len(parts)
    return "".join(parts[:kept]) + "".join(parts[kept:]).rstrip()
