"""The claude dialect: pages as Claude Code writes them, flat and nested, and lines of its index."""

from __future__ import annotations

import pytest

from camillo.engines.markdown.claude import ClaudeDialect
from camillo.errors import InvalidValue, NoteBroken
from camillo.model import Memory

DIALECT = ClaudeDialect()
FLAT = b"---\nname: Tabs\ndescription: four spaces\ntype: feedback\noriginSessionId: 7\n---\nNo.\n"
NESTED = (
    b"---\nname: Tabs\ndescription: four spaces\nmetadata: \n  node_type: memory\n"
    b"  type: feedback\n  originSessionId: 7\n---\nNo.\n"
)
NOT_YAML = b"---\nname: Deploys\ndescription: Note: two approvals\ntype: project\n---\nTwo.\n"


def test_the_index_and_what_lies_deeper_are_no_notes() -> None:
    assert DIALECT.is_note("feedback_tabs.md")
    others = ["MEMORY.md", "memory.md", "sub/a.md", ".a.md", "a.txt"]
    others += ["a.conflict-20260102T030405Z.md"]
    assert [path for path in others if DIALECT.is_note(path)] == []


@pytest.mark.parametrize("content", [FLAT, NESTED])
def test_a_page_is_called_by_its_file(content: bytes) -> None:
    memory = DIALECT.parse("feedback_tabs.md", content)
    assert memory[:5] == ("feedback_tabs", "No.\n", "feedback", "Tabs", "four spaces")
    assert memory.extra["frontmatter"] == {"originSessionId": 7}
    assert "problems" not in memory.extra


def test_a_type_is_changed_where_it_stands() -> None:
    for content in (FLAT, NESTED):
        memory = DIALECT.parse("a.md", content)
        made = DIALECT.render(memory._replace(kind="project"), content)
        assert made == content.replace(b"type: feedback", b"type: project").replace(
            b"metadata: \n", b"metadata:\n"
        )
        assert DIALECT.parse("a.md", made).kind == "project"


def test_an_edit_changes_its_own_line() -> None:
    memory = DIALECT.parse("a.md", NESTED)
    made = DIALECT.render(memory._replace(summary="two spaces"), NESTED)
    assert made == NESTED.replace(b"four spaces", b"two spaces")


def test_a_page_that_is_no_yaml_is_read_and_not_edited() -> None:
    memory = DIALECT.parse("deploys.md", NOT_YAML)
    assert memory[:5] == ("deploys", "Two.\n", "project", "Deploys", "Note: two approvals")
    assert "no YAML" in memory.extra["problems"][0]
    with pytest.raises(NoteBroken, match=r"^deploys\.md: ") as caught:
        DIALECT.render(memory._replace(summary="x"), NOT_YAML)
    assert caught.value.path == "deploys.md"


def test_what_is_no_frontmatter_at_all_is_told_with_its_line() -> None:
    with pytest.raises(NoteBroken) as caught:
        DIALECT.parse("a.md", b"---\nname: x\n: : {\n---\n")
    assert caught.value.line == 3


def test_a_new_page_is_one_that_claude_reads() -> None:
    memory = Memory("deploys", "Two.\n", "project", "Deploys", "two approvals")
    made = DIALECT.render(memory)
    assert made == (
        b"---\nname: Deploys\ndescription: two approvals\nmetadata:\n  node_type: memory\n"
        b"  type: project\n---\nTwo.\n"
    )
    assert DIALECT.path_of(memory) == "deploys.md"
    with pytest.raises(InvalidValue, match="no type of a page of Claude Code"):
        DIALECT.render(memory._replace(kind="fact"))
    with pytest.raises(InvalidValue, match="name of the index"):
        DIALECT.path_of(memory._replace(id="memory"))


def test_a_line_of_the_index_is_one_line() -> None:
    memory = Memory("a", "", title="Tabs [and\nspaces]", summary="when\nformatting")
    assert DIALECT.line(memory, "a.md") == "- [Tabs and spaces ](a.md) — when formatting".replace(
        "spaces ]", "spaces]"
    )
    assert DIALECT.line(memory._replace(summary=""), "a.md") == "- [Tabs and spaces](a.md)"
