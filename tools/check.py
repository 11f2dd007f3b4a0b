"""Every check of the project, one after the other, each with what it cost; pytest comes last.

Run by ./test inside .venv-test, from the checkout's root; arguments go to pytest. A check that
fails prints what it said and hides none of the later ones; the exit code is 1 if any failed.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["main"]

_RUN_TIME = ".venv/Scripts/python.exe" if sys.platform == "win32" else ".venv/bin/python"
_GENERATOR = Path("src/camillo/ops/_generate.py")

# import-linter has no module that -m could run, and scripts of the environment do not move with it.
_LINT = "from importlinter.cli import lint_imports_command as run; run()"
_LINT_CACHE = ("--cache-dir", "build/import-linter")


class Check(NamedTuple):
    name: str
    command: list[str]


class Outcome(NamedTuple):
    ok: bool
    said: str
    cpu: float  # seconds, of the command and all that it started
    wall: float


def main(arguments: list[str]) -> int:
    failed = [check.name for check in _checks() if not _report(check, _run(check, capture=True))]
    tests = Check("pytest", _module("pytest", "-n", "2", *arguments))
    if not _run(tests, capture=False).ok:
        failed.append(tests.name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


def _checks() -> list[Check]:
    checks = [
        # Without the development packages, which could hide a missing run-time one.
        Check("every module imports", [_RUN_TIME, "-I", "tools/imports.py"]),
        Check("camillo --version", ["sh", "./camillo", "--version"]),
        Check("ruff check", _module("ruff", "check", "--quiet")),
        Check("ruff format", _module("ruff", "format", "--check", "--quiet", "--diff")),
        Check("mypy", _module("mypy", "--no-error-summary")),
        Check("import contracts", [sys.executable, "-c", _LINT, "--no-logo", *_LINT_CACHE]),
    ]
    if _GENERATOR.is_file():
        checks.append(Check("generated files", _module("camillo.ops._generate", "--check")))
    return checks


def _module(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", name, *arguments]


def _run(check: Check, *, capture: bool) -> Outcome:
    said = subprocess.STDOUT if capture else None
    before, started = os.times(), time.monotonic()
    sys.stdout.flush()
    ended = subprocess.run(
        check.command,
        stdout=subprocess.PIPE if capture else None,
        stderr=said,
        text=True,
        check=False,
    )
    after, wall = os.times(), time.monotonic() - started
    cpu = sum(after[2:4]) - sum(before[2:4])
    return Outcome(ended.returncode == 0, ended.stdout or "", cpu, wall)


def _report(check: Check, outcome: Outcome) -> bool:
    word = "ok    " if outcome.ok else "FAILED"
    print(f"{word} {check.name:22} cpu {outcome.cpu:5.1f} s  wall {outcome.wall:5.1f} s")
    if not outcome.ok:
        print(outcome.said.rstrip())
    return outcome.ok


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
