"""A lease: one holder at a time, and none that outlives its process."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from camillo.errors import StoreFull
from camillo.leases import lock_file
from camillo.vault import open_vault
from flows.command import start

HOLDING = """
import sys
from camillo.leases import lock_file
with lock_file(sys.argv[1]) as mine:
    print(mine, flush=True)
    input()
"""


def test_one_at_a_time_holds_it(tmp_path: Path) -> None:
    path = str(tmp_path / "l.lock")
    with lock_file(path) as first:
        with lock_file(path) as second:
            assert (first, second) == (True, False)
        with lock_file(path) as third:
            assert not third  # the one that had to go did not free it
    with lock_file(path) as again:
        assert again


def test_an_error_inside_gives_it_back(tmp_path: Path) -> None:
    path = str(tmp_path / "l.lock")
    with pytest.raises(KeyError), lock_file(path):
        raise KeyError
    with lock_file(path) as mine:
        assert mine


def test_a_process_that_is_killed_gives_it_back(tmp_path: Path) -> None:
    path = str(tmp_path / "l.lock")
    with start(path, code=HOLDING) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        with lock_file(path) as mine:
            assert not mine
        process.send_signal(signal.SIGKILL)
        process.wait()
        with lock_file(path) as mine:
            assert mine


def test_its_file_is_its_owners_alone(tmp_path: Path) -> None:
    with lock_file(str(tmp_path / "l.lock")):
        assert (tmp_path / "l.lock").stat().st_mode & 0o777 == 0o600


def test_where_it_cannot_be_made_the_error_says_where(tmp_path: Path) -> None:
    path = os.path.join(tmp_path, "missing", "l.lock")
    with pytest.raises(StoreFull, match=r"missing/l\.lock"), lock_file(path):
        pass


def test_a_root_gives_one_before_its_indexes_were_opened(home: Path) -> None:
    with open_vault() as vault, vault.root("user", create=True).lease("vectors") as mine:
        assert mine
