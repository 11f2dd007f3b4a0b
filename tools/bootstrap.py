"""Makes a virtual environment hold exactly what its locks name, with `src` on its path.

Run by tools/bootstrap.sh with the standard library alone: `bootstrap.py VENV KEY LOCK...`.
Writes VENV/extras and, last, VENV/stamp (format: bootstrap.sh); without a stamp the next run
starts over. Two runs at once: the kernel's lock on VENV.lock goes with the last process that
holds it, installers included, so neither a kill nor a power cut leaves it behind.
"""

import compileall
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["install", "main", "make"]

# Of pip's settings, the ones that uv has under another name.
_UV_NAMES = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_NO_INDEX": "UV_NO_INDEX",
    "PIP_CERT": "SSL_CERT_FILE",
}
# Of pip's settings, the ones that would put packages elsewhere than into the environment.
_ELSEWHERE = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON")
# Of pip's settings, the ones that say where packages come from: uv does not read pip's files.
_SOURCES = ("index", "find-links", "cert", "proxy", "trusted-host", "constraint")

# The interpreter itself, not a link or shim whose target may change under the environment.
_BASE = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)

_PIP_INSTALL = ("install", "--quiet", "--no-input", "--disable-pip-version-check")


def main(argv: list[str]) -> int:
    venv, key, locks = Path(argv[0]), argv[1], argv[2:]
    extras = key.split()[2:]
    for extra, lock in zip(extras, locks[len(locks) - len(extras) :], strict=True):
        if not Path(lock).is_file():
            return _fail(f"no extra named {extra!r}; known: {', '.join(_known(lock)) or 'none'}")
    try:
        with _exclusive(venv):
            if not _is_complete(venv, key):
                return _build(venv, key, extras, locks)
    except OSError as error:
        return _fail(f"cannot make {venv.name}: {error}")
    except KeyboardInterrupt:
        return _fail(f"interrupted; the next run makes {venv.name} anew")
    return 0


def make(venv: Path) -> bool:
    """An environment without pip, which is 15 MB that nothing here runs."""
    uv = shutil.which("uv")
    options = ["--quiet", "--no-project", "--allow-existing", "--python", _BASE]
    if uv and _run(uv, "venv", *options, str(venv)):
        return True
    return _run(*_module(_BASE, "venv"), "--without-pip", str(venv))


def install(venv: Path, arguments: list[str]) -> bool:
    """Fill `venv` with uv or pip, whichever works first; False when neither does."""
    if _pip_has_sources():
        return _with_pip(venv, arguments) or _with_uv(venv, arguments)
    return _with_uv(venv, arguments) or _with_pip(venv, arguments)


def _build(venv: Path, key: str, extras: list[str], locks: list[str]) -> int:
    started = time.monotonic()
    version = sys.version.split()[0]
    _say(f"installing into {venv.name} with Python {version}, once")
    _empty(venv)
    if extras:
        venv.mkdir(exist_ok=True)
        (venv / "extras").write_text(" ".join(extras) + "\n")
    wanted = [part for lock in locks for part in ("-r", lock)]
    # A lock is whole, but for what it leaves out on purpose (never.txt).
    hashed_wheels = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
    if not (make(venv) and install(venv, [*hashed_wheels, *wanted])):
        return _fail("could not install its packages, as said above; the next run tries again")
    _put_source_on_path(venv)
    (venv / "stamp").write_text(f"{_BASE}\n{key}\n")
    _say(f"ready after {time.monotonic() - started:.0f} s")
    return 0


def _with_uv(venv: Path, arguments: list[str]) -> bool:
    uv = shutil.which("uv")
    if uv is None:
        return False
    settings = {new: os.environ[old] for old, new in _UV_NAMES.items() if os.environ.get(old)}
    command = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python"]
    return _run(*command, str(_interpreter(venv)), *arguments, env=settings | os.environ)


def _with_pip(venv: Path, arguments: list[str]) -> bool:
    python = str(_interpreter(venv))
    if _run(*_module(_BASE, "pip"), "--version", quiet=True):
        return _run(*_module(_BASE, "pip"), "--python", python, *_PIP_INSTALL, *arguments)
    # A Python that carries pip only as ensurepip's wheel: pip comes, installs and goes.
    own_pip = _module(python, "pip")
    return (
        _run(*_module(python, "ensurepip"), quiet=True)
        and _run(*own_pip, *_PIP_INSTALL, *arguments)
        and _run(*own_pip, "uninstall", "--quiet", "--yes", "pip", "setuptools")
    )


def _module(python: str, name: str) -> list[str]:
    # -E, -P: no PYTHON* variable and no file of the working directory takes the module's place.
    return [python, "-E", "-P", "-m", name]


def _pip_has_sources() -> bool:
    command = [*_module(_BASE, "pip"), "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    keys = [line.split("=")[0] for line in listed.stdout.splitlines()]
    return any(source in key for key in keys for source in _SOURCES)


def _run(*command: str, env: dict[str, str] | None = None, quiet: bool = False) -> bool:
    """Run to the end; what it said shows only when it failed.

    It inherits the lock, and so keeps it should this process be killed before it ends.
    """
    ended = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={k: v for k, v in (env or os.environ).items() if k not in _ELSEWHERE},
        close_fds=False,
        check=False,
    )
    if ended.returncode and not quiet:
        sys.stderr.buffer.write(ended.stdout)
    return not ended.returncode


@contextmanager
def _exclusive(venv: Path) -> Iterator[None]:
    with venv.with_name(venv.name + ".lock").open("a") as lock:
        os.set_inheritable(lock.fileno(), True)
        if not _locked(lock, wait=False):
            _say(f"another run is making {venv.name}; waiting for it")
            _locked(lock, wait=True)
        yield


if sys.platform == "win32":
    import msvcrt

    def _locked(lock: IO[str], *, wait: bool) -> bool:
        while True:
            try:
                msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
            except OSError:
                if not wait:
                    return False
            else:
                return True

else:
    import fcntl

    def _locked(lock: IO[str], *, wait: bool) -> bool:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass  # a file system without locks: better no lock than no program
        return True


def _empty(venv: Path) -> None:
    """Delete everything but the extras' names, the stamp first."""
    (venv / "stamp").unlink(missing_ok=True)
    for entry in venv.iterdir() if venv.is_dir() else ():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != "extras":
            entry.unlink()


def _put_source_on_path(venv: Path) -> None:
    """By a path relative to the environment, so that the checkout can be moved."""
    source = Path(__file__).resolve().parent.parent / "src"
    base = {"base": str(venv.resolve()), "platbase": str(venv.resolve())}
    packages = sysconfig.get_path("purelib", "venv", base)
    Path(packages, "camillo-source.pth").write_text(os.path.relpath(source, packages) + "\n")
    compileall.compile_dir(source, quiet=1)


def _interpreter(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _is_complete(venv: Path, key: str) -> bool:
    """What bootstrap.sh asks, once more: another run may have made it while this one waited."""
    try:
        base, made = (venv / "stamp").read_text().splitlines()
    except (FileNotFoundError, ValueError):
        return False
    return made == key and Path(base).exists() and _interpreter(venv).exists()


def _known(lock: str) -> list[str]:
    locks = Path(lock).parent.glob("requirements-*.lock")
    return sorted(name for path in locks if (name := path.stem.partition("-")[2]) != "test")


def _say(text: str) -> None:
    print(f"camillo: {text}", file=sys.stderr, flush=True)


def _fail(text: str) -> int:
    _say(text)
    return 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
