"""Who may import whom, and what a cold start loads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

BY_NAME_ONLY = ("surfaces", "ops", "ingest", "lifecycle", "inject", "retrieval")
IMPLEMENTATIONS = ("engines", "indexes", "embed")
HEAVY = ("numpy", "yaml", "pathspec", "mcp", "rich")


def test_every_import_contract_is_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    assert lint_imports(no_cache=True) == EXIT_STATUS_SUCCESS


def test_the_contract_by_name_covers_every_plane_that_exists(root: Path) -> None:
    by_name = _contract(root, "by-name")
    assert by_name["source_modules"] == _existing(root, BY_NAME_ONLY)
    assert by_name["forbidden_modules"] == _existing(root, IMPLEMENTATIONS)


def test_the_page_draws_the_planes_as_the_contract_orders_them(root: Path) -> None:
    drawn = _section(root, "Planes").partition("```text\n")[2].partition("```")[0]
    assert [line.split() for line in drawn.splitlines()] == _planes(root)


def test_the_tour_calls_at_every_plane(root: Path) -> None:
    named = re.findall(r"`([a-z0-9_]+)(?:\.py|/[a-z0-9_./]*)`", _section(root, "Reading order"))
    assert {plane for layer in _planes(root) for plane in layer} - {*named} == set()


@pytest.mark.parametrize("module", ["camillo", "camillo.surfaces.cli"])
def test_a_cold_import_loads_nothing_heavy(module: str) -> None:
    assert _loaded(f"import {module}") == []


def test_a_words_only_search_loads_nothing_heavy(home: Path) -> None:
    (home / "work" / "notes.md").write_text("The theatre had seven gates.\n", "utf-8")
    program = "from camillo.surfaces.cli import main; assert main({}) == 0"
    _loaded(program.format(["mine", str(home / "work"), "--embedder", "none"]))
    assert _loaded(program.format(["search", "gates", "--embedder", "none"])) == []


def _loaded(program: str) -> list[str]:
    """The heavy libraries that a fresh interpreter holds after `program`."""
    report = f"import sys, json; print('\\n' + json.dumps(sorted(set({HEAVY}) & set(sys.modules))))"
    command = [sys.executable, "-I", "-c", f"{program}\n{report}"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    loaded: list[str] = json.loads(ended.stdout.splitlines()[-1])
    return loaded


def _existing(root: Path, planes: tuple[str, ...]) -> list[str]:
    source = root / "src" / "camillo"
    return [f"camillo.{plane}" for plane in planes if (source / plane).is_dir()]


def _contract(root: Path, name: str) -> dict[str, Any]:
    settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return next(contract for contract in contracts if contract["id"] == name)


def _planes(root: Path) -> list[list[str]]:
    """The planes that exist, the highest first; those of one line know nothing of each other."""
    source = root / "src" / "camillo"
    lines = [re.findall(r"\w+", layer) for layer in _contract(root, "planes")["layers"]]
    there = [
        [name for name in line if (source / name).is_dir() or (source / f"{name}.py").is_file()]
        for line in lines
    ]
    return [line for line in there if line]


def _section(root: Path, title: str) -> str:
    page = (root / "docs" / "ARCHITECTURE.md").read_text("utf-8")
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
