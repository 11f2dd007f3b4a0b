"""Ignore rules: the patterns of one file in .gitignore syntax, compiled, with git's verdicts.

Matches as git's wildmatch does: on bytes, the last matching pattern wins, `?` is one byte.
Which files hold rules, and which of them outranks which, is the business of walk.py.
The matching time is bounded: every `*` but the last is an atomic leftmost match, so that no
pattern of a cloned repository can make the walk backtrack for minutes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["IgnoreRules", "Pattern", "parse"]

_SPECIAL = frozenset(b"*?[\\")
_HYPHEN, _BACKSLASH, _CLOSE = b"-\\]"
_ASCII = bytes(range(128))
_BATCH = 32  # patterns in one regex

# Pieces of a regex that are not the regex of one byte.
_STAR, _SLASH, _SPAN = b"*", b"/", b"**"
_NEVER = b"(?!)"

# What `[[:name:]]` stands for. ASCII only, as in git.
_CLASSES: dict[bytes, bytes] = {
    b"alnum": b"[0-9A-Za-z]",
    b"alpha": b"[A-Za-z]",
    b"blank": b"[ \t]",
    b"cntrl": b"[\0-\x1f\x7f]",
    b"digit": b"[0-9]",
    b"graph": b"[!-~]",
    b"lower": b"[a-z]",
    b"print": b"[ -~]",
    b"punct": b"[!-/:-@\\[-`{-~]",
    b"space": b"[ \t-\r]",
    b"upper": b"[A-Z]",
    b"xdigit": b"[0-9A-Fa-f]",
}


class Pattern(NamedTuple):
    """One line. `by_name`: matched against the last name of a path, else against all of it."""

    glob: bytes
    negated: bool = False
    folders_only: bool = False
    by_name: bool = False


class IgnoreRules:
    """The patterns of one file. Nothing is compiled before the first verdict."""

    __slots__ = ("_files", "_fold", "_folders", "_patterns")

    def __init__(self, text: bytes | str | Iterable[str], *, ignore_case: bool = False) -> None:
        """`text` is a whole file or the patterns one by one."""
        if not isinstance(text, bytes | str):
            text = "\n".join(text)
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogateescape")
        self._patterns = parse(text)
        self._fold = ignore_case
        self._files: _Sieve | None = None
        self._folders: _Sieve | None = None

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def verdict(self, name: bytes, path: bytes, folder: bool = False) -> bool | None:
        """True: ignored, False: kept by a negated pattern, None: these rules say nothing.

        `path` is relative to the folder that the rules belong to, with `/` between the names;
        `name` is its last name. The caller asks for the parent folders first: what lies in an
        ignored folder is ignored, whatever its own verdict.
        """
        sieve = self._folders if folder else self._files
        if sieve is None:
            sieve = self._sieve(folder)
        return sieve.verdict(name, path)

    def _sieve(self, folder: bool) -> _Sieve:
        if folder:
            sieve = self._folders = _Sieve(self._patterns, self._fold)
        else:
            files = [pattern for pattern in self._patterns if not pattern.folders_only]
            sieve = self._files = _Sieve(files, self._fold)
        return sieve


def parse(text: bytes) -> list[Pattern]:
    """The patterns of a file, in order. Comments, blank and unmatchable lines are left out."""
    lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    patterns = (_pattern(line.removesuffix(b"\r")) for line in lines)
    return [pattern for pattern in patterns if pattern is not None]


def _pattern(line: bytes) -> Pattern | None:
    if line.startswith(b"#"):
        return None
    glob = _trimmed(line.partition(b"\0")[0])
    negated = glob.startswith(b"!")
    glob = glob[1:] if negated else glob
    folders_only = glob.endswith(b"/")
    glob = glob[:-1] if folders_only else glob
    by_name = b"/" not in glob
    glob = glob.removeprefix(b"/")
    return Pattern(glob, negated, folders_only, by_name) if glob else None


def _trimmed(line: bytes) -> bytes:
    """Without the spaces at its end, except one that a backslash protects."""
    bare = line.rstrip(b" ")
    backslashes = len(bare) - len(bare.rstrip(b"\\"))
    return line[: len(bare) + 1] if backslashes % 2 else bare


class _Sieve:
    """Patterns by what they cost: plain names and endings by lookup, the rest by two regexes.

    In each regex the patterns are alternatives, the last one first, each in a group of its own:
    the group that matched is the pattern that git would go by.
    """

    __slots__ = ("_ends", "_fold", "_keep", "_name", "_names", "_path", "_paths", "_suffixes")

    def __init__(self, patterns: Iterable[Pattern], fold: bool) -> None:
        self._fold = fold
        self._keep: list[bool] = []
        self._names: dict[bytes, int] = {}
        self._paths: dict[bytes, int] = {}
        self._ends: list[tuple[bytes, int]] = []
        names: list[tuple[bytes, int]] = []
        paths: list[tuple[bytes, int]] = []
        for place, pattern in enumerate(patterns):
            self._keep.append(pattern.negated)
            glob = pattern.glob.lower() if fold else pattern.glob
            if _SPECIAL.isdisjoint(glob):
                (self._names if pattern.by_name else self._paths)[glob] = place
            elif pattern.by_name and glob[:1] == b"*" and _SPECIAL.isdisjoint(glob[1:]):
                self._ends.append((glob[1:], place))
            elif (regex := _regex(pattern, fold)) is not None:
                (names if pattern.by_name else paths).append((regex, place))
        self._ends.reverse()
        self._suffixes = tuple(end for end, _ in self._ends)
        self._name = _alternatives(names, fold)
        self._path = _alternatives(paths, fold)

    def verdict(self, name: bytes, path: bytes) -> bool | None:
        if self._fold:
            name, path = name.lower(), path.lower()
        last = self._names.get(name, -1)
        if self._paths:
            last = max(last, self._paths.get(path, -1))
        if self._suffixes and name.endswith(self._suffixes):
            last = max(last, next(place for end, place in self._ends if name.endswith(end)))
        if self._name is not None:
            last = max(last, self._name.place(name))
        if self._path is not None:
            last = max(last, self._path.place(path))
        return None if last < 0 else not self._keep[last]


class _Alternatives:
    """Many regexes as few. Trying a group costs with the number of groups: hence the batches."""

    __slots__ = ("_batches",)

    def __init__(self, regexes: list[tuple[bytes, int]], fold: bool) -> None:
        flags = re.DOTALL | (re.IGNORECASE if fold else 0)
        last_first = regexes[::-1]
        self._batches: list[tuple[re.Pattern[bytes], list[int]]] = []
        for start in range(0, len(last_first), _BATCH):
            batch = last_first[start : start + _BATCH]
            source = b"|".join(rb"(%b\Z)" % regex for regex, _ in batch)
            self._batches.append((re.compile(source, flags), [place for _, place in batch]))

    def place(self, subject: bytes) -> int:
        """The place of the last pattern that matches, or -1."""
        for batch, places in self._batches:
            match = batch.match(subject)
            if match is not None:
                return places[(match.lastindex or 1) - 1]
        return -1


def _alternatives(regexes: list[tuple[bytes, int]], fold: bool) -> _Alternatives | None:
    return _Alternatives(regexes, fold) if regexes else None


def _regex(pattern: Pattern, fold: bool) -> bytes | None:
    """None for a glob that can never match: an open bracket, a backslash at the end."""
    try:
        pieces = _pieces(pattern.glob, fold)
    except (IndexError, KeyError, ValueError):
        return None
    return _segment_regex(pieces) if pattern.by_name else _path_regex(pieces)


def _pieces(glob: bytes, fold: bool) -> list[bytes]:
    """`_STAR`, `_SLASH`, or the regex of exactly one byte that is no slash."""
    pieces: list[bytes] = []
    at = 0
    while at < len(glob):
        byte = glob[at : at + 1]
        at += 1
        if byte == b"[":
            piece, at = _bracket(glob, at, fold)
        elif byte == b"\\":
            piece, at = re.escape(bytes((glob[at],))), at + 1
        elif byte == b"?":
            piece = b"[^/]"
        else:
            piece = byte if byte in b"*/" else re.escape(byte)
        pieces.append(piece)
    return pieces


def _segment_regex(pieces: list[bytes]) -> bytes:
    """One name. Leftmost is as good as any place for all but the last `*`, hence atomic."""
    first, *runs = _split(pieces, _STAR)
    if not runs:
        return b"".join(first)
    *middle, last = (b"".join(run) for run in runs)
    spans = b"".join(rb"(?>[^/]*?%b)" % run for run in middle if run)
    return rb"%b%b[^/]*%b" % (b"".join(first), spans, last)


def _path_regex(pieces: list[bytes]) -> bytes:
    """`**` as a whole name spans any number of folders. What stands between two of them has a
    fixed number of names, so there too the leftmost place is as good as any."""
    names = [
        _SPAN if segment == [_STAR, _STAR] else _segment_regex(segment)
        for segment in _split(pieces, _SLASH)
    ]
    first, *runs = _split(names, _SPAN)
    if not runs:
        return b"/".join(first)
    *middle, last = runs
    head = b"".join(name + b"/" for name in first)
    spans = b"".join(rb"(?>(?:[^/]*/)*?%b/)" % b"/".join(run) for run in middle if run)
    tail = rb"(?:.*/)?%b" % b"/".join(last) if last else b".*"
    return head + spans + tail


def _split(pieces: list[bytes], mark: bytes) -> list[list[bytes]]:
    runs: list[list[bytes]] = [[]]
    for piece in pieces:
        if piece == mark:
            runs.append([])
        else:
            runs[-1].append(piece)
    return runs


def _bracket(glob: bytes, at: int, fold: bool) -> tuple[bytes, int]:
    """The regex of the set whose `[` lies before `at`, and the place behind its `]`.

    IndexError where it is cut short, KeyError where it names a class that is none.
    """
    negated = glob[at] in b"!^"
    at += negated
    start = at
    members: set[int] = set()
    low: int | None = None  # where a range begins, should a hyphen follow
    while glob[at] != _CLOSE or at == start:
        if glob[at] == _HYPHEN and low is not None and glob[at + 1] != _CLOSE:
            at += 1
            at += glob[at] == _BACKSLASH
            members.update(range(low, glob[at] + 1))
            low = None
        elif (end := _class_end(glob, at)) > 0:
            members.update(b"".join(re.findall(_CLASSES[glob[at + 2 : end - 1]], _ASCII)))
            at, low = end, None
        else:
            at += glob[at] == _BACKSLASH
            low = glob[at]
            members.add(low)
        at += 1
    return _set_regex(members, negated, fold), at + 1


def _class_end(glob: bytes, at: int) -> int:
    """The place of the `]` of a `[:name:]` at `at`, or 0. An opening `[:` needs some `]`."""
    if not glob.startswith(b"[:", at):
        return 0
    end = glob.index(b"]", at + 2)
    return end if end > at + 2 and glob[end - 1 : end] == b":" else 0


def _set_regex(members: set[int], negated: bool, fold: bool) -> bytes:
    if fold:
        members |= set(bytes(members).swapcase())
    if negated:
        members = set(range(256)) - members
    members.discard(_SLASH[0])
    return (
        b"[%b]" % b"".join(b"\\x%02x" % member for member in sorted(members)) if members else _NEVER
    )
