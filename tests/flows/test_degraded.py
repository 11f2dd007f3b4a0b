"""Derived files deleted or damaged, the truth damaged, locked or too new, a full disk."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from camillo.vault import Vault
from flows.command import Camillo, files, plant, unprivileged, writing

NOUNS = ["gate", "door", "wall", "arch", "step", "lamp", "seat", "vault", "drawer", "mask"]
QUERIES = [f"{noun} number {n}" for n, noun in enumerate(NOUNS)] + [
    f"{noun} of {other}" for noun, other in zip(NOUNS, reversed(NOUNS), strict=True)
]


@pytest.fixture
def theatre(camillo: Camillo, shop: Path) -> Path:
    chance = random.Random(7)
    for n in range(60):
        words = " ".join(chance.choice(NOUNS) for _ in range(200))
        plant(shop, {f"{n % 5}/{n}.md": f"# {NOUNS[n % 10].title()} number {n}\n\nOf {words}.\n"})
    camillo.mine(shop)
    return shop


def _answers(camillo: Camillo) -> list[list[dict[str, Any]]]:
    ran = [camillo("search", query) for query in QUERIES]
    assert all(each.code == 0 for each in ran), ran
    return [each.results for each in ran]


class TestDerivedFiles:
    @pytest.mark.promise(4)
    def test_deleted_they_are_built_again_and_answer_the_same(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        before = _answers(camillo)
        shutil.rmtree(user / "index")
        assert _answers(camillo) == before

    @pytest.mark.promise(4)
    def test_those_of_another_store_are_not_believed(
        self, camillo: Camillo, theatre: Path, user: Path, home: Path
    ) -> None:
        before = _answers(camillo)
        shutil.copytree(user / "index", home / "kept")
        shutil.rmtree(user)
        camillo.mine(theatre)
        shutil.rmtree(user / "index")
        shutil.copytree(home / "kept", user / "index")
        assert [[hit["text"] for hit in hits] for hits in _answers(camillo)] == [
            [hit["text"] for hit in hits] for hits in before
        ]

    @pytest.mark.promise(3)
    @pytest.mark.parametrize("left", [0, 1, 100, 5000, 0.3, 0.6, 0.9])
    def test_truncated_they_are_built_again(
        self, camillo: Camillo, theatre: Path, user: Path, left: float
    ) -> None:
        before = _answers(camillo)
        index = user / "index" / "index.db"
        size = index.stat().st_size
        os.truncate(index, int(left if left > 1 else left * size))
        assert _answers(camillo) == before

    @pytest.mark.promise(3)
    @pytest.mark.parametrize("seed", range(12))
    def test_with_64_bytes_overwritten_they_are_built_again_or_answer_as_before(
        self, camillo: Camillo, theatre: Path, user: Path, seed: int
    ) -> None:
        before = _answers(camillo)
        index = user / "index" / "index.db"
        data = bytearray(index.read_bytes())
        chance = random.Random(seed)
        at = chance.randrange(len(data) - 64)
        data[at : at + 64] = chance.randbytes(64)
        index.write_bytes(data)
        after = _answers(camillo)
        held = {entry["id"]: entry["text"] for entry in camillo.listed()}
        assert all(held[hit["id"]] == hit["text"] for hits in after for hit in hits)
        assert len(before) == len(after)

    @pytest.mark.promise(3)
    def test_whichever_page_is_overwritten_every_command_goes_on(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        index = user / "index" / "index.db"
        good = index.read_bytes()
        commands = (["stats"], ["list"], ["search", "gate number 0"], ["mine", theatre], ["sync"])
        for page in range(len(good) // 8192):
            command = commands[page % len(commands)]
            for junk in (b"\xff", b"\0"):
                _replace(index, good[: page * 8192] + junk * 8192 + good[(page + 1) * 8192 :])
                assert camillo(*command).code == 0, (page, command)
                ran = camillo("search", "gate number 0")
                assert ran.code == 0, (page, ran)

    @pytest.mark.promise(3)
    def test_what_is_no_database_is_built_again(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        before = _answers(camillo)
        (user / "index" / "index.db").write_bytes(b"not a database at all, but long enough " * 99)
        assert _answers(camillo) == before

    @pytest.mark.promise(3)
    def test_damage_is_mended_while_a_vault_is_open(
        self, camillo: Camillo, theatre: Path, vault: Vault, user: Path
    ) -> None:
        """A server keeps its files open: the damage shows only when a page is read."""
        from camillo.ops.signature import run

        before = [run(vault, "search", query=query).results for query in QUERIES[:3]]
        index = user / "index" / "index.db"
        vault.root("user").scrub()
        with open(index, "r+b") as file:
            file.seek(8192)
            file.write(b"\xff" * (index.stat().st_size - 8192))
        vault.close()
        after = [run(vault, "search", query=query).results for query in QUERIES[:3]]
        assert after == before
        plant(theatre, {"new.md": "a zeppelin\n"})
        run(vault, "mine", path=str(theatre))
        assert [r.text for r in run(vault, "search", query="zeppelin").results] == ["a zeppelin\n"]

    def test_a_log_without_its_file_does_no_harm(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        before = _answers(camillo)
        (user / "index" / "index.db").unlink()
        (user / "index" / "index.db-wal").write_bytes(b"x" * 5000)
        assert _answers(camillo) == before


@pytest.mark.promise(26)
class TestBehind:
    def test_an_index_that_another_process_writes_is_reported(
        self, camillo: Camillo, theatre: Path, user: Path, vault: Vault
    ) -> None:
        from camillo.model import Memory

        store = vault.root("user").store
        store.put([Memory("n", "a zeppelin over the gate", "note")])
        with writing(user / "index" / "index.db"):
            ran = camillo("search", "gate number 0")
            assert ran.code == 0
            assert ran.results != []
            assert ran.report["degraded"] == ["the user index is 1 changes behind"]
            stats = camillo("stats")
            assert stats.first["behind"] == 1
            assert stats.report["degraded"] == ["the user index is 1 changes behind"]
            assert "note: the user index" in camillo.plain("search", "gate").err
        assert camillo("search", "zeppelin").report["degraded"] == []


class TestTheTruth:
    @pytest.mark.promise(3)
    @pytest.mark.parametrize("command", [["search", "gate"], ["list"], ["mine", "."], ["stats"]])
    def test_a_file_that_is_no_database_is_named_with_the_way_out(
        self, camillo: Camillo, theatre: Path, user: Path, command: list[str]
    ) -> None:
        (user / "store.db").write_bytes(b"not a database, but long enough to be one " * 400)
        ran = camillo(*command)
        assert ran.code == 4
        assert ran.report["error"]["code"] == "store-damaged"
        assert str(user / "store.db") in ran.err
        assert "backup" in ran.err

    @pytest.mark.promise(3)
    def test_an_overwritten_row_is_named_and_its_neighbours_are_read(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        good = camillo("search", "gate number 10").first
        bad = camillo("search", "mask number 9").first
        _overwrite(user / "store.db", bad["text"].encode()[:200])
        ran = camillo("show", bad["id"])
        assert (ran.code, ran.report["error"]["code"]) == (4, "store-damaged")
        assert bad["id"] in ran.err
        assert camillo("show", good["id"]).first["text"] == good["text"]

    @pytest.mark.promise(3)
    def test_a_damaged_row_is_mended_by_mining_its_source_again(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        """That is the way out that the error names."""
        bad = camillo("search", "mask number 9").first
        _overwrite(user / "store.db", bad["text"].encode()[:200])
        assert "mine its source again" in camillo("show", bad["id"]).err
        assert camillo("mine", bad["source"]).code == 0
        assert camillo("show", bad["id"]).first["text"] == bad["text"]

    @pytest.mark.promise(3)
    def test_a_search_answers_without_a_damaged_row_and_says_so(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        bad = camillo("search", "mask number 9").first
        _overwrite(user / "store.db", bad["text"].encode()[:200])
        ran = camillo("search", "mask number 9")
        assert (ran.code, bad["id"] in ran.out) == (0, True)
        assert bad["id"] not in [hit["id"] for hit in ran.results]
        assert any("no longer matches" in note for note in ran.report["degraded"])

    @pytest.mark.promise(6)
    def test_a_newer_store_is_refused_and_left_alone(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        connection = apsw.Connection(str(user / "store.db"))
        connection.execute("PRAGMA user_version=99; PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()
        before = (user / "store.db").read_bytes()
        for command in (["search", "gate"], ["mine", theatre], ["list"]):
            ran = camillo(*command)
            assert (ran.code, ran.report["error"]["code"]) == (4, "store-too-new")
            assert str(user / "store.db") in ran.err
            assert "upgrade" in ran.err
        assert (user / "store.db").read_bytes() == before

    def test_the_database_of_another_program_is_left_alone(
        self, camillo: Camillo, user: Path
    ) -> None:
        user.mkdir()
        connection = apsw.Connection(str(user / "store.db"))
        connection.execute("CREATE TABLE songs(name)").fetchall()
        connection.close()
        ran = camillo("list")
        assert (ran.code, ran.report["error"]["code"]) == (4, "store")
        assert "another program" in ran.err

    def test_a_folder_in_the_place_of_the_store_is_told(self, camillo: Camillo, user: Path) -> None:
        (user / "store.db").mkdir(parents=True)
        ran = camillo("list")
        assert ran.code == 4
        assert str(user / "store.db") in ran.err

    def test_a_file_in_the_place_of_the_root_is_told(
        self, camillo: Camillo, user: Path, shop: Path
    ) -> None:
        user.write_text("mine", "utf-8")
        for command in (["init"], ["mine", shop]):
            ran = camillo(*command)
            assert (ran.code, ran.report["error"]["code"]) == (4, "refused")
            assert str(user) in ran.err
        assert camillo("search", "x").code == 1

    def test_reading_goes_on_while_another_process_writes(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        before = _answers(camillo)
        with writing(user / "store.db"):
            assert _answers(camillo) == before
            assert camillo("list").code == 0

    @pytest.mark.promise(2)
    def test_a_root_that_cannot_be_written_can_be_read(
        self, camillo: Camillo, theatre: Path, user: Path
    ) -> None:
        """A backup on a read-only disk, say."""
        found = camillo("search", "gate number 0").results
        before = files(user)
        for path in (*user.rglob("*"), user):
            path.chmod(path.stat().st_mode & ~0o222)
        try:
            search = unprivileged("search", "gate number 0")
            listed = unprivileged("list")
            mined = unprivileged("mine", theatre, "--wing", "other")
        finally:
            for path in (user, *user.rglob("*")):
                path.chmod(path.stat().st_mode | 0o200)
        assert (search.code, search.results, listed.code) == (0, found, 0), search
        assert (mined.code, mined.report["error"]["code"]) == (4, "store-full")
        assert "check its permissions" in mined.err
        assert {name: each[2] for name, each in files(user).items()} == {
            name: each[2] for name, each in before.items()
        }

    @pytest.mark.slow
    def test_a_lock_that_is_never_released_is_told(
        self, camillo: Camillo, theatre: Path, user: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from camillo.engines.sqlite import SqliteStore

        assert SqliteStore.__init__.__kwdefaults__ is not None
        monkeypatch.setitem(SqliteStore.__init__.__kwdefaults__, "busy_seconds", 0.2)
        ids = [entry["id"] for entry in camillo.listed()]
        with writing(user / "store.db"):
            for command in (["archive", ids[0]], ["forget", ids[0]], ["mine", theatre, "--wing=x"]):
                ran = camillo(*command)
                assert (ran.code, ran.report["error"]["code"]) == (4, "store-busy")
                assert str(user / "store.db") in ran.err
                assert "another process" in ran.err
        assert len(camillo.listed()) == len(ids)


@pytest.mark.promise(2)
class TestAFullDisk:
    @pytest.fixture
    def small(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """A user root on a disk of two megabytes."""
        disk = home / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
        try:
            mounted = subprocess.run(mount, capture_output=True, text=True)
        except OSError as error:
            pytest.skip(f"cannot mount: {error}")
        if mounted.returncode:
            pytest.skip(f"cannot mount: {mounted.stderr.strip()}")
        monkeypatch.setenv("CAMILLO_USER_DIR", str(disk / "root"))
        yield disk / "root"
        subprocess.run(["umount", "-l", str(disk)], check=True)

    def test_the_old_state_stays_readable_and_the_error_is_clear(
        self, camillo: Camillo, small: Path, shop: Path
    ) -> None:
        plant(shop, {"a.md": "seven gates\n"})
        camillo.mine(shop)
        plant(shop / "big", {f"{n}.txt": os.urandom(6000).hex() for n in range(400)})
        ran = camillo("mine", shop)
        assert (ran.code, ran.report["error"]["code"]) == (4, "store-full"), ran
        assert "free some space" in ran.err
        assert str(small) in ran.err
        found = camillo("search", "seven gates", "--room", "general")
        assert (found.code, [hit["text"] for hit in found.results]) == (0, ["seven gates\n"]), found
        assert camillo("stats").code == 0
        shutil.rmtree(shop / "big")
        (small.parent / "more").write_bytes(b"")
        assert camillo("search", "gates").code == 0


def _replace(database: Path, content: bytes) -> None:
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    database.write_bytes(content)


def _overwrite(database: Path, content: bytes) -> None:
    """Other bytes in the place of these: what a failing disk does."""
    connection = apsw.Connection(str(database))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    data = database.read_bytes()
    assert data.count(content) == 1
    database.write_bytes(data.replace(content, b"#" * len(content)))
