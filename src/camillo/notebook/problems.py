"""What of a folder of notes could not be read, in words for people. Paths that are no text are told
as `printable` writes them; nothing is kept under any other name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from camillo.ports import KnownFile, NoteFolder, NoteStat
from camillo.records import NamedTuple
from camillo.text.printable import printable

__all__ = ["Problem", "problems_in", "storable"]

_NO_LINE = r"[\0-\x1f\x7f-\x9f\u2028\u2029]"
_UNMERGED = "saved while its note was being written: merge it, then delete it"


class Problem(NamedTuple):
    """Of a file or folder, what could not be read; `line` counts from 1, 0 = all of it."""

    path: str
    line: int
    message: str


def problems_in(folder: NoteFolder, read: Iterable[KnownFile]) -> list[Problem]:
    """Those of the files that were `read`, folders that were not, texts that wait to be merged."""
    told = [_problem(each.path, said) for each in read for said in each.problems]
    told += [Problem(_shown(path), 0, why) for path, why in folder.unread()]
    return told + [Problem(_shown(path), 0, _UNMERGED) for path in folder.conflicts()]


def storable(stats: dict[str, NoteStat]) -> dict[str, NoteStat]:
    """With paths that are no Unicode as they are told: by such a one no file can be read."""
    together = "\n".join(stats)
    if printable(together) is together:
        return stats
    return {printable(path): stat for path, stat in stats.items()}


def _problem(path: str, said: str) -> Problem:
    found = re.match(r"line (\d+): ", said)
    if found is None:
        return Problem(_shown(path), 0, said)
    return Problem(_shown(path), int(found[1]), said[found.end() :])


def _shown(path: str) -> str:
    """On one line."""
    return re.sub(_NO_LINE, lambda sign: repr(sign[0])[1:-1], printable(path))
