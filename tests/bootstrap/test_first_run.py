"""`./camillo` in a checkout that nobody ran yet: made once, whole or not at all, and quiet."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from camillo import __version__

pytestmark = pytest.mark.slow

VERSION = f"camillo {__version__}\n"
INSTALLING = "camillo: installing into .venv"
PARTS = ("camillo", "tools", "src", "requirements.lock", "pyproject.toml")
SHELLS = ("sh", "dash", "bash", "ksh", "zsh", "busybox")


@pytest.fixture(scope="session")
def env(outside: Mapping[str, str]) -> dict[str, str]:
    """The user's own: package index, its certificates and its cache are settings."""
    return {name: value for name, value in outside.items() if name != "CAMILLO_EXTRAS"}


@pytest.fixture
def fresh(root: Path, tmp_path: Path) -> Path:
    return _copied(root, tmp_path / "a fresh checkout")


@pytest.fixture(scope="module")
def installed(root: Path, tmp_path_factory: pytest.TempPathFactory, env: dict[str, str]) -> Path:
    checkout = _copied(root, tmp_path_factory.mktemp("checkout") / "a made one")
    _run(checkout, env)
    return checkout


def test_a_first_run_installs_and_leaves_stdout_to_the_program(
    fresh: Path, env: dict[str, str], tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to("a fresh checkout/camillo")
    ended = subprocess.run([link, "--version"], env=env, capture_output=True, text=True)
    assert ended.stdout == VERSION
    assert ended.stderr.startswith(INSTALLING)
    assert _megabytes(fresh / ".venv") <= 130
    assert not list((fresh / ".venv").glob("lib/*/site-packages/pip"))


def test_two_first_runs_at_once_install_once(fresh: Path, env: dict[str, str]) -> None:
    runs = [_started(fresh, env) for _ in range(2)]
    said = [run.communicate() for run in runs]
    assert [out for out, _ in said] == [VERSION, VERSION]
    assert sum(INSTALLING in err for _, err in said) == 1


@pytest.mark.parametrize("victim", ["all of it", "the script alone"])
def test_a_first_run_that_was_killed_is_done_again(
    fresh: Path, env: dict[str, str], victim: str
) -> None:
    run = _started(fresh, env)
    assert run.stderr is not None
    assert run.stderr.readline().startswith(INSTALLING)
    kill = os.killpg if victim == "all of it" else os.kill
    kill(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL
    assert _run(fresh, env).stdout == VERSION
    run.communicate()


def test_a_failed_install_says_so_and_leaves_no_stamp(fresh: Path, env: dict[str, str]) -> None:
    ended = _ended(fresh, env | {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "PIP_FIND_LINKS": ""})
    assert (ended.returncode, ended.stdout) == (4, "")
    assert ended.stderr.splitlines()[-1].startswith("camillo: could not install its packages")
    assert not (fresh / ".venv" / "stamp").exists()


def test_without_a_python_one_sentence_names_what_to_install(
    fresh: Path, env: dict[str, str], tmp_path: Path
) -> None:
    ended = _ended(fresh, env | {"PATH": str(tmp_path / "empty")})
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "needs Python 3.11 or newer" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_an_unknown_extra_is_named(fresh: Path, env: dict[str, str]) -> None:
    ended = _ended(fresh, env | {"CAMILLO_EXTRAS": "postgrse"})
    assert (ended.returncode, ended.stdout) == (4, "")
    assert ended.stderr == "camillo: no extra named 'postgrse'; known: none\n"


def test_a_home_that_cannot_be_written_is_no_obstacle(fresh: Path, env: dict[str, str]) -> None:
    assert _run(fresh, env | {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull}).stdout == VERSION


@pytest.mark.parametrize("change", ["the lock", "the interpreter"])
def test_what_changed_is_made_anew(
    installed: Path, tmp_path: Path, env: dict[str, str], change: str
) -> None:
    checkout = shutil.copytree(installed, tmp_path / "changed", symlinks=True)
    if change == "the lock":
        with (checkout / "requirements.lock").open("a") as lock:
            lock.write("# another\n")
    else:
        stamp = checkout / ".venv" / "stamp"
        stamp.write_text("\n".join(["/no/such/python3.11", *stamp.read_text().splitlines()[1:]]))
    again = _run(checkout, env)
    assert (again.stdout, again.stderr.startswith(INSTALLING)) == (VERSION, True)
    assert _run(checkout, env).stderr == ""


def test_an_extra_once_asked_for_stays(fresh: Path, env: dict[str, str]) -> None:
    first_pin = (fresh / "requirements.lock").read_text().partition("\nc")[0]
    (fresh / "requirements-demo.lock").write_text(first_pin + "\n")
    assert _run(fresh, env | {"CAMILLO_EXTRAS": "demo"}).stderr.startswith(INSTALLING)
    assert _run(fresh, env).stderr == ""
    (fresh / "requirements-demo.lock").unlink()
    assert _ended(fresh, env).stderr == "camillo: no extra named 'demo'; known: none\n"


@pytest.mark.parametrize("shell", [name for name in SHELLS if shutil.which(name)])
def test_a_complete_checkout_needs_no_network_in_any_shell(
    installed: Path, env: dict[str, str], shell: str
) -> None:
    command = [shell, "sh"] if shell == "busybox" else [shell]
    offline = env | {"PIP_NO_INDEX": "1", "UV_OFFLINE": "1", "PATH": os.defpath}
    ended = subprocess.run(
        [shutil.which(shell) or shell, *command[1:], installed / "camillo", "--version"],
        env=offline, capture_output=True, text=True,
    )  # fmt: skip
    assert (ended.stdout, ended.stderr) == (VERSION, "")


def test_a_checkout_can_be_moved(installed: Path, env: dict[str, str], tmp_path: Path) -> None:
    moved = shutil.copytree(installed, tmp_path / "moved", symlinks=True)
    (tmp_path / "src").mkdir()
    ended = _run(moved, env)
    assert (ended.stdout, ended.stderr) == (VERSION, "")
    where = subprocess.run(
        [moved / ".venv/bin/python", "-I", "-c", "import camillo; print(camillo.__file__)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(where.stdout).is_relative_to(moved)


def _copied(root: Path, to: Path) -> Path:
    to.mkdir()
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, to / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(root / part, to / part)
    return to


def _started(checkout: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [checkout / "camillo", "--version"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
        start_new_session=True,
    )


def _ended(checkout: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [checkout / "camillo", "--version"]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def _run(checkout: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    ended = _ended(checkout, env)
    assert ended.returncode == 0, ended.stderr
    return ended


def _megabytes(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6
