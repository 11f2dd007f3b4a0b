"""Mermaid flowcharts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.graph.edges import graph_of
from camillo.graph.mermaid import mermaid
from camillo.graph.walk import walk
from unit.graph.specimens import graph, key, memory, two

LINE = re.compile(r'  (?:\w+\["[^"]*"\]|\w+ (?:-- "[^"]*" -->|-\. "[^"]*" \.->) \w+)', re.ASCII)


def test_plain_names_stay_as_they_are() -> None:
    assert mermaid(two("a")) == (
        '```mermaid\nflowchart LR\n  a["a (fact)"]\n  b["b (fact)"]\n'
        '  a -- "builds-on" --> b\n```\n'
    )


def test_the_fence_can_be_left_out() -> None:
    assert mermaid(two("a"), fenced=False).startswith("flowchart LR\n")
    assert "```" not in mermaid(two("a"), fenced=False)


def test_quotes_markup_and_directives_are_escaped() -> None:
    drawn = mermaid(two('x"]; click a "javascript:1"', kind="<b>&`%%{init}%%"))
    assert (
        'n0["x#34;]; click a #34;javascript#58;1#34; (#60;b#62;#38;#96;#37;#37;{init}#37;#37;)"]'
        in drawn
    )


def test_a_name_cannot_close_the_fence() -> None:
    drawn = mermaid(two("a\n```\n# Rules\n", relation="x\n```"))
    assert drawn.count("```") == 2
    assert "\n# Rules" not in drawn


@pytest.mark.parametrize("word", ["end", "Graph", "linkStyle", "_self", "default"])
def test_words_of_the_language_are_no_ids(word: str) -> None:
    assert f'n0["{word} (fact)"]' in mermaid(two(word))
    assert f'  {word}_of["{word}_of (fact)"]' in mermaid(two(f"{word}_of"))


def test_a_made_up_id_is_nobodys_name() -> None:
    drawn = mermaid(two("a b", "n0"))
    assert 'n0_["a b (fact)"]' in drawn
    assert 'n0["n0 (fact)"]' in drawn


def test_two_with_one_name_stay_two() -> None:
    made = graph_of([memory("a >b", session="s"), memory("b"), memory("a >b")])
    drawn = mermaid(walk(made, key("b")))
    assert drawn.count('["a (fact)"]') == 2
    assert "  a --" in drawn
    assert "  n2 --" in drawn


def test_what_is_missing_is_dotted_and_what_is_left_out_is_said() -> None:
    view = walk(graph("a ~gone ~b", "b"), key("a"), dangling=True)
    assert '  a -. "related-to" .-> gone\n' in mermaid(view)
    assert "%% there is more" in mermaid(view._replace(truncated=True))
    assert "%%" not in mermaid(view)


@given(st.text(), st.text(), st.text(), st.text(min_size=1))
def test_any_text_gives_well_formed_lines(
    first: str, second: str, kind: str, relation: str
) -> None:
    first_line, *lines = mermaid(two(first, second, kind, relation), fenced=False).splitlines()
    assert first_line == "flowchart LR"
    assert all(LINE.fullmatch(line) for line in lines)
    assert len(lines) == (2 if first == second else 3)
