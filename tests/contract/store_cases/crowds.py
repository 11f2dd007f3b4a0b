"""Cases of a store: threads and processes at once lose nothing, and neither does a sudden death."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise

import pytest

from camillo.model import Change, Key, Memory
from camillo.ports import Store
from contract.acknowledged import assert_kept
from contract.applicable import needs
from contract.opener import Opener
from contract.specimens import memory
from contract.worker import CHURN_LEAVES

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
            told = follower.result()
        assert _ids_once(told) == {f"{n}-{i}" for n in range(4) for i in range(50)}

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
            told = follower.result()
        store.close()
        assert _ids_once(told) == {f"p{n}-{i}" for n in range(8) for i in range(40)}

    @pytest.mark.promise(7)
    @needs("persistent", "feed", "transaction")
    def test_a_follower_of_eight_writers_ends_with_what_is_there(self, opener: Opener) -> None:
        """They put, change, delete, put again and give up half way."""
        store = opener.open()
        done = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            follower = pool.submit(_follow, store, done)
            with _together([opener.start("churn", f"p{n}", 25, n) for n in range(8)]):
                pass
            done.set()
            told = follower.result()
        held = {m.key: m for m in store.scan()}
        assert _mirrored(told) == held
        assert {key.id for key in held} == {f"p{n}-{i}" for n in range(8) for i in CHURN_LEAVES}
        assert told[-1].seq == store.last_change()
        assert store.health(deep=True).problems == ()
        store.close()

    @needs("persistent", "feed", "transaction")
    def test_what_a_follower_saw_is_never_followed_by_a_smaller_number(
        self, opener: Opener
    ) -> None:
        """One transaction is still open while another store's write is due or done."""
        first, second, third = opener.open(), opener.open(), opener.open()
        first.put([memory("before")])
        with ThreadPoolExecutor(1) as pool:
            with first.transaction():
                first.put([memory("early")])
                late = pool.submit(second.put, [memory("late")])
                seen = [third.changes(0) for _ in range(40)]
                assert {m.id for m in third.scan()} <= {"before", "late"}
                first.put([memory("early too")])
            assert late.result()[0].status == "stored"
        told = third.changes(0)
        for page in seen:
            assert page == told[: len(page)]
        assert {change.key.id for change in told} == {"before", "early", "early too", "late"}
        for store in (first, second, third):
            store.close()

    @needs("persistent")
    def test_what_one_has_written_another_reads_at_once(self, opener: Opener) -> None:
        one, other = opener.open(), opener.open()
        for number in range(20):
            one.put([memory("a", f"text {number}")])
            (found,) = other.get([memory("a").key])
            assert found is not None
            assert found.body == f"text {number}"
            other.delete([memory("a").key])
            assert one.get([memory("a").key]) == [None]
        one.close()
        other.close()

    @needs("persistent", "transaction")
    def test_a_kill_in_a_transaction_leaves_nothing_of_it(self, opener: Opener) -> None:
        store = opener.open()
        store.put([memory("kept", "before"), memory("gone", "before")])
        before, last = list(store.scan()), store.last_change()
        writer = opener.start("half_way", "k")
        _let_go(writer)
        assert writer.stdout
        assert writer.stdout.readline() == "half way\n"
        writer.kill()
        writer.communicate(timeout=WAIT)
        assert list(store.scan()) == before
        store.put([memory("after")])  # and nobody holds a lock any more
        assert [change.key.id for change in store.changes(last)] == ["after"]
        assert store.health(deep=True).problems == ()
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
        assert_kept(store, "k", said)
        assert store.health(deep=True).problems == ()
        assert [c.seq for c in store.changes(0, 10_000)][-1] == store.last_change()
        store.put([memory("after")])
        store.close()


def _follow(store: Store, done: threading.Event) -> list[Change]:
    """What a poller is told, in that order, until all is done and told."""
    told: list[Change] = []
    while True:
        last = done.is_set()
        while page := store.changes(told[-1].seq if told else 0, 7):
            told += page
        if last:
            return told


def _ids_once(told: list[Change]) -> set[str]:
    """Of all that was told, in rising numbers and none twice."""
    assert all(one.seq < other.seq for one, other in pairwise(told))
    ids = [change.key.id for change in told]
    assert len(ids) == len(set(ids))
    return set(ids)


def _mirrored(told: list[Change]) -> dict[Key, Memory]:
    """What an index that follows has in the end: it takes back the versions that it took in.

    A page may tell of a version that was retired since, or leave out one that a later line retires.
    """
    assert all(one.seq < other.seq for one, other in pairwise(told))
    versions: dict[int, Memory] = {}
    for change in told:
        if change.memory is not None:
            versions[change.seq] = change.memory
        else:
            versions.pop(change.former_seq, None)
    held = {memory.key: memory for memory in versions.values()}
    assert len(held) == len(versions)
    return held


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
