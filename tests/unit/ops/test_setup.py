"""`camillo setup` and `camillo bench embedders`, as far as they go without fetching anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camillo.surfaces.cli import main


def test_a_dry_run_says_size_and_time_and_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAMILLO_MODELS", str(tmp_path / "models"))
    assert main(["setup", "e5", "--dry-run", "--json"]) == 0
    [model] = json.loads(capsys.readouterr().out)["results"]
    assert model["status"] == "planned"
    assert model["fetch_bytes"] > 90_000_000
    assert model["keep_bytes"] > 120_000_000
    assert model["seconds"] > 0
    assert not (tmp_path / "models").exists()


def test_light_is_ready_and_its_vectors_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "light", "--json"]) == 0
    [model] = json.loads(capsys.readouterr().out)["results"]
    assert model["status"] == "ready"
    assert model["id"].startswith("use-multilingual-v3/")


def test_size_and_time_are_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CAMILLO_MODELS", str(tmp_path))
    wrong = tmp_path / "wrong.bin"
    wrong.write_bytes(b"E5S1")
    assert main(["setup", "e5", "--source", str(wrong)]) == 4
    first, *_, last = capsys.readouterr().err.splitlines()
    assert "MB to fetch" in first
    assert "not hold the weights" in last


def test_an_embedder_is_measured_beside_its_bare_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"text": f"row {n} of gates"}) + "\n" for n in range(20)))
    command = ["bench", "embedders", str(corpus), "--characters", "0", "--json"]
    assert main([*command, "--embedder", "light", "--texts", "7"]) == 0
    [cost] = json.loads(capsys.readouterr().out)["results"]
    assert (cost["embedder"], cost["texts"]) == ("light", 7)
    assert cost["nearest"] > 0.9999
    assert 0 < cost["ratio"] < 3


def test_a_file_without_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.txt").write_text("")
    assert main(["bench", "embedders", str(tmp_path / "empty.txt")]) == 2
    assert "holds no text to embed" in capsys.readouterr().err
