"""PostgreSQL that dies, restarts or drops its clients: what was acknowledged is there, nothing is
written by halves, and the next command works.

A killed server loses what it had not handed to the operating system; that a disk keeps what it was
handed is its own promise.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from camillo import registry
from camillo.embed.hashing import HashingEmbedder
from camillo.errors import CamilloError, StoreError
from camillo.model import Memory
from camillo.ports import Role, Store
from contract.acknowledged import assert_kept
from contract.corpus import TEXTS
from contract.opener import Opener
from contract.searched import Searched
from contract.specimens import memory
from contract.store_cases.words import counts_are_exact
from postgres_server import Server

WAIT = 60  # seconds; what takes longer has hung
WRITERS = 8
CUT = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = %s AND pid <> pg_backend_pid()
"""


@pytest.fixture
def database(own_server: Server) -> str:
    return own_server.create()


@pytest.fixture
def opener(own_server: Server, database: str) -> Opener:
    return Opener(registry.ENGINES["postgres"], own_server.dsn(database), "")


@pytest.fixture
def store(opener: Opener) -> Iterator[Store]:
    opened = opener.open()
    yield opened
    opened.close()


@pytest.mark.promise(1, 7)
def test_a_killed_server_has_every_acknowledged_write(own_server: Server, opener: Opener) -> None:
    names = [f"w{n}" for n in range(WRITERS)]
    writers = [opener.start("write_on", name, stderr=subprocess.DEVNULL) for name in names]
    said: dict[str, list[str]] = {}

    def listen(name: str, writer: subprocess.Popen[str]) -> None:
        assert writer.stdout
        said[name] = list(writer.stdout)

    heads = [_begun(writer, 20) for writer in writers]
    with ThreadPoolExecutor(WRITERS) as pool:
        listening = [pool.submit(listen, *pair) for pair in zip(names, writers, strict=True)]
        own_server.kill()
        for each in listening:
            each.result(WAIT)
    for writer in writers:
        writer.communicate(timeout=WAIT)
        assert writer.returncode == 1  # it said what was wrong

    own_server.start()
    store = opener.open()
    for name, head in zip(names, heads, strict=True):
        assert_kept(store, name, head + said[name])
    assert store.health(deep=True).problems == ()
    assert store.changes(0, 100_000)[-1].seq == store.last_change()
    store.put([memory("after")])
    store.close()


@pytest.mark.promise(4)
def test_the_words_of_a_killed_server_are_those_of_its_memories(
    own_server: Server, opener: Opener, tmp_path: Path
) -> None:
    writers = [opener.start("write_on", f"w{n}", stderr=subprocess.DEVNULL) for n in range(4)]
    for writer in writers:
        _begun(writer, 10)
    own_server.kill()
    for writer in writers:
        writer.communicate(timeout=WAIT)
    own_server.start()
    searched = Searched(opener, tmp_path)
    counts_are_exact(searched, list(searched.store.scan()), ["first second third"])
    searched.close()


def test_an_open_store_goes_on_after_a_restart(own_server: Server, store: Store) -> None:
    store.put([memory("a", "before")])
    own_server.stop()
    with pytest.raises(StoreError):
        store.put([memory("b", "while it is down")])
    own_server.start()
    assert store.put([memory("c", "after")])[0].status == "stored"
    assert {m.id for m in store.scan()} == {"a", "c"}


def test_an_open_store_goes_on_after_its_connections_were_cut(
    own_server: Server, database: str, store: Store
) -> None:
    store.put([memory("a", "before")])
    for number in range(5):
        _cut(own_server, database)
        assert store.count() == number + 1
        _cut(own_server, database)
        assert _written(store, [memory(f"m{number}")])
    assert store.health(deep=True).problems == ()


def test_a_cut_between_two_statements_leaves_nothing_of_the_transaction(
    own_server: Server, database: str, store: Store
) -> None:
    store.put([memory("a", "before")])
    last, lines = store.last_change(), store.journal()

    def cut_in_between() -> None:
        with store.transaction():
            store.put([memory("a", "after"), memory("b")])
            _cut(own_server, database)
            store.put([memory("c")])

    def cut_before_the_commit() -> None:
        with store.transaction():
            store.put([memory("d")])
            _cut(own_server, database)

    with pytest.raises(StoreError):
        cut_in_between()
    assert [(m.id, m.body) for m in store.scan()] == [("a", "before")]
    assert (store.last_change(), store.journal()) == (last, lines)
    with pytest.raises(StoreError):
        cut_before_the_commit()
    assert store.get([memory("d").key]) == [None]
    assert store.put([memory("e")])[0].status == "stored"


def test_cuts_at_any_moment_leave_whole_writes_or_none(
    own_server: Server, database: str, store: Store
) -> None:
    done = threading.Event()

    def cut_on() -> None:
        while not done.is_set():
            _cut(own_server, database)

    acknowledged = set()
    with ThreadPoolExecutor(1) as pool:
        cutting = pool.submit(cut_on)
        try:
            for number in range(60):
                try:
                    store.put([memory(f"m{number}-{part}") for part in range(20)])
                except StoreError:
                    continue
                acknowledged.add(number)
        finally:
            done.set()
        cutting.result(WAIT)
    held = {m.id for m in store.scan()}
    for number in range(60):
        parts = sum(f"m{number}-{part}" in held for part in range(20))
        assert parts in (0, 20), number
        assert parts == 20 or number not in acknowledged, number
    assert len(store.changes(0, 10_000)) == len(held)
    assert store.health(deep=True).problems == ()


def test_filling_goes_on_where_a_killed_server_left_it(
    own_server: Server, opener: Opener, tmp_path: Path
) -> None:
    seen: list[str] = []

    class Killing(HashingEmbedder):
        def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
            if len(seen) > 300 and own_server.running:
                own_server.kill()
            seen.extend(texts)
            return super().embed(texts, role)

    searched = Searched(opener, tmp_path)
    texts = [f"{text} {n}" for n in range(8) for text in TEXTS["harbour"] + TEXTS["code"]]
    searched.put([memory(f"m{n}", text) for n, text in enumerate(texts * 3)])
    searched.put([memory(f"n{n}", f"number {n}") for n in range(800)])
    with pytest.raises(CamilloError):
        searched.meaning.fill(searched.store, Killing(), "hashing")
    own_server.start()
    kept = searched.meaning.count(searched.embedder)
    wanted = len(set(texts)) + 800
    assert searched.meaning.missing(searched.embedder) == wanted - kept > 0
    told: list[int] = []
    searched.meaning.fill(searched.store, searched.embedder, "hashing", told=told.append)
    assert sum(told) == wanted - kept
    assert searched.meaning.count(searched.embedder) == wanted
    searched.close()


def _begun(writer: subprocess.Popen[str], lines: int) -> list[str]:
    """Let it go, and hear its first lines."""
    assert writer.stdin
    assert writer.stdout
    assert writer.stdout.readline() == "ready\n"
    writer.stdin.write("go\n")
    writer.stdin.flush()
    return [writer.stdout.readline() for _ in range(lines)]


def _cut(server: Server, database: str) -> None:
    """Send every client of the database away."""
    server.run(CUT, parameters=(database,))


def _written(store: Store, memories: list[Memory]) -> bool:
    """It is written, at the latest when it is tried again after a clear error."""
    try:
        return store.put(memories)[0].status == "stored"
    except StoreError:
        return store.put(memories)[0].status in ("stored", "deduplicated")
