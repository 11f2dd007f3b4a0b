"""The lock folder that commonplace takes beside a file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from camillo.engines.markdown._lock import STALE, lock_folder
from camillo.errors import StoreBusy


@pytest.fixture
def name(tmp_path: Path) -> str:
    return str(tmp_path / "a.md.lock")


def test_a_lock_is_a_folder_while_it_is_held(name: str) -> None:
    with lock_folder(name, None):
        assert os.path.isdir(name)
    assert not os.path.exists(name)


@pytest.mark.case("CP50")
def test_a_live_lock_is_waited_for_and_then_named(name: str) -> None:
    os.mkdir(name)
    waits: list[float] = []
    with (
        pytest.raises(StoreBusy, match=r"a\.md\.lock is held"),
        lock_folder(name, None, wait=waits.append),
    ):
        pass
    assert len(waits) == 10
    assert (waits[0], max(waits)) == (0.05, 1.0)
    assert 4 < sum(waits) < 6, "commonplace gives up after 4.5 s"
    assert os.path.isdir(name)


@pytest.mark.case("CP50")
def test_an_abandoned_lock_is_taken_over_at_once(name: str) -> None:
    os.mkdir(name)
    now = os.stat(name).st_mtime + STALE + 1
    waits: list[float] = []
    with lock_folder(name, None, clock=lambda: now, wait=waits.append):
        assert os.path.isdir(name)
    assert waits == []


def test_a_lock_that_was_let_go_meanwhile_is_taken(name: str) -> None:
    os.mkdir(name)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        os.rmdir(name)

    with lock_folder(name, None, wait=wait):
        assert os.path.isdir(name)
    assert len(waits) == 1


def test_a_held_lock_is_kept_fresh(name: str) -> None:
    touched = threading.Event()
    times = iter(range(1_000_000_000, 2_000_000_000))

    def clock() -> float:
        now = next(times)
        if now > 1_000_000_003:
            touched.set()
        return float(now)

    with lock_folder(name, None, clock=clock, refresh=0.001):
        assert touched.wait(20)


def test_a_lock_that_another_took_over_is_not_removed(name: str) -> None:
    with lock_folder(name, None):
        os.rmdir(name)
        os.mkdir(name)
    assert os.path.isdir(name)
