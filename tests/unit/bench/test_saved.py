"""A saved run comes back as it was; what is none is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camillo.bench.evaluation import Outcome
from camillo.bench.saved import Run, read_run, write_run
from camillo.errors import InvalidValue, SourceUnreadable

RUN = Run(
    {"preset": "words", "embedder": "none"},
    [Outcome("c/q", "c", "one", True, {"any@1": 1.0, "mrr": 0.333333}, ("a", "b"), 1.25)],
    [Outcome("c/q", "c", "one", True, {"any@1": 0.0}, (), 0.5)],
)


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    path = str(tmp_path / "run.json")
    write_run(RUN, path)
    assert read_run(path) == RUN
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


def test_a_run_is_named_by_preset_and_embedder() -> None:
    assert RUN.name == "words none"
    assert Run({}).name == "camillo"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("nothing", "is not JSON"),
        ("[]", "is no saved run"),
        ('{"metrics": {}}', "is no saved run: make one with `bench retrieval --out FILE`"),
        ('{"camillo": "bench retrieval", "format": 2}', "has format 2; known: 1"),
        ('{"camillo": "bench retrieval", "format": 1}', "is a damaged run"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InvalidValue, match=complaint):
        read_run(str(path))


def test_a_damaged_outcome_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    write_run(RUN, str(path))
    record = json.loads(path.read_text("utf-8"))
    del record["baseline_outcomes"][0]["scores"]
    path.write_text(json.dumps(record), "utf-8")
    with pytest.raises(InvalidValue, match="damaged run: 'scores'"):
        read_run(str(path))


def test_a_missing_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="cannot be read"):
        read_run(str(tmp_path / "gone.json"))
