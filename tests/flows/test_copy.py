"""Copy: everything of one store into another, by command, killed, and through a real server."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from camillo.engines.sqlite import SqliteStore
from camillo.model import Edge, Filter, Memory, Place, replace
from camillo.ports import Store
from camillo.vault import Vault
from contract.specimens import drawer, memory, source_of
from flows.command import Camillo, files, plant, start, unprivileged

ALL = Filter(None, archived=True, internal=True)
SHARED = ("stored", "replaced", "unchanged", "forgotten", "only_in_target")

# Kills itself: when so many memories are there, or in the middle of writing the next ones.
KILLED = """
import os, signal, sys
from camillo import registry
from camillo.engines.sqlite import SqliteStore
from camillo.lifecycle.copy import copy

where, count, source = sys.argv[1], int(sys.argv[2]), sys.argv[3]
engine, address, options = registry.load("engine", sys.argv[4]), sys.argv[5], {}
if sys.argv[4] == "postgres":
    options["space"] = "camillo"
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)

class Dying(engine):
    def put(self, memories, *rest, **options):
        if where == "writing" and self.count() >= count:
            super().put(memories[: len(memories) // 2], *rest, **options)
            kill()
        return super().put(memories, *rest, **options)

def tell(done, total, what):
    if where == "between" and done >= count:
        kill()

copy(SqliteStore(source), Dying(address, **options), tell=tell)
"""


@pytest.fixture
def filled(camillo: Camillo, shop: Path) -> Path:
    plant(shop, {"a.md": "seven gates\n", "sub/b.md": "forty-nine doors\n", "c.md": "no walls\n"})
    camillo.mine(shop)
    camillo("archive", camillo("search", "walls").first["id"])
    return shop


@pytest.fixture
def other(home: Path) -> Path:
    return home / "other.db"


def _held(path: Path) -> list[Memory]:
    with closing(SqliteStore(str(path))) as store:
        return _everything(store)


def _everything(store: Store) -> list[Memory]:
    return sorted(store.scan(ALL), key=lambda each: each.key)


def _counts(report: dict[str, Any]) -> list[int]:
    return [report[name] for name in SHARED]


def test_a_root_is_copied_to_a_file_and_read_back(
    camillo: Camillo, filled: Path, user: Path, other: Path
) -> None:
    ran = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    assert (ran.code, _counts(ran.report)) == (0, [6, 0, 0, 0, 0]), ran
    assert ran.report["verified"]
    assert ran.report["source_digest"] == ran.report["target_digest"]
    assert [(row["kind"], row["source"], row["target"]) for row in ran.results] == [
        ("drawer", 3, 3), ("source", 3, 3),
    ]  # fmt: skip
    assert _held(other) == _held(user / "store.db")


def test_a_root_that_came_from_a_file_answers_at_once(
    camillo: Camillo, filled: Path, user: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    monkeypatch.setenv("CAMILLO_USER_DIR", str(user.parent / "elsewhere"))
    ran = camillo("copy", "--from", f"sqlite:{other}", "--to", "sqlite")
    assert (ran.code, ran.report["switch"]) == (0, "")
    assert camillo.texts("gates") == ["seven gates\n"]
    assert camillo.texts("walls") == []
    assert camillo.mine(filled)["files_unchanged"] == 3


def test_a_backup_is_copied_back_although_it_calls_itself_the_same_store(
    camillo: Camillo, filled: Path, user: Path, other: Path
) -> None:
    other.write_bytes((user / "store.db").read_bytes())
    camillo("archive", camillo("search", "gates").first["id"])
    ran = camillo("copy", "--from", f"sqlite:{other}", "--to", "sqlite")
    assert (ran.code, _counts(ran.report)) == (0, [0, 1, 5, 0, 0]), ran
    assert camillo.texts("gates") == ["seven gates\n"]


def test_nothing_is_switched_and_the_reply_says_how(
    camillo: Camillo, filled: Path, user: Path, other: Path
) -> None:
    ran = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    assert str(other) in ran.report["switch"]
    assert str(user / "store.db") in ran.report["switch"]
    assert (
        "nothing was switched" in camillo.plain("copy", "--from=sqlite", f"--to=sqlite:{other}").out
    )


def test_a_second_run_has_nothing_to_do(camillo: Camillo, filled: Path, other: Path) -> None:
    camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    again = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    assert (again.code, _counts(again.report)) == (0, [0, 0, 6, 0, 0])


def test_a_dry_run_makes_no_file(
    camillo: Camillo, filled: Path, home: Path, other: Path, user: Path
) -> None:
    before = {name: each[2] for name, each in files(user).items() if not name.endswith("-shm")}
    ran = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}", "--dry-run")
    assert (ran.code, _counts(ran.report)) == (0, [6, 0, 0, 0, 0])
    assert (ran.report["dry_run"], ran.report["verified"]) == (True, False)
    assert not other.exists()
    after = {name: each[2] for name, each in files(user).items() if not name.endswith("-shm")}
    assert after == before


@pytest.mark.promise(12)
def test_what_was_forgotten_in_the_target_stays_away(
    camillo: Camillo, filled: Path, other: Path
) -> None:
    camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    camillo("forget", camillo("search", "gates").first["id"])
    ran = camillo("copy", "--from", f"sqlite:{other}", "--to", "sqlite")
    assert (ran.code, ran.report["forgotten"]) == (0, 2)  # the drawer, and the hash of its file
    assert camillo.texts("gates") == []


@pytest.mark.promise(12)
def test_what_was_forgotten_in_the_source_is_named_and_not_mined_again(
    camillo: Camillo, filled: Path, other: Path, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    id = camillo("search", "gates").first["id"]
    camillo("forget", id)
    ran = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    assert any("forgotten" in note and id in note for note in ran.report["degraded"])
    fresh = user.parent / "fresh"
    monkeypatch.setenv("CAMILLO_USER_DIR", str(fresh))
    camillo("copy", "--from", f"sqlite:{user / 'store.db'}", "--to", "sqlite")
    assert camillo.mine(filled, "--wing", "again")["forgotten"] == 1


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("words", "code", "said"),
        [
            (["--from", "sqlite"], 2, "needs both --from SPEC and --to SPEC"),
            (["--from", "sqlite", "--to", "sqllite"], 2, "did you mean 'sqlite'"),
            (["--from", "sqlite", "--to", "memory"], 2, "gone with its process"),
            (["--from", "none", "--to", "sqlite"], 2, "gone with its process"),
            (["--from", "sqlite", "--to", "sqlite"], 4, "one store"),
            (["--from", "sqlite:lost.db", "--to", "sqlite"], 4, "there is no store in"),
            (["--from", "sqlite", "--to", "sqlite:no/such/folder.db"], 4, "there is no folder"),
            (["--from", "sqlite", "--to", "sqlite:x.db", "--scope", "project"], 4, "no project"),
        ],
    )
    def test_it_says_what_is_wrong(
        self, camillo: Camillo, filled: Path, words: list[str], code: int, said: str
    ) -> None:
        ran = camillo("copy", *words)
        assert (ran.code, said in ran.err) == (code, True), ran

    def test_a_store_under_a_second_name_is_itself(
        self, camillo: Camillo, filled: Path, user: Path, other: Path
    ) -> None:
        other.hardlink_to(user / "store.db")
        ran = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
        assert (ran.code, "one store" in ran.err) == (4, True)

    def test_a_file_that_is_no_store_is_left_alone(
        self, camillo: Camillo, filled: Path, other: Path
    ) -> None:
        other.write_text("my songs\n" * 1000, "utf-8")
        before = other.read_bytes()
        for words in (["--from", f"sqlite:{other}", "--to", "sqlite"],
                      ["--from", "sqlite", "--to", f"sqlite:{other}"]):  # fmt: skip
            ran = camillo("copy", *words)
            assert (ran.code, str(other) in ran.err) == (4, True)
        assert other.read_bytes() == before

    def test_a_file_that_cannot_be_read_is_named(
        self, camillo: Camillo, filled: Path, other: Path
    ) -> None:
        camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
        other.chmod(0)
        ran = unprivileged("copy", "--from", f"sqlite:{other}", "--to", "sqlite")
        assert (ran.code, str(other) in ran.err) == (4, True), ran


def test_a_projects_store_is_copied_with_its_scope(
    camillo: Camillo, shop: Path, home: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(shop, {"a.md": "seven gates\n"})
    monkeypatch.chdir(shop)
    camillo("init", "--scope", "project")
    camillo.mine(shop, "--scope", "project")
    ran = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}", "--scope", "project")
    assert (ran.code, ran.report["scope"], ran.report["stored"]) == (0, "project", 2)
    assert {each.scope for each in _held(other)} == {"project"}


@pytest.mark.promise(1)
@pytest.mark.parametrize(("where", "count"), [("between", 1), ("between", 1500), ("writing", 1000)])
def test_a_copy_that_was_killed_goes_on_where_it_was(
    camillo: Camillo, vault: Vault, user: Path, other: Path, where: str, count: int
) -> None:
    store = vault.root("user", create=True).store
    store.put([memory(f"m{n:04}", f"door {n}", created=n + 1) for n in range(2200)], bulk=True)
    with start(where, count, user / "store.db", "sqlite", other, code=KILLED) as process:
        process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    there = _held(other)
    assert count - 500 <= len(there) < 2200
    ran = camillo("copy", "--from", "sqlite", "--to", f"sqlite:{other}")
    assert (ran.code, ran.report["verified"]) == (0, True)
    assert _counts(ran.report) == [2200 - len(there), 0, len(there), 0, 0]
    assert _held(other) == _everything(store)


class TestPostgres:
    """A real server, reached by the address that --from and --to take."""

    def test_there_and_back_is_the_same(
        self, camillo: Camillo, vault: Vault, user: Path, other: Path, postgres_dsn: str
    ) -> None:
        vault.root("user", create=True).store.put(_assorted(700), bulk=True)
        there = camillo("copy", "--from", "sqlite", "--to", f"postgres:{postgres_dsn}")
        assert (there.code, there.report["verified"]) == (0, True), there
        back = camillo("copy", "--from", f"postgres:{postgres_dsn}", "--to", f"sqlite:{other}")
        assert (back.code, back.report["verified"]) == (0, True), back
        assert there.report["stored"] == back.report["stored"] >= 2000
        assert there.report["source_digest"] == back.report["target_digest"]
        assert _held(other) == _held(user / "store.db")

    @pytest.mark.promise(1)
    @pytest.mark.parametrize(("where", "count"), [("between", 600), ("writing", 600)])
    def test_a_copy_that_was_killed_goes_on_where_it_was(
        self, camillo: Camillo, vault: Vault, user: Path, other: Path, postgres_dsn: str,
        where: str, count: int,
    ) -> None:  # fmt: skip
        store = vault.root("user", create=True).store
        store.put([memory(f"m{n:04}", f"door {n}", created=n + 1) for n in range(1500)], bulk=True)
        words = (where, count, user / "store.db", "postgres", postgres_dsn)
        with start(*words, code=KILLED) as process:
            process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
        ran = camillo("copy", "--from", "sqlite", "--to", f"postgres:{postgres_dsn}")
        assert (ran.code, ran.report["verified"], ran.report["replaced"]) == (0, True, 0), ran
        assert ran.report["stored"] + ran.report["unchanged"] == 1500
        assert ran.report["unchanged"] >= count - 500
        camillo("copy", "--from", f"postgres:{postgres_dsn}", "--to", f"sqlite:{other}")
        assert _held(other) == _everything(store)

    def test_a_second_run_writes_what_changed(
        self, camillo: Camillo, vault: Vault, postgres_dsn: str
    ) -> None:
        store = vault.root("user", create=True).store
        store.put([memory("a", "old"), memory("b")])
        words = ["copy", "--from", "sqlite", "--to", f"postgres:{postgres_dsn}"]
        assert _counts(camillo(*words).report) == [2, 0, 0, 0, 0]
        store.put([memory("a", "new"), memory("c")])
        assert _counts(camillo(*words, "--dry-run").report) == [1, 1, 1, 0, 0]
        assert _counts(camillo(*words).report) == [1, 1, 1, 0, 0]
        assert _counts(camillo(*words).report) == [0, 0, 3, 0, 0]

    def test_the_reply_names_the_setting_and_the_next_command_uses_it(
        self, camillo: Camillo, filled: Path, user: Path, postgres_dsn: str
    ) -> None:
        said = camillo("copy", "--from", "sqlite", "--to", f"postgres:{postgres_dsn}").report[
            "switch"
        ]
        assert 'backend = "postgres"' in said
        assert str(user / "config.toml") in said
        (user / "config.toml").write_text(
            f'[memory]\nbackend = "postgres"\ndsn = "{postgres_dsn}"\n', "utf-8"
        )
        assert camillo.texts("gates") == ["seven gates\n"]
        ran = camillo("copy", "--from", "sqlite", "--to", "postgres")
        assert (ran.code, ran.report["switch"]) == (0, "")
        assert ran.report["stored"] == 0

    def test_without_an_address_it_says_where_one_goes(
        self, camillo: Camillo, filled: Path
    ) -> None:
        pytest.importorskip("psycopg")
        ran = camillo("copy", "--from", "sqlite", "--to", "postgres")
        assert (ran.code, "CAMILLO_DSN" in ran.err) == (2, True), ran

    def test_a_server_and_itself_are_one_store(
        self, camillo: Camillo, filled: Path, postgres_dsn: str
    ) -> None:
        spec = f"postgres:{postgres_dsn}"
        camillo("copy", "--from", "sqlite", "--to", spec)
        ran = camillo("copy", "--from", spec, "--to", f"{spec} application_name=another")
        assert (ran.code, "one store" in ran.err) == (4, True)

    @pytest.mark.promise(12)
    def test_what_the_server_forgot_stays_away(
        self, camillo: Camillo, filled: Path, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        camillo("copy", "--from", "sqlite", "--to", f"postgres:{postgres_dsn}")
        with monkeypatch.context() as patch:
            patch.setenv("CAMILLO_BACKEND", "postgres")
            patch.setenv("CAMILLO_DSN", postgres_dsn)
            camillo("forget", camillo("search", "gates").first["id"])
        ran = camillo("copy", "--from", "sqlite", "--to", f"postgres:{postgres_dsn}")
        assert (ran.code, ran.report["stored"], ran.report["forgotten"]) == (0, 0, 2)

    def test_two_servers(
        self, camillo: Camillo, filled: Path, new_postgres: Callable[[], str]
    ) -> None:
        one, two = (f"postgres:{new_postgres()}" for _ in range(2))
        first = camillo("copy", "--from", "sqlite", "--to", one).report
        second = camillo("copy", "--from", one, "--to", two).report
        assert first["source_digest"] == second["target_digest"]

    def test_a_password_is_not_shown(self, camillo: Camillo, filled: Path) -> None:
        pytest.importorskip("psycopg")
        for dsn in (
            "postgresql://ann:open-sesame@localhost:1/x",
            "host=localhost port=1 password=open-sesame",
        ):
            ran = camillo("copy", "--from", "sqlite", "--to", f"postgres:{dsn}")
            assert ran.code != 0
            assert "open-sesame" not in ran.out + ran.err


def _assorted(count: int) -> list[Memory]:
    """Of each kind and form something."""
    found = [memory("large", "1 MB " * 210_000), memory("empty", "")]
    for number in range(count):
        source = f"/files/{number // 8}.md"
        found += [
            drawer(
                source, number % 8, f"part {number} of a file\0\n👍🏽 naïve", created=number + 1
            ),
            memory(
                f"fact-{number}",
                "x" * number,
                created=10**6 + number,
                updated=2 * 10**6 + number,
                session=f"s{number % 3}" if number % 4 else "",
                namespace="agent" if number % 5 == 0 else "",
                archived=number % 7,
                pinned=number % 2 == 0,
                trust=("normal", "untrusted", "quarantined")[number % 3],
                edges=(Edge("mentions", f"fact-{number - 1}"),),
                load_when=("writing", "a\0b"),
                tags=("a", "手机"),
                aliases=("other",),
                superseded_by="fact-0" if number % 11 == 0 else "",
                place=Place("wing", "room", "hall"),
                extra={"n": number, "f": 1e5, "deep": [{"x": None}, True, 0.25, "\0"]},
            ),
            memory(f"page-{number}", "# t", kind="project", title=f"t{number}", summary="s"),
        ]
        if number % 8 == 0:
            found.append(source_of(source, extra={"hash": f"{number:x}"}))
    return [replace(each, written_by="ann") for each in found]
