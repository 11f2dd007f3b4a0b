"""The postgres engine's own: its server. What every store must do is in tests/contract/."""

from __future__ import annotations

import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from camillo.errors import (
    InvalidValue,
    Refused,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreTooNew,
)
from camillo.model import Filter, Key, Memory, Origin, Place, Session, replace
from camillo.text.tokens import tokenise
from postgres_server import KEEPER, PASSWORD, Databases, Server

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("numpy")

from camillo.engines.postgres import PostgresStore  # noqa: E402 (it needs psycopg)

WAIT = 60  # seconds


@pytest.fixture
def store(postgres_dsn: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_dsn)
    yield store
    store.close()


@pytest.fixture
def sql(postgres_dsn: str) -> Iterator[Callable[..., list[Any]]]:
    """Statements by somebody else; what begins with BEGIN stays open."""
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("SET search_path = camillo, public")

        def run(statement: str, *values: Any) -> list[Any]:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

        yield run


class TestNumbers:
    @pytest.mark.promise(7)
    def test_what_a_slow_writer_will_write_comes_before_what_a_fast_one_wrote(
        self, postgres_dsn: str, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        store.put([Memory("slow", "before")])
        cursor = store.last_change()
        sql("BEGIN")
        sql("SELECT FROM memories WHERE id = 'slow' FOR UPDATE")
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(store.put, [Memory("slow", "after")])
            _until(lambda: _waiting(postgres_dsn))
            store.put([Memory("fast", "text")])
            assert store.get([Memory("fast", "").key]) != [None]
            assert store.changes(cursor) == []
            assert store.last_change() == cursor
            sql("COMMIT")
            assert slow.result(WAIT)[0].status == "updated"
        told = store.changes(cursor)
        assert [change.key.id for change in told] == ["slow", "slow", "fast"]
        assert told[-1].seq == store.last_change()

    def test_transactions_of_other_programs_hold_nothing_up(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        sql("BEGIN")
        sql("SELECT pg_current_xact_id()")
        store.put([Memory("a", "text")])
        assert [change.key.id for change in store.changes(0)] == ["a"]
        sql("ROLLBACK")

    def test_rows_that_come_from_a_server_with_higher_numbers_raise_the_next_ones(
        self, postgres_dsn: str, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        store.put([Memory("a", "from elsewhere")])
        sql("UPDATE memories SET seq = seq + (1::bigint << 50)")
        sql("UPDATE meta SET value = '' WHERE key = 'home'")
        (before,) = sql("SELECT seq FROM memories")[0]
        restored = PostgresStore(postgres_dsn)
        restored.put([Memory("b", "new here")])
        told = restored.changes(0)
        assert [change.key.id for change in told] == ["a", "b"]
        assert told[0].seq == before < told[1].seq == restored.last_change()
        restored.close()

    def test_a_copy_of_the_database_is_another_store(
        self, postgres_server: Databases, postgres_dsn: str
    ) -> None:
        store = PostgresStore(postgres_dsn)
        store.put([Memory("a", "text")])
        name = store.identity()
        store.close()
        original = psycopg.conninfo.conninfo_to_dict(postgres_dsn)["dbname"]
        copy = f"{original}_copy"
        postgres_server.run(f"CREATE DATABASE {copy} TEMPLATE {original}")
        try:
            copied = PostgresStore(postgres_server.dsn(copy))
            assert copied.get([Memory("a", "").key]) != [None]
            assert copied.identity() != name
            copied.close()
        finally:
            postgres_server.drop(copy)

    def test_two_spaces_of_one_database_are_two_stores(self, postgres_dsn: str) -> None:
        one, other = PostgresStore(postgres_dsn), PostgresStore(postgres_dsn, space="other")
        one.put([Memory("a", "in the first")])
        assert (other.count(), other.changes(0), other.words().size()) == (0, [], (0, 0))
        assert one.identity() != other.identity()
        one.close()
        other.close()


class TestWriting:
    def test_texts_with_nuls_keep_their_order_and_their_prefixes(
        self, store: PostgresStore
    ) -> None:
        ids = ["\x01", "\x01\x01", "\x01\x02", "\x01a", "\x02", "a", "a\x01", "a\x01b", "ab"]
        store.put([Memory(id_, f"\0{id_}\x01\0") for id_ in ids])
        assert [m.id for m in store.scan()] == sorted(ids)
        assert [key.id for key in store.find("a\x01")] == ["a\x01", "a\x01b"]
        assert {m.body for m in store.scan()} == {f"\0{id_}\x01\0" for id_ in ids}
        wings = [Memory(str(n), "", place=Place(wing)) for n, wing in enumerate(("\0", "\x01", ""))]
        store.put(wings)
        for n, memory in enumerate(wings):
            found = store.scan(Filter(wing=memory.place.wing))
            assert str(n) in {m.id for m in found}
        assert store.tally("wing") == {"": 10, "\0": 1, "\x01": 1}

    @pytest.mark.promise(7)
    def test_writers_of_the_same_memories_in_any_order_lose_nothing(
        self, store: PostgresStore
    ) -> None:
        ids = [f"m{n}" for n in range(12)]

        def write(name: int) -> None:
            for turn in range(15):
                order = ids if (name + turn) % 2 else ids[::-1]
                store.put([Memory(id_, f"by {name} in turn {turn}") for id_ in order])
                store.delete([Memory(order[turn % 12], "").key])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        store.put([Memory(id_, "in the end") for id_ in ids])
        assert [m.body for m in store.scan()] == ["in the end"] * 12
        assert store.health(deep=True).problems == ()
        assert store.words().size()[0] == 12

    def test_an_id_of_any_length_is_a_key(self, store: PostgresStore) -> None:
        long = [Memory("x" * 20_000 + end, end, kind="k" * 5000, session="s" * 5000,
                       origin=Origin("p" * 9000 + end)) for end in "ab"]  # fmt: skip
        store.put(long)
        assert store.find("x" * 20_000 + "b") == [long[1].key]
        assert [m.body for m in store.scan(Filter(source="p" * 9000 + "a"))] == ["a"]
        assert [m.body for m in store.scan(Filter(under="p" * 9000 + "b"))] == ["b"]

    def test_too_many_changes_in_one_transaction_are_refused(
        self, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("camillo.engines._postgres_transactions._MOST_CHANGES", 10)
        with pytest.raises(InvalidValue, match="in parts"):
            store.put([Memory(f"m{n}", "") for n in range(10)])
        assert store.count() == 0


class TestWords:
    @pytest.mark.parametrize("word", ["jam", "的", "7" * 64])
    def test_a_passage_may_hold_any_number_of_tokens(self, store: PostgresStore, word: str) -> None:
        many = " ".join(f"w{n:x}" for n in range(60_000))
        bodies = [f"{word} " * 40_000, f"{many} {word}", word, "nothing of it"]
        store.put([Memory(str(n), body, kind="drawer") for n, body in enumerate(bodies)])
        (token,) = set(tokenise(word))
        words = store.words()
        assert words.df([token, "w1"]) == {token: 3, "w1": 1}
        found = words.hits(words.keyword([token], 10, Filter()))
        assert {hit.key.id for hit in found} == {"0", "1", "2"}
        assert found[0].key.id in {"0", "2"}

    def test_counts_are_exact_however_often_they_were_added_up(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        for n in range(150):
            store.put([Memory(f"m{n % 40}", f"common word{n % 7} only{n}")])
            if n % 3 == 0:
                store.delete([Memory(f"m{n * 7 % 40}", "").key])
        bodies = [m.body for m in store.scan()]
        counted = {token: sum(token in tokenise(body) for body in bodies)
                   for token in ("common", "word3", "only120", "only149", "never")}  # fmt: skip
        words = store.words()
        assert words.df(counted) == counted
        assert words.size() == (len(bodies), 3 * len(bodies))
        assert sql("SELECT count(*) FROM tallies")[0][0] < 100
        assert sql("SELECT passages FROM totals")[0][0] > 0

    def test_rows_of_one_call_follow_each_other_while_others_write(
        self, store: PostgresStore
    ) -> None:
        def write(name: int) -> None:
            for n in range(5):
                session = f"{name}-{n}"
                store.put([Memory(f"m{i}", f"message{name}x{n}", session=session)
                           for i in range(7)])  # fmt: skip

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        words = store.words()
        for name in range(4):
            for n in range(5):
                (token,) = {t for t in tokenise(f"message{name}x{n}") if t.startswith("message")
                            and len(t) > 9} or {f"message{name}x{n}"}  # fmt: skip
                hits = words.hits(words.keyword([token], 50, Filter()))
                rows = sorted(hit.row for hit in hits)
                assert rows == list(range(rows[0], rows[0] + 7))

    @pytest.mark.parametrize(
        "asked",
        [Filter(wing="w1"), Filter(session=Session("only", "s")), Filter(source="f/1"),
         Filter(session=Session("with-global", "s")), Filter(session=Session("global")),
         Filter(under="f/"), Filter(kinds=("rule",)), Filter(since="2024-02", before="2024-03"),
         Filter(archived=True), Filter(namespace="n"), Filter(namespace=None, scope="project")],
    )  # fmt: skip
    def test_a_filter_comes_before_the_limit(self, store: PostgresStore, asked: Filter) -> None:
        plain = [Memory(f"m{n}", "word", kind="fact") for n in range(60)]
        odd = [
            Memory("a", "word in more words", place=Place("w1")),
            Memory("b", "word in more words", session="s"),
            Memory("c", "word in more words", origin=Origin("f/1")),
            Memory("d", "word in more words", kind="rule", happened_at="2024-02-03"),
            Memory("e", "word in more words", archived=5),
            Memory("f", "word in more words", namespace="n"),
            Memory("g", "word in more words", scope="project"),
        ]
        store.put([*plain, *odd])
        words = store.words()
        hits = words.hits(words.keyword(["word"], 100, asked))
        assert {hit.key for hit in hits} == {m.key for m in (*plain, *odd) if asked.admits(m)}

    def test_words_of_another_version_are_made_anew(
        self, postgres_dsn: str, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        store.put([Memory("a", "marmalade"), Memory("b", "", kind="setting")])
        sql("UPDATE meta SET value = 'former' WHERE key = 'rules'")
        sql("UPDATE passages SET tokens = '{8}', held = 1")
        again = PostgresStore(postgres_dsn)
        found = again.words().keyword(tokenise("marmalade"), 10, Filter())
        assert [hit.key.id for hit in again.words().hits(found)] == ["a"]
        assert again.words().size() == (1, 1)
        again.close()

    def test_counts_are_added_up_after_much_was_written(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        with store.transaction():
            for n in range(60):
                store.put([Memory(f"m{n}", f"text {n}")])
        assert sql("SELECT count(*) FROM tallies") == [(0,)]  # 60 rows are too many
        store.put([Memory(f"p{n}", f"w{n:x}q text") for n in range(9000)], bulk=True)
        assert sql("SELECT count(*) FROM tallies") == [(0,)]  # nor may one be long
        assert store.words().df(["text"]) == {"text": 9060}

    @pytest.mark.promise(12)
    def test_no_table_holds_what_was_forgotten(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        secret = "perambulating marmalade"
        forgotten = Memory("a", secret, title=secret, tags=(secret,), origin=Origin("f"))
        store.put([forgotten, Memory("b", "stays")])
        store.put([replace(forgotten, body=secret * 2)])
        tokens = tokenise(secret)
        store.delete([forgotten.key])
        assert store.words().df(tokens) == dict.fromkeys(tokens, 0)
        assert store.words().keyword(tokens, 10, Filter()) == []
        assert (store.erased(), store.unclean()) == (True, True)
        assert store.scrub(store.last_change()) is True
        assert (store.erased(), store.unclean()) == (False, False)
        tables = sql("SELECT tablename FROM pg_tables WHERE schemaname = 'camillo'")
        held = [str(sql(f'SELECT t::text FROM "{name}" t')) for (name,) in tables]
        assert not any("marmalade" in text for text in held)
        dead = "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'memories'"
        sql("SELECT pg_stat_force_next_flush()")
        assert sql(dead) == [(0,)]

    def test_a_session_that_still_sees_the_text_holds_the_scrub_up(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        store.put([Memory("a", "text")])
        sql("BEGIN ISOLATION LEVEL REPEATABLE READ")
        sql("SELECT count(*) FROM memories")
        store.delete([Memory("a", "").key])
        assert store.scrub(store.last_change()) is False
        assert store.unclean() is True
        sql("COMMIT")
        assert store.scrub(store.last_change()) is True
        assert store.unclean() is False


class Scattered:
    """An embedder that puts texts with the same first word near each other, without token
    vectors."""

    limit = 0
    capabilities: frozenset[str] = frozenset()

    def __init__(self, id: str = "scattered", dim: int = 48) -> None:
        self.id = id
        self.dim = dim
        self.embedded = 0

    def embed(self, texts: Any, role: str) -> Any:
        import numpy as np

        self.embedded += len(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for n, text in enumerate(texts):
            topic = np.random.default_rng(zlib.crc32(text.split(" ")[0].encode()))
            own = np.random.default_rng(zlib.crc32(text.encode()))
            vectors[n] = topic.standard_normal(self.dim) + 0.7 * own.standard_normal(self.dim)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class TestMeaning:
    def test_a_graph_finds_what_comparing_all_finds(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        import numpy as np

        embedder, meaning = Scattered(), store.meaning()
        memories = [Memory(f"m{n}", f"topic{n % 50} text {n}", place=Place(("few", "")[n > 60]))
                    for n in range(6000)]  # fmt: skip
        store.put(memories, bulk=True)
        assert meaning.fill(store, embedder, "scattered") == 0
        assert sql("SELECT to_regclass('vectors_1_near') IS NOT NULL") == [(True,)]
        rows = dict(sql('SELECT id, "row" FROM passages'))
        matrix = embedder.embed([m.body for m in memories], "passage")
        together = 0
        for n in range(20):
            asked = embedder.embed([f"topic{n} question"], "query")[0]
            nearest = [rows[memories[i].id] for i in np.argsort(-(matrix @ asked))[:10]]
            near = meaning.nearness(embedder, asked)
            found = near.best(10, Filter())
            together += len({row for row, _ in found} & set(nearest))
            assert [cosine for _, cosine in found] == sorted((c for _, c in found), reverse=True)
            assert near.of([found[0][0], -1]) == [pytest.approx(found[0][1], abs=1e-3), None]
            few = [i for i in np.argsort(-(matrix @ asked)) if i <= 60]
            exact = [row for row, _ in near.best(5, Filter(wing="few"))]
            assert exact == [rows[memories[i].id] for i in few[:5]]
        assert together >= 0.98 * 200
        assert len(near) == 6000

    def test_equal_texts_are_embedded_once_and_go_with_the_last(self, store: PostgresStore) -> None:
        embedder, meaning = Scattered(), store.meaning()
        store.put([Memory("a", "same"), Memory("b", "same"), Memory("c", "other")])
        assert meaning.missing(embedder) == 2
        assert meaning.fill(store, embedder, "scattered") == 0
        assert (embedder.embedded, meaning.count(embedder)) == (2, 2)
        store.delete([Memory("a", "").key])
        assert (meaning.sweep(), meaning.count(embedder)) == (True, 2)
        store.delete([Memory("b", "").key])
        assert (meaning.sweep(), meaning.count(embedder)) == (True, 1)
        store.put([Memory("d", "same"), Memory("e", "other")])
        near = meaning.nearness(embedder, embedder.embed(["x"], "query")[0])
        assert (meaning.missing(embedder), len(near)) == (1, 2)

    def test_a_fill_that_is_broken_off_goes_on_where_it_was(self, store: PostgresStore) -> None:
        embedder, meaning = Scattered(), store.meaning()
        store.put([Memory(f"m{n}", f"text {n}") for n in range(600)])
        assert meaning.fill(store, embedder, "scattered", at_most=256) == 344
        assert not meaning.models()[0].complete
        assert meaning.fill(store, embedder, "scattered") == 0
        assert embedder.embedded == 600
        assert meaning.models()[0].complete

    def test_the_former_model_answers_until_the_next_is_complete(
        self, store: PostgresStore
    ) -> None:
        former, new, meaning = Scattered("former"), Scattered("new", dim=32), store.meaning()
        store.put([Memory(f"m{n}", f"text {n}") for n in range(300)])
        meaning.fill(store, former, "former")
        meaning.fill(store, new, "new", at_most=256)
        assert [(m.name, m.complete) for m in meaning.models()] == [
            ("former", True),
            ("new", False),
        ]
        near = meaning.nearness(former, former.embed(["text 1"], "query")[0])
        assert len(near.best(5, Filter())) == 5
        meaning.fill(store, new, "new")
        assert [(m.name, m.dim) for m in meaning.models()] == [("new", 32)]
        assert near.best(5, Filter()) == []

    def test_two_that_fill_at_once_embed_nothing_twice(self, postgres_dsn: str) -> None:
        stores = [PostgresStore(postgres_dsn) for _ in range(2)]
        stores[0].put([Memory(f"m{n}", f"text {n}") for n in range(700)])
        embedders = [Scattered(), Scattered()]
        with ThreadPoolExecutor(2) as pool:
            left = [pool.submit(s.meaning().fill, s, e, "scattered")
                    for s, e in zip(stores, embedders, strict=True)]  # fmt: skip
            assert 0 in [each.result() for each in left]
        assert sum(e.embedded for e in embedders) == 700
        for store in stores:
            store.close()

    def test_without_the_extension_a_store_declares_no_vectors_and_says_so(
        self, postgres_server: Databases, postgres_dsn: str
    ) -> None:
        database = psycopg.conninfo.conninfo_to_dict(postgres_dsn)["dbname"]
        with _role(postgres_server, database, "humble") as dsn:
            postgres_server.run("CREATE SCHEMA camillo AUTHORIZATION humble", database)
            store = PostgresStore(dsn)
            assert "vector" not in store.capabilities
            assert "keyword" in store.capabilities
            assert "not there" in dict(store.health().facts)["pgvector"]
            store.put([Memory("a", "text")])
            assert store.words().size() == (1, 1)
            store.close()


class TestTrouble:
    @pytest.mark.parametrize("space", ["", "a b", "Camillo", "1a", 'x"y', "pg_x", "x" * 64, "é"])
    def test_a_space_that_is_no_plain_name_is_refused(self, space: str) -> None:
        with pytest.raises(InvalidValue, match="schema"):
            PostgresStore("dbname=x", space=space)

    @pytest.mark.parametrize("dsn", ["no address: secret", "postgresql://u:secret@[::1/x"])
    def test_what_is_no_address_is_refused_without_repeating_it(self, dsn: str) -> None:
        with pytest.raises(InvalidValue, match=r"memory\.dsn") as caught:
            PostgresStore(dsn)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize(
        "dsn",
        [
            "postgresql://u:se/cret@h/d",
            "postgresql://u:se@cret@h/d",
            "postgresql://u:se@cret@h:5432/d",
            "postgresql://u:se@cret@",
            "postgresql://u:1/secret@h/d",
            "postgresql://u:1/secret@h",
            "postgresql://:1/secret@h",
            "postgresql://u:x@se:cret@h/d",
            "postgresql://u:x@h/secret@h/d",
            "postgresql://u:x@@secret@h/d",
            "postgresql://u:x@a,secret@h/d",
            "postgresql://u:1/2?host=secret@h/d",
            "postgresql://u:1/2?connect_timeout=secret@h/d",
            "postgresql://u:1/2#secret@h/d",
            "postgres://u:secret",
            "host=u:secret@h dbname=d",
            "host=h port=secret",
            "host=h port=1,secret",
        ],
    )
    def test_a_password_that_ends_too_early_is_refused_without_a_part_of_it(self, dsn: str) -> None:
        with pytest.raises(InvalidValue, match=r"%2F.*%40") as caught:
            PostgresStore(dsn)
        assert not any(part in str(caught.value) for part in ("cret", "@h", "h/d", "1/2"))

    @pytest.mark.parametrize(
        "written",
        [
            "postgresql://a%40b:p%2Fw%40@127.0.0.1:1/d%40e?application_name=x%40y",
            "postgresql://a@127.0.0.1,localhost:1,1/d",
            "postgresql://a@/d?host=/no%40where",
            "postgresql:///d?host=/no@where&user=a",
            "host=/no@where dbname=d user=a@b password='p/w@h'",
            "host=@nowhere dbname='d@e' user=a",
            "host=127.0.0.1 port='1 ' dbname=d user=a password=s@e",
        ],
    )
    def test_those_signs_may_be_where_they_are_meant(self, written: str) -> None:
        store = PostgresStore(written)
        with pytest.raises(StoreError, match="cannot open database 'd"):
            store.count()

    def test_a_server_that_is_about_to_end_says_try_again(self, own_server: Server) -> None:
        dsn = own_server.url("postgres")
        with psycopg.connect(dsn):
            own_server.end_when_alone()
            _until(lambda: not _lets_in(dsn))
            with pytest.raises(StoreBusy, match="try again in a moment") as caught:
                PostgresStore(dsn).count()
            assert "password" not in str(caught.value)

    def test_an_unknown_database_and_a_wrong_password_say_where_to_look(
        self, own_server: Server
    ) -> None:
        for dsn in (
            own_server.url("nowhere"),
            own_server.url("postgres", KEEPER, "wr0ng-secret"),
            "host=127.0.0.1 port=1 user=a password=wr0ng-secret connect_timeout=2",
        ):
            with pytest.raises(StoreError, match=r"memory\.dsn") as caught:
                PostgresStore(dsn).count()
            assert "wr0ng-secret" not in str(caught.value)
        keeper = PostgresStore(own_server.url("postgres", KEEPER, PASSWORD))
        assert keeper.count() == 0
        assert PASSWORD not in str(keeper.health())
        keeper.close()

    def test_one_who_may_only_read_is_told_so_when_writing(
        self, postgres_server: Databases, postgres_dsn: str, store: PostgresStore
    ) -> None:
        store.put([Memory("a", "marmalade")])
        database = psycopg.conninfo.conninfo_to_dict(postgres_dsn)["dbname"]
        with _role(postgres_server, database, "reader") as dsn:
            postgres_server.run("GRANT USAGE ON SCHEMA camillo TO reader", database)
            postgres_server.run("GRANT SELECT ON ALL TABLES IN SCHEMA camillo TO reader", database)
            reader = PostgresStore(dsn)
            assert reader.count() == 1
            assert reader.words().keyword(tokenise("marmalade"), 5, Filter()) != []
            assert [change.key.id for change in reader.changes(0)] == ["a"]
            with pytest.raises(Refused, match="GRANT"):
                reader.put([Memory("a", "other")])
            assert reader.count() == 1
            reader.close()

    @pytest.mark.promise(6)
    def test_tables_of_a_newer_camillo_are_left_alone(
        self, postgres_dsn: str, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        store.put([Memory("a", "text")])
        sql("UPDATE meta SET value = '99' WHERE key = 'version'")
        with pytest.raises(StoreTooNew, match="99"):
            PostgresStore(postgres_dsn).count()

    @pytest.mark.promise(3)
    @pytest.mark.parametrize("change", ["body = 'other'", "detail = '{}'", "hash = '\\x00'",
                                        "session = 's'", "kind = 'rule'"])  # fmt: skip
    def test_a_row_that_was_changed_is_noticed(
        self, store: PostgresStore, sql: Callable[..., list[Any]], change: str
    ) -> None:
        store.put([Memory("victim", "text"), Memory("sound", "text")])
        sql(f"UPDATE memories SET {change} WHERE id = 'victim'")
        with pytest.raises(StoreDamaged, match="'victim'"):
            store.get([Memory("sound", "").key, Memory("victim", "").key])
        with pytest.raises(StoreDamaged, match="'victim'"):
            store.changes(0)
        (problem,) = store.health(deep=True).problems
        assert "'victim'" in problem
        assert store.get([Memory("sound", "").key]) != [None]

    def test_a_connection_that_was_cut_is_made_again(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        store.put([Memory("a", "text")])
        _cut(sql)
        assert store.count() == 1
        _cut(sql)
        assert store.put([Memory("b", "text")])[0].status == "stored"
        _cut(sql)
        with store.transaction():
            store.put([Memory("c", "text")])
        assert store.count() == 3

    def test_a_transaction_that_is_cut_leaves_nothing_and_says_so(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        store.put([Memory("a", "before")])

        def write() -> None:
            with store.transaction():
                store.put([Memory("a", "after"), Memory("b", "new")])
                _cut(sql)
                store.put([Memory("c", "new")])

        with pytest.raises(StoreError, match="database"):
            write()
        assert [m.body for m in store.scan()] == ["before"]
        assert store.put([Memory("c", "new")])[0].status == "stored"

    def test_a_server_that_starts_again_is_found_again(self, own_server: Server) -> None:
        store = PostgresStore(own_server.dsn(own_server.create()))
        store.put([Memory("a", "text")])
        own_server.stop()
        with pytest.raises(StoreError, match="database"):
            store.count()
        own_server.start()
        assert store.count() == 1
        assert store.put([Memory("b", "text")])[0].status == "stored"
        store.close()

    def test_a_closed_store_says_so(self, postgres_dsn: str) -> None:
        store = PostgresStore(postgres_dsn)
        store.put([Memory("a", "text")])
        store.close()
        store.close()
        with pytest.raises(StoreError, match="closed"):
            store.count()

    @pytest.mark.promise(11)
    def test_a_process_that_forgets_to_close_ends_quietly(self, postgres_dsn: str) -> None:
        program = (
            "import sys, threading\n"
            "from camillo.engines.postgres import PostgresStore\n"
            "from camillo.model import Memory\n"
            "store = PostgresStore(sys.argv[1])\n"
            "store.put([Memory('a', 'text')])\n"
            "assert threading.active_count() == 1\n"
        )
        command = [sys.executable, "-c", program, postgres_dsn]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def _until(true: Callable[[], bool]) -> None:
    """Waits for what another thread brings about."""
    pause, turns = threading.Event(), 0
    while not true():
        turns += 1
        assert turns < 100 * WAIT
        pause.wait(0.01)


def _lets_in(dsn: str) -> bool:
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        return False
    return True


def _waiting(dsn: str) -> bool:
    """Does a session wait for a row of another one?"""
    with psycopg.connect(dsn, autocommit=True) as connection:
        found = connection.execute("SELECT FROM pg_locks WHERE NOT granted").fetchall()
        return bool(found)


def _cut(sql: Callable[..., list[Any]]) -> None:
    """The server sends all of the store's sessions in this database away."""
    sql(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE application_name = 'camillo' AND datname = current_database()"
    )


class _role:  # noqa: N801 (reads as a verb where it is used)
    """A role that may connect to a database, and its address; it goes at the end."""

    def __init__(self, server: Databases, database: str, name: str) -> None:
        self._server, self._database, self._name = server, database, name

    def __enter__(self) -> str:
        with suppress(psycopg.errors.DuplicateObject):
            self._server.run(f"CREATE ROLE {self._name} LOGIN")
        return self._server.dsn(self._database, user=self._name)

    def __exit__(self, *exception: object) -> None:
        self._server.run(f"DROP OWNED BY {self._name} CASCADE", self._database)
        self._server.run(f"DROP ROLE {self._name}")


def test_keys_that_differ_in_any_part_are_different(store: PostgresStore) -> None:
    keys = [Key("a", "b", "", "c"), Key("", "ab", "", "c"), Key("a", "", "b", "c")]
    store.put([Memory(k.id, "x", namespace=k.namespace, scope=k.scope, session=k.session)
               for k in keys])  # fmt: skip
    assert [m and m.key for m in store.get(keys)] == keys
