"""A team's server behind the command line: what people do every day, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flows.command import Camillo, Ran, plant, together
from postgres_server import KEEPER, PASSWORD, Databases, Server

GATES = "The theatre has seven gates of painted wood.\n"
TREE = {
    "gates.md": GATES,
    "notes/lamp.md": "# Lamp\n\nThe lamp of the lighthouse was replaced in March.\n",
    "notes/钥匙.md": "仓库的钥匙放在第二个抽屉里。\n",
}
COMMANDS = (
    ("search", "gates"), ("list",), ("stats",), ("embed",), ("mine", "."), ("show", "0"),
    ("forget", "0"), ("archive", "0"), ("sync",),
)  # fmt: skip
Point = Callable[..., None]


@pytest.fixture(autouse=True)
def _hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest embedder; a test that searches by meaning names the preset."""
    monkeypatch.setenv("CAMILLO_EMBEDDER", "hashing")


@pytest.fixture
def point(home: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: Databases) -> Point:
    """Makes an address the one where memories are kept."""

    def point(dsn: str) -> None:
        (home / ".camillo").mkdir(exist_ok=True)
        (home / ".camillo" / "config.toml").write_text('[memory]\nbackend = "postgres"\n', "utf-8")
        if dsn:
            monkeypatch.setenv("CAMILLO_DSN", dsn)

    return point


@pytest.fixture
def mined(camillo: Camillo, shop: Path, point: Point, postgres_dsn: str) -> Path:
    """A small folder, mined into a database of its own."""
    point(postgres_dsn)
    plant(shop, TREE)
    assert camillo.mine(shop)["drawers_stored"] == 3
    return shop


class TestEveryDay:
    def test_what_was_mined_is_found(self, camillo: Camillo, mined: Path) -> None:
        assert camillo.texts("seven gates")[0] == GATES
        assert camillo.sources("仓库钥匙")[0] == "钥匙.md"
        assert camillo.sources("lighthouse lamp")[0] == "lamp.md"
        ran = camillo("search", "zirconium")
        assert (ran.code, ran.results) == (1, [])
        assert camillo("search", "gates").report["degraded"] == []

    def test_nothing_is_kept_in_the_users_folder(
        self, camillo: Camillo, mined: Path, user: Path
    ) -> None:
        assert not (user / "store.db").exists()
        content = b"".join(path.read_bytes() for path in user.rglob("*") if path.is_file())
        assert b"painted wood" not in content

    def test_a_second_mine_takes_nothing_and_a_change_takes_its_own(
        self, camillo: Camillo, mined: Path
    ) -> None:
        again = camillo.mine(mined)
        assert (again["files_unchanged"], again["drawers_stored"]) == (3, 0)
        plant(mined, {"gates.md": GATES.replace("seven", "eight")})
        assert camillo.mine(mined)["files_changed"] == 1
        assert camillo.texts("gates") == [GATES.replace("seven", "eight")]

    def test_forgotten_it_is_gone_and_does_not_come_back(
        self, camillo: Camillo, mined: Path, postgres_server: Databases, postgres_dsn: str
    ) -> None:
        id_ = camillo("search", "gates").first["id"]
        ran = camillo("forget", id_)
        assert (ran.code, ran.report["pending"]) == (0, False)
        assert camillo.texts("seven gates painted") == []
        camillo.mine(mined)
        assert camillo.texts("seven gates painted") == []
        assert "painted" not in _everything_in(postgres_server, postgres_dsn)

    def test_archived_it_is_hidden_and_comes_back(self, camillo: Camillo, mined: Path) -> None:
        id_ = camillo("search", "gates").first["id"]
        assert camillo("archive", id_).first["status"] == "updated"
        assert camillo.texts("gates") == []
        assert camillo.texts("gates", "--archived") == [GATES]
        assert camillo("archive", id_, "--undo").code == 0
        assert camillo.texts("gates") == [GATES]

    def test_it_is_listed_shown_and_counted(self, camillo: Camillo, mined: Path) -> None:
        entries = camillo.listed()
        assert len(entries) == 3
        assert camillo("show", entries[0]["id"]).first["text"] in TREE.values()
        counted = camillo("stats").first
        assert (counted["engine"], counted["memories"], counted["sources"]) == ("postgres", 3, 3)
        assert counted["behind"] == 0

    def test_meaning_is_searched_on_the_server(
        self, camillo: Camillo, mined: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CAMILLO_PRESET", "hybrid")
        assert camillo("embed").code == 0
        ran = camillo("search", "seven gates of wood")
        assert ran.report["degraded"] == []
        assert ran.first["text"] == GATES
        assert ran.first["signals"]["vector"] > 0.5

    def test_what_one_person_mines_another_finds(
        self, camillo: Camillo, mined: Path, monkeypatch: pytest.MonkeyPatch, home: Path,
        point: Point, postgres_dsn: str,
    ) -> None:  # fmt: skip
        monkeypatch.setenv("CAMILLO_USER_DIR", str(home / "another"))
        (home / "another").mkdir()
        monkeypatch.setenv("CAMILLO_BACKEND", "postgres")
        assert camillo.texts("seven gates")[0] == GATES

    @pytest.mark.promise(12)
    @pytest.mark.parametrize("extension", [True, False])
    def test_what_one_person_forgets_leaves_the_other_ones_files(
        self, camillo: Camillo, shop: Path, point: Point, home: Path, postgres_server: Databases,
        postgres_dsn: str, monkeypatch: pytest.MonkeyPatch, extension: bool,
    ) -> None:  # fmt: skip
        """Their local indexes are a cache of the server's texts, cleared by their next search."""
        if not extension:
            _hide_extensions(postgres_server, postgres_dsn)
        point(postgres_dsn)
        monkeypatch.setenv("CAMILLO_BACKEND", "postgres")
        plant(shop, {**TREE, "secret.md": "# Zirconium\n\nThe quokka hides it. Zirconium!\n"})
        camillo.mine(shop)
        (other := home / "another").mkdir()
        monkeypatch.setenv("CAMILLO_USER_DIR", str(other))
        assert camillo.texts("zirconium") != []
        monkeypatch.setenv("CAMILLO_USER_DIR", str(home / ".camillo"))
        ran = camillo("forget", camillo("search", "zirconium").first["id"])
        assert ran.code == (3 if ran.report["pending"] else 0)  # a connection may still be leaving
        camillo("search", "seven gates")  # the next command clears what was held up
        monkeypatch.setenv("CAMILLO_USER_DIR", str(other))
        assert camillo.texts("zirconium") == []
        for folder in (home / ".camillo", other):
            content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
            assert b"zirconium" not in content.lower(), folder

    @pytest.mark.promise(7, 9)
    def test_four_mines_at_once_into_a_new_database(
        self, camillo: Camillo, shop: Path, point: Point, postgres_dsn: str
    ) -> None:
        point(postgres_dsn)
        for name in "abcd":
            plant(shop / name, {f"{n}.md": f"gate {n} of {name}\n" for n in range(5)})
        ran = together([("mine", shop / name, "--json") for name in "abcd"])
        assert [each.code for each in ran] == [0] * 4, ran
        assert len(camillo.listed()) == 20

    def test_a_projects_memories_are_apart(
        self, camillo: Camillo, mined: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant(mined, {"only.md": "A walrus lives in this project.\n", ".git/HEAD": "ref: x\n"})
        monkeypatch.chdir(mined)
        assert camillo("init", "--scope", "project").code == 0
        assert camillo("mine", "only.md", "--scope", "project").code == 0
        assert camillo.texts("walrus", "--scope", "project") != []
        assert camillo.texts("walrus", "--scope", "user") == []


class TestWhatGoesWrong:
    def test_without_an_address_it_says_where_to_put_one(
        self, camillo: Camillo, point: Point
    ) -> None:
        point("")
        ran = camillo.plain("search", "gates")
        assert ran.code == 2
        assert "CAMILLO_DSN" in ran.err
        assert "memory.dsn" in ran.err

    @pytest.mark.parametrize("words", COMMANDS)
    def test_a_server_that_is_down_is_one_clear_line(
        self, camillo: Camillo, point: Point, words: tuple[str, ...]
    ) -> None:
        point(f"postgresql://ann:{PASSWORD.replace(' ', '%20')}@127.0.0.1:1/memories")
        ran = camillo.plain(*words)
        assert ran.code == 4
        assert "127.0.0.1" in ran.err
        assert "memories" in ran.err
        assert len(ran.err.splitlines()) <= 2
        _no_secret_in(ran)

    def test_a_server_that_goes_down_between_two_commands(
        self, camillo: Camillo, shop: Path, point: Point, own_server: Server
    ) -> None:
        point(own_server.url(own_server.create()))
        plant(shop, TREE)
        camillo.mine(shop)
        own_server.stop()
        assert camillo.plain("search", "gates").code == 4
        own_server.start()
        assert camillo.texts("gates") == [GATES]

    @pytest.mark.parametrize("debug", ["", "1"])
    def test_a_wrong_password_is_refused_and_no_password_is_shown(
        self, camillo: Camillo, point: Point, postgres_server: Databases, postgres_dsn: str,
        monkeypatch: pytest.MonkeyPatch, debug: str,
    ) -> None:  # fmt: skip
        server = _ours(postgres_server)
        monkeypatch.setenv("CAMILLO_DEBUG", debug)
        for dsn in (
            server.url(_name(postgres_dsn), KEEPER, "open barley"),
            server.dsn(_name(postgres_dsn), user=KEEPER, password="open barley"),
        ):
            point(dsn)
            for words in COMMANDS:
                ran = camillo.plain(*words)
                assert ran.code == 4, ran
                assert "password" in ran.err
                assert "open barley" not in ran.out + ran.err
                assert "open%20barley" not in ran.out + ran.err

    def test_with_the_right_password_nothing_shows_it(
        self, camillo: Camillo, shop: Path, point: Point, postgres_server: Databases,
        postgres_dsn: str, user: Path,
    ) -> None:  # fmt: skip
        point(_ours(postgres_server).url(_name(postgres_dsn), KEEPER, PASSWORD))
        plant(shop, TREE)
        assert camillo("mine", shop).code == 0
        for words in COMMANDS:
            _no_secret_in(camillo.plain(*words))
        content = b"".join(path.read_bytes() for path in user.rglob("*") if path.is_file())
        assert PASSWORD.encode() not in content
        assert PASSWORD not in _everything_in(postgres_server, postgres_dsn)

    def test_an_unknown_database_is_named(
        self, camillo: Camillo, point: Point, postgres_server: Databases
    ) -> None:
        point(postgres_server.dsn("never_made"))
        ran = camillo.plain("search", "gates")
        assert ran.code == 4
        assert "never_made" in ran.err
        assert "Traceback" not in ran.err

    @pytest.mark.parametrize(
        "dsn", ["nonsense", "mysql://localhost/x", "postgresql://h:port/x", "host=", "dbname='x"]
    )
    def test_what_is_no_address_is_an_error_of_ours(
        self, camillo: Camillo, point: Point, dsn: str
    ) -> None:
        point(dsn)
        ran = camillo("search", "gates")
        assert ran.code in (2, 4)
        assert ran.report["error"]["code"] in ("invalid-value", "store")

    def test_who_may_only_read_finds_and_writes_nothing(
        self, camillo: Camillo, mined: Path, point: Point, postgres_server: Databases,
        postgres_dsn: str,
    ) -> None:  # fmt: skip
        name = _name(postgres_dsn)
        reader = f"reader_{name[-8:]}"
        postgres_server.run(f"CREATE ROLE {reader} LOGIN")
        try:
            postgres_server.run(f"GRANT pg_read_all_data TO {reader}")
            point(postgres_server.dsn(name, user=reader))
            assert camillo.texts("seven gates")[0] == GATES
            assert len(camillo.listed()) == 3
            id_ = camillo.listed()[0]["id"]
            plant(mined, {"new.md": "A walrus.\n"})
            for words in (("mine", mined), ("forget", id_), ("archive", id_)):
                ran = camillo(*words)
                assert ran.code in (3, 4), (words, ran)
                assert "unexpected" not in ran.out
                assert "Traceback" not in ran.err
            assert camillo.texts("walrus") == []
            assert len(camillo.listed()) == 3
        finally:
            postgres_server.run(f"DROP ROLE IF EXISTS {reader}")

    def test_without_the_extension_words_and_local_vectors_answer(
        self, camillo: Camillo, shop: Path, point: Point, postgres_server: Databases,
        postgres_dsn: str, monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        _hide_extensions(postgres_server, postgres_dsn)
        point(postgres_dsn)
        plant(shop, TREE)
        assert camillo("mine", shop).code == 0
        assert camillo.texts("seven gates", "--preset", "words")[0] == GATES
        assert camillo("embed").code == 0
        ran = camillo("search", "seven gates", "--preset", "hybrid")
        assert ran.first["text"] == GATES
        assert ran.first["signals"]["vector"] > 0.5

    @pytest.mark.promise(26)
    def test_a_search_says_that_the_extension_is_missing(
        self, camillo: Camillo, shop: Path, point: Point, postgres_server: Databases,
        postgres_dsn: str,
    ) -> None:  # fmt: skip
        _hide_extensions(postgres_server, postgres_dsn)
        point(postgres_dsn)
        plant(shop, TREE)
        camillo.mine(shop)
        camillo("embed")
        ran = camillo("search", "seven gates", "--preset", "hybrid")
        assert any("pgvector" in note for note in ran.report["degraded"])

    def test_a_server_that_gets_the_extension_later_uses_it(
        self, camillo: Camillo, shop: Path, point: Point, postgres_server: Databases,
        postgres_dsn: str, monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        _hide_extensions(postgres_server, postgres_dsn)
        point(postgres_dsn)
        plant(shop, TREE)
        camillo.mine(shop)
        name = _name(postgres_dsn)
        postgres_server.run(f"ALTER DATABASE {name} RESET extension_control_path")
        assert camillo("embed").code == 0
        ran = camillo("search", "seven gates", "--preset", "hybrid")
        assert (ran.first["text"], ran.report["degraded"]) == (GATES, [])


def _name(dsn: str) -> str:
    from psycopg.conninfo import conninfo_to_dict

    return str(conninfo_to_dict(dsn)["dbname"])


def _ours(server: Databases) -> Server:
    if not isinstance(server, Server):
        pytest.skip("needs a server that asks for passwords: unset CAMILLO_TEST_PG_DSN")
    return server


def _hide_extensions(server: Databases, dsn: str) -> None:
    """To this database's clients it is as if none was installed."""
    _ours(server).run(f"ALTER DATABASE {_name(dsn)} SET extension_control_path = '/nowhere'")


def _no_secret_in(ran: Ran) -> None:
    for shown in (PASSWORD, PASSWORD.replace(" ", "%20"), PASSWORD.split()[1]):
        assert shown not in ran.out + ran.err


def _everything_in(server: Databases, dsn: str) -> str:
    """All rows of all tables of a database, as text."""
    name = _name(dsn)
    tables = server.run(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables "
        "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')", name,
    )  # fmt: skip
    return "\n".join(
        str(row)
        for (table,) in tables
        for row in server.run(f"SELECT t::text FROM {table} t", name)
    )


class TestOneServerForSeveral:
    def test_a_second_machine_leaves_the_notes_of_the_first(
        self,
        home: Path,
        camillo: Camillo,
        point: Point,
        postgres_dsn: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        point(postgres_dsn)
        camillo("remember", "the heron stands", "--name", "heron")
        other = home / "other"
        other.mkdir()
        config = (home / ".camillo" / "config.toml").read_text()
        (other / "config.toml").write_text(config)
        monkeypatch.setenv("CAMILLO_USER_DIR", str(other))
        camillo("remember", "the otter swims", "--name", "otter")
        assert {each["id"] for each in camillo("list", "--json").results} == {"heron", "otter"}
        monkeypatch.setenv("CAMILLO_USER_DIR", str(home / ".camillo"))
        assert {each["id"] for each in camillo("list", "--json").results} == {"heron", "otter"}
        assert [path.name for path in (home / ".camillo").glob("*.md")] == ["heron.md"]

    def test_two_projects_of_one_name_share_nothing_unless_they_are_told_to(
        self,
        home: Path,
        camillo: Camillo,
        point: Point,
        postgres_dsn: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        point(postgres_dsn)
        shops = [home / "work" / name / "shop" for name in ("one", "two")]
        for shop, word in zip(shops, ("heron", "otter"), strict=True):
            plant(shop, {"a.md": f"the {word} is here\n"})
            monkeypatch.chdir(shop)
            camillo("init", "--scope", "project")
            camillo("mine", ".", "--scope", "project")
        assert camillo("search", "heron").code == 1
        assert camillo("search", "otter").code == 0
        with (home / ".camillo" / "config.toml").open("a") as file:
            file.write("[memory.spaces]\n" + "".join(f'"{shop}" = "shops"\n' for shop in shops))
        camillo("mine", ".", "--scope", "project")
        monkeypatch.chdir(shops[0])
        assert camillo("search", "otter").code == 0

    def test_a_space_that_is_no_name_is_refused(
        self, home: Path, camillo: Camillo, point: Point
    ) -> None:
        point("")
        with (home / ".camillo" / "config.toml").open("a") as file:
            file.write('[memory.spaces]\n"~/shop" = "Shop; drop"\n')
        ran = camillo("stats")
        assert ran.code == 2
        assert "memory.spaces: 'Shop; drop'" in ran.err


class TestFoldersOfOtherPrograms:
    def test_a_closed_one_leaves_nothing_on_the_server(
        self, home: Path, camillo: Camillo, point: Point, postgres_dsn: str
    ) -> None:
        psycopg = pytest.importorskip("psycopg")
        point(postgres_dsn)
        folder = plant(home / "vault", {"a.md": "the heron\n", "b.md": "the heron again\n"})
        assert camillo("open", folder).first["memories"] == 2
        assert camillo("search", "heron", "--preset", "hybrid").code == 0

        def held() -> int:
            """Rows in which the text is, of all tables."""
            with psycopg.connect(postgres_dsn, autocommit=True) as connection:
                tables = connection.execute(
                    "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
                    " WHERE schemaname LIKE 'camillo%'"
                ).fetchall()
                count = "SELECT count(*) FROM {} AS t WHERE t::text LIKE '%heron%'"
                return sum(
                    connection.execute(count.format(name)).fetchone()[0] for (name,) in tables
                )

        assert held()
        assert camillo("close", "vault").code == 0
        assert held() == 0
