"""What starting the program costs, in CPU time beside a bare interpreter's on the same machine."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

RUNS = 7
HEAVY = {"numpy", "yaml", "pathspec", "mcp", "rich", "snowballstemmer"}
# Of the standard library, with the milliseconds that each adds to the 8 of a bare interpreter.
SLOW = HEAVY | {"dataclasses", "inspect", "typing", "re", "json", "hashlib", "pathlib", "threading"}


def test_version_costs_at_most_four_bare_interpreters(root: Path) -> None:
    bare = _cpu([sys.executable, "-I", "-c", "pass"])
    assert _cpu([str(root / "camillo"), "--version"]) <= 4 * bare


def test_a_search_costs_at_most_six_bare_interpreters(root: Path, home: Path) -> None:
    camillo = str(root / "camillo")
    (home / "work" / "notes.md").write_text("The theatre had seven gates.\n", "utf-8")
    _run([camillo, "mine", ".", "--embedder", "none"])
    bare = _cpu([sys.executable, "-I", "-c", "pass"])
    assert _cpu([camillo, "search", "gates", "--embedder", "none"]) <= 6 * bare


def test_a_search_of_words_loads_no_slow_library(root: Path, home: Path) -> None:
    camillo = str(root / "camillo")
    text = "The theatre had seven gates – getUserName, naïve, 手机 👍.\n"
    (home / "work" / "notes.md").write_text(text, "utf-8")
    _run([camillo, "mine", ".", "--embedder", "none"])
    python = root / ".venv" / "bin" / "python"
    search = "main(['search', 'gates of theatres', '--embedder', 'none'])"
    program = f"from camillo.surfaces.cli import main; import sys; code = {search}"
    report = f"{program}; print(*sorted({SLOW} & sys.modules.keys())); sys.exit(code)"
    ended = subprocess.run([python, "-I", "-c", report], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == ""


def _cpu(command: list[str]) -> float:
    """Seconds of user and system time, the least of several runs."""
    return min(_cpu_once(command) for _ in range(RUNS))


def _cpu_once(command: list[str]) -> float:
    before = _children()
    _run(command)
    return _children() - before


def _run(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
