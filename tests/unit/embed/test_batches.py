"""Batches: each text once, like lengths together, few tokens at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from camillo.embed.batches import batches

LENGTHS = st.lists(st.integers(1, 600), max_size=200)


@given(LENGTHS, st.integers(1, 1000))
def test_every_text_is_in_exactly_one_batch(lengths: list[int], tokens: int) -> None:
    seen = [index for batch in batches(lengths, tokens) for index in batch]
    assert sorted(seen) == list(range(len(lengths)))


@given(LENGTHS, st.integers(1, 1000))
def test_a_padded_batch_is_within_the_bound_or_one_text(lengths: list[int], tokens: int) -> None:
    for batch in batches(lengths, tokens):
        longest = max(lengths[index] for index in batch)
        assert len(batch) == 1 or longest * len(batch) <= tokens


@given(LENGTHS)
def test_lengths_never_fall_from_batch_to_batch(lengths: list[int]) -> None:
    order = [lengths[index] for batch in batches(lengths) for index in batch]
    assert order == sorted(order)


def test_equal_lengths_keep_their_order() -> None:
    assert list(batches([5, 5, 5, 5], 10)) == [[0, 1], [2, 3]]
