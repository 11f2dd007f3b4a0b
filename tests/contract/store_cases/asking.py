"""Cases of a store: scans, pages, counts and searches by prefix see what the filter admits."""

from __future__ import annotations

from itertools import chain
from typing import Literal

import pytest

from camillo.errors import InvalidValue
from camillo.model import INTERNAL_KINDS, Filter, Memory, Origin, Page, Place, Session, replace
from camillo.ports import Store
from contract.applicable import needs
from contract.specimens import held, memory, varied

ORDERS: tuple[Literal["oldest", "newest", "id"], ...] = ("oldest", "newest", "id")
FIELDS = ("kind", "wing", "room", "session", "scope", "namespace", "source")


def mixed() -> list[Memory]:
    """Memories that differ in everything that a filter asks about."""
    sessions, kinds = ("", "s", "t"), ("fact", "rule", "drawer", "source")
    return [
        memory(
            f"m{n:03}",
            f"text {n}",
            namespace=("", "n")[n % 11 == 3],
            scope=("user", "project")[n % 2],
            session=sessions[n % 3],
            kind=kinds[n % 4],
            place=Place(f"wing {n % 3}", f"room {n % 5}"),
            origin=Origin(f"file {n % 4}", n) if n % 6 else None,
            happened_at=("", f"2024-0{n % 9 + 1}", f"2024-0{n % 9 + 1}-15")[n % 7 % 3],
            archived=1_700_000_000_000 if n % 10 == 9 else 0,
            created=1000 + n // 2,
        )
        for n in range(120)
    ]


ASKED = {
    "nothing asked": Filter(),
    "every namespace": Filter(namespace=None),
    "namespace": Filter(namespace="n"),
    "scope": Filter(scope="project"),
    "any session": Filter(session=Session("any")),
    "global only": Filter(session=Session("global")),
    "one session": Filter(session=Session("only", "s")),
    "with globals": Filter(session=Session("with-global", "s")),
    "unknown session": Filter(session=Session("only", "nobody's")),
    "kinds": Filter(kinds=("fact", "rule")),
    "no kind": Filter(kinds=()),
    "an internal kind, hidden": Filter(kinds=("source",)),
    "an internal kind": Filter(kinds=("source",), internal=True),
    "wing": Filter(wing="wing 1"),
    "no wing": Filter(wing=""),
    "room": Filter(room="room 4"),
    "source": Filter(source="file 2"),
    "unknown source": Filter(source="file"),
    "since": Filter(since="2024-05"),
    "before": Filter(before="2024-05-15"),
    "between": Filter(since="2024-03-15", before="2024-06"),
    "archived too": Filter(archived=True),
    "internal too": Filter(internal=True),
    "all of it": Filter(namespace=None, archived=True, internal=True),
    "much at once": Filter(
        scope="user", session=Session("with-global", "t"), kinds=("fact", "drawer"),
        wing="wing 2", since="2024-01", archived=True,
    ),
}  # fmt: skip


class AskingCases:
    """scan, count, tally, find."""

    @needs("keeps")
    @pytest.mark.parametrize("name", sorted(ASKED))
    def test_a_filter_admits_what_it_says_in_every_question(self, store: Store, name: str) -> None:
        rows, asked = mixed(), ASKED[name]
        store.put(rows)
        wanted = [m.id for m in rows if asked.admits(m)]
        assert [m.id for m in store.scan(asked, Page(order="id"))] == wanted
        assert sorted(key.id for key in store.find("m", asked, limit=500)) == wanted
        assert store.count(asked) == len(wanted)
        for field in FIELDS:
            assert sum(store.tally(field, asked).values()) == len(wanted), field

    @needs("keeps")
    def test_the_four_session_filters(self, store: Store) -> None:
        store.put([memory(f"{s or 'global'}", session=s) for s in ("", "s", "t")])
        seen = {
            mode: sorted(m.id for m in store.scan(Filter(session=Session(mode, "s"))))
            for mode in ("any", "global", "only", "with-global")
        }
        assert seen == {
            "any": ["global", "s", "t"],
            "global": ["global"],
            "only": ["s"],
            "with-global": ["global", "s"],
        }

    @needs("keeps")
    def test_bookkeeping_is_hidden_unless_asked_for(self, store: Store) -> None:
        store.put([memory("a"), *(memory(kind, kind=kind) for kind in INTERNAL_KINDS)])
        assert [m.id for m in store.scan()] == ["a"]
        assert (store.count(), store.tally("kind")) == (1, {"fact": 1})
        assert store.find("s") == []
        assert store.count(Filter(internal=True)) == 1 + len(INTERNAL_KINDS)

    @needs("keeps")
    def test_the_archived_is_hidden_unless_asked_for(self, store: Store) -> None:
        store.put([memory("a"), memory("b", archived=5)])
        assert [m.id for m in store.scan()] == ["a"]
        assert (store.count(), store.find("b")) == (1, [])
        assert store.count(Filter(archived=True)) == 2
        assert held(store, memory("b")).archived == 5

    @needs("keeps")
    def test_a_scan_goes_by_time_or_by_id(self, store: Store) -> None:
        store.put([memory(id_, created=at) for id_, at in (("b", 2), ("c", 1), ("a", 2), ("d", 3))])
        orders = {order: [m.id for m in store.scan(page=Page(order=order))] for order in ORDERS}
        assert orders == {
            "oldest": ["c", "a", "b", "d"],
            "newest": ["d", "b", "a", "c"],
            "id": ["a", "b", "c", "d"],
        }

    @needs("keeps")
    @pytest.mark.parametrize("order", ORDERS)
    def test_pages_neither_overlap_nor_leave_out(
        self, store: Store, order: Literal["oldest", "newest", "id"]
    ) -> None:
        rows = [*mixed(), *(replace(m, session="u") for m in mixed())]  # ids and times repeat
        store.put(rows)
        asked = Filter(namespace=None, archived=True, internal=True)
        whole = [m.key for m in store.scan(asked, Page(order=order))]
        assert len(whole) == store.count(asked) == len({m.key for m in rows})
        for limit in (1, 7, 64):
            pages = [
                [m.key for m in store.scan(asked, Page(limit, offset, order))]
                for offset in range(0, len(whole) + limit, limit)
            ]
            assert list(chain(*pages)) == whole
            assert pages[-1] == []

    @needs("keeps")
    @pytest.mark.parametrize(
        ("asked", "fields"),
        [
            (Filter(kinds=("rule",)), {"kind": "rule"}),
            (Filter(session=Session("only", "s")), {"session": "s"}),
            (Filter(wing="w", room="r"), {"place": Place("w", "r")}),
            (Filter(source="f"), {"origin": Origin("f", 1)}),
            (Filter(since="2024"), {"happened_at": "2024-02-03"}),
            (Filter(scope="project"), {"scope": "project"}),
        ],
    )
    def test_a_filter_comes_before_the_limit(
        self, store: Store, asked: Filter, fields: dict[str, object]
    ) -> None:
        rows = [memory(f"m{n:02}") for n in range(60)]
        for n in (29, 59):
            rows[n] = varied(rows[n], **fields)
        store.put(rows)
        assert [m.id for m in store.scan(asked, Page(limit=2, order="id"))] == ["m29", "m59"]
        assert [key.id for key in store.find("m", asked, limit=2)] == ["m29", "m59"]

    @needs("keeps")
    def test_find_has_the_exact_id_first(self, store: Store) -> None:
        store.put([memory(id_) for id_ in ("abc", "ab", "ab-1", "ab\U0010ffff9", "aB", "b", "a")])
        found = [key.id for key in store.find("ab")]
        assert found == ["ab", "ab-1", "abc", "ab\U0010ffff9"]
        assert [key.id for key in store.find("ab", limit=2)] == found[:2]
        assert [key.id for key in store.find("ab-")] == ["ab-1"]
        assert store.find("abcd") == []
        assert len(store.find("")) == 7

    @needs("keeps")
    def test_find_names_every_owner_of_an_id(self, store: Store) -> None:
        rows = [memory("id", session=session, scope=scope)
                for session in ("", "s") for scope in ("user", "project")]  # fmt: skip
        store.put(rows)
        assert set(store.find("id")) == {m.key for m in rows}
        assert store.find("i", Filter(scope="user", session=Session("only", "s"))) == [rows[2].key]

    @needs("keeps")
    def test_a_tally_counts_each_value_most_first(self, store: Store) -> None:
        wings = ("b", "a", "c", "a", "c", "a", "")
        store.put([memory(f"m{n}", place=Place(wing)) for n, wing in enumerate(wings)])
        assert list(store.tally("wing").items()) == [("a", 3), ("c", 2), ("", 1), ("b", 1)]
        assert store.tally("source") == {"": 7}

    @needs("keeps")
    def test_a_tally_agrees_with_the_scan(self, store: Store) -> None:
        store.put(mixed())
        asked = Filter(namespace=None, archived=True, internal=True)
        for field in ("kind", "session", "scope", "namespace"):
            scanned: dict[str, int] = {}
            for m in store.scan(asked):
                scanned[getattr(m, field)] = scanned.get(getattr(m, field), 0) + 1
            assert store.tally(field, asked) == scanned

    @needs("keeps")
    def test_a_tally_of_an_unknown_field_names_the_known(self, store: Store) -> None:
        with pytest.raises(InvalidValue, match=r"'colour'.*kind.*wing"):
            store.tally("colour")

    @needs("keeps")
    def test_a_scan_outlives_what_is_written_meanwhile(self, store: Store) -> None:
        store.put([memory(f"m{n}") for n in range(10)])
        seen = []
        for m in store.scan():
            store.delete([m.key])
            store.put([memory(f"new-{m.id}")])
            seen.append(m.id)
        assert seen == [f"m{n}" for n in range(10)]
