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


def _rows(home: Path, table: str = "vectors") -> dict[bytes, int]:
    """The row of each embedded text; a text with two vectors fails."""
    connection = apsw.Connection(str(home / ".camillo" / "index" / "index.db"))
    connection.set_busy_timeout(5000)
    rows = connection.execute(f"SELECT hash, rowid FROM {table}").fetchall()
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


@pytest.mark.promise(1)
@pytest.mark.parametrize("where", ["kept", "embedding"])
def test_killed_token_vectors_are_as_far_as_vectors_and_counted_right(
    home: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("CAMILLO_EMBEDDER", "hashing")
    with open_vault() as vault:
        root = vault.root("user", create=True)
        texts = [f"door {n} of gate {n % 7}" for n in range(TEXTS)]
        root.store.put(
            [Memory(f"m{n}", text, "conversation", session="s") for n, text in enumerate(texts)]
        )
        root.catch_up()
        # Token vectors are made of 32 texts at a time: this is the end of the second batch.
        with start(where, 16, code=KILLED) as process:
            assert process.wait(60) == -signal.SIGKILL, process.communicate()
        before = _rows(home)
        assert _rows(home, "tokens").keys() == before.keys()
        assert 0 < len(before) < TEXTS
        assert root.tokens.check().problems == ()  # type: ignore[union-attr]
        _goes_on(vault, before, home)
        assert _rows(home, "tokens").keys() == _rows(home).keys()
        assert root.tokens.check().problems == ()  # type: ignore[union-attr]


@pytest.mark.promise(26)
def test_what_was_left_is_said_and_what_was_kept_is_found(vault: Vault, home: Path) -> None:
    from camillo.ops.signature import run

    with start("kept", 2, code=KILLED) as process:
        process.wait(60)
    report = run(vault, "search", query="door 1195 of gate 5", preset="vectors")
    left = TEXTS - len(_rows(home))
    assert report.degraded == [f"vectors {left} behind: `camillo embed` takes them in"]
    assert report.results[0].text == "door 1195 of gate 5"  # what is newest comes first
