"""Results that are texts, for people: a numbered head with the place, then the lines that matter.

Leaves measuring and cleaning to `terminal.py`, the choice of lines to `excerpt.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from camillo.model import short_id
from camillo.surfaces.excerpt import excerpt, query_words, words_pattern
from camillo.surfaces.terminal import clean, clean_line, cut, wrapped
from camillo.surfaces.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Result = Mapping[str, Any]

__all__ = ["blocks", "is_text", "location", "markdown_blocks", "room_of", "text_of"]

_LINES = 6
_INDENT = "   "
_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>#|"})


def is_text(result: Any) -> bool:
    """Is it a result whose text is what matters?"""
    return isinstance(result, Mapping) and isinstance(text_of(result), str)


def blocks(results: Sequence[Result], view: View) -> Iterator[str]:
    """Lines for a terminal or a pipe."""
    words = query_words(str(view.arguments.get("query") or ""))
    for number, result in enumerate(results, 1):
        if number > 1:
            yield ""
        yield _head(number, result, view)
        yield from _signals(result, view)
        yield from _title(result, view)
        yield from _also_in(result, view)
        yield from _fields(result, view)
        yield from _body(str(text_of(result)), words, view)


def markdown_blocks(results: Sequence[Result], view: View) -> Iterator[str]:
    """The same as Markdown; the text is fenced so that nothing in it can end the fence."""
    for number, result in enumerate(results, 1):
        if number > 1:
            yield ""
        yield f"## {number}. {_code(location(result, view))}"
        yield ""
        yield ", ".join([*map(_escaped, _facts(result)), _code(str(result.get("id", "")))])
        yield ""
        text = clean(str(text_of(result))).rstrip("\n")
        fence = "`" * max(3, _longest_run(text) + 1)
        yield f"{fence}text\n{text}\n{fence}"


def location(result: Result, view: View) -> str:
    """`path:12-34`; the title or the id of what comes from no file."""
    origin = result.get("origin")
    place = {**(origin if isinstance(origin, Mapping) else {}), **result}
    source = str(place.get("source") or "")
    if not source:
        return clean_line(str(result.get("title") or result.get("id") or ""))
    first, last = place.get("line_start") or 0, place.get("line_end") or 0
    lines = "" if not first else f":{first}" if last <= first else f":{first}-{last}"
    return view.path(source) + lines


def room_of(result: Result) -> str:
    """`wing/room`, as far as there is one."""
    place = result.get("place")
    names = {**(place if isinstance(place, Mapping) else {}), **result}
    return "/".join(str(names[key]) for key in ("wing", "room") if names.get(key))


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
        f"({rooms})" if rooms else "",
        f"{score:.2f}" if isinstance(score, int | float) else "",
        str(result.get("matched_via") or result.get("kind") or ""),
        str(result.get("happened_at") or "")[:10],
        "archived" if result.get("archived") else "",
        "pinned" if result.get("pinned") else "",
        str(result.get("trust") or "") if result.get("trust") != "normal" else "",
    ]
    return [clean_line(fact) for fact in facts if fact]


def _signals(result: Result, view: View) -> Iterator[str]:
    if not view.arguments.get("explain"):
        return
    signals = result.get("signals")
    if isinstance(signals, Mapping) and signals:
        shown = "  ".join(f"{name} {view.value('', value)}" for name, value in signals.items())
        yield _INDENT + view.style.dim(clean_line(shown))
    if result.get("closet_preview"):
        line = f"closet: {clean_line(str(result['closet_preview']))}"
        yield _INDENT + view.style.dim(cut(line, view.columns - len(_INDENT)))


def _title(result: Result, view: View) -> Iterator[str]:
    title = clean_line(str(result.get("title") or ""))
    if title and title not in location(result, view):
        yield _INDENT + view.style.bold(title)


def _also_in(result: Result, view: View) -> Iterator[str]:
    others = result.get("also_in") or ()
    if others:
        line = f"also in {', '.join(view.path(str(each)) for each in others)}"
        yield _INDENT + view.style.dim(cut(line, view.columns - len(_INDENT)))


def _fields(result: Result, view: View) -> Iterator[str]:
    """What a note has besides its text: tags, links, keys that mean nothing to us, problems."""
    lines = [f"tags: {', '.join(map(str, tags))}"] if (tags := result.get("tags")) else []
    lines += [f"{relation}: {target}" for relation, target in result.get("edges") or ()]
    others = result.get("frontmatter")
    if isinstance(others, Mapping):
        lines += [f"{key}: {view.value('', value)}" for key, value in others.items()]
    lines += [f"problem: {each}" for each in result.get("problems") or ()]
    for line in lines:
        yield _INDENT + view.style.dim(cut(clean_line(line), view.columns - len(_INDENT)))


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
