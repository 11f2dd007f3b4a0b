"""The notes of one root: files and rows that agree, whoever writes."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from camillo.engines.markdown.camillo import CamilloDialect
from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.engines.markdown.folder import LARGEST, NoteFolder
from camillo.engines.sqlite import SqliteStore
from camillo.errors import InvalidValue, NoteBroken, NoteChanged, Refused
from camillo.forgotten import Forgotten
from camillo.model import Edge, Filter, Key, Memory, replace
from camillo.notebook import Notebook
from camillo.notes.merge import merge
from camillo.ops import run
from camillo.registry import load, open_index_file
from camillo.vault import open_vault
from flows.command import unprivileged_python

GATE = Key("", "user", "", "gate")


class Desk:
    """A folder of notes with its store, and programs that look into it."""

    def __init__(self, folder: Path, dialect: type = CamilloDialect, writable: bool = True) -> None:
        self.folder = folder
        self._dialect, self._writable = dialect, writable
        folder.mkdir(exist_ok=True)
        self.store = SqliteStore(str(folder / "store.db"))
        self._files: list[object] = []

    def notebook(self) -> Notebook:
        """As a program that was just started."""
        path = str(self.folder / "index" / "index.db")
        file = open_index_file(path, self.store.identity())
        self._files.append(file)
        folder = NoteFolder(str(self.folder), self._dialect(), self._writable)
        forgotten = partial(Forgotten, self.store, "user")
        return Notebook(folder, self.store, load("index", "files")(file), "user", forgotten)

    def look(self) -> list[str]:
        """The ids of all notes, after a program has looked."""
        self.notebook().refresh()
        return sorted(memory.id for memory in self.store.scan(Filter(None, archived=True)))

    def lose_index(self) -> None:
        self.close_index()
        shutil.rmtree(self.folder / "index")

    def close_index(self) -> None:
        for file in self._files:
            file.close()  # type: ignore[attr-defined]
        self._files.clear()

    def memory(self, id: str = "gate") -> Memory:
        found = self.store.get([GATE._replace(id=id)])[0]
        assert found is not None
        return found

    def write(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def read(self, path: str = "gate.md") -> str:
        return (self.folder / path).read_bytes().decode()

    def deletions(self) -> list[tuple[str, str]]:
        return [(e.via, e.key) for e in self.store.journal(limit=100) if e.what == "deleted"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "notes")
    yield made
    made.close_index()
    made.store.close()


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Desk]:
    """A folder of commonplace."""
    made = Desk(tmp_path / "memory", CommonplaceDialect)
    yield made
    made.close_index()
    made.store.close()


def giving(**fields: object) -> Callable[[Memory | None], Memory]:
    def change(now: Memory | None) -> Memory:
        own = {} if now else {"id": "gate", "body": "The gate is open.\n"}
        return merge(now, {**own, **fields}, 1_700_000_000_000).memory

    return change


def note(name: str, body: str, **fields: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in {"name": name, **fields}.items())
    return f"---\n{lines}---\n{body}"


class TestSaving:
    @pytest.mark.promise(24)
    def test_a_new_note_is_a_file_and_a_row(self, desk: Desk) -> None:
        saved = desk.notebook().save(GATE, giving(summary="When it rains"))
        assert saved.outcome.status == "stored"
        assert saved.path == "gate.md"
        assert saved.hash == sha256(desk.read().encode()).hexdigest()
        assert desk.memory().summary == "When it rains"
        assert desk.memory().extra["file"] == "gate.md"

    @pytest.mark.promise(24)
    def test_nothing_new_is_deduplicated_and_touches_no_file(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        before = (desk.folder / "gate.md").stat()
        assert notebook.save(GATE, giving()).outcome.status == "deduplicated"
        assert (desk.folder / "gate.md").stat().st_mtime_ns == before.st_mtime_ns

    def test_a_rewrite_keeps_what_it_does_not_change(self, desk: Desk) -> None:
        head = "\ufeff---\r\n# of the gate\r\nname: gate\r\n"
        rest = "owner: kim  # who knows\r\npinned: true\r\n"
        desk.write("gate.md", f"{head}{rest}---\r\n\r\nbody \r\n")
        notebook = desk.notebook()
        notebook.refresh()
        notebook.save(GATE, giving(summary="now"))
        written = desk.read()
        assert written.startswith(f"{head}description: now\r\n{rest}")
        assert written.endswith("---\r\n\r\nbody \r\n")
        assert desk.memory().pinned
        assert desk.memory().extra["frontmatter"] == {"owner": "kim"}

    def test_the_change_is_made_to_the_file_as_it_is_now(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving(summary="old"))
        desk.write("gate.md", note("gate", "by hand\n", hint="kept"))
        notebook.save(GATE, lambda now: replace(now, edges=(Edge("related-to", "door"),)))  # type: ignore[type-var]
        assert "by hand\n" in desk.read()
        assert "hint: kept\n" in desk.read()
        assert desk.memory().body == "by hand\n"

    def test_a_note_that_was_moved_meanwhile_is_changed_where_it_is(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        notebook.refresh()
        (desk.folder / "old").mkdir()
        (desk.folder / "gate.md").rename(desk.folder / "old" / "gate.md")
        saved = notebook.save(GATE, giving(summary="moved"))
        assert saved.path == "old/gate.md"
        assert not (desk.folder / "gate.md").exists()
        assert desk.look() == ["gate"]

    def test_another_note_that_was_put_in_its_place_meanwhile_is_left_alone(
        self, desk: Desk
    ) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        notebook.refresh()
        desk.write("gate.md", note("door", "The door.\n"))
        saved = notebook.save(GATE, giving(summary="back"))
        assert desk.read("gate.md") == note("door", "The door.\n")
        assert saved.path == "gate-2.md"
        assert desk.look() == ["door", "gate"]

    def test_a_note_that_was_deleted_meanwhile_begins_anew(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving(summary="old"))
        notebook.refresh()
        (desk.folder / "gate.md").unlink()
        assert notebook.save(GATE, giving()).outcome.status == "stored"
        assert desk.memory().summary == ""

    def test_what_was_expected_is_compared_with_the_bytes(self, desk: Desk) -> None:
        notebook = desk.notebook()
        first = notebook.save(GATE, giving())
        second = notebook.save(GATE, giving(summary="2"), expect=first.hash)
        with pytest.raises(NoteChanged, match="is not what was expected"):
            notebook.save(GATE, giving(summary="3"), expect=first.hash)
        notebook.save(GATE, giving(summary="4"), expect=second.hash[:12].upper())
        with pytest.raises(NoteChanged, match="does not exist"):
            notebook.save(GATE._replace(id="door"), giving(id="door"), expect=second.hash)
        for wrong in ("abc", "no hash at all"):
            with pytest.raises(InvalidValue, match="no hash"):
                notebook.save(GATE, giving(summary="5"), expect=wrong)

    def test_a_broken_file_is_not_written_over(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        desk.write("gate.md", "---\nname: gate\nno end\n")
        with pytest.raises(NoteBroken):
            notebook.save(GATE, giving(summary="2"))
        assert desk.read() == "---\nname: gate\nno end\n"
        assert desk.memory().body == "The gate is open.\n"

    def test_a_file_that_is_in_the_way_stays(self, desk: Desk) -> None:
        desk.write("gate.md", "---\nno end\n")
        saved = desk.notebook().save(GATE, giving())
        assert saved.path == "gate-2.md"
        assert desk.read("gate.md") == "---\nno end\n"

    def test_a_read_only_folder_is_read_and_never_written(self, tmp_path: Path) -> None:
        desk = Desk(tmp_path / "theirs", writable=False)
        desk.write("gate.md", note("gate", "The gate.\n"))
        notebook = desk.notebook()
        assert desk.look() == ["gate"]
        with pytest.raises(Refused, match="only read"):
            notebook.save(GATE, giving(summary="2"))
        with pytest.raises(Refused, match="only read"):
            notebook.erase([GATE])
        assert desk.read() == note("gate", "The gate.\n")
        desk.close_index()
        desk.store.close()

    @pytest.mark.promise(15)
    @pytest.mark.parametrize("name", ["../gate", "/gate", "a/b", "..", "a\\b", "CON", "a\0b", ".x"])
    def test_a_name_that_leads_elsewhere_is_refused(self, desk: Desk, name: str) -> None:
        with pytest.raises((Refused, InvalidValue)):
            desk.notebook().save(GATE._replace(id=name), giving(id=name))
        assert not list(desk.folder.parent.rglob("*.md"))

    @pytest.mark.promise(15)
    @pytest.mark.parametrize("room", ["..", "../x", "/x", "a/../../x", "a\\b", ".hidden", "index"])
    def test_a_room_that_leads_elsewhere_is_refused(self, desk: Desk, room: str) -> None:
        with pytest.raises((Refused, InvalidValue)):
            desk.notebook().save(GATE, giving(room=room))
        assert not list(desk.folder.parent.rglob("*.md"))

    @pytest.mark.parametrize("room", ["caf\xe9", "cafe\u0301"])
    def test_a_room_is_one_folder_in_either_normal_form(self, desk: Desk, room: str) -> None:
        notebook = desk.notebook()
        saved = notebook.save(GATE, giving(room=room))
        assert saved.path == "caf\xe9/gate.md"
        desk.write("cafe\u0301/by_hand.md", note("by_hand", "x\n"))
        desk.look()
        assert desk.store.tally("room") == {"caf\xe9": 2}
        door = GATE._replace(id="door")
        assert desk.notebook().save(door, giving(id="door", room=room)).path == "caf\xe9/door.md"
        assert (desk.folder / "cafe\u0301" / "by_hand.md").is_file()

    def test_a_save_waits_for_the_disk_twice_the_file_and_its_folder(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        synced: list[int] = []
        fsync = os.fsync
        monkeypatch.setattr(os, "fsync", lambda file: (synced.append(file), fsync(file)))
        notebook.save(GATE, giving(summary="2"))
        assert len(synced) == 2
        notebook.save(GATE._replace(id="door"), giving(id="door"))
        assert len(synced) == 4


class TestLooking:
    def test_what_people_write_is_taken_in(self, desk: Desk) -> None:
        desk.write("gate.md", note("gate", "one\n"))
        desk.write("rooms/door.md", "# The door\n\nOak.\n")
        assert desk.look() == ["door", "gate"]
        assert desk.memory("door").title == "The door"
        assert desk.memory("door").place.room == "rooms"

    def test_an_edit_in_place_is_seen_also_when_size_and_time_stay(self, desk: Desk) -> None:
        file = desk.write("gate.md", note("gate", "one\n"))
        desk.look()
        stamp = file.stat().st_mtime_ns
        desk.write("gate.md", note("gate", "two\n"))
        os.utime(file, ns=(stamp, stamp))
        desk.look()
        assert desk.memory().body == "two\n"

    def test_nothing_is_read_again_where_nothing_changed(self, desk: Desk) -> None:
        def write(text: str) -> None:
            for number in range(20):
                os.utime(desk.write(f"{number}.md", text), (1e9, 1e9))

        write("as it was read\n")
        desk.look()
        write("this is unseen\n")  # what only reading would tell: size and an old time are the same
        assert desk.notebook().refresh() == 0
        assert {memory.body for memory in desk.store.scan()} == {"as it was read\n"}

    def test_half_a_second_is_not_looked_again_but_after_a_write_of_our_own(
        self, desk: Desk
    ) -> None:
        notebook = desk.notebook()
        notebook.refresh()
        desk.write("door.md", note("door", "x\n"))
        assert notebook.refresh() == 0
        notebook.save(GATE, giving())
        assert notebook.refresh() == 1

    def test_a_move_keeps_what_only_the_row_holds(self, shared: Desk) -> None:
        shared.notebook().save(GATE, giving(kind="project", archived=77, tags=("wet",)))
        (shared.folder / "gate.md").rename(shared.folder / "portal.md")
        assert shared.look() == ["gate"]
        assert shared.memory().archived == 77
        assert shared.memory().tags == ("wet",)
        assert shared.memory().extra["file"] == "portal.md"
        assert shared.deletions() == []

    def test_two_that_swap_their_files_stay_themselves(self, shared: Desk) -> None:
        notebook = shared.notebook()
        notebook.save(GATE, giving(kind="project", tags=("wet",)))
        notebook.save(GATE._replace(id="door"), giving(id="door", body="Oak.", kind="project"))
        one, other = shared.read("gate.md"), shared.read("door.md")
        shared.write("gate.md", other)
        shared.write("door.md", one)
        assert shared.look() == ["door", "gate"]
        assert shared.memory().tags == ("wet",)
        assert shared.memory("door").body == "Oak."

    def test_a_note_that_is_renamed_inside_has_its_new_name_alone(self, desk: Desk) -> None:
        desk.write("gate.md", note("gate", "one\n"))
        desk.look()
        desk.write("gate.md", note("portal", "one\n"))
        assert desk.look() == ["portal"]

    @pytest.mark.promise(14)
    def test_a_note_that_is_deleted_disappears_and_leaves_a_line(self, desk: Desk) -> None:
        desk.notebook().save(GATE, giving())
        (desk.folder / "gate.md").unlink()
        assert desk.look() == []
        [(via, key)] = desk.deletions()
        assert via == "files"
        assert "gate" in key
        assert "open" not in key

    @pytest.mark.parametrize("kind", ["file", "pipe", "nothing"])
    def test_notes_go_with_a_room_that_is_no_folder_any_more(self, desk: Desk, kind: str) -> None:
        desk.write("gate.md", note("gate", "one\n"))
        desk.write("rooms/door.md", note("door", "two\n"))
        (desk.folder / "rooms" / "deep").mkdir()
        desk.write("rooms/deep/well.md", note("well", "three\n"))
        assert desk.look() == ["door", "gate", "well"]
        shutil.rmtree(desk.folder / "rooms")
        if kind == "file":
            desk.write("rooms", "a file has its name now")
        elif kind == "pipe":
            os.mkfifo(desk.folder / "rooms")
        assert desk.look() == ["gate"]
        assert sorted(key for _, key in desk.deletions()) == ["user/door", "user/well"]
        desk.lose_index()
        assert desk.look() == ["gate"]

    @pytest.mark.promise(5)
    def test_notes_stay_where_a_link_has_the_name_of_their_room(self, desk: Desk) -> None:
        desk.write("rooms/door.md", note("door", "two\n"))
        desk.look()
        (desk.folder / "rooms").rename(desk.folder.parent / "elsewhere")
        (desk.folder / "rooms").symlink_to(desk.folder.parent / "elsewhere")
        assert desk.look() == ["door"]
        assert desk.deletions() == []

    @pytest.mark.promise(13)
    def test_of_two_copies_one_may_go(self, desk: Desk) -> None:
        desk.write("gate.md", note("gate", "one\n"))
        desk.look()
        desk.write("copy.md", note("gate", "one\n"))
        assert desk.look() == ["gate", "gate~2"]
        (desk.folder / "gate.md").unlink()
        desk.look()
        assert [memory.body for memory in desk.store.scan()] == ["one\n"]

    def test_two_files_of_one_name_are_two_notes(self, desk: Desk) -> None:
        desk.write("b.md", note("gate", "first\n"))
        desk.look()
        desk.write("a.md", note("gate", "second\n"))
        assert desk.look() == ["gate", "gate~2"]
        assert (desk.memory().body, desk.memory("gate~2").body) == ("first\n", "second\n")
        [problem] = desk.notebook().problems()
        assert problem.path == "a.md"
        assert "another file has the name 'gate'" in problem.message

    def test_they_keep_their_names_when_the_index_is_lost(self, desk: Desk) -> None:
        desk.write("b.md", note("gate", "first\n"))
        desk.look()
        desk.write("a.md", note("gate", "second\n"))
        desk.look()
        desk.lose_index()
        desk.look()
        assert (desk.memory().body, desk.memory("gate~2").body) == ("first\n", "second\n")

    def test_a_change_to_the_second_leaves_its_name_in_the_file(self, desk: Desk) -> None:
        desk.write("b.md", note("gate", "first\n"))
        desk.look()
        desk.write("a.md", note("gate", "second\n"))
        desk.look()
        desk.notebook().save(GATE._replace(id="gate~2"), giving(summary="of two"))
        assert "name: gate\n" in desk.read("a.md")
        assert desk.look() == ["gate", "gate~2"]
        assert desk.memory("gate~2").summary == "of two"

    def test_names_that_differ_by_case_or_form_do_not_evict_each_other(self, desk: Desk) -> None:
        names = ["Gate", "gate", "caf\u00e9", "cafe\u0301"]
        for name in names:
            desk.write(f"{name}.md", f"{name}\n")
        if len(list(desk.folder.glob("*.md"))) == len(names):
            assert desk.look() == sorted(names)
            assert desk.memory("cafe\u0301").body == "cafe\u0301\n"

    def test_a_broken_file_is_told_with_its_line_and_no_other_vanishes(self, desk: Desk) -> None:
        desk.write("gate.md", note("gate", "one\n"))
        desk.write("door.md", note("door", "two\n"))
        desk.look()
        desk.write("door.md", "---\nname: door\nname: twice\n---\nthree\n")
        desk.write("new.md", "---\nname: [\n---\nx\n")
        assert desk.look() == ["door", "gate"]
        assert desk.memory("door").body == "two\n"  # as it was read last
        problems = {each.path: each for each in desk.notebook().problems()}
        assert problems["door.md"].line == 3
        assert problems["new.md"].line > 0
        desk.write("door.md", note("door", "mended\n"))
        desk.write("new.md", note("new", "mended\n"))
        assert desk.look() == ["door", "gate", "new"]
        assert desk.notebook().problems() == []

    def test_an_alias_bomb_is_refused(self, desk: Desk) -> None:
        bomb = "a: &a [x, x]\n" + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]\n" for n in range(24)
        )
        desk.write("bomb.md", f"---\n{bomb}---\nx\n")
        assert desk.look() == []
        assert [each.path for each in desk.notebook().problems()] == ["bomb.md"]

    def test_a_file_that_is_too_large_is_told(self, desk: Desk) -> None:
        desk.write("gate.md", "x" * (LARGEST + 1))
        assert desk.look() == []
        [problem] = desk.notebook().problems()
        assert problem.path == "gate.md"
        assert "bytes" in problem.message

    def test_a_field_that_cannot_be_used_is_told_and_the_note_stands(self, desk: Desk) -> None:
        desk.write("gate.md", note("gate", "one\n", pinned="perhaps"))
        assert desk.look() == ["gate"]
        [problem] = desk.notebook().problems()
        assert (problem.path, problem.line) == ("gate.md", 3)
        assert problem.message.startswith("pinned")

    @pytest.mark.promise(4)
    def test_a_lost_index_loses_nothing(self, shared: Desk) -> None:
        shared.notebook().save(GATE, giving(kind="project", archived=77, tags=("wet",)))
        before = shared.memory()
        shared.lose_index()
        assert shared.look() == ["gate"]
        assert shared.memory() == before

    @pytest.mark.promise(4)
    def test_moved_and_deleted_while_the_index_was_lost(self, shared: Desk) -> None:
        notebook = shared.notebook()
        notebook.save(GATE, giving(kind="project", archived=77))
        notebook.save(GATE._replace(id="door"), giving(id="door", kind="project"))
        shared.lose_index()
        (shared.folder / "gate.md").rename(shared.folder / "portal.md")
        (shared.folder / "door.md").unlink()
        assert shared.look() == ["gate"]
        assert shared.memory().archived == 77
        assert [key for _, key in shared.deletions() if "door" in key]

    def test_a_row_that_was_never_a_file_is_left_alone(self, desk: Desk) -> None:
        desk.store.put([Memory("filed", "by a mine", "drawer"), Memory("kept", "before files")])
        assert desk.look() == ["filed", "kept"]
        desk.lose_index()
        assert desk.look() == ["filed", "kept"]

    def test_ten_thousand_that_did_not_change_cost_little(self, desk: Desk) -> None:
        for number in range(10_000):
            path = desk.folder / f"n{number}.md"
            path.write_text(note(f"n{number}", f"Gate {number}.\n"), "utf-8")
            os.utime(path, (1e9, 1e9))
        assert desk.notebook().refresh() == 10_000
        assert min(_spent(desk.notebook().refresh) for _ in range(3)) <= 0.120
        notebook = desk.notebook()
        notebook.refresh()
        key = GATE._replace(id="n7")
        saves = [_spent(partial(notebook.save, key, giving(summary=text))) for text in "abc"]
        assert min(saves) <= 0.025
        assert notebook.refresh() == 0


class TestErasing:
    def test_the_file_goes_after_the_transaction(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        with desk.store.transaction():
            gone = notebook.erase([GATE])
            desk.store.delete([GATE])
        assert gone == ["gate.md"]
        assert (desk.folder / "gate.md").exists()
        assert notebook.strike(gone) == []
        assert not (desk.folder / "gate.md").exists()
        assert desk.look() == []

    def test_another_note_in_its_file_is_not_erased(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        desk.write("gate.md", note("door", "The door.\n"))
        with pytest.raises(NoteChanged, match="holds 'door' now"):
            notebook.erase([GATE])
        assert desk.read() == note("door", "The door.\n")

    def test_a_broken_file_can_be_erased(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        desk.write("gate.md", "---\nno end")
        assert notebook.strike(notebook.erase([GATE])) == []
        assert not (desk.folder / "gate.md").exists()

    @pytest.mark.promise(12)
    def test_what_was_not_removed_is_removed_at_the_next_look(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        with desk.store.transaction():
            notebook.erase([GATE])
            desk.store.delete([GATE])
        assert desk.look() == []  # another program, after the first one died
        assert not (desk.folder / "gate.md").exists()

    def test_a_file_that_was_written_anew_meanwhile_stays(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        with desk.store.transaction():
            gone = notebook.erase([GATE])
            desk.store.delete([GATE])
        desk.write("gate.md", note("gate", "Another gate.\n"))
        notebook.strike(gone)
        assert desk.look() == ["gate"]

    @pytest.mark.promise(12)
    def test_leftovers_of_killed_writers_go_too(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        (desk.folder / ".gate.0123abcd.new.tmp").write_bytes(desk.read().encode())
        with desk.store.transaction():
            gone = notebook.erase([GATE])
            desk.store.delete([GATE])
        notebook.strike(gone)
        assert not [path for path in desk.folder.iterdir() if path.suffix == ".tmp"]

    @pytest.mark.promise(12)
    def test_one_that_comes_back_stays_out_until_somebody_remembers_it(self, desk: Desk) -> None:
        desk.notebook().save(GATE, giving())
        [gate] = desk.store.get([GATE])
        assert gate is not None
        content = desk.read()
        with desk.store.transaction():
            desk.store.put(Forgotten(desk.store, "user").records([gate]))
            gone = desk.notebook().erase([GATE])
            desk.store.delete([GATE])
        desk.notebook().strike(gone)
        desk.write("gate.md", content)
        assert desk.look() == []
        [problem] = desk.notebook().problems()
        assert "was forgotten" in problem.message
        desk.notebook().save(GATE, giving())
        assert desk.look() == ["gate"]

    @pytest.mark.promise(12)
    def test_conflict_files_that_may_hold_the_text_are_named(self, desk: Desk) -> None:
        notebook = desk.notebook()
        notebook.save(GATE, giving())
        desk.write("gate.conflict-20260102T030405Z.md", "The gate was open.\n")
        desk.write("door.conflict-20260102T030405Z.md", "The door.\n")
        gone = notebook.erase([GATE])
        assert notebook.strike(gone) == ["gate.conflict-20260102T030405Z.md"]


def _spent(work: Callable[[], object]) -> float:
    """Seconds of CPU."""
    start = time.process_time()
    work()
    return time.process_time() - start


UNREADABLE = """
import sys
sys.path[:0] = sys.argv[3:]
from pathlib import Path
from camillo.errors import SourceUnreadable
from unit.test_notebook import GATE, Desk, giving
desk = Desk(Path(sys.argv[1]))
print(desk.look())
print([each.path for each in desk.notebook().problems()])
if sys.argv[2]:
    for write in (lambda: desk.notebook().save(GATE, giving(summary="2")),
                  lambda: desk.notebook().erase([GATE])):
        try:
            write()
        except SourceUnreadable as error:
            print("unreadable")
"""


@pytest.mark.promise(5)
class TestUnreadable:
    def _run(self, desk: Desk, write: str = "") -> list[str]:
        return unprivileged_python(UNREADABLE, desk.folder, write).splitlines()

    def test_a_folder_that_cannot_be_read_deletes_nothing(self, desk: Desk) -> None:
        desk.write("gate.md", note("gate", "one\n"))
        desk.write("rooms/door.md", note("door", "two\n"))
        desk.look()
        (desk.folder / "rooms").chmod(0)
        try:
            assert self._run(desk)[0] == "['door', 'gate']"
        finally:
            (desk.folder / "rooms").chmod(0o700)
        assert desk.deletions() == []

    def test_a_file_that_cannot_be_read_is_told_and_kept(self, desk: Desk) -> None:
        file = desk.write("gate.md", note("gate", "one\n"))
        desk.look()
        desk.write("gate.md", note("gate", "other\n"))
        file.chmod(0)
        try:
            assert self._run(desk, "write") == [
                "['gate']", "['gate.md']", "unreadable", "unreadable"
            ]  # fmt: skip
        finally:
            file.chmod(0o600)
        assert desk.look() == ["gate"]
        assert desk.memory().body == "other\n"
        assert desk.notebook().problems() == []


def test_a_note_in_a_session_has_the_name_of_a_global_one(desk: Desk) -> None:
    notebook = desk.notebook()
    notebook.save(GATE, giving())
    spoken = GATE._replace(session="s1")
    assert notebook.save(spoken, giving(session="s1", body="said\n")).path == "gate-2.md"
    desk.lose_index()
    assert desk.look() == ["gate", "gate"]
    assert [m and m.body for m in desk.store.get([spoken])] == ["said\n"]


@pytest.mark.promise(7)
def test_threads_that_search_and_one_that_writes_never_wait_for_each_other(home: Path) -> None:
    """The index is locked before the store, by all of them."""
    errors: list[BaseException] = []
    with open_vault(overrides={"search.embedder": "hashing"}) as vault:
        run(vault, "remember", text="a gate of oak", name="gate")

        def search() -> None:
            try:
                for _ in range(40):
                    run(vault, "search", query="gate oak", preset="hybrid")
            except BaseException as error:  # noqa: BLE001 (told below)
                errors.append(error)

        threads = [threading.Thread(target=search, daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(30):
            run(vault, "remember", text=f"gate number {number}", name=f"n{number}")
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
    assert errors == []
