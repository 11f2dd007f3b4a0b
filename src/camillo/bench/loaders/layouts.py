"""All layouts, which of them a path has, and a layout's content written as bench records."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from camillo.bench.loaders import (
    beir,
    factconsolidation,
    locomo,
    longmemeval,
    madial,
    precisionmembench,
    realtalk,
    squad,
)
from camillo.bench.loaders.layout import Asked, Layout
from camillo.bench.records import Text
from camillo.errors import InvalidValue, SourceUnreadable, UnknownName

__all__ = ["LAYOUTS", "Written", "convert", "find_layout"]

_FILES: tuple[Layout, ...] = (locomo, longmemeval, factconsolidation, squad)
_FOLDERS: tuple[Layout, ...] = (beir, precisionmembench, madial)
LAYOUTS: dict[str, Layout] = {each.NAME: each for each in (*_FILES, *_FOLDERS, realtalk)}


class Written(NamedTuple):
    """How many there are now of each."""

    texts: int
    haystacks: int
    queries: int
    unlabelled: int


def find_layout(path: str, name: str = "auto") -> Layout:
    """The layout of a file or folder. Raises SourceUnreadable, UnknownName, InvalidValue."""
    if not os.path.exists(path):
        raise SourceUnreadable(f"{path} does not exist")
    if name != "auto":
        if name not in LAYOUTS:
            raise UnknownName.of("layout", name, ["auto", *LAYOUTS])
        return LAYOUTS[name]
    tried = (*_FOLDERS, realtalk) if os.path.isdir(path) else (*_FILES, realtalk)
    for layout in tried:
        if layout.recognises(path):
            return layout
    raise InvalidValue(f"{path} has no layout that is known: {', '.join(sorted(LAYOUTS))}")


def convert(layout: Layout, path: str, folder: str) -> Written:
    """Write `corpus.jsonl` and `queries.jsonl` into a folder, which is made. Both are new, or
    InvalidValue says which is there already."""
    names = [os.path.join(folder, name) for name in ("corpus.jsonl", "queries.jsonl")]
    for name in names:
        if os.path.exists(name):
            raise InvalidValue(f"{name} is there already: name another folder with --out")
    parts = [f"{name}.part" for name in names]
    try:
        os.makedirs(folder, exist_ok=True)
        with ExitStack() as stack:
            corpus, queries = (
                stack.enter_context(open(part, "w", encoding="utf-8", newline="\n"))
                for part in parts
            )
            written = _write(layout, path, corpus, queries)
        for part, name in zip(parts, names, strict=True):
            os.replace(part, name)
    except OSError as error:
        raise SourceUnreadable(f"{error.filename}: {error.strerror}") from error
    except (KeyError, TypeError, AttributeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise InvalidValue(f"{path} is not laid out as {layout.NAME} is ({told})") from error
    finally:
        for part in parts:
            if os.path.exists(part):
                os.remove(part)
    return written


def _write(layout: Layout, path: str, corpus: Any, queries: Any) -> Written:
    texts = asked = unlabelled = 0
    haystacks: set[str] = set()
    for item in layout.read(path):
        if isinstance(item, Text):
            texts += 1
            haystacks.add(item.conv)
            corpus.write(_line(_corpus_fields(item)))
        else:
            asked += 1
            unlabelled += not item.relevant_ids
            queries.write(_line(_query_fields(item)))
    return Written(texts, len(haystacks), asked, unlabelled)


def _corpus_fields(text: Text) -> Iterator[tuple[str, Any]]:
    for name, value in text._asdict().items():
        if value or name in ("id", "conv", "text"):
            yield ("image_caption" if name == "caption" else name), value


def _query_fields(asked: Asked) -> Iterator[tuple[str, Any]]:
    for name, value in asked._asdict().items():
        if value or name not in ("answer", "category"):
            yield name, list(value) if isinstance(value, tuple) else value


def _line(fields: Iterator[tuple[str, Any]]) -> str:
    line = json.dumps(dict(fields), ensure_ascii=False)
    return line.encode("utf-8", "replace").decode() + "\n"
