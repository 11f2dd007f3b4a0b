"""Which folders commonplace reads, and with which model, from the environment and where one is.

Its paths are taken below a folder of the test's own. What its tools for agents are told by a
client, the roots, no command line is told.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from camillo.config import commonplace_embedder
from camillo.roots import foreign_roots

FILES = ("scope.json",)
MODELS = ("", "x/y")  # of the cases in env.json


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]) -> Path:
    """The folders, links and variables of a case, and all folders that it may lead to."""
    given, found = case["input"], case["result"]
    monkeypatch.setenv("HOME", f"{tmp_path}{given['homedir']}")
    for name, path in given.get("env", {}).items():
        monkeypatch.setenv(name, f"{tmp_path}{path}")
    there = [given["homedir"], *given.get("exists", []), *given.get("real", {}).values()]
    there += [path for path in (found["userDir"], found["projectDir"]) if path]
    for path in there:
        (tmp_path / path[1:]).mkdir(parents=True, exist_ok=True)
    for path, real in given.get("real", {}).items():
        (tmp_path / path[1:]).symlink_to(f"{tmp_path}{real}")
    (tmp_path / given["cwd"][1:]).mkdir(parents=True, exist_ok=True)
    return tmp_path


def test_its_folders_are_found_where_it_finds_them(machine: Path, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["result"]
    if expected["source"] == "roots":
        pytest.skip("a client's roots: no command line is told of them")
    found = {root.scope: root.folder for root in foreign_roots(f"{machine}{given['cwd']}")}
    wanted = {"user": expected["userDir"], "project": expected["projectDir"]}
    assert found == {scope: f"{machine}{path}" for scope, path in wanted.items() if path}


@pytest.mark.parametrize("value", MODELS)
def test_its_model_is_the_one_that_it_names(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """One that names none has its own there, and leaves ours the choice."""
    import json

    cases = json.loads((golden / "env.json").read_text("utf-8"))
    [named] = [
        case["ok"] for case in cases
        if (case["env"], case["value"]) == ("COMMONPLACE_MODEL", value)
    ]  # fmt: skip
    folder = tmp_path / named.rpartition("/")[2]
    folder.mkdir()
    monkeypatch.setenv("CAMILLO_MODELS", str(tmp_path))
    monkeypatch.delenv("CAMILLO_EMBEDDER")
    monkeypatch.setenv("COMMONPLACE_MODEL", value)
    assert commonplace_embedder() == (str(folder) if value else "", "")
