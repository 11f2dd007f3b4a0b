"""A command of ours in the background: detached, silent, and gone when it is done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

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
    subprocess.Popen(
        own_command(*words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
