"""Plots say what they show: axes, baseline, n. SVG is always there, PNG where Pillow is."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from camillo.bench.compare import difference
from camillo.bench.evaluation import Outcome
from camillo.bench.plots import ablation_chart, comparison_chart, draw, run_chart
from camillo.bench.saved import Run
from camillo.errors import InvalidValue, MissingExtra
from camillo.ops.bench_ablate import AblationRow

HAS_PILLOW = importlib.util.find_spec("PIL") is not None


def outcomes(*ranks: float) -> list[Outcome]:
    return [
        Outcome(str(n), "c", "", True, {"mrr": 1 / rank if rank else 0.0}, (), 1.0)
        for n, rank in enumerate(ranks)
    ]


def run() -> Run:
    settings = {"corpus": "/sets/<toys>/corpus.jsonl", "level": "turn", "preset": "words"}
    return Run(settings, outcomes(1, 3, 20, 0), outcomes(2, 5, 0, 0))


def words_of(path: Path) -> str:
    root = ElementTree.fromstring(path.read_text("utf-8"))
    return " | ".join(text for text in root.itertext() if text.strip())


def test_a_curve_names_its_axes_its_baseline_and_n(tmp_path: Path) -> None:
    path = tmp_path / "run.svg"
    draw(run_chart(run()), str(path))
    said = words_of(path)
    for expected in ("any@k, share of the queries", "k, the first turns found", "plain BM25",
                     "n = 4 queries", "95%", "<toys>", "camillo, words"):  # fmt: skip
        assert expected in said


def test_a_curve_rises_at_the_ranks_of_what_was_found() -> None:
    lines = [shape for shape in run_chart(run()).shapes if getattr(shape, "width", 0) == 2.5]
    _, ours = lines
    heights = [y for _, y in ours.points]
    steps = [k for k in range(1, 20) if heights[k] < heights[k - 1] - 0.01]
    assert steps == [2, 19]  # from k = 2 to 3, and from 19 to 20


def test_bars_show_changes_and_say_what_is_compared(tmp_path: Path) -> None:
    rows = [
        difference("any@5", [0.0] * 9 + [1.0], [1.0] * 10),
        difference("mrr", [0.5, 0.2], [0.2, 0.5]),
    ]
    path = tmp_path / "compare.svg"
    draw(comparison_chart(rows, ("BM25", "words none")), str(path))
    said = words_of(path)
    for expected in ("words none (B) less BM25 (A)", "n = up to 10", "any@5", "mrr", "B less A"):
        assert expected in said


def test_an_ablation_has_a_bar_for_each_stage_but_not_for_the_whole(tmp_path: Path) -> None:
    rows = [
        AblationRow("(nothing)", 0.5, None, None, None, None, 0, 0, 1.0),
        AblationRow("keyword", 0.1, -0.4, -0.5, -0.3, 0.01, 0, 4, 1.0),
    ]
    path = tmp_path / "ablate.svg"
    draw(ablation_chart(rows, "any@10", 12), str(path))
    said = words_of(path)
    assert "without keyword" in said
    assert "(nothing)" not in said
    assert "n = 12" in said


def test_nothing_to_show_is_drawn_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "empty.svg"
    draw(run_chart(Run({})), str(path))
    assert "n = 0" in words_of(path)
    draw(comparison_chart([], ("A", "B")), str(path))
    assert "(B) less" in words_of(path)


def test_a_plot_is_svg_or_png(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"a plot is \.svg or \.png; not '.*\.pdf'"):
        draw(run_chart(run()), str(tmp_path / "run.pdf"))


def test_a_plot_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="cannot be written"):
        draw(run_chart(run()), str(tmp_path / "gone" / "run.svg"))


@pytest.mark.skipif(HAS_PILLOW, reason="Pillow is here")
def test_a_png_without_pillow_names_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(MissingExtra, match=r"name a \.svg file.*camillo\[plots\]"):
        draw(run_chart(run()), str(tmp_path / "run.png"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not HAS_PILLOW, reason="needs Pillow")
def test_a_png_is_an_image(tmp_path: Path) -> None:
    path = tmp_path / "run.png"
    draw(run_chart(run()), str(path))
    assert path.read_bytes().startswith(b"\x89PNG\r\n")
