"""The file in which oc counts how often a note was used: `.state.json`, beside its folders.

Format owned by oc: an object, by path `{"hitCount": 2, "lastHitAt": 1700000000000}`, in JSON with
two blanks a level. It is small and derived, and oc replaces it whole without a lock; so each count
is made anew from what the file holds then. One that is damaged counts as empty: it is kept under
another name, `.state.json.broken-20260102T030405Z`, before the first count after it.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence

from camillo.engines.markdown._exchange import rename_new
from camillo.engines.markdown._files import NoteFile
from camillo.errors import NoteChanged, StoreBusy
from camillo.ports import Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["UsageFile", "counted", "usage_in"]

_HITS, _LAST = "hitCount", "lastHitAt"
_LARGEST = 2**53  # a number beyond is none that Node counts with
_TRIES = 20  # while oc replaces the file again and again
_HALVES = "[\ud800-\udfff]"


class UsageFile(NoteFile):
    """Opened as the file of a note is: no link followed, nothing outside the folder."""

    def usage(self) -> dict[str, Usage]:
        return usage_in(self._content() or b"")

    def count(self, paths: Sequence[str], at: int) -> None:
        """Raises StoreBusy when somebody else replaces it all the time."""
        with self._alone():
            for _ in range(_TRIES):
                if self._count(paths, at):
                    break
            else:
                raise StoreBusy(f"{self.path} is being written by another program; try again")
        self._sync()

    def _count(self, paths: Sequence[str], at: int) -> bool:
        """False when it holds something else by now, so that a count would be lost."""
        former = self._content()
        try:
            content = counted(former or b"", paths, at)
        except ValueError:
            self._put_aside()
            return False
        try:
            status = None if former is None else self._status()
        except NoteChanged:
            return False
        with self._written(content, status) as (temporary, _):
            if self._content() == former:
                os.replace(temporary, self.name, src_dir_fd=self.folder, dst_dir_fd=self.folder)
                return True
            os.unlink(temporary, dir_fd=self.folder)
        return False

    def _put_aside(self) -> None:
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._clock()))
        number = 1
        while True:
            ending = stamp if number == 1 else f"{stamp}-{number}"
            try:
                return rename_new(self.name, f"{self.name}.broken-{ending}", self.folder)
            except FileExistsError:
                number += 1


def usage_in(content: bytes) -> dict[str, Usage]:
    """By path, what makes sense of it; {} for a damaged one."""
    try:
        entries = _entries(content)
    except ValueError:
        return {}
    used = {path: _usage(entry) for path, entry in entries.items()}
    return {path: usage for path, usage in used.items() if usage is not None}


def counted(content: bytes, paths: Sequence[str], at: int) -> bytes:
    """The file with these notes used once more. Raises ValueError for a damaged one."""
    entries = _entries(content)
    for path in dict.fromkeys(paths):
        entry = entries.get(path)
        hits = (_usage(entry) or Usage(0, 0)).hits + 1
        entries[path] = {**(entry if isinstance(entry, dict) else {}), _HITS: hits, _LAST: at}
    text = json.dumps(entries, ensure_ascii=False, indent=2) + "\n"
    return re.sub(_HALVES, lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _entries(content: bytes) -> dict[str, Any]:
    """Raises ValueError unless it is an object, or says nothing."""
    text = content.decode("utf-8-sig")
    if not text.strip():
        return {}
    try:
        entries = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise ValueError("too deep") from None
    if entries is not None and not isinstance(entries, dict):
        raise ValueError("no object")
    return entries or {}


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(f"{text} is no number of JSON")
    return number


def _usage(entry: Any) -> Usage | None:
    if not isinstance(entry, dict):
        return None
    hits: Any = entry.get(_HITS)
    last: Any = entry.get(_LAST, 0)
    for number in (hits, last):
        if type(number) not in (int, float) or not 0 <= number < _LARGEST:
            return None
    return Usage(int(hits), int(last))
