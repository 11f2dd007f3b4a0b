"""A copy holds what its source holds, word for word, and takes nothing away from its target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as limits

from camillo.engines.memory import MemoryStore
from camillo.engines.sqlite import SqliteStore
from camillo.errors import Refused, StoreError
from camillo.forgotten import Forgotten
from camillo.lifecycle.copy import Copied, content_digest, copy
from camillo.model import Author, Change, Edge, Filter, Key, Memory, Outcome, Place, replace
from camillo.ports import Store
from contract.opener import Clock
from contract.specimens import drawer, held, memories, memory, source_of, untimed

ALL = Filter(None, archived=True, internal=True)
Pair = tuple[Store, Store]


@pytest.fixture(params=["sqlite-sqlite", "sqlite-memory", "memory-sqlite"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pair]:
    with ExitStack() as opened:
        one, other = (
            opened.enter_context(closing(_open(name, tmp_path / f"{place}.db")))
            for place, name in enumerate(request.param.split("-"))
        )
        yield one, other


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Callable[[str], SqliteStore]]:
    with ExitStack() as opened:
        yield lambda name: opened.enter_context(
            closing(SqliteStore(str(tmp_path / name), clock=Clock()))
        )


def _open(engine: str, path: Path) -> Store:
    store: Store
    store = SqliteStore(str(path), Clock()) if engine == "sqlite" else MemoryStore(clock=Clock())
    return store


def _everything(store: Store) -> list[Memory]:
    return sorted(store.scan(ALL), key=lambda each: each.key)


def _untimed(store: Store) -> list[Memory | None]:
    """A version that takes the place of another is written anew, at its own time."""
    return [untimed(each) for each in _everything(store)]


def _sum(done: Copied, name: str) -> int:
    return sum(getattr(kind, name) for kind in done.kinds)


def _assorted(count: int) -> list[Memory]:
    """Of each kind and form something."""
    found: list[Memory] = []
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
                tags=("a", "手机"),
                place=Place("wing", "room", "hall"),
                extra={"n": number, "f": 1e5, "deep": [{"x": None}, True, 0.25]},
            ),
            memory(f"page-{number}", "# t", kind="project", title=f"t{number}", summary="s"),
        ]
        if number % 8 == 0:
            found.append(source_of(source, extra={"hash": f"{number:x}"}))
    return found


class TestWhatIsCopied:
    def test_everything_arrives_with_every_field_and_time(self, pair: Pair) -> None:
        source, target = pair
        source.put([*_assorted(400), memory("large", "1 MB " * 200_000)])
        done = copy(source, target)
        assert _everything(target) == _everything(source)
        assert (_sum(done, "stored"), done.source_digest) == (source.count(ALL), done.target_digest)
        assert {kind.kind for kind in done.kinds} == {"drawer", "fact", "project", "source"}
        assert all(kind.source == kind.target == kind.stored for kind in done.kinds)

    @limits(max_examples=40)
    @given(memories())
    def test_any_memory_that_can_be_kept_can_be_copied(self, any_memory: Memory) -> None:
        if any_memory.kind in ("setting", "forgotten"):
            any_memory = replace(any_memory, kind="fact")
        source, target = MemoryStore(clock=Clock()), MemoryStore(clock=Clock())
        source.put([any_memory])
        copy(source, target)
        assert _everything(target) == _everything(source)

    def test_one_id_in_two_sessions_and_namespaces_is_two_memories(self, pair: Pair) -> None:
        source, target = pair
        source.put(
            [memory("a", "1"), memory("a", "2", session="s"), memory("a", "3", namespace="n")]
        )
        copy(source, target)
        assert [each.body for each in _everything(target)] == ["1", "2", "3"]

    def test_the_order_of_writing_is_kept(self, pair: Pair) -> None:
        """Indexes give what was written one after another rows that follow each other."""
        source, target = pair
        source.put(
            [memory(name, created=number) for name, number in (("c", 9), ("a", 5), ("b", 7))]
        )
        copy(source, target)
        assert [change.key.id for change in target.changes(0)] == ["c", "a", "b"]

    def test_the_names_that_two_stores_have_stay_their_own(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory()])
        before = target.identity()
        copy(source, target)
        assert target.identity() == before != source.identity()

    def test_the_journal_says_so_in_a_line(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory("a"), memory("b")])
        copy(source, target, Author("ann", "copy"))
        (line,) = target.journal()
        assert (line.who, line.via, line.what, line.times) == ("ann", "copy", "imported", 2)


class TestAgain:
    def test_a_second_run_writes_nothing(self, pair: Pair) -> None:
        source, target = pair
        source.put(_assorted(50))
        first = copy(source, target)
        before = target.last_change()
        again = copy(source, target)
        assert (_sum(again, "unchanged"), target.last_change()) == (source.count(ALL), before)
        assert again.source_digest == first.source_digest

    def test_only_what_is_missing_or_differs_is_written(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory("a", "old"), memory("b")])
        copy(source, target)
        source.put([memory("a", "new"), memory("c")])
        done = copy(source, target)
        assert [_sum(done, name) for name in ("stored", "replaced", "unchanged")] == [1, 1, 1]
        assert held(target, memory("a")).body == "new"

    def test_there_and_back_is_the_same(self, files: Callable[[str], SqliteStore]) -> None:
        one, two, three = files("1.db"), files("2.db"), files("3.db")
        one.put(_assorted(100))
        there, back = copy(one, two), copy(two, three)
        assert there.target_digest == back.target_digest
        assert _everything(three) == _everything(one)

    def test_what_only_the_target_has_stays_and_is_counted(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory("a")])
        target.put([memory("b", "mine"), memory("c", kind="diary")])
        done = copy(source, target)
        assert _sum(done, "only_in_target") == 2
        assert held(target, memory("b")).body == "mine"
        assert done.source_digest == done.target_digest

    def test_a_dry_run_writes_nothing_and_says_the_same(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory("a", "new"), memory("b"), memory("c")])
        target.put([memory("a", "old"), memory("b"), memory("d")])
        before = _everything(target), target.last_change()
        tried = copy(source, target, dry_run=True)
        assert (_everything(target), target.last_change()) == before
        counted = ("stored", "replaced", "unchanged", "only_in_target")
        assert [_sum(tried, name) for name in counted] == [1, 1, 1, 1]
        done = copy(source, target)
        assert [_sum(done, name) for name in counted] == [1, 1, 1, 1]

    def test_a_store_is_not_copied_to_itself(self, pair: Pair) -> None:
        with pytest.raises(Refused, match="one store"):
            copy(pair[0], pair[0])


@pytest.mark.promise(12)
class TestForgotten:
    def test_what_the_target_forgot_does_not_come_back(self, pair: Pair) -> None:
        source, target = pair
        secret = memory("a", "the combination is 7")
        source.put([secret, memory("b")])
        copy(source, target)
        _forget(target, [secret])
        done = copy(source, target)
        assert (_sum(done, "forgotten"), target.get([secret.key])) == (1, [None])
        assert done.source_digest == done.target_digest

    def test_nor_under_another_key(self, pair: Pair) -> None:
        source, target = pair
        target.put([memory("a", "the combination is 7")])
        _forget(target, [memory("a", "the combination is 7")])
        source.put([memory("z", "the  combination\nis 7", session="s")])
        assert _sum(copy(source, target), "forgotten") == 1
        assert target.count() == 0

    def test_nor_inside_another_piece_of_its_source(self, pair: Pair) -> None:
        source, target = pair
        secret = drawer("/a.md", 1, "the combination is 7")
        target.put([secret])
        _forget(target, [secret])
        source.put([drawer("/a.md", 0, "before\nthe combination is 7\nafter")])
        assert _sum(copy(source, target), "forgotten") == 1

    def test_nor_the_hash_of_its_source(self, pair: Pair) -> None:
        source, target = pair
        source.put([source_of("/a.md", extra={"hash": "abc"})])
        target.put([source_of("/a.md", extra={"hash": ""})])
        assert _sum(copy(source, target), "forgotten") == 1
        assert held(target, source_of("/a.md")).extra == {"hash": ""}

    def test_what_the_source_forgot_stays_away_from_the_target_too(self, pair: Pair) -> None:
        source, target = pair
        secret = memory("a", "the combination is 7")
        source.put([secret])
        _forget(source, [secret])
        copy(source, target)
        assert Forgotten(target, "user").hides(secret)
        assert not Forgotten(target, "user").hides(memory("a", "another text"))

    def test_what_the_source_forgot_and_the_target_has_is_named(self, pair: Pair) -> None:
        source, target = pair
        secret = memory("a", "the combination is 7")
        source.put([secret])
        copy(source, target)
        _forget(source, [secret])
        assert copy(source, target).erased == [secret.key]

    def test_a_twin_that_the_source_kept_is_copied(self, pair: Pair) -> None:
        """The marks come last: also for the run after one that was killed."""
        source, target = pair
        secret, twin = memory("a", "the combination is 7"), memory("b", "the combination is 7")
        source.put([secret, twin])
        _forget(source, [secret])
        source.put([replace(twin, title="written after the mark")])
        done = copy(source, target)
        assert _everything(target) == _everything(source)
        assert _sum(copy(source, target), "unchanged") == _sum(done, "stored")

    def test_two_stores_that_forgot_on_their_own_are_not_joined(self, pair: Pair) -> None:
        source, target = pair
        for store, text in ((source, "one"), (target, "two")):
            store.put([memory("a", text)])
            _forget(store, [memory("a", text)])
        source.put([memory("b")])
        before = target.last_change()
        with pytest.raises(Refused, match="forgot nothing"):
            copy(source, target)
        assert target.last_change() == before

    def test_marks_of_the_target_outlive_a_source_that_forgot_nothing(self, pair: Pair) -> None:
        source, target = pair
        secret = memory("a", "the combination is 7")
        target.put([secret])
        _forget(target, [secret])
        Forgotten(source, "user").records([secret])  # makes a key of its own
        source.put([memory("b")])
        copy(source, target)
        assert Forgotten(target, "user").hides(secret)


class TestWhileOthersWrite:
    def test_what_comes_in_while_it_reads_is_copied_and_told(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory("a"), memory("b")])

        def tell(done: int, total: int | None, what: str) -> None:
            if what == "memories" and source.count() == 2:
                source.put([memory("c"), memory("a", "new")])

        done = copy(source, target, tell=tell)
        assert (done.meanwhile, done.behind) == (3, 0)
        assert _untimed(target) == _untimed(source)

    def test_what_comes_in_later_is_told_and_left_to_the_next_run(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory("0")])

        def tell(done: int, total: int | None, what: str) -> None:
            source.put([memory(str(source.count()))])

        done = copy(source, target, tell=tell)
        assert done.behind > 0
        assert done.source_digest == done.target_digest
        assert copy(source, target).behind == 0
        assert _untimed(target) == _untimed(source)

    def test_what_is_deleted_meanwhile_is_not_missed(self, pair: Pair) -> None:
        source, target = pair
        source.put([memory("a"), memory("b")])

        def tell(done: int, total: int | None, what: str) -> None:
            source.delete([memory("a").key])

        done = copy(source, target, tell=tell)
        assert _sum(done, "only_in_target") == 1
        assert done.source_digest == done.target_digest

    def test_what_the_target_forgets_meanwhile_is_kept_out(self, pair: Pair) -> None:
        source, target = pair
        secrets = [memory(f"m{n}", f"text {n}") for n in range(1200)]
        source.put(secrets)

        def tell(done: int, total: int | None, what: str) -> None:
            if what == "memories" and done == 350:
                _forget(target, secrets[-1:])

        done = copy(source, target, tell=tell)
        assert (_sum(done, "forgotten"), target.count()) == (1, 1199)


class Faulty(MemoryStore):
    """Takes all, and keeps some as something else."""

    def put(self, memories: Any, by: Author = Author(), *, bulk: bool = False) -> list[Outcome]:
        changed = [replace(m, body=m.body.replace("\0", "")) for m in memories]
        return super().put(changed, by, bulk=bulk)


class Listed(MemoryStore):
    """A store without a feed: what it holds is asked for by key."""

    capabilities = frozenset({"manifest", "keeps", "transaction"})

    def manifest(self) -> Iterator[tuple[Key, str]]:
        for each in self.scan(ALL):
            yield each.key, content_digest(each).hex()

    def changes(self, since: int, limit: int = 1000) -> list[Change]:
        raise AssertionError("a store without a feed was asked for changes")

    def last_change(self) -> int:
        raise AssertionError("a store without a feed was asked for a number")


def test_a_target_that_keeps_something_else_is_an_error_that_names_the_first() -> None:
    source, target = MemoryStore(), Faulty()
    source.put([memory(f"m{n}", "nul \0", session="s") for n in range(9)] + [memory("good")])
    with pytest.raises(StoreError, match=r"9 of the memories .*: user/s/m0, user/s/m1.*, …"):
        copy(source, target)


def test_stores_without_a_feed_are_copied_by_their_keys() -> None:
    source, target = Listed(clock=Clock()), Listed(clock=Clock())
    source.put(_assorted(300))
    done = copy(source, target)
    assert _everything(target) == _everything(source)
    assert (_sum(done, "stored"), done.meanwhile, done.behind) == (source.count(ALL), 0, 0)
    assert _sum(copy(source, target), "unchanged") == source.count(ALL)


def test_progress_ends_where_it_said() -> None:
    source, target = MemoryStore(), MemoryStore()
    source.put(_assorted(400))
    told: list[tuple[int, int | None, str]] = []
    copy(source, target, tell=lambda *each: told.append(each))
    last = {what: (done, total) for done, total, what in told}
    assert set(last.values()) == {(source.count(ALL), source.count(ALL))}


class TestDigest:
    @limits(max_examples=60)
    @given(memories())
    def test_times_of_writing_do_not_count(self, any_memory: Memory) -> None:
        other = replace(any_memory, created=1, updated=2)
        assert content_digest(any_memory) == content_digest(other)

    def test_equal_numbers_are_equal(self) -> None:
        one, other = (memory(extra={"n": n, "in": [{"m": n}]}) for n in (1e5, 100_000))
        assert content_digest(one) == content_digest(other)
        assert content_digest(memory(extra={"n": True})) != content_digest(memory(extra={"n": 1}))

    @pytest.mark.parametrize(
        "changes",
        [{"body": "b"}, {"archived": 1}, {"session": "s"}, {"extra": {"a": 1}}, {"tags": ("t",)},
         {"place": Place("w")}, {"trust": "untrusted"}, {"edges": (Edge("mentions", "x"),)}],
    )  # fmt: skip
    def test_everything_else_does(self, changes: dict[str, Any]) -> None:
        assert content_digest(memory()) != content_digest(replace(memory(), **changes))


def _forget(store: Store, forgotten: Sequence[Memory]) -> None:
    with store.transaction():
        store.put(Forgotten(store, "user").records(forgotten))
        store.delete([each.key for each in forgotten])
