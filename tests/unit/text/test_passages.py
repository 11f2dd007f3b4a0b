"""Passages: what an index holds of a memory, and finding it again by its number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from camillo.model import Memory
from camillo.text.passages import PASSAGE_CHARS, passage, passages

LONG = "Words of a note that goes on for a while.\n" * 60


def test_a_drawer_is_one_passage_however_long() -> None:
    [only] = passages(Memory("d", LONG, "drawer"))
    assert (only.number, only.text) == (0, LONG)


def test_a_short_memory_without_a_title_is_one_passage() -> None:
    [only] = passages(Memory("f", "We chose JWT."))
    assert only.text == "We chose JWT."


def test_a_note_is_its_head_and_its_body_in_pieces() -> None:
    head, *pieces = passages(Memory("n", LONG, "note", "Title", "Summary"))
    assert (head.number, head.title, head.summary, head.body) == (0, "Title", "Summary", "")
    assert [each.number for each in pieces] == list(range(1, len(pieces) + 1))
    assert "".join(each.body for each in pieces) == LONG
    assert all(len(each.body) <= PASSAGE_CHARS for each in pieces)


def test_a_number_that_is_gone_gives_the_first() -> None:
    memory = Memory("n", "short", "note", "Title")
    assert passage(memory, 7) == passage(memory, 0)


@given(
    body=st.text(max_size=3000), title=st.text(max_size=5), kind=st.sampled_from(["note", "drawer"])
)
def test_each_is_found_again_by_its_number(body: str, title: str, kind: str) -> None:
    memory = Memory("m", body, kind, title)
    for each in passages(memory):
        assert passage(memory, each.number) == each
