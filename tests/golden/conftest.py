"""What commonplace 0.7 made of given inputs, case by case.

A module that names files in `FILES` has tests that take one `case` of them at a time. The folder is
`CAMILLO_GOLDEN`, else `shared/golden` beside the project; a file may hold any number of cases.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "golden"
# The environment is made safe for each test; this is read before, when tests are collected.
FOLDER = Path(os.environ.get("CAMILLO_GOLDEN") or BESIDE)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    files: tuple[str, ...] = getattr(metafunc.module, "FILES", ())
    if files and "case" in metafunc.fixturenames:
        metafunc.parametrize("case", [case for name in files for case in _cases(FOLDER / name)])


def _cases(path: Path) -> list[Any]:
    if not path.is_file():
        absent = pytest.mark.skip(reason=f"no {path.name} in {path.parent.name}")
        return [pytest.param({}, id=path.stem, marks=absent)]
    cases: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return [
        pytest.param(case, id=f"{path.stem}-{case.get('id', at)}") for at, case in enumerate(cases)
    ]
