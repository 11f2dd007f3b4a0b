"""Sidecars: what is encoded comes back, and what is no sidecar is refused. Bytes are in golden/."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import InvalidValue
from camillo.text.sidecar import (
    Sidecar,
    content_sha,
    decode,
    encode,
    floats,
    packed,
    reusable,
    state,
)

SHA = content_sha("user", "n", "d", "b")
ONE, TWO = packed([0.5, -1.0]), packed([0.25, 2.0])
FRESH = encode(Sidecar("m", 2, SHA, ONE, TWO))
VERSION_1 = b"CMEM\x01" + FRESH[5:-16] + TWO


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), max_size=4),
)
def test_what_is_encoded_comes_back(model: str, pairs: list[tuple[float, float]]) -> None:
    summary, body = packed(a for a, _ in pairs), packed(b for _, b in pairs)
    made = Sidecar(model, len(pairs), SHA, summary, body)
    assert decode(encode(made)) == made
    assert all(
        a == b or math.isnan(b) for a, (b, _) in zip(floats(summary), pairs, strict=True)
    )  # fmt: skip


@given(st.binary(max_size=80))
def test_other_bytes_are_no_sidecar(content: bytes) -> None:
    with pytest.raises(InvalidValue):
        decode(content)
    assert state(content, "m", 2, SHA) == "foreign"


@given(st.integers(0, len(FRESH) - 1))
def test_a_part_of_one_is_none(end: int) -> None:
    with pytest.raises(InvalidValue):
        decode(FRESH[:end])


@pytest.mark.case("CP19")
@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "x" * 256}, {"dim": -1}, {"dim": 2.5}, {"dim": 3}, {"dim": 2**32},
        {"sha": SHA.upper()}, {"sha": "ab"}, {"summary": ONE[:-1]}, {"body": b""},
    ],
)  # fmt: skip
def test_what_cannot_be_encoded_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        encode(Sidecar("m", 2, SHA, ONE, TWO)._replace(**wrong))  # type: ignore[arg-type]


@pytest.mark.promise(27)
def test_vectors_of_another_model_are_foreign() -> None:
    assert state(FRESH, "m", 2, SHA) == "fresh"
    for model, dim in (("other", 2), ("m", 3)):
        assert state(FRESH, model, dim, SHA) == "foreign"
        assert reusable(FRESH, model, dim, SHA) is None


def test_a_changed_note_makes_it_stale() -> None:
    other = content_sha("user", "n", "d", "changed")
    assert state(FRESH, "m", 2, other) == "stale"
    assert reusable(FRESH, "m", 2, other) is None


def test_a_version_1_has_the_vector_of_the_body() -> None:
    assert state(VERSION_1, "m", 2, SHA) == "stale"
    assert reusable(VERSION_1, "m", 2, SHA) == Sidecar("m", 2, SHA, b"", TWO, 1)
    assert state(None, "m", 2, SHA) == "missing"
    assert reusable(None, "m", 2, SHA) is None


def test_a_number_beyond_float32_is_infinite() -> None:
    assert floats(packed([1e39, -1e39])) == [math.inf, -math.inf]


def test_half_a_surrogate_pair_counts_as_the_sign_that_replaces_it() -> None:
    assert content_sha("user", "n", "d", "\ud800") == content_sha("user", "n", "d", "\ufffd")
