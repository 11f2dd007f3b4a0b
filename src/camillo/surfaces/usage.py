"""Help texts of the command line, from the table alone.

Own layout, so that it is the same in every Python version and needs no library: `overview` lists
the commands, `explanation` explains one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

TYPE_CHECKING = False  # not from typing: `camillo --help` does without it
if TYPE_CHECKING:
    from camillo.ops.signature import Parameter, Signature, Table

__all__ = ["explanation", "overview"]

_WIDTH = 88
_EXIT_CODES = "Exit codes: 0 found or done, 1 nothing found, 2 usage, 3 done in part, 4 failed."


# As the README has them; one that is missing here comes after them, and the benches last.
_ORDER = (
    "try", "mine", "sync", "remember", "revise", "link", "unlink", "supersede", "search", "inspect",
    "expect", "show", "list", "stats", "graph", "path", "archive", "forget", "compile", "import",
    "export", "migrate", "watch", "open", "close", "init", "roots", "trust", "embed", "setup",
    "copy", "completion",
)  # fmt: skip
_LAST = "bench"


def overview(table: Table) -> str:
    """What `camillo --help` prints."""
    column = max((len(name) for name in table), default=0) + 4
    return "\n".join(
        [
            "usage: camillo COMMAND [ARGUMENTS] [OPTIONS]",
            "",
            "Long-term memory for AI agents and the people who work with them.",
            *_group("Read", table, column, writes=False),
            *_group("Write", table, column, writes=True),
            "",
            "camillo COMMAND --help explains a command; camillo --version tells the version.",
            _EXIT_CODES,
            "",
        ]
    )


def explanation(signature: Signature, output: Iterable[Parameter]) -> str:
    """What `camillo COMMAND --help` prints."""
    from camillo.surfaces.arguments import placeholder

    positional = list(signature.positional)
    options = [each for each in signature.parameters if each.flags]
    shown = [placeholder(each) for each in positional]
    parts = [
        " ".join(["usage: camillo", signature.name, *shown, "[OPTIONS]"]),
        "",
        signature.summary,
        *_entries("Arguments", [(placeholder(each), _text(each)) for each in positional]),
        *_entries("Options", [(_names(each), _text(each)) for each in options]),
        *_entries("Output and settings", [(_names(each), _text(each)) for each in output]),
    ]
    if signature.help:
        parts += ["", signature.help]
    return "\n".join([*parts, "", _EXIT_CODES, ""])


def _group(title: str, table: Table, column: int, *, writes: bool) -> Iterator[str]:
    entries = [(name, row[2]) for name, row in table.items() if row[3] is writes]
    entries.sort(key=lambda entry: _place(entry[0]))  # names that share a place as in the table
    if entries:
        yield from ["", f"{title}:"]
    for name, summary in entries:
        yield from _entry(name, summary, column)


def _place(name: str) -> int:
    first = name.partition(" ")[0]
    if first in _ORDER:
        return _ORDER.index(first)
    return len(_ORDER) + (first == _LAST)


def _entries(title: str, entries: list[tuple[str, str]]) -> Iterator[str]:
    if not entries:
        return
    yield from ["", f"{title}:"]
    column = min(26, max(len(names) for names, _ in entries) + 4)
    for names, text in entries:
        yield from _entry(names, text, column)


def _entry(names: str, text: str, column: int) -> Iterator[str]:
    lines = _wrapped(text, _WIDTH - column)
    head = f"  {names}"
    if len(head) > column - 2:
        yield head
        head = ""
    for line in lines:
        yield f"{head:{column}}{line}"
        head = ""


def _names(parameter: Parameter) -> str:
    from camillo.surfaces.arguments import placeholder

    names = ", ".join(parameter.flags)
    return names if parameter.kind == "bool" else f"{names} {placeholder(parameter)}"


def _text(parameter: Parameter) -> str:
    notes = []
    if parameter.choices or parameter.min is not None or parameter.max is not None:
        notes.append(parameter.wanted)
    if parameter.fallback:
        notes.append(f"default {parameter.fallback}")
    return f"{parameter.help} ({'; '.join(notes)})" if notes else parameter.help


def _wrapped(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line
