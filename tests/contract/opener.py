"""How a suite gets at the store it tests: opened here, opened again, or by other processes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
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
    """One store under test. `path` is what its class is constructed with: a file, or for a remote
    engine the address of its server; `another_path` leads to a second store that has nothing to do
    with the first."""

    target: str  # "module:Class"
    path: str
    another_path: str | Callable[[], str]  # made when it is asked for

    @property
    def remote(self) -> bool:
        """Does it take the address of a server, and a space there?"""
        return bool(getattr(self._class, "remote", False))

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """What it declares: a remote engine as it is opened here, since that depends on its
        server. `remote` is among them for the sake of `needs`."""
        declared: frozenset[str] = self._class.capabilities
        if self.remote:
            store = self.open()
            declared = store.capabilities | {"remote"}
            store.close()
        return declared

    def open(self, clock: Callable[[], float] = time.time, **options: Any) -> Store:
        """`options` are for the engine, as `space` is for a remote one."""
        store: Store = self._class(self.path, clock=clock, **options)
        return store

    def another(self) -> Store:
        path = self.another_path if isinstance(self.another_path, str) else self.another_path()
        store: Store = self._class(path, clock=time.time)
        return store

    def start(self, job: str, *arguments: object, **options: Any) -> subprocess.Popen[str]:
        """A process that does a job of `contract.worker` on this store. It waits for a line."""
        command = [sys.executable, "-m", "contract.worker", job, self.target, self.path]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return subprocess.Popen(
            [*command, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, **options,
        )  # fmt: skip

    @property
    def _class(self) -> Any:
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)
