"""Embedding that is killed goes on where it was: nothing is lost, nothing is done twice."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from camillo.model import Memory
from camillo.vault import Vault, open_vault
from flows.command import start

TEXTS = 1200

# Kills itself: after so many batches were kept, or in the middle of embedding the next one.
KILLED = """
import os, signal, sys
from camillo.embed.hashing import HashingEmbedder
from camillo.vault import open_vault

where, batches = sys.argv[1], int(sys.argv[2])
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)
calls = 0

class Dying(HashingEmbedder):
    def embed(self, texts, role):
        global calls
        calls += 1
        if where == "embedding" and calls > batches:
            super().embed(texts[: len(texts) // 2], role)
            kill()
        return super().embed(texts, role)

def told(count):
    if where == "kept" and calls == batches:
        kill()

with open_vault() as vault:
    root = vault.root("user")
    root.meaning.fill(root.store, Dying(), "hashing", told=told)
"""


@pytest.fixture
def vault(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vault]:
    monkeypatch.setenv("CAMILLO_EMBEDDER", "hashing")
    with open_vault() as opened:
        root = opened.root("user", create=True)
        root.store.put(
            [Memory(f"m{n}", f"door {n} of gate {n % 7}", "drawer") for n in range(TEXTS)]
        )
        root.catch_up()
        yield opened


def _rows(home: Path) -> dict[bytes, int]:
    """The row of each embedded text; a text with two vectors fails."""
    connection = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
    connection.set_busy_timeout(5000)
    rows = connection.execute("SELECT hash, rowid FROM vectors").fetchall()
    connection.close()
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def _goes_on(vault: Vault, before: dict[bytes, int], home: Path) -> None:
    """The next run embeds what is missing and nothing else."""
    taken: list[int] = []
    assert vault.embed(vault.root("user"), taken.append) == 0
    after = _rows(home)
    assert len(after) == TEXTS
    assert sum(taken) == TEXTS - len(before)
    assert before.items() <= after.items()
    root = vault.root("user")
    assert root.meaning.check().problems == ()
    assert [model.complete for model in root.meaning.models()] == [True]


@pytest.mark.promise(1)
@pytest.mark.parametrize("where", ["kept", "embedding"])
@pytest.mark.parametrize("batches", [1, 2, 4])
def test_killed_it_goes_on_where_it_was(vault: Vault, home: Path, where: str, batches: int) -> None:
    with start(where, batches, code=KILLED) as process:
        assert process.wait(60) == -signal.SIGKILL, process.communicate()
    before = _rows(home)
    assert 0 < len(before) < TEXTS
    _goes_on(vault, before, home)


@pytest.mark.promise(1)
def test_a_command_that_is_killed_at_any_moment_goes_on(vault: Vault, home: Path) -> None:
    with start("embed", "--json") as process:
        while process.poll() is None and not _rows(home):
            pass
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    _goes_on(vault, _rows(home), home)


@pytest.mark.promise(26)
def test_what_was_left_is_said_and_what_was_kept_is_found(vault: Vault, home: Path) -> None:
    from camillo.ops.signature import run

    with start("kept", 2, code=KILLED) as process:
        process.wait(60)
    report = run(vault, "search", query="door 3 of gate 3", preset="vectors")
    left = TEXTS - len(_rows(home))
    assert report.degraded == [f"vectors {left} behind: `camillo embed` takes them in"]
    assert report.results[0].text == "door 3 of gate 3"
