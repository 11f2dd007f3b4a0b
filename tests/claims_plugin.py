"""pytest plugin: which tests back which claims, and how they ended.

A claim is a promise (tests/promises.toml) or a conformance case. Tests name theirs with the
markers `promise(number)` and `case(name)`. Every run writes build/claims.md, keeping the last
result of tests that it did not run; `--record` rewrites docs/PROMISES.md after a whole run.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

import pytest

__all__ = ["Claims", "Result", "pytest_addoption", "pytest_configure"]

Outcome = Literal["passed", "failed", "skipped"]
NO_TEST = "no test yet"


class Result(NamedTuple):
    """How one test function ended, over all its parameters."""

    claims: list[str]
    passed: int
    failed: int
    skipped: int
    reason: str

    def __str__(self) -> str:
        runs = self.passed + self.failed + self.skipped
        if self.failed:
            return "failed" if runs == 1 else f"failed ({self.failed} of {runs})"
        skipped = f"skipped: {self.reason}"
        if not self.passed:
            return skipped
        return f"passed, {self.skipped} of {runs} {skipped}" if self.skipped else "passed"


class Claims:
    """Collects on the process that reports: under xdist that is the controller."""

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        self.promises = _promises(self.root)
        self.whole = _is_whole(config)
        self.record: bool = config.getoption("record")
        self.worker = hasattr(config, "workerinput")
        self._ended: dict[str, tuple[Outcome, str, list[str]]] = {}

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        for mark in item.iter_markers("promise"):
            for number in mark.args:
                if number not in self.promises:
                    raise pytest.UsageError(f"{item.nodeid}: no promise has the number {number!r}")
                item.user_properties.append(("claim", f"promise {number}"))
        for mark in item.iter_markers("case"):
            item.user_properties += [("claim", name) for name in mark.args]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        claims = [str(value) for name, value in report.user_properties if name == "claim"]
        seen = self._ended.get(report.nodeid)
        if not claims or (seen and seen[0] == "failed"):
            return
        if report.outcome != "passed" or report.when == "call":
            self._ended[report.nodeid] = (report.outcome, _reason(report), claims)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if self.worker:
            return
        whole = self.whole and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        results = ({} if whole else self._last()) | self._results()
        build = self.root / "build"
        build.mkdir(exist_ok=True)
        (build / "claims.json").write_text(json.dumps(results, indent=1), "utf-8")
        (build / "claims.md").write_text(_claims_page(results, self.promises), "utf-8")
        if self.record and whole:
            page = _promises_page(results, self.promises)
            (self.root / "docs").mkdir(exist_ok=True)
            (self.root / "docs" / "PROMISES.md").write_text(page, "utf-8")

    def _results(self) -> dict[str, Result]:
        grouped: dict[str, list[tuple[Outcome, str, list[str]]]] = defaultdict(list)
        for nodeid, ended in self._ended.items():
            grouped[nodeid.partition("[")[0]].append(ended)
        return {test: _summed(ends) for test, ends in grouped.items()}

    def _last(self) -> dict[str, Result]:
        try:
            kept = json.loads((self.root / "build" / "claims.json").read_text("utf-8"))
            return {test: Result(*values) for test, values in kept.items()}
        except (OSError, ValueError, TypeError):
            return {}  # never run, or by an older form of this plugin


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("claims")
    group.addoption("--record", action="store_true", help="rewrite docs/PROMISES.md (whole runs)")


def pytest_configure(config: pytest.Config) -> None:
    claims = Claims(config)
    if claims.record and not claims.whole:
        raise pytest.UsageError("--record needs a whole run: no path, -k, -m, --lf or -x with it")
    config.pluginmanager.register(claims, "claims")


def _promises(root: Path) -> dict[int, str]:
    table = tomllib.loads((root / "tests" / "promises.toml").read_text("utf-8"))
    return {int(number): text for number, text in table["promises"].items()}


def _is_whole(config: pytest.Config) -> bool:
    narrowed = ("keyword", "markexpr", "lf", "maxfail", "deselect", "ignore")
    whole_tree = config.args_source != pytest.Config.ArgsSource.ARGS
    return whole_tree and not any(config.getoption(name, None) for name in narrowed)


def _reason(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return f"expected failure: {report.wasxfail}"
    if isinstance(report.longrepr, (tuple, list)):  # where, line, why
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return ""


def _summed(ends: Iterable[tuple[Outcome, str, list[str]]]) -> Result:
    outcomes = [outcome for outcome, _, _ in ends]
    reasons = [reason for outcome, reason, _ in ends if outcome == "skipped"]
    claims = {claim for _, _, claims in ends for claim in claims}
    counts = (outcomes.count("passed"), outcomes.count("failed"), outcomes.count("skipped"))
    return Result(sorted(claims, key=_natural), *counts, reasons[0] if reasons else "")


def _rows(results: dict[str, Result]) -> dict[str, list[tuple[str, str]]]:
    rows: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for test, result in sorted(results.items()):
        for claim in result.claims:
            rows[claim].append((test, str(result)))
    return rows


def _claims_page(results: dict[str, Result], promises: dict[int, str]) -> str:
    rows = {f"promise {number}": [("–", NO_TEST)] for number in promises} | _rows(results)
    claims = sorted(rows, key=lambda claim: (not claim.startswith("promise "), _natural(claim)))
    body = [_line(claim, test, result) for claim in claims for test, result in rows[claim]]
    head = [_line("claim", "test", "last result"), _line("---", "---", "---")]
    return "\n".join(["# Claims and their tests", "", *head, *body, ""])


def _promises_page(results: dict[str, Result], promises: dict[int, str]) -> str:
    rows = _rows(results)
    body = [
        _line(str(number), text, test, result)
        for number, text in sorted(promises.items())
        for test, result in rows.get(f"promise {number}") or [("–", NO_TEST)]
    ]
    head = [_line("number", "promise", "test", "result"), _line("---", "---", "---", "---")]
    words = "Made by `./test --record`: each promise, the tests that back it, how they ended."
    return "\n".join(["# Promises", "", words, "", *head, *body, ""])


def _line(*cells: str) -> str:
    safe = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(safe)} |"


def _natural(text: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", text)]
