"""Records and counts for people: aligned tables and `key  value` lines.

Works on the plain form of any report, so an operation needs no renderer of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from camillo.surfaces.terminal import clean_line, cut, pad, width_of
from camillo.surfaces.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = Mapping[str, Any]

__all__ = ["markdown_table", "pairs", "sections", "table"]

_MOST = 20  # rows of a list that is not the result itself
_NARROWEST = 8
_GAP = "  "


def sections(report: Record, view: View) -> Iterator[str]:
    """All keys of a mapping: scalars as pairs first, then each list or mapping under a heading."""
    scalars = {key: value for key, value in report.items() if not isinstance(value, list | Mapping)}
    yield from pairs(scalars, view)
    for key, value in report.items():
        if isinstance(value, list | Mapping) and value:
            yield from ["", view.style.bold(f"{_label(key)}:")]
            yield from (f"{_GAP}{line}".rstrip() for line in _nested(key, value, view))


def pairs(record: Record, view: View) -> Iterator[str]:
    """`key  value` lines, values aligned; what is empty or not so is left out."""
    said = {key: value for key, value in record.items() if value is not False}
    cells = [(_label(key), view.value(key, value)) for key, value in said.items()]
    cells = [(label, value) for label, value in cells if value]
    width = max((width_of(label) for label, _ in cells), default=0)
    for label, value in cells:
        yield f"{pad(label, width)}{_GAP}{value}"


def table(records: Sequence[Record], view: View) -> Iterator[str]:
    """A head and a line per record; columns that are empty everywhere are left out."""
    keys, rows = _cells(records, view)
    heads = [_label(key) for key in keys]
    widths = [max(map(width_of, column)) for column in zip(heads, *rows, strict=True)]
    _shrink(widths, view.width)
    numbers = [all(_is_number(record.get(key)) for record in records) for key in keys]
    yield view.style.dim(_row(heads, widths, numbers))
    for row in rows:
        yield _row(row, widths, numbers)


def markdown_table(records: Sequence[Record], view: View) -> Iterator[str]:
    keys, rows = _cells(records, view)
    yield _markdown_row(map(_label, keys))
    yield "|" + "---|" * len(keys)
    for row in rows:
        yield _markdown_row(row)


def _nested(key: str, value: Sequence[Any] | Record, view: View) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from pairs(value, view)
    elif all(isinstance(each, Mapping) for each in value):
        yield from table(value if view.full else value[:_MOST], view)
    else:
        yield from (view.value(key, each) for each in (value if view.full else value[:_MOST]))
    if isinstance(value, list) and len(value) > _MOST and not view.full:
        yield view.style.dim(f"… and {len(value) - _MOST:,} more (--full shows them)")


def _cells(records: Sequence[Record], view: View) -> tuple[list[str], list[list[str]]]:
    keys = list(dict.fromkeys(key for record in records for key in record))
    rows = [[view.value(key, record.get(key)) for key in keys] for record in records]
    used = [index for index in range(len(keys)) if any(row[index] for row in rows)]
    return [keys[index] for index in used], [[row[index] for index in used] for row in rows]


def _shrink(widths: list[int], limit: int | None) -> None:
    """Take columns off the widest until the table fits, or nothing more can be taken."""
    while limit and sum(widths) + len(_GAP) * (len(widths) - 1) > limit:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            return
        widths[widest] -= 1


def _row(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[bool]) -> str:
    shown = (
        pad(cut(cell, width), width, right=number)
        for cell, width, number in zip(cells, widths, numbers, strict=True)
    )
    return _GAP.join(shown).rstrip()


def _markdown_row(cells: Iterable[str]) -> str:
    return "|" + "".join(f" {_markdown_cell(cell)} |" for cell in cells)


def _markdown_cell(text: str) -> str:
    for mark in "\\|`<*_[":
        text = text.replace(mark, f"\\{mark}")
    return text


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _label(key: str) -> str:
    return clean_line(key.replace("_", " "))
