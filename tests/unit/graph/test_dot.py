"""Graphviz digraphs."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from camillo.graph.dot import dot
from camillo.graph.walk import walk
from unit.graph.specimens import graph, key, two

QUOTED = r'"(?:[^"\\]|\\.)*"'
LINE = re.compile(rf"  {QUOTED}(?: -> {QUOTED})? \[label={QUOTED}(?:, style=dashed)?\];")


def test_a_digraph_with_a_name_of_its_own() -> None:
    assert dot(two("a"), title="commonplace") == (
        "digraph commonplace {\n  rankdir=LR;\n"
        '  "a" [label="a (fact)"];\n  "b" [label="b (fact)"];\n'
        '  "a" -> "b" [label="builds-on"];\n}\n'
    )
    assert dot(two("a")).startswith("digraph camillo {\n")
    assert dot(two("a"), title="my graph").startswith('digraph "my graph" {\n')


def test_quotes_backslashes_and_entities_are_escaped() -> None:
    assert '  "a\\"b\\\\" [label="a\\"b\\\\ (&amp;lt;\\\\N)"];' in dot(two('a"b\\', kind="&lt;\\N"))


def test_what_is_missing_is_dashed_and_what_is_left_out_is_said() -> None:
    view = walk(graph("a ~gone"), key("a"), dangling=True)
    drawn = dot(view._replace(truncated=True))
    assert '  "gone" [label="gone (missing)", style=dashed];\n' in drawn
    assert '  "a" -> "gone" [label="related-to", style=dashed];\n' in drawn
    assert "// there is more" in drawn


@given(st.text(), st.text(), st.text(), st.text(min_size=1))
def test_any_text_gives_well_formed_lines(
    first: str, second: str, kind: str, relation: str
) -> None:
    _, _, *lines, last = dot(two(first, second, kind, relation)).splitlines()
    assert last == "}"
    assert all(LINE.fullmatch(line) for line in lines)
