"""How the flows talk to the product: command lines in this process or in one of their own.

Also what they look at besides replies: files as they lie on disk.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import camillo
from camillo.surfaces.cli import main

__all__ = [
    "Camillo",
    "Ran",
    "environment",
    "files",
    "plant",
    "reading",
    "start",
    "together",
    "writing",
]

# CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH are given up: capset(2).
UNPRIVILEGED = """
import ctypes, os
if os.geteuid() == 0:
    libc = ctypes.CDLL(None)
    head, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(head, sets) == 0
    sets[0] &= ~0b110
    sets[1] &= ~0b110
    assert libc.capset(head, sets) == 0
from camillo.surfaces.cli import run
run()
"""
SOURCE = str(Path(camillo.__file__).parent.parent)


class Ran(NamedTuple):
    """A command that ended. `report` is its --json."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def results(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.report["results"]
        return found

    @property
    def first(self) -> dict[str, Any]:
        return self.results[0]


class Camillo:
    """`camillo("search", "gate")` runs in this process, with --json."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: object) -> Ran:
        """The first word may be a command of two: `camillo("inspect query", "gate")`."""
        return self.plain(*str(words[0]).split(), "--json", *words[1:])

    def plain(self, *words: object) -> Ran:
        """As people see it."""
        self._capsys.readouterr()
        code = main([str(word) for word in words])
        return Ran(code, *self._capsys.readouterr())

    def mine(self, path: object, *words: object) -> dict[str, Any]:
        """A mine that ends well; its one result."""
        ran = self("mine", path, *words)
        assert ran.code == 0, ran
        return ran.first

    def texts(self, query: str, *words: object) -> list[str]:
        """The texts that a search gives back, best first."""
        return [result["text"] for result in self("search", query, *words).results]

    def sources(self, query: str, *words: object) -> list[str]:
        """The names of the files that a search leads to, best first."""
        ran = self("search", query, *words)
        return [os.path.basename(result["source"]) for result in ran.results]

    def listed(self, *words: object) -> list[dict[str, Any]]:
        return self("list", "--limit", "1000", *words).results


def environment(changes: Mapping[str, str] = {}) -> dict[str, str]:
    """This test's environment for a process, with the product on its path."""
    return {**os.environ, "PYTHONPATH": SOURCE, **changes}


def _listen() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(*words: object, code: str = "", **options: Any) -> subprocess.Popen[str]:
    """A command in a process of its own; `code` runs instead of the command line."""
    program = ["-c", code] if code else ["-m", "camillo"]
    if os.name == "posix":  # where the tests run in the background, Ctrl-C is ignored by all
        options.setdefault("preexec_fn", _listen)
    return subprocess.Popen(
        [sys.executable, *program, *map(str, words)],
        env=environment(options.pop("environ", {})),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **options,
    )


def unprivileged(*words: object) -> Ran:
    """Run a command without root's power to read and write everything, with --json."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root may do everything here")
    with start(words[0], "--json", *words[1:], code=UNPRIVILEGED) as process:
        out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def unprivileged_python(code: str, *words: object) -> str:
    """What a program prints that has not root's power; the tests are on its path."""
    if os.geteuid() == 0 and sys.platform != "linux":
        pytest.skip("root may do everything here")
    program = UNPRIVILEGED.partition("from camillo.surfaces")[0] + code
    tests = Path(__file__).parent.parent
    environ = {"PYTHONPATH": os.pathsep.join([SOURCE, str(tests)])}
    with start(*words, code=program, environ=environ) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


@contextmanager
def reading(*databases: Path) -> Iterator[None]:
    """Meanwhile another process is in the middle of reading these databases."""
    with _holding("BEGIN; SELECT count(*) FROM meta", databases):
        yield


@contextmanager
def writing(*databases: Path) -> Iterator[None]:
    """Meanwhile another process is in the middle of writing to them."""
    with _holding("BEGIN IMMEDIATE", databases):
        yield


@contextmanager
def _holding(sql: str, databases: Sequence[Path]) -> Iterator[None]:
    code = (
        "import apsw, sys\n"
        "held = [apsw.Connection(path) for path in sys.argv[2:]]\n"
        "for each in held: each.execute(sys.argv[1]).fetchall()\n"
        "print('held', flush=True)\n"
        "input()\n"
    )
    process = start(sql, *databases, code=code)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield
    finally:
        process.communicate("done\n")


def together(commands: Sequence[Sequence[object]], **options: Any) -> list[Ran]:
    """All at once, each in its own process."""
    running = [start(*words, **options) for words in commands]
    ended = []
    for process in running:
        out, err = process.communicate(timeout=120)
        ended.append(Ran(process.returncode, out, err))
    return ended


def plant(folder: Path, tree: Mapping[str, str | bytes]) -> Path:
    """Write a tree of files, byte for byte."""
    for name, content in tree.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def files(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below a folder: mode, time of change in ns, content."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, content)
    return found
