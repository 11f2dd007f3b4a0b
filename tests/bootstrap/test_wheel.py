"""The project as an ordinary package: its wheel in an environment that has nothing else."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from camillo import __version__

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_package_and_its_licence_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {
        "camillo",
        f"camillo-{__version__}.dist-info",
    }
    assert f"camillo-{__version__}.dist-info/licenses/LICENSE" in names


def test_the_wheel_installs_and_runs_in_a_clean_environment(
    wheel: Path,
    root: Path,
    tmp_path: Path,
    outside: Mapping[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in outside.items():  # the user's package index is a setting
        monkeypatch.setenv(name, value)
    bootstrap = runpy.run_path(str(root / "tools" / "bootstrap.py"))
    assert bootstrap["make"](tmp_path / "venv")
    assert bootstrap["install"](tmp_path / "venv", ["--only-binary", ":all:", str(wheel)])
    program = tmp_path / "venv" / "bin" / "camillo"
    ended = subprocess.run(
        [program, "--version"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": os.defpath},
    )
    assert (ended.stdout, ended.stderr) == (f"camillo {__version__}\n", "")
