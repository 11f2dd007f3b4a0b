"""One SQLite file: migrations that survive being killed, transactions that are one, its errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from camillo.database import Database, Migration, reset
from camillo.errors import StoreBusy, StoreError, StoreTooNew

STEPS = ("before the backup", "after the backup", "half done", "done", "committed")


def first(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE kept(x TEXT)")


def second(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE kept ADD COLUMN y TEXT; CREATE TABLE more(z)").fetchall()
    connection.execute("UPDATE kept SET y = x || '!'")


def killed_second(step: str) -> Migration:
    """The second migration, in which this process kills itself."""

    def migrate(connection: apsw.Connection) -> None:
        connection.execute("ALTER TABLE kept ADD COLUMN y TEXT")
        _die("half done", step)
        connection.execute("UPDATE kept SET y = x || '!'; CREATE TABLE more(z)").fetchall()
        _die("done", step)

    return migrate


def killed_backup(step: str) -> Callable[[Database, int], None]:
    def back_up(database: Database, version: int) -> None:
        _die("before the backup", step)
        copy(database, version)
        _die("after the backup", step)

    return back_up


def copy(database: Database, version: int) -> None:
    source = apsw.Connection(database.path, flags=apsw.SQLITE_OPEN_READONLY)
    target = f"{database.path}.v{version}"
    Path(target).unlink(missing_ok=True)
    source.execute("VACUUM INTO ?", (target,))
    source.close()


def _die(here: str, step: str) -> None:
    if here == step:
        os.kill(os.getpid(), signal.SIGKILL)


def _texts(path: str, *migrations: Migration) -> list[tuple[str]]:
    database = Database(path, migrations)
    rows = database.rows("SELECT x FROM kept ORDER BY x")
    database.close()
    return rows


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "some.db")


@pytest.fixture
def old(path: str) -> str:
    database = Database(path, [first])
    with database.write() as connection:
        connection.execute("INSERT INTO kept VALUES ('a'), ('b')")
    database.close()
    return path


class TestMigrations:
    @pytest.mark.promise(6)
    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
    @pytest.mark.parametrize("step", STEPS)
    def test_killed_at_any_step_the_old_version_still_opens(self, old: str, step: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        ended = subprocess.run([sys.executable, __file__, old, step], env=environment, check=False)
        assert ended.returncode == -signal.SIGKILL
        backup = f"{old}.v1"
        assert os.path.exists(backup) is (step != "before the backup")
        if step == "committed":
            with pytest.raises(StoreTooNew):
                _texts(old, first)
            assert _texts(backup, first) == [("a",), ("b",)]
        else:
            assert _texts(old, first) == [("a",), ("b",)]
        assert _texts(old, first, second) == [("a",), ("b",)]
        database = Database(old, [first, second])
        assert database.rows("SELECT y FROM kept ORDER BY y") == [("a!",), ("b!",)]
        database.close()

    @pytest.mark.promise(6)
    def test_a_backup_is_made_before_and_only_before_a_migration(self, old: str) -> None:
        made: list[tuple[int, list[tuple[str]]]] = []

        def back_up(database: Database, version: int) -> None:
            copy(database, version)
            made.append((version, _texts(f"{old}.v{version}", first)))

        for _ in range(2):
            Database(old, [first, second], backup=back_up).close()
        assert made == [(1, [("a",), ("b",)])]

    @pytest.mark.promise(6)
    def test_without_its_backup_a_migration_does_not_begin(self, old: str) -> None:
        def back_up(database: Database, version: int) -> None:
            raise StoreError("no room for the backup")

        with pytest.raises(StoreError, match="no room"):
            Database(old, [first, second], backup=back_up)
        assert _texts(old, first) == [("a",), ("b",)]

    def test_a_new_file_is_not_backed_up(self, path: str) -> None:
        made: list[int] = []
        Database(path, [first, second], backup=lambda _, version: made.append(version)).close()
        assert made == []

    def test_a_migration_that_fails_leaves_the_old_version(self, old: str) -> None:
        def broken(connection: apsw.Connection) -> None:
            connection.execute("CREATE TABLE more(z)")
            raise LookupError

        with pytest.raises(LookupError):
            Database(old, [first, broken])
        assert _texts(old, first, second) == [("a",), ("b",)]


class TestTransactions:
    def test_an_error_undoes_all_of_it(self, old: str) -> None:
        database = Database(old, [first])
        with suppress(LookupError), database.write() as outer:
            outer.execute("DELETE FROM kept")
            with database.write() as inner:
                inner.execute("INSERT INTO kept VALUES ('c')")
            raise LookupError
        assert database.value("SELECT count(*) FROM kept") == 2
        database.close()

    def test_a_write_while_reading_is_refused_rather_than_lost(self, old: str) -> None:
        database = Database(old, [first])
        with pytest.raises(StoreError, match="reading"), database.reading(), database.write():
            pass
        with database.write() as connection, database.reading():
            connection.execute("DELETE FROM kept")
        assert database.value("SELECT count(*) FROM kept") == 0
        database.close()

    def test_reading_sees_one_state(self, old: str) -> None:
        reader, writer = Database(old, [first]), Database(old, [first])
        with reader.reading() as connection:
            assert connection.execute("SELECT count(*) FROM kept").get == 2
            with writer.write() as other:
                other.execute("DELETE FROM kept")
            assert connection.execute("SELECT count(*) FROM kept").get == 2
        assert reader.value("SELECT count(*) FROM kept") == 0
        reader.close()
        writer.close()

    def test_a_thread_waits_for_the_transaction_of_another(self, old: str) -> None:
        database = Database(old, [first])
        counts: list[int] = []
        other = threading.Thread(
            target=lambda: counts.append(database.value("SELECT count(*) FROM kept"))
        )
        with database.write() as connection:
            connection.execute("DELETE FROM kept")
            other.start()
            connection.execute("INSERT INTO kept VALUES ('c')")
        other.join()
        assert counts == [1]
        database.close()

    def test_a_lock_that_is_held_too_long_is_named(self, old: str) -> None:
        holder, waiter = Database(old, [first]), Database(old, [first], busy_seconds=0.05)
        with (
            holder.write(),
            pytest.raises(StoreBusy, match=r"some\.db.*another process"),
            waiter.write(),
        ):
            pass
        holder.close()
        waiter.close()


class TestFiles:
    def test_errors_of_the_caller_stay_what_they_are(self, old: str) -> None:
        database = Database(old, [first])
        with pytest.raises(FileNotFoundError), database.write():
            Path(old + ".not there").read_text("utf-8")
        with pytest.raises(UnicodeDecodeError), database.write():
            b"\xff".decode()
        database.close()

    def test_without_create_a_missing_file_stays_missing(self, path: str) -> None:
        with pytest.raises(StoreError, match=r"some\.db"):
            Database(path, [first], create=False)
        assert not os.path.exists(path)

    def test_the_log_is_emptied(self, old: str) -> None:
        database = Database(old, [first])
        with database.write() as connection:
            connection.execute("INSERT INTO kept VALUES (?)", ("x" * 50_000,))
        assert os.path.getsize(f"{old}-wal") > 50_000
        assert database.empty_log() is True
        assert os.path.getsize(f"{old}-wal") == 0
        database.close()


if __name__ == "__main__":
    at = sys.argv[2]
    Database(sys.argv[1], [first, killed_second(at)], backup=killed_backup(at)).close()
    _die("committed", at)


def test_who_has_a_file_open_that_is_emptied_sees_its_new_tables(tmp_path: Path) -> None:
    path = str(tmp_path / "x.db")

    def filled(*names: str) -> apsw.Connection:
        connection = apsw.Connection(path)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        for name in names:
            connection.execute(f"CREATE TABLE {name}(v)").fetchall()
            connection.execute(f"INSERT INTO {name} VALUES ('{name} of {len(names)}')").fetchall()
        return connection

    writer = filled("gate", "wall", "lamp")
    other = apsw.Connection(path)
    assert other.execute("SELECT v FROM gate").get == "gate of 3"
    writer.close()
    reset(path)
    writer = filled("wall", "gate")  # in the pages of one another; SQLite counts as far as before
    assert other.execute("SELECT v FROM gate").get == "gate of 2"
    other.close()
    writer.close()
