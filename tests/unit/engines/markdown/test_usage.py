"""How often a note was used, in the file that oc keeps of it; and the pages of a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import camillo
from camillo.engines.markdown._usage import UsageFile, counted, usage_in
from camillo.engines.markdown.camillo import CamilloDialect
from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.engines.markdown.folder import LARGEST, NoteFolder
from camillo.engines.markdown.nullclaw import NullclawDialect
from camillo.engines.markdown.oc import OcDialect
from camillo.errors import InvalidValue, SourceUnreadable, StoreError
from camillo.ports import Usage

STATE = ".state.json"
SOURCE = str(Path(camillo.__file__).resolve().parents[1])
DAMAGED = [b"{", b"[1]", b"5", b'"x"', b"\xff{}", b'{"a": NaN}', b'{"a": 1e999}', b"[" * 100_000]

COUNTS = """
import sys
from camillo.engines.markdown.folder import NoteFolder
from camillo.engines.markdown.oc import OcDialect

folder = NoteFolder(sys.argv[1], OcDialect())
for number in range(int(sys.argv[2])):
    folder.used(["facts/a.md", f"facts/{sys.argv[3]}.md"], number)
"""

DIES = """
import os, sys
from camillo.engines.markdown._usage import UsageFile

class Dies(UsageFile):
    def _written(self, content, former):
        with super()._written(content, former):
            os._exit(9)

Dies(sys.argv[1], None, sys.argv[1]).count(["a/b.md"], 7)
"""


@pytest.fixture
def folder(tmp_path: Path) -> NoteFolder:
    clock = iter(range(1_767_323_045, 1_767_323_100))  # 2026-01-02T03:04:05Z
    return NoteFolder(str(tmp_path), OcDialect(), clock=lambda: float(next(clock)))


def here(folder: NoteFolder) -> set[str]:
    return set(os.listdir(folder.folder))


def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], env={**os.environ, "PYTHONPATH": SOURCE}
    )


def keep(folder: NoteFolder, content: bytes) -> Path:
    path = Path(folder.folder, STATE)
    path.write_bytes(content)
    return path


class TestWhatItSays:
    @pytest.mark.case("OC29")
    @pytest.mark.parametrize("content", [*DAMAGED, b"", b" \n", b"null", b"{}"])
    def test_a_damaged_file_and_an_empty_one_say_nothing(self, content: bytes) -> None:
        assert usage_in(content) == {}

    def test_entries_that_make_no_sense_are_left_out(self) -> None:
        entries: dict[str, Any] = {
            "a/b.md": {"hitCount": 2, "lastHitAt": 5, "more": "x"},
            "a/c.md": {"hitCount": 3.0},
            "a/d.md": 5,
            "a/e.md": {"hitCount": "2"},
            "a/f.md": {"hitCount": -1, "lastHitAt": 5},
            "a/g.md": {"hitCount": True, "lastHitAt": 5},
            "a/h.md": {"hitCount": 1, "lastHitAt": 10**300},
            "a/i.md": {"lastHitAt": 5},
        }
        assert usage_in(json.dumps(entries).encode()) == {
            "a/b.md": Usage(2, 5), "a/c.md": Usage(3, 0)
        }  # fmt: skip

    @pytest.mark.case("OC29")
    def test_a_count_changes_nothing_else(self) -> None:
        before = b'\xef\xbb\xbf{"version": 2, "a/b.md": {"hitCount": 2, "pin": [], "lastHitAt": 5}}'
        assert counted(before, ["a/b.md", "a/c.md", "a/b.md"], 7).decode() == (
            '{\n  "version": 2,\n  "a/b.md": {\n    "hitCount": 3,\n    "pin": [],\n'
            '    "lastHitAt": 7\n  },\n  "a/c.md": {\n    "hitCount": 1,\n    "lastHitAt": 7\n'
            "  }\n}\n"
        )

    def test_text_of_any_kind_comes_back(self) -> None:
        before = '{"笔记/é.md": "\\ud800 \\u0007 \\" 😀"}'.encode()
        after = counted(before, ["x/y.md"], 1).decode()
        assert after.startswith('{\n  "笔记/é.md": "\\ud800 \\u0007 \\" 😀",\n')
        assert json.loads(after)["笔记/é.md"] == '\ud800 \a " 😀'


class TestTheFile:
    def test_is_made_by_the_first_count_and_has_the_form_of_oc(self, folder: NoteFolder) -> None:
        assert folder.usage() == {}
        assert here(folder) == set()
        folder.used(["a/b.md"], 4)
        folder.used(["a/b.md"], 5)
        assert Path(folder.folder, STATE).read_text() == (
            '{\n  "a/b.md": {\n    "hitCount": 2,\n    "lastHitAt": 5\n  }\n}\n'
        )
        assert folder.usage() == {"a/b.md": Usage(2, 5)}
        assert here(folder) == {STATE}

    def test_keeps_its_mode(self, folder: NoteFolder) -> None:
        keep(folder, b"{}").chmod(0o600)
        folder.used(["a/b.md"], 4)
        assert Path(folder.folder, STATE).stat().st_mode & 0o777 == 0o600

    @pytest.mark.case("OC29")
    @pytest.mark.parametrize("content", DAMAGED)
    def test_a_damaged_one_is_kept_aside(self, folder: NoteFolder, content: bytes) -> None:
        keep(folder, content)
        assert folder.usage() == {}
        assert here(folder) == {STATE}
        folder.used(["a/b.md"], 4)
        assert folder.usage() == {"a/b.md": Usage(1, 4)}
        (aside,) = here(folder) - {STATE}
        assert aside == ".state.json.broken-20260102T030405Z"
        assert Path(folder.folder, aside).read_bytes() == content

    def test_and_another_one_of_the_same_second_too(self, tmp_path: Path) -> None:
        folder = NoteFolder(str(tmp_path), OcDialect(), clock=lambda: 1_767_323_045.0)
        for content in (b"{", b"["):
            keep(folder, content)
            folder.used(["a/b.md"], 4)
        assert here(folder) == {
            STATE, ".state.json.broken-20260102T030405Z", ".state.json.broken-20260102T030405Z-2"
        }  # fmt: skip

    def test_is_left_alone_where_there_is_nothing_to_count(self, tmp_path: Path) -> None:
        NoteFolder(str(tmp_path), OcDialect()).used([], 1)
        NoteFolder(str(tmp_path), OcDialect(), writable=False).used(["a/b.md"], 1)
        NoteFolder(str(tmp_path), CamilloDialect()).used(["a/b.md"], 1)
        assert list(tmp_path.iterdir()) == []
        (tmp_path / STATE).write_text('{"a/b.md": {"hitCount": 1}}')
        assert NoteFolder(str(tmp_path), CamilloDialect()).usage() == {}
        assert NoteFolder(str(tmp_path), OcDialect(), writable=False).usage() == {
            "a/b.md": Usage(1, 0)
        }

    @pytest.mark.promise(15)
    def test_a_link_in_its_place_is_not_followed(
        self, folder: NoteFolder, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        outside = tmp_path_factory.mktemp("outside") / "state.json"
        outside.write_text('{"a/b.md": {"hitCount": 1}}')
        Path(folder.folder, STATE).symlink_to(outside)
        assert folder.usage() == {}
        with pytest.raises(SourceUnreadable, match=r"\.state\.json.*link"):
            folder.used(["a/b.md"], 1)
        assert outside.read_text() == '{"a/b.md": {"hitCount": 1}}'
        assert here(folder) == {STATE}

    def test_what_cannot_be_counted_is_told_and_stays(self, folder: NoteFolder) -> None:
        with keep(folder, b"{}").open("wb") as file:
            file.truncate(LARGEST + 1)
        assert folder.usage() == {}
        with pytest.raises(InvalidValue, match=r"\.state\.json"):
            folder.used(["a/b.md"], 1)
        assert here(folder) == {STATE}
        Path(folder.folder, STATE).unlink()
        Path(folder.folder).rmdir()
        assert folder.usage() == {}
        with pytest.raises(StoreError, match=r"\.state\.json"):
            folder.used(["a/b.md"], 1)

    def test_what_oc_wrote_meanwhile_is_counted_on(self, folder: NoteFolder) -> None:
        theirs = b'{"a/b.md": {"hitCount": 40}, "a/c.md": {"hitCount": 1}}'
        file = _Interrupted(os.path.join(folder.folder, STATE), None, STATE)
        file.theirs = [theirs]
        keep(folder, b'{"a/b.md": {"hitCount": 1}}')
        file.count(["a/b.md"], 7)
        assert folder.usage() == {"a/b.md": Usage(41, 7), "a/c.md": Usage(1, 0)}
        assert here(folder) == {STATE}

    @pytest.mark.promise(7)
    def test_what_a_killed_count_leaves_is_swept(self, folder: NoteFolder) -> None:
        before = keep(folder, b"{}")
        run = start(DIES, str(before))
        assert run.wait(60) == 9
        assert len(here(folder)) == 2
        folder.sweep(-1e10)
        assert (here(folder), before.read_bytes()) == ({STATE}, b"{}")

    @pytest.mark.promise(7)
    def test_two_processes_lose_no_count(self, folder: NoteFolder) -> None:
        running = [start(COUNTS, folder.folder, "60", name) for name in ("b", "c")]
        assert [each.wait(60) for each in running] == [0, 0]
        hits = {path: used.hits for path, used in folder.usage().items()}
        assert hits == {"facts/a.md": 120, "facts/b.md": 60, "facts/c.md": 60}
        assert here(folder) == {STATE}


class _Interrupted(UsageFile):
    """oc puts `theirs` in its place while a count is being written."""

    theirs: list[bytes]

    def _written(self, content: bytes, former: os.stat_result | None) -> Any:
        if self.theirs:
            Path(self.name).write_bytes(self.theirs.pop())
        return super()._written(content, former)


class TestPages:
    def test_are_found_in_any_case_and_room(self, folder: NoteFolder) -> None:
        pages = ["README.md", "ROOT.md", "facts/index.md", "hand/index.md"]
        others = ["facts/README.md", "facts/a.md", "loose.md", "facts/deep/index.md", ".x/index.md"]
        others += ["index/index.md", "facts/index.txt"]
        for path in (*pages, *others):
            Path(folder.folder, path).parent.mkdir(parents=True, exist_ok=True)
            Path(folder.folder, path).write_text("x")
        Path(folder.folder, "empty").mkdir()
        Path(folder.folder, "empty", "index.md").symlink_to(Path(folder.folder, "ROOT.md"))
        assert folder.pages() == pages

    def test_are_what_is_no_note(self, tmp_path: Path) -> None:
        for name in ("MEMORY.md", "Root.md", "index.md", "a.md"):
            (tmp_path / name).write_text("x")
        (tmp_path / "room").mkdir()
        (tmp_path / "room" / "Index.md").write_text("x")
        found = {
            dialect.name: NoteFolder(str(tmp_path), dialect).pages()
            for dialect in (CamilloDialect(), CommonplaceDialect(), NullclawDialect())
        }
        assert found == {
            "camillo": ["Root.md", "index.md", "room/Index.md"],
            "commonplace": [],
            "nullclaw": ["Root.md", "index.md"],
        }

    def test_of_a_folder_that_is_gone_there_are_none(self, tmp_path: Path) -> None:
        assert NoteFolder(str(tmp_path / "gone"), OcDialect()).pages() == []
