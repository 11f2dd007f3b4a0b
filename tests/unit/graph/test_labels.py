"""What nodes are called in drawings."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from camillo.graph.edges import Node
from camillo.graph.labels import label, names, one_line
from unit.graph.specimens import key

DRAWER = "0123456789abcdef01234567"


def test_a_note_is_called_by_its_slug_and_kind() -> None:
    assert label(Node(key("scope_new"), "feedback", title="Scope")) == "scope_new (feedback)"
    assert label(Node(key("bare"))) == "bare"


def test_what_has_an_id_of_our_making_is_called_by_its_title() -> None:
    assert label(Node(key(DRAWER), "drawer", title="notes.md")) == "notes.md (drawer)"
    assert label(Node(key(DRAWER), "drawer")) == "01234567 (drawer)"


def test_what_is_gone_says_so() -> None:
    assert label(Node(key("gone"), present=False)) == "gone (missing)"


def test_a_label_is_one_line_without_control_characters() -> None:
    assert one_line("a\n b\t\x00c\u2028d\x1b[0m") == "a b c d [0m"
    assert one_line("safe\u202egnp.exe") == "safegnp.exe"
    assert one_line("\ud83d") == "\\ud83d"


def test_a_long_label_is_cut_between_characters() -> None:
    assert one_line("abcdef", 4) == "abc…"
    assert one_line("abcd", 4) == "abcd"
    assert one_line("abe\u0301\u0301\u0301", 4) == "ab…"


def test_two_sessions_may_use_one_id() -> None:
    nodes = [Node(key("a")), Node(key("a", session="s")), Node(key("a (2)")), Node(key("b"))]
    assert list(names(nodes).values()) == ["a", "a (2)", "a (2) (2)", "b"]


@given(st.lists(st.text(st.sampled_from("a \n(2)"), max_size=6), max_size=8))
def test_names_differ_whatever_the_ids(ids: list[str]) -> None:
    nodes = [Node(key(id, session=f"{number}")) for number, id in enumerate(ids)]
    given = names(nodes)
    assert len(set(given.values())) == len(given) == len(ids)
