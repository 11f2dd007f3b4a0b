"""The table of note files: what was read, and as what it looked then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo import registry
from camillo.indexes.files import NoteFiles
from camillo.model import Key
from camillo.ports import KnownFile, NoteStat

GATE = Key("", "user", "", "gate")
DOOR = Key("", "user", "s1", "gate")


def known(path: str, key: Key | None = GATE, *problems: str, broken: bool = False) -> KnownFile:
    stat = NoteStat(5_000_000_007, 12)
    return KnownFile(path, stat, b"0123456789abcdef", key, problems, broken)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[NoteFiles]:
    file = registry.open_index_file(str(tmp_path / "index.db"), "store-1")
    yield NoteFiles(file)
    file.close()


def test_what_was_recorded_is_known(files: NoteFiles) -> None:
    files.record([known("gate.md"), known("a/door.md", DOOR), known("bad.md", None, "no end")])
    assert files.known(["gate.md", "bad.md", "none.md"]) == {
        "gate.md": known("gate.md"),
        "bad.md": known("bad.md", None, "no end"),
    }
    assert files.stats()["a/door.md"] == NoteStat(5_000_000_007, 12)


def test_a_note_is_known_by_its_whole_key(files: NoteFiles) -> None:
    files.record([known("gate.md"), known("a/door.md", DOOR)])
    assert [each.path for each in files.holding(GATE)] == ["gate.md"]
    assert [each.path for each in files.holding(DOOR)] == ["a/door.md"]
    assert files.holding(GATE._replace(scope="project")) == []


def test_a_note_that_was_moved_is_in_two_files_until_the_first_is_struck(files: NoteFiles) -> None:
    files.record([known("gate.md")])
    files.record([known("old/gate.md")])
    assert [each.path for each in files.holding(GATE)] == ["gate.md", "old/gate.md"]
    files.record([], ["gate.md"])
    assert [each.path for each in files.holding(GATE)] == ["old/gate.md"]


def test_a_file_is_recorded_once(files: NoteFiles) -> None:
    files.record([known("gate.md")])
    files.record([known("gate.md", DOOR)])
    assert files.known(["gate.md"])["gate.md"].key == DOOR
    assert len(files.stats()) == 1


def test_problems_are_listed_by_path(files: NoteFiles) -> None:
    bad = known("a.md", None, "line 3: no end", broken=True)
    odd = known("z.md", GATE, "line 2: a tab", "line 4: no\nlist")
    files.record([odd, bad, known("m.md")])
    assert [(each.path, each.problems) for each in files.problems()] == [
        ("a.md", ("line 3: no end",)), ("z.md", ("line 2: a tab", "line 4: no list")),
    ]  # fmt: skip
    assert files.broken() == [bad]


def test_names_that_differ_by_case_or_form_are_different_files(files: NoteFiles) -> None:
    paths = ["Gate.md", "gate.md", "caf\u00e9.md", "cafe\u0301.md"]
    files.record([known(path, GATE._replace(id=path)) for path in paths])
    assert sorted(files.stats()) == sorted(paths)
    assert [each.path for each in files.holding(GATE._replace(id="cafe\u0301.md"))] == [paths[3]]


def test_thousands_are_asked_for_at_once(files: NoteFiles) -> None:
    paths = [f"{number}.md" for number in range(1234)]
    files.record([known(path, GATE._replace(id=path)) for path in paths])
    assert sorted(files.known(paths)) == sorted(paths)


def test_an_index_that_was_made_before_there_were_notes_gets_the_table(tmp_path: Path) -> None:
    file = registry.open_index_file(str(tmp_path / "index.db"), "store-1")
    with file.database.write() as connection:
        connection.execute("DROP TABLE files").fetchall()
    old = NoteFiles(file)
    assert (old.any(), old.stats(), old.holding(GATE), old.known(["gate.md"])) == (
        False,
        {},
        [],
        {},
    )
    assert old.problems() == []
    old.record([known("gate.md")])
    assert list(old.stats()) == ["gate.md"]
    file.close()


def test_a_table_of_an_earlier_camillo_is_made_anew(files: NoteFiles) -> None:
    with files._file.database.write() as connection:
        connection.execute(
            "DROP TABLE files; CREATE TABLE files(path TEXT PRIMARY KEY, mtime_ns, size, hash, "
            "namespace, scope, session, id, problem, line) WITHOUT ROWID; "
            "INSERT INTO files(path) VALUES ('old.md'); "
            "INSERT INTO meta VALUES ('notes_scanned', 17)"
        ).fetchall()
    assert (files.scanned(), files.any(), files.stats(), files.broken()) == (0, False, {}, [])
    files.record([known("gate.md")])
    assert (files.scanned(), list(files.stats())) == (0, ["gate.md"])


def test_it_says_when_a_folder_was_never_looked_through(files: NoteFiles) -> None:
    assert (files.scanned(), files.any()) == (0, False)
    files.record([], [], 17)
    assert (files.scanned(), files.any()) == (17, False)
    files.record([known("gate.md")])
    assert (files.scanned(), files.any()) == (17, True)
