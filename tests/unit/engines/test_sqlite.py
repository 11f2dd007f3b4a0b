"""The sqlite engine's own: its file. What every store must do is in tests/contract/."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from camillo.engines._sqlite_schema import MIGRATIONS
from camillo.engines.sqlite import SqliteStore
from camillo.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreTooNew,
)
from camillo.model import Memory, Origin, Place, replace

BODY = "the quick brown fox jumps over the lazy dog; " * 8
BASE = apsw.vfs_names()[0]
KEY = Memory("victim", BODY).key


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store.db")


def _filled(path: str) -> None:
    store = SqliteStore(path)
    store.put([Memory(f"m{n}", f"text {n}" * 20) for n in range(20)])
    store.put([Memory("victim", BODY, tags=("tagged",))])
    store.close()


def _overwrite(path: str, where: bytes, what: bytes) -> None:
    content = Path(path).read_bytes()
    assert content.count(where) == 1
    Path(path).write_bytes(content.replace(where, what[: len(where)].ljust(len(where), what[:1])))


def _all_bytes(path: str) -> bytes:
    return b"".join(file.read_bytes() for file in Path(path).parent.iterdir())


class TestDamage:
    @pytest.mark.promise(3)
    @pytest.mark.parametrize(
        ("where", "what"),
        [(BODY[:64].encode(), b"x" * 64), (BODY[:64].encode(), b"\xff" * 64),
         (b'"tagged"', b'"changed'), (b'{"tags": ["tagged"]}', b"{")],
    )  # fmt: skip
    def test_overwritten_bytes_of_a_row_are_noticed(
        self, path: str, where: bytes, what: bytes
    ) -> None:
        _filled(path)
        if len(where) == 64:  # the first of the eight repeats
            content = bytearray(Path(path).read_bytes())
            at = content.index(where)
            content[at : at + 64] = what
            Path(path).write_bytes(content)
        else:
            _overwrite(path, where, what)
        store = SqliteStore(path)
        with pytest.raises(StoreDamaged, match="'victim'"):
            store.get([Memory("m1", "").key, KEY])
        with pytest.raises(StoreDamaged, match=r"store\.db"):
            list(store.scan())
        with pytest.raises(StoreDamaged, match=r"store\.db"):
            store.changes(0)
        assert store.get([Memory("m1", "").key]) != [None]
        (problem,) = store.health(deep=True).problems
        assert "'victim'" in problem
        store.close()

    @pytest.mark.promise(3)
    def test_a_damaged_row_can_be_deleted_and_put_anew(self, path: str) -> None:
        _filled(path)
        _overwrite(path, b'"tagged"', b'"changed')
        store = SqliteStore(path)
        assert store.put([Memory("victim", "anew")])[0].status == "updated"
        assert store.health(deep=True).problems == ()
        assert [m and m.body for m in store.get([KEY])] == ["anew"]
        store.close()

    @pytest.mark.promise(3)
    def test_an_overwritten_page_is_reported_and_not_a_crash(self, path: str) -> None:
        _filled(path)
        with open(path, "r+b") as file:
            for page in range(1, os.path.getsize(path) // 8192):
                file.seek(page * 8192)
                file.write(b"\xa5" * 64)
        store = SqliteStore(path)
        assert store.health().problems
        assert store.health(deep=True).problems
        with pytest.raises(StoreDamaged, match=r"store\.db"):
            list(store.scan())
        store.close()

    @pytest.mark.parametrize(
        "content", [b"not a database " * 1000, b"SQLite format 3\0" + b"x" * 9000]
    )
    def test_a_file_that_is_no_database_is_left_alone(self, path: str, content: bytes) -> None:
        Path(path).write_bytes(content)
        with pytest.raises(StoreDamaged, match=r"store\.db"):
            SqliteStore(path)
        assert Path(path).read_bytes() == content
        assert os.listdir(os.path.dirname(path)) == ["store.db"]

    def test_a_database_of_another_program_is_left_alone(self, path: str) -> None:
        other = apsw.Connection(path)
        other.execute("CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)").fetchall()
        for version in (0, 1, 77):
            other.pragma("user_version", version)
            before = Path(path).read_bytes()
            with pytest.raises(StoreError, match=r"store\.db.*another program"):
                SqliteStore(path)
            assert Path(path).read_bytes() == before
        other.close()

    @pytest.mark.promise(6)
    def test_a_newer_store_is_refused_and_left_alone(self, path: str) -> None:
        _filled(path)
        connection = apsw.Connection(path)
        connection.pragma("user_version", 999)
        connection.close()
        before = Path(path).read_bytes()
        with pytest.raises(StoreTooNew, match=r"store\.db.*999.*upgrade"):
            SqliteStore(path)
        assert Path(path).read_bytes() == before

    def test_a_missing_folder_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="gone"):
            SqliteStore(str(tmp_path / "gone" / "store.db"))
        assert not (tmp_path / "gone").exists()

    def test_a_folder_in_its_place_is_named(self, path: str) -> None:
        os.mkdir(path)
        with pytest.raises(StoreError, match=r"store\.db"):
            SqliteStore(path)


class TestLocks:
    def test_a_held_store_is_busy_and_is_named(self, path: str) -> None:
        holder = SqliteStore(path)
        waiter = SqliteStore(path, busy_seconds=0.05)
        with holder.transaction():
            with pytest.raises(StoreBusy, match=r"store\.db"):
                waiter.put([Memory("a", "text")])
            assert waiter.count() == 0  # reading goes on
        assert waiter.put([Memory("a", "text")])[0].status == "stored"
        holder.close()
        waiter.close()

    def test_scrub_says_no_while_a_reader_holds_the_log(self, path: str) -> None:
        store = SqliteStore(path)
        store.put([Memory("a", "text")])
        reader = apsw.Connection(path)
        reader.execute("BEGIN; SELECT count(*) FROM memories").fetchall()
        store.delete([Memory("a", "").key])
        assert store.scrub(store.last_change()) is False
        assert store.unclean() is True
        reader.execute("COMMIT")
        assert store.scrub(store.last_change()) is True
        assert store.unclean() is False
        reader.close()
        store.close()


class TestPrivacy:
    @pytest.mark.promise(12)
    @pytest.mark.parametrize("size", [3, 300, 40_000])
    def test_no_byte_of_a_deleted_text_is_left(self, path: str, size: int) -> None:
        words = [f"marmalade{n}" for n in range(size // 10 + 1)]
        secret = Memory(
            "s", " ".join(words), title="tangerine", summary="clementine",
            tags=("satsuma",), extra={"k": "bergamot"},
        )  # fmt: skip
        store = SqliteStore(path)
        store.put([Memory(f"m{n}", f"text {n}" * 20) for n in range(50)], bulk=True)
        store.put([secret])
        store.put([Memory("s", "kumquat " * 20, title="tangerine")])
        store.put([Memory(f"n{n}", f"text {n}" * 20) for n in range(50)])
        store.delete([secret.key])
        assert store.scrub(store.last_change())
        files = {
            name: (Path(path).parent / name).read_bytes() for name in os.listdir(Path(path).parent)
        }
        assert {"store.db", "store.db-wal"} <= set(files)
        for word in ("marmalade", "tangerine", "clementine", "satsuma", "bergamot", "kumquat"):
            for name, content in files.items():
                assert word.encode() not in content, (word, name)
        store.close()

    @pytest.mark.promise(12)
    def test_names_that_only_deleted_ones_had_go_and_other_processes_notice(
        self, path: str
    ) -> None:
        here, there = SqliteStore(path), SqliteStore(path)
        at = Place("wing-secret", "room-secret", "hall-secret")
        plain = Memory("plain", "text", place=Place("wing", "room", "hall"))
        gone = Memory("gone", "text", "kind-secret", place=at, origin=Origin("source-secret", 1))
        there.put([plain, gone])
        assert here.get([gone.key]) == there.get([gone.key]) != [None]  # it is known to both
        here.delete([gone.key])
        assert here.scrub(here.last_change())
        assert b"secret" not in _all_bytes(path)
        new = replace(gone, id="new")
        other = replace(new, id="other", place=Place("another", "place", ""))
        there.put([other, new])
        for store in (here, there, SqliteStore(path)):
            held = store.get([plain.key, new.key, other.key])
            assert [each and (each.kind, each.place, each.origin) for each in held] == [
                (each.kind, each.place, each.origin) for each in (plain, new, other)
            ]
            assert store.tally("room") == {"place": 1, "room": 1, "room-secret": 1}
            assert store.health(deep=True).problems == ()
            changed = [change.key.id for change in store.changes(0)]
            assert changed == ["plain", "gone", "other", "new"]
            store.close()

    def test_those_that_an_index_has_still_to_take_back_stay(self, path: str) -> None:
        store = SqliteStore(path)
        gone = Memory("gone", "text", place=Place("", "room-secret", ""))
        store.put([gone])
        seen = store.last_change()
        store.delete([gone.key])
        store.scrub(seen)
        [change] = store.changes(seen)
        assert change.former is not None
        assert change.former.place == gone.place
        store.scrub(store.last_change())
        assert b"secret" not in _all_bytes(path)
        store.close()

    def test_a_deleted_text_cannot_be_guessed_from_its_hash(self, path: str) -> None:
        store = SqliteStore(path)
        store.put([Memory("s", "1234")])
        connection = apsw.Connection(path)
        (digest,) = connection.execute("SELECT hash FROM memories").fetchone() or (b"",)
        store.delete([Memory("s", "").key])
        store.scrub(store.last_change())
        connection.close()
        store.close()
        assert len(digest) == 16
        assert digest not in Path(path).read_bytes()

    @pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
    def test_its_files_are_their_owners_alone(self, path: str) -> None:
        before = os.umask(0o022)
        try:
            store = SqliteStore(path)
            store.put([Memory("a", "text")])
            names = os.listdir(Path(path).parent)
            modes = {n: stat.S_IMODE((Path(path).parent / n).stat().st_mode) for n in names}
            store.close()
        finally:
            os.umask(before)
        assert modes == dict.fromkeys(["store.db", "store.db-wal", "store.db-shm"], 0o600)

    @pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
    def test_a_file_that_others_could_read_is_closed_to_them(self, path: str) -> None:
        _filled(path)
        os.chmod(path, 0o644)
        SqliteStore(path).close()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


class Faults:
    """Lets `left` writes through and fails every one after that; None lets all through."""

    def __init__(self, error: type[apsw.Error]) -> None:
        self.error = error
        self.left: int | None = None
        self.done = 0

    def spend(self) -> None:
        self.done += 1
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise self.error("the disk says no")


class FaultyFile(apsw.VFSFile):
    def __init__(self, faults: Faults, *arguments: Any) -> None:
        self._faults = faults
        super().__init__(BASE, *arguments)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._faults.spend()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._faults.spend()  # no more than that: what is tested is not what a disk does


class FaultyDisk(apsw.VFS):
    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        super().__init__("faulty", BASE, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:
        return FaultyFile(self._faults, name, flags)


@pytest.fixture(params=[apsw.FullError, apsw.IOError, apsw.ReadOnlyError], ids=lambda e: e.__name__)
def faults(request: pytest.FixtureRequest) -> Iterator[Faults]:
    faults = Faults(request.param)
    disk = FaultyDisk(faults)
    yield faults
    disk.unregister()


def _put(store: SqliteStore) -> None:
    store.put([Memory("m3", "changed " * 400), Memory("new", "text " * 4000, place=Place("w"))])


def _delete(store: SqliteStore) -> None:
    store.delete([Memory(f"m{n}", "").key for n in range(0, 20, 2)])


def _replace(store: SqliteStore) -> None:
    parts = [
        Memory(f"d{n}", f"part {n} " * 90, kind="drawer", origin=Origin("f", n)) for n in range(30)
    ]
    store.replace_source(Memory("f", "", kind="source", origin=Origin("f")), parts)


def _scrub(store: SqliteStore) -> None:
    store.scrub(store.last_change())


def _state(store: SqliteStore) -> tuple[object, ...]:
    return (
        list(store.scan()),
        [c.seq for c in store.changes(0)],
        store.journal(),
        store.last_change(),
    )


def _fails(act: Callable[[], None]) -> bool:
    """Does it end in an error of the store that names the file?"""
    try:
        act()
    except StoreError as error:
        return "store.db" in str(error)
    return False


class TestDisk:
    @pytest.mark.promise(2)
    @pytest.mark.parametrize("act", [_put, _delete, _replace, _scrub])
    def test_a_write_that_fails_anywhere_leaves_the_old_or_the_new(
        self, path: str, faults: Faults, act: Callable[[SqliteStore], None]
    ) -> None:
        _filled(path)
        for point in range(100):
            store = SqliteStore(path)
            store.put([Memory("passing", f"text {point}")])
            store.delete([Memory("passing", "").key])  # so that there is something to scrub
            old = _state(store)
            faults.left = point
            failed = _fails(partial(act, store))
            faults.left = None
            if failed:
                assert _state(store) == old, point
            new = _state(store)
            store.close()
            again = SqliteStore(path)
            assert _state(again) == new, point
            assert again.health(deep=True).problems == ()
            again.close()
            if not failed:
                break
        assert not failed
        assert point > 3

    @pytest.mark.promise(2)
    def test_a_new_store_on_a_disk_that_fails_anywhere_is_opened_later(
        self, path: str, faults: Faults
    ) -> None:
        for point in range(100):
            faults.left = point
            if not _fails(lambda: SqliteStore(path).close()):
                break
        faults.left = None
        assert point > 3
        store = SqliteStore(path)
        assert store.put([Memory("a", "text")])[0].status == "stored"
        assert store.health(deep=True).problems == ()
        store.close()

    def test_a_transaction_that_the_full_disk_undid_takes_no_more_writes(
        self, path: str, faults: Faults
    ) -> None:
        _filled(path)
        store = SqliteStore(path)
        old = _state(store)
        with suppress(StoreError), store.transaction():
            store.put([Memory("first", "text")])
            faults.left = 0
            with pytest.raises(StoreError):  # larger than the cache: it must go to the disk
                store.put([Memory(f"big{n}", "text " * 40_000) for n in range(200)])
            faults.left = None
            store.put([Memory("second", "text")])
            raise StoreError("if it was still open, this undoes it")
        assert _state(store) == old
        store.close()

    @pytest.mark.promise(2)
    def test_a_full_disk_is_named_and_the_old_state_readable(self, tmp_path: Path) -> None:
        disk = tmp_path / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)]
        try:
            subprocess.run(mount, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("only root may mount a small disk")
        try:
            _fill_the_disk(str(disk / "store.db"))
        finally:
            subprocess.run(["umount", str(disk)], check=True)


def _fill_the_disk(path: str) -> None:
    store = SqliteStore(path)
    kept = 0
    with suppress(StoreFull):
        while True:
            store.put([Memory(f"m{kept}", os.urandom(10_000).hex())])
            kept += 1
    with pytest.raises(StoreFull, match=r"no room.*store\.db.*free"):
        store.put([Memory("more", os.urandom(100_000).hex())])
    assert kept > 5
    assert store.count() == kept
    store.close()
    again = SqliteStore(path)
    assert again.count() == kept
    assert again.health(deep=True).problems == ()
    again.close()


@pytest.mark.promise(6)
def test_before_its_schema_changes_a_private_copy_is_made(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(connection: apsw.Connection) -> None:
        connection.execute("ALTER TABLE memories ADD COLUMN later TEXT")

    _filled(path)
    with monkeypatch.context() as patch:
        patch.setattr("camillo.engines.sqlite.MIGRATIONS", (*MIGRATIONS, later))
        store = SqliteStore(path)
    backups = Path(path).parent / "backups"
    assert os.listdir(backups) == ["store.v1.db"]
    assert stat.S_IMODE((backups / "store.v1.db").stat().st_mode) == 0o600
    copy = SqliteStore(str(backups / "store.v1.db"))
    assert _state(copy) == _state(store)
    copy.close()
    store.close()
