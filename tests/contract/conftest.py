"""Holds every run of a contract suite to its golden matrix: no case passes by being skipped.

`golden/capabilities.json` says for each engine and case whether it passes or is not applicable,
by declared capability. The latter are left out of a run; of the rest, a skip is a failure, unless
it is for want of a server (which `postgres_server` turns into a failure where CI is set).
"""

from __future__ import annotations

import json
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from postgres_server import ServerAbsent

pytest.register_assert_rewrite("contract.store_cases", "contract.store_contract")

GOLDEN = Path(__file__).parent / "golden" / "capabilities.json"


@cache
def golden() -> dict[str, dict[str, str]]:
    matrix: dict[str, dict[str, str]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return matrix


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    gone = {item for item in items if _promised(item) == "not applicable"}
    if gone:
        config.hook.pytest_deselected(items=list(gone))
        items[:] = [item for item in items if item not in gone]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    promised = _promised(item)
    skipped = report.skipped and not (call.excinfo and call.excinfo.errisinstance(ServerAbsent))
    if promised and (skipped or (report.passed and promised != "passed")):
        report.outcome = "failed"
        report.longrepr = f"{item.name}: {GOLDEN.name} says {promised!r}; skipped: {report.skipped}"
    return report


def _promised(item: pytest.Item) -> str | None:
    """What the matrix says of an item; None for one that is no case of a suite."""
    cell = _cell(item)
    return cell and golden().get(cell[0], {}).get(cell[1], "no cell")


def _cell(item: pytest.Item) -> tuple[str, str] | None:
    """Engine and case, for an item of a contract suite."""
    parameters: dict[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    if "engine" not in parameters or not isinstance(item, pytest.Function):
        return None
    return parameters["engine"], (item.originalname or item.name).removeprefix("test_")
