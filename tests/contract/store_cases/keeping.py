"""Cases of a store: what is put is there, is whose it is, and goes when it is deleted."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest

from camillo.errors import InvalidValue
from camillo.model import Author, Edge, Filter, Key, Origin, Place, Session, replace
from camillo.ports import Store
from contract.applicable import lacks, needs
from contract.opener import Opener
from contract.specimens import held, memory, source_of, untimed, varied

FULL = memory(
    "full",
    "the body",
    kind="decision",
    title="a title",
    summary="a summary",
    place=Place("wing", "room", "hall"),
    origin=Origin("notes/a.md", 3, 10, 12, 100, 180),
    edges=(Edge("builds-on", "other"), Edge("mentions", "third")),
    load_when=("editing *.py", "deploying"),
    tags=("one", "two"),
    aliases=("entire",),
    pinned=True,
    trust="untrusted",
    written_by="agent",
    happened_at="2024-05-06",
    expires=1_900_000_000_000,
    superseded_by="newer",
    extra={"deep": {"list": [1, 2.5, None, True, {"k": "v"}], "ключ": ""}, "n": -7},
)
# Every field that tells two versions apart.
DIFFERENT = {
    "body": "another body",
    "kind": "rule",
    "title": "another title",
    "summary": "another summary",
    "place": Place("wing", "room", "another hall"),
    "origin": Origin("notes/a.md", 3, 10, 13, 100, 190),
    "edges": (Edge("builds-on", "other"),),
    "load_when": (),
    "tags": ("two", "one"),
    "aliases": ("whole",),
    "pinned": False,
    "trust": "normal",
    "written_by": "person",
    "happened_at": "2024-05-07",
    "expires": 0,
    "archived": 1_800_000_000_000,
    "superseded_by": "",
    "extra": {"n": -7},
}


class KeepingCases:
    """put, get, delete, identity of a memory, transactions."""

    @needs("keeps")
    def test_a_memory_comes_back_as_it_was_put(self, store: Store) -> None:
        assert [outcome.status for outcome in store.put([FULL])] == ["stored"]
        back = held(store, FULL)
        assert untimed(back) == FULL
        assert back.created > 0
        assert back.updated == 0

    @needs("keeps")
    def test_get_answers_in_order_with_none_for_what_is_not_there(self, store: Store) -> None:
        store.put([memory("a", "A"), memory("b", "B"), memory("a", "SA", session="s")])
        wanted = [("", "b"), ("", "x"), ("s", "a"), ("", "a"), ("", "b"), ("t", "a")]
        keys = [Key("", "user", session, id_) for session, id_ in wanted]
        bodies = [found and found.body for found in store.get(keys)]
        assert bodies == ["B", None, "SA", "A", "B", None]
        assert store.get([]) == []

    @needs("keeps")
    def test_the_same_id_in_four_places_is_four_memories(self, store: Store) -> None:
        first = memory("same", "in the first")
        others = [
            replace(first, session="s", body="in a session"),
            replace(first, namespace="n", body="in a namespace"),
            replace(first, scope="project", body="in a scope"),
        ]
        everything = [first, *others]
        assert [outcome.status for outcome in store.put(everything)] == ["stored"] * 4
        assert [untimed(back) for back in store.get([m.key for m in everything])] == everything

        changed = replace(others[0], body="changed in a session")
        assert store.put([changed])[0].status == "updated"
        assert store.delete([others[1].key]) == 1
        left = [untimed(back) for back in store.get([m.key for m in everything])]
        assert left == [first, changed, None, others[2]]

    @needs("keeps")
    def test_the_same_id_in_two_sessions_is_two_memories(self, store: Store) -> None:
        one, two = memory("a", "one", session="s"), memory("a", "two", session="t")
        store.put([one, two])
        assert store.delete([one.key]) == 1
        assert [untimed(back) for back in store.get([one.key, two.key])] == [None, two]
        assert store.count(Filter(session=Session("only", "s"))) == 0

    @needs("keeps")
    def test_equal_content_is_deduplicated_and_changes_nothing(self, store: Store) -> None:
        store.put([FULL])
        before, lines = store.get([FULL.key]), store.journal()
        again = replace(FULL, created=5, updated=6)  # the times of writing are no content
        (outcome,) = store.put([again])
        assert outcome == ("deduplicated", FULL.key, "")
        assert store.get([FULL.key]) == before
        assert store.journal() == lines
        assert store.count() == 1

    @needs("keeps")
    @pytest.mark.parametrize("field", sorted(DIFFERENT))
    def test_a_difference_in_any_field_is_an_update(self, store: Store, field: str) -> None:
        changed = varied(FULL, **{field: DIFFERENT[field]})
        store.put([FULL])
        assert store.put([changed])[0].status == "updated"
        assert untimed(store.get([FULL.key])[0]) == changed
        assert store.count(Filter(archived=True)) == 1

    @needs("keeps")
    def test_created_of_the_first_version_is_kept(self, store: Store) -> None:
        store.put([memory("a", "first", created=1000), memory("b", "first")])
        before = [held(store, memory(id_)) for id_ in "ab"]
        store.put([memory("a", "second", created=2000), memory("b", "second", created=3000)])
        after = [held(store, memory(id_)) for id_ in "ab"]
        assert [m.created for m in after] == [m.created for m in before]
        assert after[0].created == 1000
        assert all(m.updated > m.created for m in after)

    @needs("keeps")
    def test_the_same_key_twice_in_one_put_ends_as_the_second(self, store: Store) -> None:
        outcomes = store.put([memory("a", "one"), memory("a", "two"), memory("a", "two")])
        assert [outcome.status for outcome in outcomes] == ["stored", "updated", "deduplicated"]
        assert [m.body for m in store.scan()] == ["two"]

    @needs("keeps")
    def test_delete_says_how_many_were_there(self, store: Store) -> None:
        store.put([memory("a"), memory("b"), memory("c")])
        keys = [memory(id_).key for id_ in ("a", "b", "x", "a")]
        assert store.delete(keys) == 2
        assert store.delete(keys) == 0
        assert [m.id for m in store.scan()] == ["c"]

    @needs("keeps")
    def test_put_again_after_delete_is_stored_anew(self, store: Store) -> None:
        store.put([memory("a", created=1000)])
        store.delete([memory("a").key])
        assert store.put([memory("a", created=2000)])[0].status == "stored"
        assert [m.created for m in store.scan()] == [2000]

    @needs("keeps")
    def test_a_put_with_one_bad_memory_writes_none(self, store: Store) -> None:
        with pytest.raises(InvalidValue):
            store.put([memory("a"), memory("b"), memory("")])
        assert store.count() == 0
        assert store.last_change() == 0
        assert store.journal() == []

    @needs("keeps")
    def test_what_a_caller_does_to_its_copy_stays_with_the_caller(self, store: Store) -> None:
        extra = {"list": [1]}
        store.put([memory("a", extra=extra)])
        extra["list"].append(2)
        held(store, memory("a")).extra["list"].append(3)
        assert held(store, memory("a")).extra == {"list": [1]}

    @needs("keeps", "transaction")
    def test_an_error_in_a_transaction_undoes_all_of_it(self, store: Store) -> None:
        store.put([memory("kept", "before"), memory("gone", "before")])
        before, last, lines = list(store.scan()), store.last_change(), store.journal()
        told = store.changes(0)
        with suppress(LookupError), store.transaction():
            store.put([memory("new", session="s", place=Place("w", "r"), origin=Origin("f"))])
            store.put([memory("kept", "after")])
            store.delete([memory("gone").key])
            raise LookupError
        assert list(store.scan()) == before
        assert (store.last_change(), store.journal()) == (last, lines)
        assert store.changes(0) == told
        # and what comes next does not lean on what was undone
        new = memory("new", session="s", place=Place("w", "r"), origin=Origin("f"))
        assert store.put([new])[0].status == "stored"
        assert untimed(store.get([new.key])[0]) == new

    def test_an_error_in_a_transaction_comes_out_of_it(self, store: Store) -> None:
        with pytest.raises(LookupError), store.transaction():
            raise LookupError

    @needs("keeps", "transaction")
    def test_transactions_inside_one_another_are_one(self, store: Store) -> None:
        with suppress(LookupError), store.transaction():
            with store.transaction():
                store.put([memory("a")])
            store.put([memory("b")])
            raise LookupError
        assert store.count() == 0
        with store.transaction():
            store.put([memory("a")])
            with store.transaction():
                store.put([memory("b")])
            assert store.count() == 2
        assert [m.id for m in store.scan()] == ["a", "b"]

    @needs("keeps", "transaction")
    def test_an_error_that_is_caught_inside_undoes_only_its_own_call(self, store: Store) -> None:
        with store.transaction():
            store.put([memory("a")])
            with pytest.raises(InvalidValue):
                store.put([memory("b", session="new"), memory("")])
            store.put([memory("c", session="new")])
        assert [m.id for m in store.scan()] == ["a", "c"]
        told = store.changes(0)
        assert [change.key.id for change in told] == ["a", "c"]
        assert told[0].seq < told[1].seq == store.last_change()

    @needs("keeps")
    def test_five_thousand_go_in_at_once(self, store: Store) -> None:
        many = [memory(f"m{number:05}", f"text {number}") for number in range(5000)]
        outcomes = store.put(many, bulk=True)
        assert {outcome.status for outcome in outcomes} == {"stored"}
        assert store.count() == 5000
        assert [untimed(m) for m in store.scan()] == many

    @needs("keeps", "transaction")
    def test_five_thousand_go_in_one_by_one(self, store: Store) -> None:
        with store.transaction(bulk=True):
            for number in range(5000):
                store.put([memory(f"m{number:05}", f"text {number}")])
        assert store.count() == 5000
        told = store.changes(0, 6000)
        assert [change.key.id for change in told] == [f"m{number:05}" for number in range(5000)]
        assert all(one.seq < other.seq for one, other in pairwise(told))

    @needs("keeps")
    def test_bookkeeping_is_kept_like_everything_else(self, store: Store) -> None:
        records = [source_of("a.md"), memory("f", "", kind="forgotten", extra={"hash": "00"})]
        store.put(records)
        assert [untimed(back) for back in store.get([m.key for m in records])] == records

    @needs("keeps", "persistent")
    def test_a_store_that_is_opened_again_holds_everything(self, opener: Opener) -> None:
        store = opener.open()
        store.put([FULL, memory("gone"), memory("old", "first")], Author("who", "test"))
        store.delete([memory("gone").key])
        store.put([memory("old", "second")])
        before = _everything(store)
        store.close()
        again = opener.open()
        assert _everything(again) == before
        again.close()

    @needs("keeps")
    def test_a_healthy_store_has_no_problems(self, store: Store) -> None:
        store.put([FULL, memory("b")])
        store.delete([memory("b").key])
        for deep in (False, True):
            health = store.health(deep=deep)
            assert (health.name, health.problems) == (store.name, ())

    @pytest.mark.promise(24)
    @lacks("keeps")
    def test_a_store_that_keeps_nothing_says_so(self, store: Store) -> None:
        outcomes = store.put([memory("a"), memory("b")])
        assert [outcome.status for outcome in outcomes] == ["rejected"] * 2
        assert all("keeps nothing" in outcome.reason for outcome in outcomes)
        assert store.replace_source(source_of("f"), [memory("d", kind="drawer")]) == (0, 0, 0)
        assert store.get([memory("a").key]) == [None]
        assert (list(store.scan()), store.find(""), store.count()) == ([], [], 0)
        assert (store.tally("kind"), store.changes(0), store.last_change()) == ({}, [], 0)
        assert (store.delete([memory("a").key]), store.journal()) == (0, [])

    @pytest.mark.promise(24)
    @needs("keeps")
    def test_every_write_says_what_became_of_it(self, store: Store) -> None:
        said = [store.put([memory("a", body)])[0] for body in ("x", "x", "y")]
        assert [outcome.status for outcome in said] == ["stored", "deduplicated", "updated"]
        assert {outcome.key for outcome in said} == {memory("a").key}

    def test_an_empty_store_answers_everything(self, store: Store) -> None:
        assert store.get([memory("a").key]) == [None]
        assert (list(store.scan()), store.find("a"), store.count()) == ([], [], 0)
        assert store.tally("kind") == {}
        assert store.delete([memory("a").key]) == 0
        assert store.put([]) == []
        assert store.health(deep=True).problems == ()

    def test_two_stores_have_two_names(self, opener: Opener, store: Store) -> None:
        other = opener.another()
        assert store.identity() == store.identity() != other.identity()
        other.close()

    @needs("persistent")
    def test_a_store_keeps_its_name_when_opened_again(self, opener: Opener) -> None:
        names = []
        for _ in range(2):
            store = opener.open()
            names.append(store.identity())
            store.close()
        assert names[0] == names[1] != ""


def _everything(store: Store) -> tuple[object, ...]:
    return list(store.scan()), store.changes(0), store.journal(), store.last_change()
