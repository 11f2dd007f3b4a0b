"""Several writers on one note, and writers that are killed: no text is lost, no file is half."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import camillo
from camillo.engines.markdown.camillo import CamilloDialect
from camillo.engines.markdown.folder import NoteFolder
from camillo.errors import NoteChanged

SOURCE = str(Path(camillo.__file__).resolve().parents[1])
NOTE = "log.md"
WRITES = 100

APPENDS = """
import sys
from camillo.engines.markdown.camillo import CamilloDialect
from camillo.engines.markdown.folder import NoteFolder
from camillo.errors import NoteChanged

folder = NoteFolder(sys.argv[1], CamilloDialect())
for number in range(int(sys.argv[3])):
    while True:
        present = folder.read("log.md")
        try:
            folder.write("log.md", present + f"{sys.argv[2]} {number}\\n".encode(), present)
            break
        except NoteChanged:
            continue
"""

REWRITES = """
import sys
from camillo.engines.markdown.camillo import CamilloDialect
from camillo.engines.markdown.folder import NoteFolder

folder = NoteFolder(sys.argv[1], CamilloDialect())
present = folder.read("log.md")
number = int(present.split()[0])
print("ready", flush=True)
while True:
    number += 1
    content = f"{number} ".encode() * 20_000
    folder.write("log.md", content, present)
    present = content
    folder.write(f"new/n{number}.md", content, None)
    folder.remove(f"new/n{number}.md", content)
    print(number, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> NoteFolder:
    folder = NoteFolder(str(tmp_path), CamilloDialect())
    folder.write(NOTE, b"0 \n", None)
    return folder


def _start(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.promise(7)
@pytest.mark.case("CP50")
def test_two_processes_that_write_one_note_lose_nothing(folder: NoteFolder) -> None:
    writers = [_start(APPENDS, folder.folder, name, str(WRITES)) for name in ("a", "b")]
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    lines = folder.read(NOTE).decode().splitlines()[1:]
    assert sorted(lines) == sorted(f"{name} {n}" for name in "ab" for n in range(WRITES))
    assert os.listdir(folder.folder) == [NOTE]


def _in_place(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _appended(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content[content[:-1].rfind(b"\n") + 1 :])


def _renamed(path: Path, content: bytes) -> None:
    beside = path.with_name(".editor.swp")
    beside.write_bytes(content)
    beside.replace(path)


@pytest.mark.promise(10)
@pytest.mark.parametrize("save", [_in_place, _appended, _renamed])
def test_what_an_editor_saves_during_our_writes_survives(
    folder: NoteFolder, save: Callable[[Path, bytes], None]
) -> None:
    path = Path(folder.folder) / NOTE
    done = threading.Event()

    def write() -> None:
        number = 0
        while not done.is_set() or number < 2 * WRITES:
            present = folder.read(NOTE)
            try:
                folder.write(NOTE, present + f"ours {number}\n".encode(), present)
            except NoteChanged:
                continue
            number += 1

    ours = threading.Thread(target=write)
    ours.start()
    chance = random.Random(7)
    for number in range(2 * WRITES):
        for _ in range(chance.randrange(3)):
            folder.scan()
        save(path, path.read_bytes() + f"theirs {number}\n".encode())
    done.set()
    ours.join(120)
    kept = [folder.read(NOTE), *map(folder.read, folder.conflicts())]
    saved = {line for content in kept for line in content.decode().splitlines()}
    assert {f"theirs {number}" for number in range(2 * WRITES)} - saved == set()


@pytest.mark.promise(1)
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="POSIX only")
def test_a_killed_writer_leaves_every_file_whole(folder: NoteFolder) -> None:
    chance = random.Random(11)
    written = 0
    for _ in range(12):
        acknowledged = _killed(folder, chance, written)
        content = folder.read(NOTE)
        written = int(content.split()[0])
        assert content == f"{written} ".encode() * 20_000
        assert written >= acknowledged
        left = [name for above, _, names in os.walk(folder.folder) for name in names]
        assert len([name for name in left if name.endswith(".tmp")]) <= 1
        folder.sweep()
        for path in folder.scan()[0]:
            number = int(folder.read(path).split()[0])
            assert folder.read(path) == f"{number} ".encode() * 20_000
            if path != NOTE:
                folder.remove(path, folder.read(path))
        assert folder.conflicts() == []
    assert written > 100


def _killed(folder: NoteFolder, chance: random.Random, written: int) -> int:
    """Runs a writer and kills it somewhere in its work; the last write that it acknowledged."""
    with _start(REWRITES, folder.folder) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for _ in range(chance.randrange(1, 30)):
            written = int(writer.stdout.readline())
        for _ in range(chance.randrange(20_000)):
            pass
        writer.kill()
        rest = writer.stdout.read().split()
    return int(rest[-1]) if rest and rest[-1].isdigit() else written
