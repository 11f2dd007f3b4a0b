"""How a suite gets at the store it tests: opened here, opened again, or by other processes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from camillo.ports import Store

__all__ = ["Clock", "Opener"]


class Clock:
    """Seconds that pass only when somebody looks: one millisecond each time."""

    def __init__(self) -> None:
        self._milliseconds = 1_700_000_000_000

    def __call__(self) -> float:
        self._milliseconds += 1
        return self._milliseconds / 1000


@dataclass(frozen=True)
class Opener:
    """One store under test. `path` is what its class is constructed with: a file, a DSN …;
    `another_path` leads to a second one that has nothing to do with the first."""

    target: str  # "module:Class"
    path: str
    another_path: str

    @property
    def capabilities(self) -> frozenset[str]:
        declared: frozenset[str] = self._class.capabilities
        return declared

    def open(self, clock: Callable[[], float] = time.time) -> Store:
        store: Store = self._class(self.path, clock=clock)
        return store

    def another(self) -> Store:
        store: Store = self._class(self.another_path, clock=time.time)
        return store

    def start(self, job: str, *arguments: object) -> subprocess.Popen[str]:
        """A process that does a job of `contract.worker` on this store."""
        command = [sys.executable, "-m", "contract.worker", job, self.target, self.path]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(
            [*command, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    @property
    def _class(self) -> Any:
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)
