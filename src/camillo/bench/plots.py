"""The bench's plots: a curve of any@k beside the baseline's, and bars of changes with intervals.

Each says on itself what its axes are, what it is compared with and how many queries it rests on.
How shapes become a file is left to drawing.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from camillo.bench.drawing import Area, Box, Drawing, Line, Words, pillow, png, svg
from camillo.bench.evaluation import Outcome
from camillo.bench.metrics import Mean, mean
from camillo.bench.saved import Run, write_file
from camillo.errors import InvalidValue

__all__ = ["ablation_chart", "comparison_chart", "draw", "must_be_drawable", "run_chart"]

_WIDTH, _HEIGHT = 760, 480
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 30, 88, 60
_DEEPEST = 20
_INK, _GRID, _ZERO = "#222222", "#dddddd", "#555555"
# Told apart by people with any colour vision, and in grey.
_OURS, _OURS_BAND, _PLAIN, _PLAIN_BAND = "#0b5fa5", "#d3e3f2", "#b35900", "#f2e3d3"
_BETTER, _WORSE, _UNSURE = "#0b5fa5", "#b35900", "#9a9a9a"


class Change(Protocol):
    """What a bar shows; None where nothing was compared."""

    @property
    def change(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


class _Bar(NamedTuple):
    label: str
    change: float
    low: float
    high: float


_MAKERS = {".svg": svg, ".png": png}


def must_be_drawable(path: str) -> None:
    """Before the work whose outcome is to be drawn: "" is no plot. Raises InvalidValue,
    MissingExtra."""
    if not path:
        return
    if _ending(path) not in _MAKERS:
        raise InvalidValue(f"a plot is .svg or .png; not {path!r}")
    if _ending(path) == ".png":
        pillow()
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InvalidValue(f"{path} cannot be written: {folder} is no folder")


def draw(drawing: Drawing, path: str) -> None:
    """Write it as the file's ending says. Raises InvalidValue, MissingExtra."""
    must_be_drawable(path)
    write_file(path, _MAKERS[_ending(path)](drawing))


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def run_chart(run: Run) -> Drawing:
    """any@k for each k up to 20, of a run and of plain BM25, with 95% bands."""
    labelled = sum(outcome.labelled for outcome in run.outcomes)
    level = run.settings.get("level", "turn")
    name = os.path.basename(os.path.dirname(run.settings.get("corpus", ""))) or "corpus"
    title = f"{name}: how often one of the first k {level}s is relevant"
    note = f"n = {labelled:,} queries with relevant ids; bands are 95% intervals (Wilson)"
    series = [
        (_PLAIN, _PLAIN_BAND, "plain BM25 (baseline)", _curve(run.baseline)),
        (_OURS, _OURS_BAND, f"camillo, {run.name}", _curve(run.outcomes)),
    ]
    shapes: list[Line | Box | Area | Words] = [*_frame(title, note), *_curve_axes(level)]
    for _, band, _, curve in series:
        shapes += _band(curve, band)
    for number, (color, _, label, curve) in enumerate(series):
        shapes += _line(curve, color)
        y = _HEIGHT - _BOTTOM - 45 + 22 * number
        shapes.append(Line(((_WIDTH - 330, y), (_WIDTH - 300, y)), color, 3))
        shapes.append(Words(_WIDTH - 292, y, label))
    return Drawing(_WIDTH, _HEIGHT, shapes, title)


def comparison_chart(rows: Sequence[Change], names: tuple[str, str]) -> Drawing:
    """A bar a measure: B less A."""
    title = f"{names[1]} (B) less {names[0]} (A)"
    counts = {getattr(row, "n", 0) for row in rows}
    n = f"{max(counts, default=0):,}"
    note = f"n = up to {n} queries, paired; whiskers are 95% intervals; grey ones hold zero"
    bars = [_bar(str(getattr(row, "metric", "")), row) for row in rows]
    return _bars(title, note, "change of the measure, B less A", [bar for bar in bars if bar])


def ablation_chart(rows: Sequence[Change], metric: str, n: int) -> Drawing:
    """A bar a stage: what leaving it out changes."""
    title = f"what leaving a stage out changes in {metric}"
    note = f"n = {n:,} queries, paired with the whole preset; whiskers are 95% intervals"
    bars = [_bar(f"without {getattr(row, 'left_out', '')}", row) for row in rows]
    return _bars(title, note, f"change of {metric}", [bar for bar in bars if bar])


# Curves


def _curve(outcomes: Sequence[Outcome]) -> list[Mean]:
    """any@k for k = 1 … 20, from the rank of each query's first relevant unit."""
    ranks = [outcome.scores["mrr"] for outcome in outcomes if "mrr" in outcome.scores]
    at_least = [1 / (k + 0.5) for k in range(1, _DEEPEST + 1)]
    return [mean([float(rank >= least) for rank in ranks]) for least in at_least]


def _x(k: float) -> float:
    return _LEFT + (k - 1) / (_DEEPEST - 1) * (_WIDTH - _LEFT - _RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _curve_axes(level: str) -> Iterator[Line | Words]:
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        yield Line(((_LEFT, y), (_WIDTH - _RIGHT, y)), _GRID)
        yield Words(_LEFT - 8, y, f"{tenth / 10:.1f}", anchor="end")
    for k in (1, 5, 10, 15, 20):
        yield Line(((_x(k), _y(0)), (_x(k), _y(0) + 5)), _INK)
        yield Words(_x(k), _y(0) + 16, str(k), anchor="middle")
    yield Line(((_LEFT, _y(0)), (_WIDTH - _RIGHT, _y(0))), _INK)
    yield Words((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 18, f"k, the first {level}s found",
                anchor="middle")  # fmt: skip
    yield Words(20, _TOP - 20, "any@k, share of the queries")


def _band(curve: Sequence[Mean], color: str) -> Iterator[Area]:
    tops = [(_x(k), _y(each.high)) for k, each in enumerate(curve, 1) if each.high is not None]
    lows = [(_x(k), _y(each.low)) for k, each in enumerate(curve, 1) if each.low is not None]
    if tops:
        yield Area((*tops, *reversed(lows)), color)


def _line(curve: Sequence[Mean], color: str) -> Iterator[Line]:
    points = [(_x(k), _y(each.value)) for k, each in enumerate(curve, 1) if each.value is not None]
    if points:
        yield Line(tuple(points), color, 2.5)


# Bars


def _bar(label: str, row: Change) -> _Bar | None:
    if row.change is None or row.low is None or row.high is None:
        return None
    return _Bar(label, row.change, row.low, row.high)


def _bars(title: str, note: str, axis: str, bars: Sequence[_Bar]) -> Drawing:
    step, left = 26, 190
    height = _TOP + step * max(1, len(bars)) + _BOTTOM
    most = max([0.01, *(abs(end) for bar in bars for end in (bar.low, bar.high))]) * 1.1
    middle, reach = (left + _WIDTH - _RIGHT) / 2, (_WIDTH - _RIGHT - left) / 2

    def x(change: float) -> float:
        return middle + change / most * reach

    bottom = height - _BOTTOM
    shapes: list[Line | Box | Area | Words] = [*_frame(title, note)]
    for part in (-1.0, -0.5, 0.0, 0.5, 1.0):
        at = x(part * most / 1.1)
        color, told = (_ZERO, "0") if part == 0 else (_GRID, f"{part * most / 1.1:+.3f}")
        shapes.append(Line(((at, _TOP - 8), (at, bottom)), color))
        shapes.append(Words(at, bottom + 14, told, anchor="middle"))
    shapes.append(Words(middle, height - 18, axis, anchor="middle"))
    for number, bar in enumerate(bars):
        y = _TOP + step * number + step / 2
        sure = bar.low > 0 or bar.high < 0
        color = _UNSURE if not sure else _BETTER if bar.change > 0 else _WORSE
        start, end = sorted((x(0), x(bar.change)))
        shapes.append(Words(left - 10, y, bar.label, anchor="end"))
        shapes.append(Box(start, y - 7, end - start, 14, color))
        shapes.append(Line(((x(bar.low), y), (x(bar.high), y)), _INK, 1.5))
        ends = (x(bar.low), x(bar.high))
        shapes += [Line(((end, y - 4), (end, y + 4)), _INK, 1.5) for end in ends]
    return Drawing(_WIDTH, height, shapes, title)


def _frame(title: str, note: str) -> Iterator[Words]:
    yield Words(20, 20, title, size=17)
    yield Words(20, 40, note, size=12, color=_ZERO)
