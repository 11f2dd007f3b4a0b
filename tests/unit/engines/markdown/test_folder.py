"""A folder of notes: what is seen, what is written and when it is refused; nothing leads out."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from camillo import registry
from camillo.engines.markdown._exchange import exchange
from camillo.engines.markdown.camillo import CamilloDialect
from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.engines.markdown.folder import LARGEST, NoteFolder
from camillo.errors import (
    CamilloError,
    InvalidValue,
    NoteChanged,
    NotFound,
    Refused,
    SourceUnreadable,
    StoreError,
    StoreFull,
    UnknownName,
)
from camillo.ports import NoteStat

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def no_swap(one: str, other: str, folder: int | None) -> bool:
    """A file system that cannot exchange two names."""
    return False


@pytest.fixture(params=["swap", "link"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> NoteFolder:
    if request.param == "link":
        return NoteFolder(str(tmp_path), CamilloDialect(), swap=no_swap)
    return NoteFolder(str(tmp_path), CamilloDialect())


def _here(folder: NoteFolder) -> set[str]:
    """Every file, hidden ones too."""
    found: set[str] = set()
    for above, _, names in os.walk(folder.folder):
        found |= {os.path.relpath(os.path.join(above, name), folder.folder) for name in names}
    return found


class TestScan:
    def test_notes_of_all_rooms_are_seen_with_their_stamps(self, folder: NoteFolder) -> None:
        made = {path: folder.write(path, b"x", None) for path in ("a.md", "r/b.md", "r/s/c.md")}
        root = Path(folder.folder)
        for other in ("ROOT.md", "r/index.md", ".git/d.md", "index/e.md", "r/f.txt", ".g.md"):
            (root / other).parent.mkdir(exist_ok=True)
            (root / other).write_text("x")
        (root / "fifo").mkdir()
        os.mkfifo(root / "fifo" / "pipe.md")
        assert folder.scan() == (made, [])
        status = os.stat(root / "r" / "b.md")
        assert made["r/b.md"] == NoteStat(status.st_mtime_ns, 1)

    @pytest.mark.promise(15)
    def test_links_are_not_followed(
        self, folder: NoteFolder, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        outside = tmp_path_factory.mktemp("outside")
        (outside / "secret.md").write_text("secret")
        root = Path(folder.folder)
        (root / "link.md").symlink_to(outside / "secret.md")
        (root / "room").symlink_to(outside)
        (root / "loop").symlink_to(root)
        assert folder.scan() == ({}, [])
        for path in ("link.md", "room/secret.md", "loop/link.md"):
            with pytest.raises(SourceUnreadable, match="link"):
                folder.read(path)
            with pytest.raises(CamilloError):
                folder.write(path, b"mine", b"secret")
            with pytest.raises(CamilloError):
                folder.write(path.replace(".md", "2.md") if "/" in path else path, b"mine", None)
            with pytest.raises(CamilloError):
                folder.remove(path, b"secret")
        assert [each.name for each in outside.iterdir()] == ["secret.md"]
        assert (outside / "secret.md").read_text() == "secret"

    @pytest.mark.promise(5)
    def test_a_folder_that_is_gone_says_nothing_of_its_notes(self, folder: NoteFolder) -> None:
        os.rmdir(folder.folder)
        assert folder.scan() == ({}, ["."])
        Path(folder.folder).write_text("a file")
        assert folder.scan() == ({}, ["."])

    @pytest.mark.promise(5)
    @pytest.mark.skipif(AS_ROOT, reason="root reads everything")
    def test_a_room_that_cannot_be_read_is_told(self, folder: NoteFolder) -> None:
        folder.write("open/a.md", b"x", None)
        folder.write("shut/b.md", b"x", None)
        os.chmod(Path(folder.folder) / "shut", 0)
        try:
            notes, unreadable = folder.scan()
        finally:
            os.chmod(Path(folder.folder) / "shut", 0o700)
        assert (set(notes), unreadable) == ({"open/a.md"}, ["shut"])

    @pytest.mark.promise(5)
    def test_rooms_that_are_too_deep_are_told(self, folder: NoteFolder) -> None:
        room = "/".join("d" * 40)
        os.makedirs(os.path.join(folder.folder, room))
        Path(folder.folder, room, "a.md").write_text("x")
        assert folder.scan() == ({}, ["/".join("d" * 33)])

    def test_names_of_any_kind_are_read(self, folder: NoteFolder) -> None:
        for name in ("Meeting 10:30?.md", "e\u0301.md", "a. .md", "x" * 240 + ".md", "con.md"):
            (Path(folder.folder) / name).write_bytes(b"old")
            assert folder.read(name) == b"old"
            folder.write(name, b"new", b"old")
            assert folder.read(name) == b"new"
            folder.remove(name, b"new")
        assert _here(folder) == set()

    @pytest.mark.skipif(sys.platform != "linux", reason="names are text here")
    def test_a_name_that_no_note_can_have_hides_no_other(self, folder: NoteFolder) -> None:
        made = folder.write("a.md", b"x", None)
        for name in (b"caf\xe9.md", b"b\\c.md", b"d\ne.md", b"C:f.md"):
            with open(os.path.join(os.fsencode(folder.folder), name), "wb") as file:
                file.write(b"y")
        notes, unreadable = folder.scan()
        odd = {"caf\udce9.md", "b\\c.md", "d\ne.md", "C:f.md"}
        assert (notes.keys(), unreadable) == ({"a.md", *odd}, [])
        assert notes["a.md"] == made
        for name in odd - {"caf\udce9.md"}:
            with pytest.raises(Refused, match="rename it"):
                folder.read(name)
        assert folder.unread() == []

    @pytest.mark.skipif(sys.platform != "linux", reason="names are text here")
    def test_folders_in_which_no_note_is_read_are_told(self, folder: NoteFolder) -> None:
        os.makedirs(os.path.join(os.fsencode(folder.folder), b"r\xe9", b"s"))
        os.makedirs(os.path.join(folder.folder, "/".join("d" * 33)))
        told = dict(folder.unread())
        assert told.keys() == {"r\udce9", "/".join("d" * 33)}
        assert "UTF-8" in told["r\udce9"]

    def test_a_room_that_is_there_may_have_any_name(self, folder: NoteFolder) -> None:
        (Path(folder.folder) / "a|b").mkdir()
        folder.write("a|b/c.md", b"x", None)
        for path in ("a|b/c?.md", "a|c/d.md", "a|b/c*/d.md"):
            with pytest.raises(InvalidValue):
                folder.write(path, b"x", None)
        assert folder.free_path("a|b/c.md") == "a|b/c-2.md"


class TestReading:
    def test_what_is_not_there(self, folder: NoteFolder) -> None:
        for path in ("a.md", "room/a.md"):
            with pytest.raises(NotFound, match=path):
                folder.read(path)

    @pytest.mark.parametrize("path", ["room/a.md", "room/deeper/a.md"])
    def test_below_a_plain_file_there_is_nothing(self, folder: NoteFolder, path: str) -> None:
        (Path(folder.folder) / "room").write_text("a file")
        with pytest.raises(NotFound, match=path):
            folder.read(path)
        with pytest.raises(NotFound, match=path):
            folder.remove(path, b"x")
        with pytest.raises(SourceUnreadable, match="name of a folder"):
            folder.write(path, b"x", None)
        assert (Path(folder.folder) / "room").read_text() == "a file"

    def test_a_file_that_is_too_large_is_named_with_its_size(self, folder: NoteFolder) -> None:
        with (Path(folder.folder) / "a.md").open("wb") as file:
            file.truncate(LARGEST + 1)
        with pytest.raises(InvalidValue, match="4,194,305 bytes"):
            folder.read("a.md")
        with pytest.raises(InvalidValue, match="split"):
            folder.write("b.md", bytes(LARGEST + 1), None)
        folder.write("b.md", bytes(LARGEST), None)
        assert len(folder.read("b.md")) == LARGEST

    @pytest.mark.promise(15)
    @pytest.mark.parametrize(
        "path",
        [
            "../a.md", "a/../../b.md", "/etc/a.md", "a//b.md", "./a.md", "a\\b.md", "..\\a.md",
            "C:a.md", "C:/a.md", "//host/share/a.md", "\\\\host\\a.md", "a\0.md", "a\n.md", ".a.md",
            ".git/a.md", "a/.b/c.md", "", "/", "..", "config.toml", "store.db", "a/",
        ],
    )  # fmt: skip
    def test_no_spelling_of_a_path_leaves_the_folder(self, folder: NoteFolder, path: str) -> None:
        calls: list[Callable[[], object]] = [
            lambda: folder.read(path),
            lambda: folder.write(path, b"x", None),
            lambda: folder.write(path, b"x", b"y"),
            lambda: folder.remove(path, b"x"),
            lambda: folder.free_path(path),
            lambda: folder.locked(path).__enter__(),
        ]
        for call in calls:
            with pytest.raises(Refused):
                call()

    @pytest.mark.promise(15)
    def test_an_escaped_path_is_only_a_strange_name(self, folder: NoteFolder) -> None:
        with pytest.raises(NotFound):
            folder.read("%2e%2e/a.md")
        with pytest.raises(InvalidValue, match="elsewhere"):
            folder.write("%2e%2e/a.md", b"x", None)


class TestWriting:
    def test_a_new_note_and_its_rooms(self, folder: NoteFolder) -> None:
        folder.write("a/b/c.md", b"text", None)
        assert folder.read("a/b/c.md") == b"text"
        assert _here(folder) == {"a/b/c.md"}

    def test_a_note_that_is_there_is_not_overwritten(self, folder: NoteFolder) -> None:
        folder.write("a.md", b"one", None)
        with pytest.raises(NoteChanged, match="already"):
            folder.write("a.md", b"two", None)
        assert (folder.read("a.md"), _here(folder)) == (b"one", {"a.md"})

    @pytest.mark.promise(10)
    def test_a_note_that_changed_is_not_overwritten(self, folder: NoteFolder) -> None:
        folder.write("a.md", b"one", None)
        folder.write("a.md", b"two", b"one")
        with pytest.raises(NoteChanged, match="changed since it was read"):
            folder.write("a.md", b"three", b"one")
        with pytest.raises(NoteChanged, match="changed since it was read"):
            folder.remove("a.md", b"one")
        assert (folder.read("a.md"), _here(folder)) == (b"two", {"a.md"})
        folder.remove("a.md", b"two")
        with pytest.raises(NoteChanged, match="gone"):
            folder.write("a.md", b"three", b"two")
        with pytest.raises(NoteChanged, match="gone"):
            folder.remove("a.md", b"two")
        assert _here(folder) == set()

    def test_the_mode_of_a_file_stays_and_a_new_one_follows_the_umask(
        self, folder: NoteFolder
    ) -> None:
        former = os.umask(0o027)
        try:
            folder.write("a.md", b"1", None)
            path = Path(folder.folder) / "a.md"
            assert stat.S_IMODE(path.stat().st_mode) == 0o640
            path.chmod(0o604)
            folder.write("a.md", b"2", b"1")
            assert stat.S_IMODE(path.stat().st_mode) == 0o604
        finally:
            os.umask(former)

    @pytest.mark.skipif(not AS_ROOT, reason="only root gives files away")
    def test_the_owner_of_a_file_stays(self, folder: NoteFolder) -> None:
        folder.write("a.md", b"1", None)
        path = Path(folder.folder) / "a.md"
        os.chown(path, 1234, 1235)
        folder.write("a.md", b"2", b"1")
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)

    def test_a_folder_that_is_read_only_is_left_alone(self, tmp_path: Path) -> None:
        leftover = tmp_path / ".a.01234567.new.tmp"
        leftover.write_text("x")
        os.utime(leftover, (0, 0))
        folder = NoteFolder(str(tmp_path), CamilloDialect(), writable=False, clock=lambda: 4e9)
        for call in (
            lambda: folder.write("a.md", b"x", None),
            lambda: folder.remove("a.md", b"x"),
            lambda: folder.locked("a.md").__enter__(),
        ):
            with pytest.raises(Refused, match="only read"):
                call()
        folder.scan()
        folder.sweep()
        assert _here(folder) == {leftover.name}

    @pytest.mark.promise(2)
    @pytest.mark.parametrize(
        ("number", "kind"),
        [(errno.ENOSPC, StoreFull), (errno.EIO, StoreError), (errno.EACCES, StoreError)],
    )
    @pytest.mark.parametrize("call", ["fsync", "rename", "open"])
    def test_an_error_of_the_disk_leaves_the_note_as_it_was(
        self, folder: NoteFolder, monkeypatch: pytest.MonkeyPatch, number: int,
        kind: type[Exception], call: str,
    ) -> None:  # fmt: skip
        folder.write("a.md", b"one", None)
        real = getattr(os, call)

        def fails(*values: Any, **named: Any) -> Any:
            if call == "open" and not str(values[0]).endswith(".tmp"):
                return real(*values, **named)
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as patch:
            patch.setattr(os, call, fails)
            with pytest.raises(kind, match=re.escape(os.strerror(number))):
                folder.write("a.md", b"two", b"one")
        assert (folder.read("a.md"), _here(folder)) == (b"one", {"a.md"})


class TestConflicts:
    """What an editor saves between our look at the file and our write."""

    @pytest.mark.promise(10)
    @pytest.mark.parametrize("way", ["in place", "by rename"])
    def test_a_save_in_the_very_moment_is_kept_beside_the_note(
        self, tmp_path: Path, way: str
    ) -> None:
        path = tmp_path / "room" / "a.md"

        def swap(one: str, other: str, held: int | None) -> bool:
            if way == "in place":
                path.write_bytes(b"theirs")
            else:
                (tmp_path / "new").write_bytes(b"theirs")
                os.replace(tmp_path / "new", path)
            return exchange(one, other, held)

        clock = 1_767_323_045.0
        folder = NoteFolder(str(tmp_path), CamilloDialect(), swap=swap, clock=lambda: clock)
        folder.write("room/a.md", b"one", None)
        folder.write("room/a.md", b"ours", b"one")
        assert folder.read("room/a.md") == b"ours"
        kept = "room/a.conflict-20260102T030405Z.md"
        assert folder.conflicts() == [kept]
        assert folder.read(kept) == b"theirs"
        assert set(folder.scan()[0]) == {"room/a.md"}
        folder.write("room/a.md", b"ours again", b"ours")
        assert folder.conflicts() == [kept.replace("Z.md", "Z-2.md"), kept]

    @pytest.mark.promise(10)
    def test_a_save_in_place_is_kept_where_names_cannot_be_swapped(self, tmp_path: Path) -> None:
        def swap(one: str, other: str, held: int | None) -> bool:
            (tmp_path / "a.md").write_bytes(b"theirs")
            return False

        folder = NoteFolder(str(tmp_path), CamilloDialect(), swap=swap)
        folder.write("a.md", b"one", None)
        folder.write("a.md", b"ours", b"one")
        (kept,) = folder.conflicts()
        assert (folder.read("a.md"), folder.read(kept)) == (b"ours", b"theirs")

    @pytest.mark.promise(10)
    @pytest.mark.skipif(sys.platform != "linux", reason="who has a file open is known on Linux")
    def test_an_editor_that_has_the_note_open_saves_into_the_conflict_file(
        self, folder: NoteFolder
    ) -> None:
        folder.write("a.md", b"one", None)
        with (Path(folder.folder) / "a.md").open("r+b", buffering=0) as editor:
            folder.write("a.md", b"ours", b"one")
            editor.write(b"theirs")
        (kept,) = folder.conflicts()
        assert (folder.read("a.md"), folder.read(kept)) == (b"ours", b"theirs")

    @pytest.mark.promise(10)
    def test_an_error_after_the_swap_keeps_what_was_swapped_out(self, tmp_path: Path) -> None:
        def swap(one: str, other: str, held: int | None) -> bool:
            (tmp_path / "a.md").write_bytes(b"theirs")
            exchange(one, other, held)
            raise KeyboardInterrupt

        folder = NoteFolder(str(tmp_path), CamilloDialect(), swap=swap)
        folder.write("a.md", b"one", None)
        with pytest.raises(KeyboardInterrupt):
            folder.write("a.md", b"ours", b"one")
        (kept,) = folder.conflicts()
        assert (folder.read("a.md"), folder.read(kept)) == (b"ours", b"theirs")

    @pytest.mark.promise(10)
    def test_a_note_that_is_saved_while_it_is_removed_stays(
        self, folder: NoteFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder.write("a.md", b"one", None)
        path, real = Path(folder.folder) / "a.md", os.rename

        def rename(*values: Any, **named: Any) -> None:
            path.write_bytes(b"theirs")
            real(*values, **named)

        monkeypatch.setattr(os, "rename", rename)
        with pytest.raises(NoteChanged, match="while it was being removed"):
            folder.remove("a.md", b"one")
        monkeypatch.undo()
        assert (folder.read("a.md"), _here(folder)) == (b"theirs", {"a.md"})


class TestLeftovers:
    """What a killed writer may leave: one file."""

    def _leave(self, folder: NoteFolder, name: str, content: bytes) -> Path:
        path = Path(folder.folder) / name
        path.write_bytes(content)
        return path

    def test_an_old_one_is_cleared_away_a_young_one_stays(self, tmp_path: Path) -> None:
        now = [0.0]
        folder = NoteFolder(str(tmp_path), CamilloDialect(), clock=lambda: now[0])
        left = self._leave(folder, ".a.01234567.new.tmp", b"half of")
        other = self._leave(folder, ".other.tmp", b"not ours")
        now[0] = left.stat().st_ctime + 24 * 3600 - 5
        folder.scan()
        assert left.exists()
        now[0] += 10
        folder.scan()
        assert (left.exists(), other.exists()) == (False, True)
        self._leave(folder, ".a.01234567.new.tmp", b"half of")
        folder.sweep()
        assert not left.exists()

    def test_what_was_swapped_out_goes_when_it_was_ours_or_read(self, tmp_path: Path) -> None:
        names: list[str] = []

        def swap(one: str, other: str, held: int | None) -> bool:
            names.append(one)
            return exchange(one, other, held)

        folder = NoteFolder(str(tmp_path), CamilloDialect(), swap=swap, clock=lambda: 4e9)
        folder.write("a.md", b"one", None)
        folder.write("a.md", b"two", b"one")
        for content in (b"one", b"two"):
            self._leave(folder, names[0], content)
            folder.scan()
            assert _here(folder) == {"a.md"}
        self._leave(folder, names[0], b"theirs")
        folder.scan()
        (kept,) = folder.conflicts()
        assert re.fullmatch(r"a\.conflict-.*Z\.md", kept)
        assert _here(folder) == {"a.md", kept}


class TestTwins:
    @pytest.mark.promise(15)
    def test_case_and_form_make_different_notes(self, folder: NoteFolder) -> None:
        for name in ("Jwt.md", "jwt.md", "\xe9.md", "e\u0301.md"):
            folder.write(folder.free_path(name), name.encode(), None)
        assert {folder.read(path) for path in folder.scan()[0]} == {
            b"Jwt.md", b"jwt.md", "\xe9.md".encode(), "e\u0301.md".encode()
        }  # fmt: skip

    def test_a_name_that_is_another_spelling_of_a_file_is_not_there(
        self, folder: NoteFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On a file system that takes `jwt.md` for `Jwt.md`."""
        folder.write("Jwt.md", b"one", None)
        folding(monkeypatch)
        with pytest.raises(NotFound):
            folder.read("jwt.md")
        with pytest.raises(NoteChanged, match="gone"):
            folder.write("jwt.md", b"two", b"one")
        with pytest.raises(NoteChanged, match="gone"):
            folder.remove("jwt.md", b"one")
        assert folder.free_path("jwt.md") == "jwt-2.md"
        folder.write("jwt-2.md", b"two", None)
        folder.write("Jwt.md", b"one more", b"one")
        assert (folder.read("Jwt.md"), folder.read("jwt-2.md")) == (b"one more", b"two")

    def test_a_new_note_goes_into_the_room_that_is_there_in_the_other_form(
        self, folder: NoteFolder
    ) -> None:
        folder.write("e\u0301/i\u0302/a.md", b"1", None)
        assert folder.free_path("\xe9/\xee/a.md") == "e\u0301/i\u0302/a-2.md"
        assert folder.free_path("\xe9/new/a.md") == "e\u0301/new/a.md"
        folder.write("\xe9/b.md", b"2", None)
        assert folder.free_path("\xe9/a.md") == "\xe9/a.md"

    def test_what_is_no_room_has_the_name_to_itself(self, folder: NoteFolder) -> None:
        root = Path(folder.folder)
        (root / "e\u0301").write_text("a file")
        (root / "o\u0302").symlink_to(root)
        assert folder.free_path("\xe9/a.md") == "\xe9/a.md"
        assert folder.free_path("\xf4/a.md") == "\xf4/a.md"

    def test_a_taken_name_gets_the_next_number(self, folder: NoteFolder) -> None:
        for wanted in ("r/a.md", "r/a-2.md", "r/a-3.md"):
            path = folder.free_path("r/a.md")
            assert path == wanted
            folder.write(path, b"x", None)


class TestLocks:
    def test_commonplace_is_kept_out_while_a_note_is_locked(self, tmp_path: Path) -> None:
        folder = NoteFolder(str(tmp_path), CommonplaceDialect())
        folder.write("a.md", b"1", None)
        with folder.locked("a.md"):
            assert (tmp_path / "a.md.lock").is_dir()
            folder.write("a.md", b"2", b"1")
            assert set(folder.scan()[0]) == {"a.md"}
        assert _here(folder) == {"a.md"}
        assert not (tmp_path / "a.md.lock").exists()

    def test_errors_of_the_caller_pass(self, tmp_path: Path) -> None:
        folder = NoteFolder(str(tmp_path), CommonplaceDialect())
        with pytest.raises(BlockingIOError), folder.locked("a.md"):
            raise BlockingIOError
        assert not (tmp_path / "a.md.lock").exists()

    def test_the_camillo_dialect_needs_none(self, folder: NoteFolder) -> None:
        with folder.locked("a.md"):
            assert _here(folder) == set()
            assert os.listdir(folder.folder) == []


class TestByName:
    def test_a_folder_is_opened_by_the_name_of_its_dialect(self, tmp_path: Path) -> None:
        for name in registry.names("dialect"):
            opened = registry.open_note_folder(name, str(tmp_path), True)
            assert (opened.dialect.name, opened.folder, opened.writable) == (
                name, str(tmp_path), True
            )  # fmt: skip

    @pytest.mark.promise(25)
    def test_an_unknown_dialect_names_the_nearest(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownName, match="did you mean 'commonplace'"):
            registry.open_note_folder("commonplac", str(tmp_path), True)


def folding(patch: pytest.MonkeyPatch) -> None:
    """System calls as on a file system without upper and lower case."""

    def found(name: Any, held: int | None) -> Any:
        if not isinstance(name, str) or name.startswith("."):
            return name
        above, base = os.path.split(name)
        names = real_list(held if held is not None and not above else above or ".")
        return next(
            (os.path.join(above, each) for each in names if each.lower() == base.lower()), name
        )

    real_list, real_open, real_stat, real_lstat = os.listdir, os.open, os.stat, os.lstat
    patch.setattr(
        os, "open", lambda n, flags, mode=0o777, *, dir_fd=None: real_open(
            n if flags & os.O_DIRECTORY else found(n, dir_fd), flags, mode, dir_fd=dir_fd
        )
    )  # fmt: skip
    patch.setattr(
        os, "stat", lambda n, *, dir_fd=None, follow_symlinks=True: real_stat(
            found(n, dir_fd), dir_fd=dir_fd, follow_symlinks=follow_symlinks
        )
    )  # fmt: skip
    patch.setattr(os, "lstat", lambda n: real_lstat(found(n, None)))
