"""What a layout is: a name, how it is recognised, and how it is read.

Recognition is by structure, never by a file's name. Reading gives texts and questions as they come,
one in memory at a time where the layout allows it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from camillo.bench.records import Text
from camillo.errors import InvalidValue, SourceUnreadable

__all__ = ["Asked", "Layout", "file_like", "first_value", "json_files", "values", "word", "words"]

_CHUNK = 1 << 20


class Asked(NamedTuple):
    """A question as a layout labels it."""

    id: str
    text: str
    conv: str
    relevant_ids: tuple[str, ...]
    answer: tuple[str, ...] = ()
    category: str = ""


class Layout(Protocol):
    """A module with these."""

    NAME: str

    def recognises(self, path: str) -> bool: ...

    def read(self, path: str) -> Iterator[Text | Asked]: ...


def values(path: str) -> Iterator[Any]:
    """The JSON values of a file, one after the other: of a list its items, of JSON lines each
    line, else the one value. Raises SourceUnreadable, and InvalidValue where it is no JSON."""
    decoder = json.JSONDecoder()
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(_CHUNK)
            start = _blank(text, 0)
            listed = text[start : start + 1] == "["
            start += listed
            while True:
                start = _blank(text, start, "," if listed else "")
                done = start >= len(text) or (listed and text[start] == "]")
                if not done:
                    try:
                        value, start = decoder.raw_decode(text, start)
                        yield value
                        continue
                    except json.JSONDecodeError as error:
                        failure = error
                elif start < len(text):
                    return
                # As much again as is waiting, so that a large item is not parsed over and over.
                more = file.read(max(_CHUNK, len(text) - start))
                if not more and done:
                    return
                if not more:
                    raise InvalidValue(f"{path} is not JSON: {failure}") from failure
                text, start = text[start:] + more, 0
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{path} is not UTF-8: {error}") from error


def first_value(path: str) -> Any:
    """The first of `values`, or None where there is none."""
    try:
        return next(values(path), None)
    except InvalidValue:
        return None


def file_like(folder: str, *keys: str) -> str | None:
    """The first file of a folder whose first value is an object with these keys; the folder may
    also be such a file itself."""
    for path in json_files(folder):
        found = first_value(path)
        if isinstance(found, Mapping) and all(key in found for key in keys):
            return path
    return None


def word(value: Any) -> str:
    return "" if value is None else str(value)


def words(value: Any) -> tuple[str, ...]:
    """One answer or several, as texts."""
    listed = value if isinstance(value, list) else [value]
    return tuple(word(each) for each in listed if word(each).strip())


def json_files(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    names = sorted(name for name in os.listdir(path) if name.endswith((".json", ".jsonl")))
    return [os.path.join(path, name) for name in names]


def _blank(text: str, start: int, more: str = "") -> int:
    while start < len(text) and (text[start].isspace() or text[start] in more):
        start += 1
    return start
