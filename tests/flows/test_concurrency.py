"""Several processes at once, and processes that are killed or interrupted."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from camillo.model import Filter
from camillo.vault import open_vault
from flows.command import Camillo, plant, start, together

# Acts on one memory after the other and says which one is done.
ONE_BY_ONE = """
import sys
from camillo.ops.signature import run
from camillo.vault import open_vault
with open_vault() as vault:
    for id in sys.argv[2:]:
        run(vault, sys.argv[1], ids=[id])
        print(id, flush=True)
"""


@pytest.fixture
def tree(shop: Path) -> Path:
    """Enough files for several batches."""
    chance = random.Random(1)
    words = ["gate", "door", "wall", "arch", "step", "lamp", "seat", "drawer", "mask", "stage"]
    for n in range(300):
        body = " ".join(chance.choice(words) for _ in range(150))
        plant(shop, {f"{n % 7}/{n}.md": f"# Heading {n}\n\n{body}\n\nOnly here: token{n}.\n"})
    return shop


@pytest.mark.promise(9)
def test_eight_processes_can_open_a_new_root_at_once(camillo: Camillo, shop: Path) -> None:
    for n in range(8):
        plant(shop, {f"{n}/a.md": f"door number {n} of eight\n"})
    commands = [["mine", shop / str(n), "--json"] for n in range(8)]
    ended = together(commands)
    assert [each.code for each in ended] == [0] * 8, ended
    assert {entry["text"] for entry in camillo.listed()} == {
        f"door number {n} of eight\n" for n in range(8)
    }
    assert len(camillo.texts("door eight")) == 8


@pytest.mark.promise(9)
@pytest.mark.parametrize("command", [["init"], ["list"], ["search", "x"], ["stats"]])
def test_eight_processes_can_make_or_look_for_a_root_at_once(
    camillo: Camillo, user: Path, command: list[str]
) -> None:
    if command != ["init"]:
        user.mkdir()
    ended = together([[*command, "--json"]] * 8)
    assert {each.code for each in ended} <= {0, 1}, ended
    assert camillo("list").code == 1


@pytest.mark.promise(3, 9)
def test_eight_processes_that_meet_a_damaged_index_all_answer(
    camillo: Camillo, tree: Path, user: Path
) -> None:
    camillo.mine(tree)
    before = camillo("search", "token42").results
    (user / "index" / "index.db").write_bytes(b"no database " * 5000)
    ended = together([["search", "token42", "--json"]] * 8)
    assert {each.code for each in ended} <= {0, 1}, ended
    for each in ended:
        assert each.results == before or each.report["degraded"], each
    again = camillo("search", "token42")
    assert (again.results, again.report["degraded"]) == (before, [])


@pytest.mark.promise(7)
def test_two_mines_of_one_folder_end_as_one_would(
    camillo: Camillo, tree: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = together([["mine", tree, "--json"]] * 2)
    assert [each.code for each in ended] == [0, 0], ended
    both = _state(camillo)
    monkeypatch.setenv("CAMILLO_USER_DIR", str(home / "alone"))
    camillo.mine(tree)
    assert both == _state(camillo)


@pytest.mark.promise(1)
def test_a_mine_that_is_killed_loses_nothing_and_the_next_one_completes_it(
    camillo: Camillo, tree: Path, home: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(os.getpid())
    for number in range(12):
        root = home / f"root{number}"
        monkeypatch.setenv("CAMILLO_USER_DIR", str(root))
        with start("mine", tree, "--json") as process:
            _kill_when(process, root / "store.db-wal", chance.randrange(1_200_000))
        kept = _sound(root)
        assert camillo.mine(tree)["files_new"] == 300 - kept
        if number == 0:
            whole = _state(camillo)
        assert _state(camillo) == whole


@pytest.mark.promise(1)
def test_acknowledged_archives_survive_a_kill(camillo: Camillo, tree: Path, user: Path) -> None:
    camillo.mine(tree)
    ids = [entry["id"] for entry in camillo.listed()]
    chance = random.Random(os.getpid())
    acknowledged: set[str] = set()
    for _ in range(6):
        batch = ids[len(acknowledged) : len(acknowledged) + 30]
        acknowledged |= _killed_after(chance.randrange(20), "archive", batch)
        _sound(user)
        live = {entry["id"] for entry in camillo.listed()}
        assert not acknowledged & live
        acknowledged = set(ids) - live  # one more may have been written and not said
    assert len(camillo.listed("--archived")) == len(ids)


@pytest.mark.promise(1, 12)
def test_acknowledged_erasures_survive_a_kill_and_one_in_the_middle_is_finished(
    camillo: Camillo, tree: Path, user: Path
) -> None:
    camillo.mine(tree)
    texts = {entry["id"]: _only_here(entry["text"]) for entry in camillo.listed()}
    texts = {id: word for id, word in texts.items() if word}
    chance = random.Random(os.getpid())
    for _ in range(6):
        live = [entry["id"] for entry in camillo.listed() if entry["id"] in texts]
        gone = _killed_after(chance.randrange(12), "forget", live[:20])
        _assert_no_trace(user, [texts[id] for id in gone])
        _sound(user)
        assert camillo("search", "gate").code == 0
        still = {entry["id"] for entry in camillo.listed()}
        assert not gone & still
        _assert_no_trace(user, [texts[id] for id in texts if id not in still])


class TestInterrupted:
    def test_ctrl_c_files_what_was_read_and_ends_with_130(
        self, camillo: Camillo, tree: Path, user: Path
    ) -> None:
        with start("mine", tree) as process:
            _wait_for(process, user / "store.db-wal", 250_000)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err.endswith("camillo: interrupted\n")
        kept = _sound(user)
        assert 0 < kept < 300
        ran = camillo("search", "Heading", "-k", "1000")
        assert ran.report["degraded"] == []
        assert len({hit["source"] for hit in ran.results}) == kept
        assert camillo.mine(tree)["files_new"] == 300 - kept


def _state(camillo: Camillo) -> Any:
    entries = camillo.listed("--order", "id")
    kept = ("id", "text", "wing", "room", "source", "line_start", "line_end")
    return [[entry[name] for name in kept] for entry in entries], [
        camillo("search", query).results for query in ("token7", "gate door", "heading 12")
    ]


def _sound(root: Path) -> int:
    """A deep check of the store finds nothing; how many sources it holds, each one whole."""
    if not (root / "store.db").exists():
        return 0
    with open_vault() as vault:
        store = vault.root("user").store
        assert store.health(deep=True).problems == ()
        sources = list(store.scan(Filter(None, kinds=("source",), internal=True)))
        drawers = store.tally("source", Filter(None, kinds=("drawer",), archived=True))
        forgotten = store.count(Filter(None, kinds=("forgotten",), internal=True))
        for source in sources:
            assert source.origin is not None
            assert forgotten or drawers.get(source.origin.source, 0) == source.extra["parts"]
        return len(sources)


def _kill_when(process: subprocess.Popen[str], file: Path, size: int) -> None:
    _wait_for(process, file, size)
    process.kill()
    process.communicate()


def _wait_for(process: subprocess.Popen[str], file: Path, size: int) -> None:
    """Until the file has grown so far, or the process is at its end."""
    while process.poll() is None:
        try:
            if file.stat().st_size >= size:
                return
        except FileNotFoundError:
            pass
        try:
            process.wait(timeout=0.002)
        except subprocess.TimeoutExpired:
            continue


def _killed_after(count: int, operation: str, ids: list[str]) -> set[str]:
    """The ids that a process said were done before it was killed: `count`, and some in the pipe."""
    with start(operation, *ids, code=ONE_BY_ONE) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(count + 1)]
        process.kill()
        said += process.stdout.readlines()
    return {line.strip() for line in said if line.endswith("\n")}


def _only_here(text: str) -> str:
    return next((word.rstrip(".") for word in text.split() if word.startswith("token")), "")


def _assert_no_trace(root: Path, words: list[str]) -> None:
    wanted = [word.encode() + b"." for word in words]
    for path in root.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not [word for word in wanted if word in data], path
