"""What every test gets: a home, a working directory and settings of its own, and no network.

Fixtures for what lies outside the checkout: the golden files and data sets beside it, the
models of this machine, the environment as it was. Each skips, with its reason, when absent.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

pytest_plugins = ["claims_plugin", "postgres_server", "pytester"]

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
OUTSIDE: Mapping[str, str] = MappingProxyType(dict(os.environ))
MODELS = Path("~/.cache/camillo/models").expanduser()

set_hypothesis_home_dir(ROOT / "build" / "hypothesis")
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if OUTSIDE.get("CI") else "here")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory; the working directory is `work` in it, so no root is near."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("CAMILLO_", "COMMONPLACE_"))]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    for name in ("CONFIG", "CACHE", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / "xdg" / name.lower()))
    monkeypatch.setenv("CAMILLO_USER_DIR", str(home / ".camillo"))
    monkeypatch.setenv("CAMILLO_EMBEDDER", "none")  # a test that wants meaning asks for it
    monkeypatch.setenv("CAMILLO_PRESET", "words")
    (home / "work").mkdir()
    monkeypatch.chdir(home / "work")
    return home


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Only this machine can be reached; commands that a test starts are not held."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _local_only(getattr(socket.socket, name)))
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def golden() -> Path:
    """Files that the systems before this one wrote, in `CAMILLO_GOLDEN` or beside the checkout."""
    path = Path(OUTSIDE.get("CAMILLO_GOLDEN") or SHARED / "golden")
    if not path.is_dir():
        pytest.skip("no golden files: CAMILLO_GOLDEN names their folder")
    return path


@pytest.fixture(scope="session")
def data() -> Path:
    """Corpora and queries to measure on."""
    return _present(Path(OUTSIDE.get("CAMILLO_DATA") or SHARED / "data"))


@pytest.fixture(scope="session")
def models() -> Path:
    """The models of this machine, outside the test's own home."""
    return _present(Path(OUTSIDE.get("CAMILLO_MODELS") or MODELS))


@pytest.fixture(scope="session")
def outside() -> Mapping[str, str]:
    """The environment as it was before it was made safe: for what needs a package index."""
    return OUTSIDE


def _present(path: Path) -> Path:
    if not path.is_dir():
        pytest.skip(f"no {path.name} on this machine")
    return path


def _local_only(connect: Callable[..., object]) -> Callable[..., object]:
    def guarded(self: socket.socket, address: object) -> object:
        local = self.family not in (socket.AF_INET, socket.AF_INET6) or (
            isinstance(address, tuple) and address[0] in ("127.0.0.1", "::1", "localhost")
        )
        if not local:
            raise AssertionError(f"a test reached for the network: {address!r}")
        return connect(self, address)

    return guarded
