"""Cases of a store: threads and processes at once lose nothing, and neither does a sudden death."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from camillo.model import GLOBAL, Key
from camillo.ports import Store
from contract.applicable import needs
from contract.opener import Opener
from contract.specimens import memory

WAIT = 120  # seconds; a process that takes longer has hung


class CrowdCases:
    """Concurrency and crashes, with real threads and real processes."""

    @needs("keeps")
    def test_eight_threads_lose_nothing_on_one_store(self, store: Store) -> None:
        def write(name: int) -> None:
            for number in range(50):
                store.put([memory(f"{name}-{number}", f"text {number}", session=f"s{name}")])
                store.get([memory(f"{name}-{number}").key])

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
        assert store.count() == 400
        assert store.health(deep=True).problems == ()

    @needs("keeps", "feed")
    def test_a_follower_among_threads_sees_each_change_once(self, store: Store) -> None:
        done = threading.Event()
        with ThreadPoolExecutor(5) as pool:
            follower = pool.submit(_follow, store, done)
            writers = [
                pool.submit(lambda n: [store.put([memory(f"{n}-{i}")]) for i in range(50)], n)
                for n in range(4)
            ]
            for writer in writers:
                writer.result()
            done.set()
            assert follower.result() == list(range(1, 201))

    @needs("keeps", "transaction")
    def test_a_transaction_keeps_other_threads_out(self, store: Store) -> None:
        started = threading.Event()

        def write() -> int:
            started.set()
            store.put([memory("b")])
            return store.count()

        with ThreadPoolExecutor(1) as pool:
            with suppress(LookupError), store.transaction():
                store.put([memory("a", session="new")])
                other = pool.submit(write)
                started.wait(WAIT)
                raise LookupError
            assert other.result() == 1
        assert store.put([memory("a", session="new")])[0].status == "stored"
        assert store.get([memory("a", session="new").key]) != [None]

    @pytest.mark.promise(7)
    @needs("persistent")
    def test_four_processes_lose_nothing(self, opener: Opener) -> None:
        with _together([opener.start("write", f"p{n}", 100) for n in range(4)]):
            pass
        store = opener.open()
        assert {m.id for m in store.scan()} == {f"p{n}-{i}" for n in range(4) for i in range(100)}
        assert store.health(deep=True).problems == ()
        store.close()

    @needs("persistent", "feed")
    def test_a_follower_among_processes_sees_each_change_once(self, opener: Opener) -> None:
        store = opener.open()
        done = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            follower = pool.submit(_follow, store, done)
            with _together([opener.start("write", f"p{n}", 40) for n in range(8)]):
                pass
            done.set()
            assert follower.result() == list(range(1, 321))
        store.close()

    @pytest.mark.promise(9)
    @needs("persistent")
    def test_eight_processes_open_a_new_store_at_once(self, opener: Opener) -> None:
        with _together([opener.start("write", f"p{n}", 1) for n in range(8)]):
            pass
        store = opener.open()
        assert {m.id for m in store.scan()} == {f"p{n}-0" for n in range(8)}
        assert store.health(deep=True).problems == ()
        store.close()

    @pytest.mark.promise(1)
    @needs("persistent")
    @pytest.mark.parametrize("lines", [1, 2, 17, 60])
    def test_what_was_acknowledged_outlives_a_kill(self, opener: Opener, lines: int) -> None:
        writer = opener.start("write_on", "k")
        said = _said_until_killed(writer, lines)

        store = opener.open()
        last = max(int(line.split("-")[1].split()[0]) for line in said)
        for id_, word in (line.split() for line in said if line.endswith("\n")):
            number = int(id_.removeprefix("k-"))
            if number == last:
                continue  # its next step may have been done and not said
            (found,) = store.get([Key("", "user", GLOBAL, id_)])
            if number % 5 == 0:
                assert found is None, line_of(said, id_)
            elif word == "second" or number % 2 == 0:
                assert found, line_of(said, id_)
                assert found.body == ("second " * 200 if number % 2 else "first")
        if last % 5:
            assert store.get([Key("", "user", GLOBAL, f"k-{last}")]) != [None]
        assert store.health(deep=True).problems == ()
        assert [c.seq for c in store.changes(0, 10_000)][-1] == store.last_change()
        store.put([memory("after")])
        store.close()


def line_of(said: list[str], id_: str) -> str:
    return " ".join(line.strip() for line in said if line.startswith(id_ + " "))


def _follow(store: Store, done: threading.Event) -> list[int]:
    """The numbers in the order in which a poller sees them, until all is done and told."""
    seen: list[int] = []
    while True:
        last = done.is_set()
        while page := store.changes(seen[-1] if seen else 0, 7):
            seen += [change.seq for change in page]
        if last:
            return seen


@contextmanager
def _together(processes: list[subprocess.Popen[str]]) -> Iterator[None]:
    """They are let go at the same moment, and all of them end well."""
    for process in processes:
        _let_go(process)
    yield
    ended = [(process.communicate(timeout=WAIT)[0], process.returncode) for process in processes]
    assert ended == [("done\n", 0)] * len(processes)


def _let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()


def _said_until_killed(writer: subprocess.Popen[str], lines: int) -> list[str]:
    """What it had acknowledged, at least so many lines."""
    _let_go(writer)
    assert writer.stdout
    said = [writer.stdout.readline() for _ in range(lines)]
    writer.kill()
    said += writer.communicate(timeout=WAIT)[0].splitlines(keepends=True)
    return said
