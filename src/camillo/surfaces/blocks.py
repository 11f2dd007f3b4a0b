"""Results that are texts, for people: a numbered head with the place, then the lines that matter.

Leaves measuring and cleaning to `terminal.py`, the choice of lines to `excerpt.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from camillo.model import short_id
from camillo.surfaces.excerpt import excerpt, query_words, words_pattern
from camillo.surfaces.terminal import clean, clean_line, cut, wrapped
from camillo.surfaces.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Result = Mapping[str, Any]

__all__ = [
    "blocks",
    "fenced",
    "is_text",
    "location",
    "markdown_blocks",
    "room_of",
    "standing",
    "text_of",
    "told_apart",
]

_LINES = 6
_LISTS = {"aliases": "aliases", "load_when": "load when", "tags": "tags"}
_INDENT = "   "
_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#|"})


def is_text(result: Any) -> bool:
    """Is it a result whose text is what matters?"""
    return isinstance(result, Mapping) and isinstance(text_of(result), str)


def blocks(results: Sequence[Result], view: View) -> Iterator[str]:
    """Lines for a terminal or a pipe."""
    words = query_words(str(view.arguments.get("query") or ""))
    for number, result in enumerate(told_apart(results), 1):
        if number > 1:
            yield ""
        yield _head(number, result, view)
        yield from _signals(result, view)
        yield from _title(result, view)
        yield from _also_in(result, view)
        for line in _fields(result, view):
            yield _INDENT + view.style.dim(cut(clean_line(line), view.columns - len(_INDENT)))
        yield from _body(_shown(result, view), words, view)


def markdown_blocks(results: Sequence[Result], view: View) -> Iterator[str]:
    """The same as Markdown; the text is fenced so that nothing in it can end the fence."""
    for number, result in enumerate(told_apart(results), 1):
        if number > 1:
            yield ""
        yield f"## {number}. {_code(location(result, view))}"
        yield ""
        yield ", ".join([*map(_escaped, _facts(result)), _code(str(result.get("id", "")))])
        yield ""
        if fields := [f"- {_escaped(clean_line(each))}" for each in _fields(result, view)]:
            yield from [*fields, ""]
        yield from fenced(clean(str(text_of(result))).rstrip("\n"), "text")


def told_apart(results: Sequence[Result]) -> list[Result]:
    """The same, with the root of each only where several answer."""
    several = len({each.get("root") for each in results}) > 1
    return list(results) if several else [{**each, "root": ""} for each in results]


def fenced(text: str, language: str) -> Iterator[str]:
    """A text in a fence that nothing in it can end."""
    fence = "`" * max(3, _longest_run(text) + 1)
    yield f"{fence}{language}\n{text}\n{fence}"


def location(result: Result, view: View) -> str:
    """`path:12-34`, of a note its own file; the title or the id of what comes from no file."""
    if result.get("path"):
        return view.path(os.path.join(str(result.get("folder") or ""), str(result["path"])))
    return _origin(result, view) or clean_line(str(result.get("title") or result.get("id") or ""))


def _origin(result: Result, view: View) -> str:
    """Where a text was read; "" for what comes from no file."""
    origin = result.get("origin")
    place = {**(origin if isinstance(origin, Mapping) else {}), **result}
    source = str(place.get("source") or "")
    if not source:
        return ""
    first, last = place.get("line_start") or 0, place.get("line_end") or 0
    lines = "" if not first else f":{first}" if last <= first else f":{first}-{last}"
    return view.path(source) + lines


def room_of(result: Result) -> str:
    """`wing/room`, as far as there is one."""
    place = result.get("place")
    names = {**(place if isinstance(place, Mapping) else {}), **result}
    return "/".join(str(names[key]) for key in ("wing", "room") if names.get(key))


def standing(result: Result) -> str:
    """Is it archived, replaced by another one, of a project that nobody vouched for? "" where it is
    none of them."""
    newer, trust = result.get("superseded_by"), str(result.get("trust") or "normal")
    said = [
        "archived" if result.get("archived") else "",
        f"superseded by {newer}" if newer else "",
        trust if trust != "normal" else "",
    ]
    return clean_line(", ".join(filter(None, said)))


def text_of(result: Result) -> Any:
    """Its words: `text`, or the `body` of a whole memory."""
    return result.get("text", result.get("body"))


def _head(number: int, result: Result, view: View) -> str:
    parts = [f"{number}. {view.style.path(location(result, view))}", *_facts(result)]
    shown = clean_line(short_id(str(result.get("id", ""))))
    return "  ".join([*parts, view.style.dim(f"id {shown}")] if shown else parts)


def _facts(result: Result) -> list[str]:
    rooms = room_of(result)
    score = result.get("score")
    facts = [
        str(result.get("root") or ""),
        f"({rooms})" if rooms else "",
        f"{score:.2f}" if isinstance(score, int | float) else "",
        _sort(result),
        str(result.get("happened_at") or "")[:10],
        standing(result),
        _way(result),
        "pinned" if result.get("pinned") else "",
    ]
    return [clean_line(fact) for fact in facts if fact]


def _way(result: Result) -> str:
    """The link that led here, and from where; "" where its own words did."""
    via = result.get("via")
    return f"via {via['from']} ({via['relation']})" if isinstance(via, Mapping) else ""


def _sort(result: Result) -> str:
    """Its kind; of a drawer also whether a closet led to it."""
    via, kind = str(result.get("matched_via") or ""), str(result.get("kind") or "")
    return via if via and via != "note" else kind or via


def _signals(result: Result, view: View) -> Iterator[str]:
    if not view.arguments.get("explain"):
        return
    signals = result.get("signals")
    if isinstance(signals, Mapping) and signals:
        shown = "  ".join(f"{name} {view.value('', value)}" for name, value in signals.items())
        yield _INDENT + view.style.dim(clean_line(shown))
    parts = result.get("parts")
    if isinstance(parts, Mapping) and parts:
        added = " + ".join(f"{view.value('', value)} {name}" for name, value in parts.items())
        line = f"{view.value('', result.get('score'))} = {added}, {result.get('confidence')}"
        yield _INDENT + view.style.dim(clean_line(line))
    if result.get("closet_preview"):
        line = f"closet: {clean_line(str(result['closet_preview']))}"
        yield _INDENT + view.style.dim(cut(line, view.columns - len(_INDENT)))


def _title(result: Result, view: View) -> Iterator[str]:
    title = clean_line(str(result.get("title") or ""))
    first = str(text_of(result)).partition("\n")[0]
    heads = view.full and _heading(first) == title  # it is shown with the text
    if not heads and title not in location(result, view):
        yield _INDENT + view.style.bold(title)


def _heading(line: str) -> str:
    return clean_line(line).lstrip("# ").rstrip()


def _shown(result: Result, view: View) -> str:
    """Its text; of an excerpt without the title, which stands above it."""
    text, title = str(text_of(result)), str(result.get("title") or "")
    if view.full or not title:
        return text
    first, _, rest = text.partition("\n")
    while rest and _heading(first) == title:
        text = rest
        first, _, rest = text.partition("\n")
    return text


def _also_in(result: Result, view: View) -> Iterator[str]:
    others = result.get("also_in") or ()
    if others:
        line = f"also in {', '.join(view.path(str(each)) for each in others)}"
        yield _INDENT + view.style.dim(cut(line, view.columns - len(_INDENT)))


def _fields(result: Result, view: View) -> list[str]:
    """What a note has besides its text: its hash, where it came from, what it is called and tagged,
    links, keys that mean nothing to us, problems."""
    lines = [f"hash: {view.value('hash', result['hash'])}"] if result.get("hash") else []
    if result.get("path") and result.get("source") not in ("", None, result["path"]):
        lines.append(f"from: {_origin(result, view)}")
    lines += [
        f"{key}: {view.value(key, result[key])}"
        for key in ("summary", "session", "expires")
        if result.get(key)
    ]
    lines += [
        f"{label}: {', '.join(map(str, result[key]))}"
        for key, label in _LISTS.items()
        if result.get(key)
    ]
    lines += [f"{relation}: {target}" for relation, target in result.get("edges") or ()]
    others = result.get("frontmatter")
    if isinstance(others, Mapping):
        lines += [f"{key}: {view.value('', value)}" for key, value in others.items()]
    return lines + [f"problem: {each}" for each in result.get("problems") or ()]


def _body(text: str, words: Sequence[str], view: View) -> Iterator[str]:
    lines = clean(text).expandtabs(4).split("\n")
    if view.width or not view.full:
        room = max(20, view.columns - len(_INDENT))
        lines = [part for line in lines for part in wrapped(line, room)]
    start, end = (0, len(lines)) if view.full else excerpt(lines, words, _LINES)
    pattern = words_pattern(words) if view.style.color else None
    if any(line.strip() for line in lines[:start]):
        yield _INDENT + view.style.dim("…")
    for line in lines[start:end]:
        marked = pattern.sub(lambda m: view.style.mark(m[0]), line) if pattern else line
        yield (_INDENT + marked).rstrip()
    if any(line.strip() for line in lines[end:]):
        yield _INDENT + view.style.dim("…")


def _longest_run(text: str) -> int:
    others = str.maketrans(dict.fromkeys(set(text) - {"`"}, " "))
    return max(map(len, text.translate(others).split()), default=0)


def _code(text: str) -> str:
    """A code span that holds any text on one line."""
    fence = "`" * (_longest_run(text) + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{clean_line(text)}{space}{fence}" if text else ""


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)
