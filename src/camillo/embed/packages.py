"""Getting packages: by uv or pip, whichever is there, from wherever these are set up to look.

It installs; what is wanted, and what is done with it, is left to the setup of each model.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from camillo.config import child_environment
from camillo.errors import MissingExtra

__all__ = ["add_extra", "fetch", "lacking"]

_PIP = ("install", "--quiet", "--no-input", "--disable-pip-version-check")
_ONLY_IT = ("--no-deps", "--only-binary", ":all:")
_CHECKOUT = Path(__file__).resolve().parents[3]


def lacking(modules: Sequence[str]) -> list[str]:
    """Those that cannot be imported here."""
    return [name for name in modules if find_spec(name) is None]


def add_extra(extra: str, requirements: Sequence[str]) -> None:
    """Install an extra of camillo into the environment that runs this."""
    start = _CHECKOUT / "camillo"
    if start.is_file() and Path(sys.prefix).resolve() == _CHECKOUT / ".venv":
        # The start script keeps the environment as its locks say, extras included.
        environment = child_environment(CAMILLO_EXTRAS=extra)
        _run([["sh", str(start), "--version"]], f"the extra {extra!r}", environment)
    else:
        ways = [[*tool, *requirements] for tool in _tools(("--python", sys.executable), ())]
        _run(ways, " ".join(requirements))


def fetch(requirement: str, folder: str, *, platform: str) -> None:
    """Unpack one package's wheel for `platform` into a folder. Nothing of it is run."""
    uv = ("--target", folder, "--python-platform", f"x86_64-{platform}", *_ONLY_IT)
    pip = ("--target", folder, "--platform", f"{platform}_x86_64", "--no-compile", *_ONLY_IT)
    _run([[*tool, requirement] for tool in _tools(uv, pip)], requirement)


def _tools(uv_options: Sequence[str], pip_options: Sequence[str]) -> list[list[str]]:
    """Commands that take requirements, best first."""
    tools = []
    if uv := shutil.which("uv"):
        tools.append([uv, "pip", "install", "--quiet", *uv_options])
    pip = _pip()
    if pip:
        tools.insert(0 if _pip_is_told_where() else 1, [*pip, *_PIP, *pip_options])
    return tools


def _pip() -> list[str]:
    """pip for this interpreter: its own, its base's, or the one that came with Python."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    for command in ([base, "-E", "-P", "-m", "pip"], _bundled_pip(base)):
        if command and _works([*command, "--version"]):
            return [*command, "--python", sys.executable]
    return []


def _bundled_pip(base: str) -> list[str]:
    import ensurepip

    wheels = sorted(Path(ensurepip.__file__).with_name("_bundled").glob("pip-*.whl"))
    return [base, "-E", "-P", str(wheels[-1] / "pip")] if wheels else []


def _pip_is_told_where() -> bool:
    """Has pip settings of its own on where packages are, which uv would not read?"""
    pip = _pip()
    listed = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=False)
    keys = [line.partition("=")[0] for line in listed.stdout.splitlines()]
    return any(word in key for key in keys for word in ("index", "find-links", "cert", "proxy"))


def _works(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(ways: list[list[str]], what: str, environment: dict[str, str] | None = None) -> None:
    """The first way that works. Raises MissingExtra with what the last one said."""
    said = "there is neither uv nor pip"
    for command in ways:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if ended.returncode == 0:
            return
        said = (ended.stderr or ended.stdout).strip() or f"exit code {ended.returncode}"
    raise MissingExtra(f"cannot install {what}: {said.splitlines()[-1]}")
