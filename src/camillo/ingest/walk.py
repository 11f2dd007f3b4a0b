"""The walk: every file below a root that is worth mining, and everything left out, with a reason.

A folder that is left out is listed once, as a folder; nothing below it is looked at. Symlinks are
never followed and only the small files that steer the walk (.gitignore and its like) are opened.
Leaves what a file holds to the importers, patterns to gitignore.py, git's places to repository.py.

Order of precedence: what is never walked (links, special files, version control, a camillo root),
`exclude`, `include_ignored`, .camilloignore, likely secrets, hidden names, git's ignore rules,
then what is hardly ever wanted (caches, dependencies, lock files, bundles).
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from camillo.errors import NotFound
from camillo.ingest.gitignore import IgnoreRules
from camillo.ingest.repository import (
    git_folder,
    ignores_case,
    read_rules,
    repository_top,
    user_excludes,
)
from camillo.ingest.unwanted import SECRET, barred, is_secret, unwanted, unwanted_inside

__all__ = ["Found", "Skipped", "WalkRules", "display", "walk"]

_MIB = 1 << 20
_GITIGNORE = ".gitignore"
_OWN = ".camilloignore"
_SYMLINK = "symlink, not followed"
_EXCLUDED = "excluded by the exclude setting"
_HIDDEN = "hidden; the setting hidden includes it"
_JUNCTION = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT: what Windows has for a linked folder


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file. `relative` has `/` between the names, which are as on disk: neither
    normalised nor always printable (`display`). `size` in bytes."""

    path: str
    relative: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a folder with all that is below it, that was left out.

    `unreadable`: its state is not known, so that a sync must change nothing about it or below it.
    The root itself is called `.`.
    """

    relative: str
    reason: str
    folder: bool = False
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class WalkRules:
    """What the user wants. Patterns are in .gitignore syntax, relative to the root of the walk."""

    gitignore: bool = True
    include_ignored: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_bytes: int = 500 * _MIB
    hidden: bool = True


def walk(
    root: str | os.PathLike[str],
    rules: WalkRules = WalkRules(),
    environ: Mapping[str, str] | None = None,
) -> Iterator[Found | Skipped]:
    """Everything below `root`, depth first, each folder in the byte order of its names.

    A root that is a file is yielded whatever the rules say, except for the size cap; a root that
    is an ignored folder is walked: it was named. The user's global git excludes are those that
    `environ` leads to (HOME, XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL …); without it there are none.
    NotFound when there is nothing at `root`.
    """
    path = os.path.abspath(os.fspath(root))
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise NotFound(f"no file or folder at '{display(path)}'; check the path") from None
    except OSError as error:
        return iter((_unreadable(".", error, folder=True),))
    if stat.S_ISDIR(status.st_mode):
        return _Walk(path, rules, environ or {}).items()
    return iter((_measured(path, os.path.basename(path), status, rules.max_bytes),))


def display(name: str) -> str:
    """`name` fit for a terminal or a log: bytes that are no UTF-8 as `\\xff`, control characters
    and other invisible ones escaped."""
    return name if name.isprintable() else "".join(map(_shown, name))


def _shown(character: str) -> str:
    if character.isprintable() or character in "\u00a0\u200c\u200d\u3000":
        return character
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


class _Layer(NamedTuple):
    """Rules in force. `base`: how much of a path belongs to the folder of the rules."""

    rules: IgnoreRules
    base: int
    reason: str


_Layers = tuple[_Layer, ...]  # the strongest first


class _Folder(NamedTuple):
    """A folder being walked."""

    path: str  # with a separator at its end
    relative: str  # "" or with a slash at its end
    key: bytes  # the same from the top of the repository on: what rules are matched against
    git: _Layers
    own: _Layers  # of .camilloignore
    fold: bool = False  # the repository ignores case
    lifted: bool = False  # include_ignored named it: git's rules are not asked
    closed: str = ""  # why it is left out, when walked only for what include_ignored names in it
    identity: tuple[int, int] = (0, 0)
    entries: Iterator[os.DirEntry[bytes]] = iter(())


_Entries = dict[bytes, os.DirEntry[bytes]]


class _Walk:
    """One walk: a stack of folders, so that depth is bounded by the file system only."""

    def __init__(self, root: str, rules: WalkRules, environ: Mapping[str, str]) -> None:
        self._root = root
        self._rules = rules
        self._environ = environ
        self._exclude = IgnoreRules(rules.exclude) if rules.exclude else None
        self._include = IgnoreRules(rules.include_ignored) if rules.include_ignored else None
        self._ways = IgnoreRules(_ways(rules.include_ignored))
        self._base = 0  # how much of a key lies above the root
        self._stack: list[_Folder] = []
        self._above: set[tuple[int, int]] = set()
        self._lost: list[Skipped] = []  # files of rules that could not be read

    def items(self) -> Iterator[Found | Skipped]:
        yield from self._enter_root()
        while self._stack:
            folder = self._stack[-1]
            entry = next(folder.entries, None)
            if entry is None:
                self._stack.pop()
                self._above.discard(folder.identity)
            elif _is_folder(entry):
                yield from self._enter(folder, entry)
            else:
                yield self._file(folder, entry)

    def _file(self, folder: _Folder, entry: os.DirEntry[bytes]) -> Found | Skipped:
        name = entry.name
        text = os.fsdecode(name)
        relative = folder.relative + text
        try:
            if entry.is_symlink():
                return Skipped(relative, _SYMLINK)
            reason = barred(name) or self._why(folder, name, folder.key + name, False)
            if reason:
                return Skipped(relative, reason)
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            return _unreadable(relative, error)
        return _measured(folder.path + text, relative, status, self._rules.max_bytes)

    def _enter(self, outer: _Folder, entry: os.DirEntry[bytes]) -> Iterator[Skipped]:
        """Puts the folder on the stack, or says why not."""
        name = entry.name
        text = os.fsdecode(name)
        relative, key = outer.relative + text, outer.key + name
        reason = barred(name) or self._why(outer, name, key, True)
        if reason and not self._leads_on(name, key, reason):
            yield Skipped(relative, reason, folder=True)
            return
        try:
            status = entry.stat(follow_symlinks=False)
            entries = _listing(entry.path)
        except OSError as error:
            yield _unreadable(relative, error, folder=True)
            return
        inner = _Folder(
            path=os.path.join(outer.path + text, ""),
            relative=relative + "/",
            key=key + b"/",
            git=outer.git,
            own=outer.own,
            fold=outer.fold,
            lifted=outer.lifted or self._is_included(name, key, True),
            closed=reason,
            identity=(status.st_dev, status.st_ino),
        )
        reason = self._why_inside(outer, name, inner, entries, status)
        if reason:
            yield Skipped(relative, reason, folder=True)
        else:
            yield from self._push(inner, entries)

    def _enter_root(self) -> Iterator[Skipped]:
        folder = _Folder(os.path.join(self._root, ""), "", b"", (), ())
        try:
            status = os.stat(self._root)
            entries = _listing(os.fsencode(self._root))
        except OSError as error:
            yield _unreadable(".", error, folder=True)
            return
        if self._rules.gitignore:
            folder = self._below_repository(folder)
        self._base = len(folder.key)
        yield from self._push(
            folder._replace(identity=(status.st_dev, status.st_ino)),
            entries,
        )

    def _push(self, folder: _Folder, entries: _Entries) -> Iterator[Skipped]:
        if not folder.closed:
            folder = self._with_rules(folder, entries)
        ordered = iter([entries[name] for name in sorted(entries)])
        self._stack.append(folder._replace(entries=ordered))
        self._above.add(folder.identity)
        yield from self._lost
        self._lost.clear()

    # Why something is left out.

    def _why(self, folder: _Folder, name: bytes, key: bytes, is_folder: bool) -> str:
        """The reason why a file or folder is left out, by its name and by the rules, or ""."""
        if self._exclude and self._exclude.verdict(name, key[self._base :], is_folder):
            return _EXCLUDED
        if self._include and self._is_included(name, key, is_folder):
            return ""
        if folder.closed:
            return folder.closed
        own = _judged(folder.own, name, key, is_folder)
        if own:
            return own
        if is_secret(name, is_folder):  # a cloned .camilloignore must not ask for secrets
            return SECRET
        if own is not None:
            return own
        if not self._rules.hidden and name.startswith(b"."):
            return _HIDDEN
        git = None if folder.lifted else _judged(folder.git, name, key, is_folder)
        return git or unwanted(name, is_folder)

    def _why_inside(
        self,
        outer: _Folder,
        name: bytes,
        folder: _Folder,
        entries: _Entries,
        status: os.stat_result,
    ) -> str:
        """The reason why a folder is left out, by what it is and what it holds, or ""."""
        if getattr(status, "st_reparse_tag", 0) == _JUNCTION:
            return _SYMLINK
        if status.st_ino and folder.identity in self._above:
            return "the same folder as one above it"
        if folder.closed or self._is_wanted(outer, name, folder.key[:-1]):
            return ""
        return unwanted_inside(folder.path, entries)

    def _is_included(self, name: bytes, key: bytes, is_folder: bool) -> bool:
        include = self._include
        return include is not None and bool(include.verdict(name, key[self._base :], is_folder))

    def _is_wanted(self, outer: _Folder, name: bytes, key: bytes) -> bool:
        """Whether someone asked for this very folder."""
        kept = _judged(outer.own, name, key, True) == ""
        return kept or self._is_included(name, key, True)

    def _leads_on(self, name: bytes, key: bytes, reason: str) -> bool:
        """Whether include_ignored names something below a folder that is left out."""
        final = reason == _EXCLUDED or barred(name)
        return not final and bool(self._ways.verdict(name, key[self._base :], True))

    # Which rules are in force.

    def _below_repository(self, root: _Folder) -> _Folder:
        """The root with the rules that reach it from above: its own are read on entering it."""
        real = os.path.realpath(self._root)
        top = repository_top(real)
        if top is None or top == real:
            return root._replace(git=self._user_layer(0, False))
        root = self._at_top(root, top)
        names = os.path.relpath(real, top).split(os.sep)
        layers = root.git
        for depth in range(len(names)):
            above = os.path.join(top, *names[:depth], _GITIGNORE)
            shown = "../" * (len(names) - depth) + _GITIGNORE
            base = sum(len(os.fsencode(name)) + 1 for name in names[:depth])
            layers = self._layer(above, shown, base, root.fold) + layers
        key = b"".join(os.fsencode(name) + b"/" for name in names)
        return root._replace(key=key, git=layers)

    def _with_rules(self, folder: _Folder, entries: _Entries) -> _Folder:
        """The folder with the rules that it holds, which outrank those from above."""
        if self._rules.gitignore and not folder.lifted:
            if b".git" in entries and git_folder(folder.path) is not None:
                folder = self._at_top(folder, folder.path)
            layers = self._layer_inside(folder, entries, _GITIGNORE, folder.fold)
            folder = folder._replace(git=layers + folder.git)
        layers = self._layer_inside(folder, entries, _OWN, False)
        return folder._replace(own=layers + folder.own)

    def _at_top(self, folder: _Folder, top: str) -> _Folder:
        """The folder with what holds for a whole repository and nothing from outside of it."""
        git = git_folder(top) or ""
        fold, base = ignores_case(git), len(folder.key)
        shown = folder.relative + ".git/info/exclude"
        excludes = self._layer(os.path.join(git, "info", "exclude"), shown, base, fold, follow=True)
        return folder._replace(git=excludes + self._user_layer(base, fold), fold=fold)

    def _user_layer(self, base: int, fold: bool) -> _Layers:
        path = user_excludes(self._environ)
        if path is None or not os.path.isfile(path):
            return ()
        return self._layer(path, path, base, fold, follow=True)

    def _layer_inside(self, folder: _Folder, entries: _Entries, name: str, fold: bool) -> _Layers:
        entry = entries.get(name.encode())
        if entry is None or not _is_regular(entry):
            return ()
        known = len(self._lost)
        layer = self._layer(folder.path + name, folder.relative + name, len(folder.key), fold)
        if len(self._lost) > known:
            del entries[name.encode()]  # one reason for each file: it is listed as unreadable
        return layer

    def _layer(
        self, path: str, shown: str, base: int, fold: bool, *, follow: bool = False
    ) -> _Layers:
        """The rules of one file, if it has any. As git does, a linked .gitignore is passed over."""
        try:
            rules = IgnoreRules(read_rules(path, follow=follow), ignore_case=fold)
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            if error.errno != errno.ELOOP:
                self._lost.append(_unreadable(shown, error, "unreadable ignore rules"))
            return ()
        return (_Layer(rules, base, f"ignored by {display(shown)}"),) if rules else ()


def _judged(layers: _Layers, name: bytes, key: bytes, folder: bool) -> str | None:
    """The reason to leave it out, "" when a negated pattern keeps it, None: nothing said."""
    for rules, base, reason in layers:
        ignored = rules.verdict(name, key[base:], folder)
        if ignored is not None:
            return reason if ignored else ""
    return None


def _listing(folder: bytes) -> _Entries:
    with os.scandir(folder) as entries:
        return {entry.name: entry for entry in entries}


def _is_folder(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:  # the kind is not in the listing, and the file cannot be asked
        return False


def _is_regular(entry: os.DirEntry[bytes]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _measured(path: str, relative: str, status: os.stat_result, max_bytes: int) -> Found | Skipped:
    if not stat.S_ISREG(status.st_mode):
        return Skipped(relative, "not a regular file")
    if status.st_size > max_bytes:
        return Skipped(relative, f"over the size cap ({status.st_size:,} > {max_bytes:,} bytes)")
    return Found(path, relative, status.st_size, status.st_mtime_ns)


def _unreadable(
    relative: str, error: OSError, what: str = "unreadable", *, folder: bool = False
) -> Skipped:
    if isinstance(error, FileNotFoundError):
        return Skipped(relative, "vanished while walking", folder, unreadable=True)
    why = (error.strerror or type(error).__name__).lower()
    return Skipped(relative, f"{what}: {why}", folder, unreadable=True)


def _ways(patterns: Iterable[str]) -> Iterator[str]:
    """Patterns for the folders on the way to what a pattern with a slash inside it names.

    A bare name may lie anywhere: it opens no folder that is left out, or all of them would have
    to be searched.
    """
    for pattern in patterns:
        names = pattern.strip().strip("/").split("/")
        if pattern.startswith("!"):
            continue
        for depth in range(1, len(names)):
            if names[depth - 1] == "**":
                break
            way = "/" + "/".join(names[:depth]) + "/"
            yield way
            if names[depth] == "**":
                yield way + "**/"
