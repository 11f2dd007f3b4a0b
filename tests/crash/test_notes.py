"""Notes while processes are killed and editors save: nothing that was acknowledged or typed is
lost."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
from pathlib import Path

import pytest

from camillo.ops.signature import run
from camillo.vault import Vault, open_vault
from flows.command import start

KILLS = 25

# Writes notes for ever, old and new ones, and says so after each.
WRITER = """
import random, sys
from camillo.ops.signature import run
from camillo.vault import open_vault

dice = random.Random(int(sys.argv[1]))
with open_vault() as vault:
    number = int(sys.argv[1]) * 1000
    while True:
        number += 1
        name = f"n{dice.randrange(12)}"
        run(vault, "remember", text=f"Text {number} of it.", name=name)
        print(name, number, flush=True)
"""

# Changes and erases one note, and dies in the middle: before or after the row is written.
DYING = """
import os, signal, sys
from camillo.engines.markdown.folder import NoteFolder
from camillo.engines.sqlite import SqliteStore
from camillo.ops.signature import run
from camillo.vault import open_vault

where, name = sys.argv[1:3]
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)

class Dying(SqliteStore):
    def put(self, memories, by=None, *, bulk=False):
        memories = list(memories)
        if where == "before the row" and any(m.id == "gate" for m in memories):
            kill()
        found = super().put(memories, by, bulk=bulk)
        if where == "after the row" and any(m.id == "gate" for m in memories):
            kill()
        return found

    def delete(self, keys, by=None, *, bulk=False):
        if where == "erasing":
            kill()
        return super().delete(keys, by, bulk=bulk)

if where == "removing":
    NoteFolder.remove = lambda *anything: kill()
with open_vault() as vault:
    root = vault.root("user", create=True)
    root._store = Dying(root.root.store_path)
    if name == "forget":
        run(vault, "forget", ids=["gate"])
    else:
        run(vault, name, **dict(pair.split("=") for pair in sys.argv[3:]))
"""


@pytest.fixture
def user(home: Path) -> Path:
    return home / ".camillo"


def _die(where: str, *words: str) -> None:
    with start(where, *words, code=DYING) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, err


def _texts(vault: Vault) -> dict[str, str]:
    listed = run(vault, "list", limit=1000, archived=True).results
    return {each["id"]: each["text"] for each in listed}


@pytest.mark.promise(1)
def test_a_writer_that_is_killed_loses_nothing_that_it_acknowledged(user: Path) -> None:
    dice = random.Random(7)
    for seed in range(1, KILLS + 1):
        last: dict[str, int] = {}
        with start(seed, code=WRITER) as process:
            assert process.stdout is not None
            for _ in range(dice.randrange(1, 12)):
                name, number = process.stdout.readline().split()
                last[name] = int(number)
            process.send_signal(signal.SIGKILL)
            for line in process.stdout.read().splitlines():
                name, number = line.split()
                last[name] = int(number)
        with open_vault() as vault:
            texts = _texts(vault)
        for name, number in last.items():
            held = int(re.findall(r"Text (\d+) of it\.", texts[name])[0])
            assert held >= number  # at most the one after it, which was not acknowledged
            assert texts[name] in (user / f"{name}.md").read_text("utf-8")


@pytest.mark.promise(1)
@pytest.mark.parametrize("where", ["before the row", "after the row"])
@pytest.mark.parametrize("there", [True, False])
def test_file_and_row_agree_after_a_crash_between_them(user: Path, where: str, there: bool) -> None:
    if there:
        with open_vault() as vault:
            run(vault, "remember", text="The gate is of oak.", name="gate")
    _die(where, "remember", "text=elm", "name=gate")
    with open_vault() as vault:
        assert _texts(vault) == {"gate": "elm"}
        found = run(vault, "search", query="elm").results
        assert [each.id for each in found] == ["gate"]
    assert (user / "gate.md").read_text("utf-8").endswith("elm")


@pytest.mark.promise(1, 12, 14)
@pytest.mark.parametrize("where", ["erasing", "removing"])
def test_a_crash_while_erasing_leaves_no_half_of_a_note(user: Path, where: str) -> None:
    """Before the commit it is whole, after it the next command removes the rest."""
    with open_vault() as vault:
        run(vault, "remember", text="The gate is of zirconium.", name="gate")
    _die(where, "forget")
    with open_vault() as vault:
        assert list(_texts(vault)) == (["gate"] if where == "erasing" else [])
        if where == "erasing":
            run(vault, "forget", ids=["gate"])
        run(vault, "search", query="gate")
        lines = [e for e in vault.root("user").store.journal() if e.what == "deleted"]
        assert [line.key.rpartition("/")[2] for line in lines] == ["gate"]
    held = [
        path for path in user.rglob("*") if path.is_file() and b"zirconium" in path.read_bytes()
    ]
    assert held == []


@pytest.mark.promise(10)
def test_two_hundred_edits_during_two_hundred_operations_lose_nothing(user: Path) -> None:
    """An editor that reads a file, adds a line and saves it, as editors do: beside it, then by a
    rename. Every line is in a note, or in a conflict file beside it."""
    names = [f"n{number}" for number in range(6)]
    with open_vault() as vault:
        for name in names:
            run(vault, "remember", text=f"{name}\n", name=name)
    typed: list[str] = []
    editor = threading.Thread(target=_edit, args=(user, names, typed))
    editor.start()
    dice = random.Random(11)
    with open_vault() as vault:
        for number in range(200):
            name = dice.choice(names)
            if number % 2:
                run(vault, "revise", id=name, summary=f"round {number}")
            else:
                run(vault, "remember", text=f"Made in round {number}.\n", name=f"made{number}")
        editor.join()
        texts = _texts(vault)
    everything = "".join(path.read_text("utf-8") for path in user.glob("*.md"))
    assert len(typed) == 200
    assert [line for line in typed if line not in everything] == []
    assert {f"made{number}" for number in range(0, 200, 2)} <= texts.keys()
    for name in names:  # the rows say what the files say
        assert texts[name] in (user / f"{name}.md").read_text("utf-8")
    assert not [path.name for path in user.iterdir() if path.name.endswith(".tmp")]


def _edit(folder: Path, names: list[str], typed: list[str]) -> None:
    dice = random.Random(5)
    for number in range(200):
        path = folder / f"{dice.choice(names)}.md"
        line = f"typed {number:03}.\n"
        beside = folder / f".{path.name}.swp"
        beside.write_text(path.read_text("utf-8") + line, "utf-8")
        os.replace(beside, path)
        typed.append(line)


@pytest.mark.promise(9)
def test_processes_that_open_a_folder_of_notes_at_once_all_see_it(user: Path) -> None:
    user.mkdir()
    for number in range(50):
        (user / f"n{number}.md").write_text(f"note {number}\n", "utf-8")
    running = [start("list", "--json", "--limit", "100") for _ in range(4)]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert '"total": 50' in out
    with open_vault() as vault:
        assert len(_texts(vault)) == 50
