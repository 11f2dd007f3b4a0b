"""Cases of a store: any text is kept to the letter, what is no text is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from camillo.errors import InvalidValue
from camillo.model import Edge, Filter, Key, Memory, Origin, Place, Session, replace
from camillo.ports import Store
from contract.applicable import needs
from contract.specimens import held, memories, memory, source_of, untimed, varied

AWKWARD = [
    "%", "_", "*", "a%", "a_", "a*", "[a-z]", '"', "'", "''", ";", "--", "/* */", "\\", "\\u0000",
    "' OR 1=1 --", '"); DROP TABLE memories; --', "?", "?1", ":name", "@x", "$1", "{}", "%s", "{0}",
    "null", "NULL", "None", "true", "0", "007", "1e3", "0x10", " ", " a", "a ", "\t", "\n", "\r\n",
    "a/b", "../a", "é", "e\u0301", "ß", "SS", "İ", "i", "I", "ı", "你好", "こんにちは", "안녕",
    "ไทย", "नमस्ते", "שלום עולם", "مرحبا\u200f!", "👩‍👩‍👧‍👦", "🇩🇪", "\u200b", "\ufeff",
    "\ufffd", "\uffff", "\U0001f600", "\U00020000", "\U000e0001", "\U0010fffd", "\U0010ffff",
    "\x01", "\x7f", "\x85", "\u2028", "A", "a", "Ａ",
]  # fmt: skip
ASKED = ("namespace", "scope", "session", "kind", "wing", "room", "source")
HALF = "\ud83d"  # of a surrogate pair


class WordingCases:
    """Unicode, awkward characters, sizes, and what cannot be written."""

    @needs("keeps")
    @settings(
        max_examples=150,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(wanted=memories())
    def test_any_memory_comes_back_as_it_was_put(self, store: Store, wanted: Memory) -> None:
        assert store.put([wanted])[0].key == wanted.key
        (back,) = store.get([wanted.key])
        assert untimed(back) == untimed(wanted)

    @needs("keeps")
    def test_awkward_ids_are_all_different(self, store: Store) -> None:
        wanted = [memory(text, f"body of {number}") for number, text in enumerate(AWKWARD)]
        assert {outcome.status for outcome in store.put(wanted)} == {"stored"}
        assert [untimed(back) for back in store.get([m.key for m in wanted])] == wanted
        assert store.count() == len(AWKWARD)
        for number, text in enumerate(AWKWARD):
            assert store.find(text, limit=1) == [wanted[number].key], text
        assert store.delete([memory("%").key, memory("e\u0301").key]) == 2
        assert store.count() == len(AWKWARD) - 2

    @needs("keeps")
    def test_normal_forms_of_an_id_are_two_ids(self, store: Store) -> None:
        composed, decomposed = memory("caf\u00e9", "C"), memory("cafe\u0301", "D")
        store.put([composed, decomposed])
        assert [m and m.body for m in store.get([composed.key, decomposed.key])] == ["C", "D"]

    @needs("keeps")
    @pytest.mark.parametrize("field", ASKED)
    def test_awkward_text_in_a_filter_means_itself(self, store: Store, field: str) -> None:
        wanted = [_with(field, text, number) for number, text in enumerate(AWKWARD)]
        store.put(wanted)
        for number, text in enumerate(AWKWARD):
            found = [m.id for m in store.scan(_asking(field, text))]
            assert found == [f"m{number}"], text
        assert store.tally(field, Filter(namespace=None)) == dict.fromkeys(AWKWARD, 1)

    @needs("keeps")
    def test_every_plane_and_a_nul_are_kept_in_a_body(self, store: Store) -> None:
        planes = "".join(chr(plane << 16 | 0x1234) for plane in range(17))
        body = f"before\0after\0{planes}\r\n\n\t{''.join(AWKWARD)}\0"
        wanted = memory("a", body, title="t\0t", tags=("x\0y",), extra={"k\0": ["v\0", planes]})
        store.put([wanted])
        assert untimed(store.get([wanted.key])[0]) == wanted
        assert store.put([replace(wanted, body=body + "x")])[0].status == "updated"

    @needs("keeps")
    def test_a_text_of_a_megabyte_is_kept(self, store: Store) -> None:
        body = ("0123456789abcde\n" + "汉字かな交じり文です。") * 30_000
        assert len(body.encode()) > 1_000_000
        store.put([memory("big", body, summary=body)])
        back = held(store, memory("big"))
        assert back.body == back.summary == body

    @needs("keeps")
    def test_an_empty_body_and_any_kind_are_kept(self, store: Store) -> None:
        wanted = [memory("a", "", kind="my own kind"), memory("b", "", kind="")]
        store.put(wanted)
        assert [untimed(back) for back in store.get([m.key for m in wanted])] == wanted
        assert store.tally("kind") == {"my own kind": 1, "": 1}
        assert store.delete([m.key for m in wanted]) == 2

    @needs("keeps")
    @pytest.mark.parametrize("end", ["{", "'"])
    def test_a_long_id_is_kept_whole(self, store: Store, end: str) -> None:
        long = [memory("x" * 900 + end + letter) for letter in "ab"]
        store.put(long)
        assert store.count() == 2
        assert store.find("x" * 900 + end + "b") == [long[1].key]

    def test_an_empty_id_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidValue, match="id"):
            store.put([memory("")])
        assert store.count() == 0

    @pytest.mark.parametrize(
        ("field", "fields"),
        [
            ("id", {"id": HALF}),
            ("body", {"body": f"text {HALF} text"}),
            ("title", {"title": HALF}),
            ("summary", {"summary": HALF}),
            ("kind", {"kind": HALF}),
            ("namespace", {"namespace": HALF}),
            ("scope", {"scope": HALF}),
            ("session", {"session": "\udc80"}),
            ("wing", {"place": Place(wing=HALF)}),
            ("room", {"place": Place(room=HALF)}),
            ("hall", {"place": Place(hall=HALF)}),
            ("source", {"origin": Origin("caf\udce9.txt")}),
            ("tags", {"tags": ("fine", HALF)}),
            ("aliases", {"aliases": (HALF,)}),
            ("load_when", {"load_when": (HALF,)}),
            ("edges", {"edges": (Edge("mentions", HALF),)}),
            ("written_by", {"written_by": HALF}),
            ("happened_at", {"happened_at": HALF}),
            ("superseded_by", {"superseded_by": HALF}),
            ("extra", {"extra": {"a": [HALF]}}),
        ],
    )
    def test_half_a_surrogate_pair_is_refused_by_field(
        self, store: Store, field: str, fields: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidValue, match=field):
            store.put([memory("before"), varied(memory("bad"), **fields)])
        assert store.count(Filter(namespace=None)) == 0

    @pytest.mark.parametrize(
        ("field", "fields"),
        [
            ("NUL", {"id": "a\0b"}),
            ("NUL", {"session": "\0"}),
            ("origin", {"origin": Origin("")}),
            ("trust", {"trust": ""}),
            ("trust", {"trust": "blind"}),
            ("created", {"created": 2**63}),
            ("expires", {"expires": -(2**63) - 1}),
            ("byte_end", {"origin": Origin("f", byte_end=2**64)}),
            ("body", {"body": None}),
            ("body", {"body": b"bytes"}),
            ("extra", {"extra": {"a": b"bytes"}}),
            ("extra", {"extra": {"a": float("nan")}}),
            ("extra", {"extra": {"a": float("inf")}}),
            ("extra", {"extra": {1: "a"}}),
            ("extra", {"extra": {"a": (1, 2)}}),
            ("extra", {"extra": {"a": {1, 2}}}),
        ],
    )
    def test_what_would_not_come_back_is_refused_by_field(
        self, store: Store, field: str, fields: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidValue, match=field):
            store.put([memory("before"), varied(memory("bad"), **fields)])
        with pytest.raises(InvalidValue, match=field):
            store.replace_source(source_of("f"), [varied(memory("bad"), **fields)])
        assert store.count(Filter(internal=True)) == 0

    @pytest.mark.promise(22)
    @pytest.mark.parametrize("text", [HALF, f"a{HALF}", "a\0", "\0"])
    def test_asking_for_what_cannot_be_there_finds_nothing(self, store: Store, text: str) -> None:
        store.put([memory("a"), memory("?")])
        keys = [Key("", "user", "", text), Key(text, "user", "", "a"), Key("", "user", text, "a")]
        assert store.get(keys) == [None] * 3
        assert store.delete(keys) == 0
        assert store.find(text) == []
        for field in ASKED:
            assert list(store.scan(_asking(field, text))) == [], field
        assert store.count(Filter(since=text, before=text)) == 0


def _with(field: str, text: str, number: int) -> Memory:
    plain = memory(f"m{number}")
    if field in ("wing", "room"):
        return replace(plain, place=Place(**{field: text}))
    if field == "source":
        return replace(plain, origin=Origin(text))
    return varied(plain, **{field: text})


def _asking(field: str, text: str) -> Filter:
    if field == "session":
        return Filter(session=Session("only", text))
    if field == "kind":
        return Filter(kinds=(text,))
    asked: dict[str, Any] = {"namespace": None, field: text}
    return Filter(**asked)
