"""A command of ours in the background: detached, silent, and gone when it is done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from camillo.config import child_environment

__all__ = ["own_command", "start"]


def own_command(*words: str) -> list[str]:
    """The command line as an own process of this interpreter, as `./camillo` starts it."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [
        sys.executable, "-I", "-X", "utf8", "-c",
        f"import sys; sys.path.insert(0, {folder!r}); "
        "from camillo.surfaces.cli import run; run()", *words,
    ]  # fmt: skip


def start(words: Sequence[str]) -> None:
    """Start `camillo WORDS` and do not wait for it. It inherits the environment and folder."""
    command = own_command(*words)
    if not hasattr(os, "posix_spawn"):
        nothing = subprocess.DEVNULL
        # DETACHED_PROCESS: it outlives this console
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=8)
        return
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    # The shell is gone at once, and what it started is no child of ours: nobody has to wait for it.
    shell = ["/bin/sh", "-c", '"$@" &', "sh", *command]
    environment = child_environment()
    os.waitpid(os.posix_spawn(shell[0], shell, environment, file_actions=silent, setsid=True), 0)
