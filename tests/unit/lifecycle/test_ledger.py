"""The ledger compares two sides by key and digest, in key order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from camillo.lifecycle.ledger import Entry, Ledger
from camillo.model import Key


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with closing(Ledger()) as opened:
        yield opened


def _entry(id: str, digest: bytes = b"1", session: str = "", kind: str = "fact") -> Entry:
    return Entry(Key("", "user", session, id), kind, digest)


def test_sides_with_equal_entries_have_one_digest_in_whatever_order(ledger: Ledger) -> None:
    entries = [_entry("ab"), _entry("b", session="a"), _entry("😀"), _entry("\ufffd")]
    ledger.note("source", entries)
    ledger.note("target", reversed(entries))
    assert ledger.digest("source") == ledger.digest("target")
    assert list(ledger.differing()) == []


def test_where_a_field_ends_counts(ledger: Ledger) -> None:
    ledger.note("source", [_entry("b", session="a")])
    ledger.note("target", [_entry("b", session="a")])
    one = ledger.digest("source")
    with closing(Ledger()) as other:
        other.note("source", [_entry("ab")])
        assert other.digest("source") != one


def test_what_is_missing_or_differs_is_named_in_key_order(ledger: Ledger) -> None:
    ledger.note("source", [_entry(id) for id in ("c", "a", "b", "d")])
    ledger.note("target", [_entry("c", b"2"), _entry("a"), _entry("d")])
    assert [key.id for key in ledger.differing()] == ["b", "c"]
    assert ledger.digest("source") != ledger.digest("target")


def test_what_only_the_target_has_is_counted_apart(ledger: Ledger) -> None:
    ledger.note("source", [_entry("a")])
    ledger.note("target", [_entry("a"), _entry("b", kind="diary"), _entry("a", session="s")])
    assert ledger.surplus() == {"diary": 1, "fact": 1}
    assert ledger.counts("target") == ledger.counts("source") == {"fact": 1}
    assert ledger.digest("source") == ledger.digest("target")


def test_the_last_entry_of_a_key_counts_and_a_dropped_one_does_not(ledger: Ledger) -> None:
    ledger.note("source", [_entry("a", b"1"), _entry("b")])
    ledger.note("source", [_entry("a", b"2")])
    ledger.drop("source", [_entry("b").key, _entry("never there").key])
    ledger.note("target", [_entry("a", b"2")])
    assert list(ledger.differing()) == []
    assert (ledger.has("source", _entry("a").key), ledger.has("source", _entry("b").key)) == (
        True,
        False,
    )
