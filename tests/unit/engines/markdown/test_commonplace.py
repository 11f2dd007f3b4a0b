"""The commonplace dialect: what it tolerates and what it refuses to write. Bytes are in golden/."""

from __future__ import annotations

import pytest

from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.errors import InvalidValue, NoteBroken
from camillo.model import Edge, Memory

DIALECT = CommonplaceDialect()
NOTE = b"---\nname: a\ndescription: d\ntype: user\n---\nb\n"


@pytest.mark.case("CP25")
def test_only_markdown_of_the_folder_itself_is_a_note() -> None:
    assert DIALECT.is_note("a.md")
    assert DIALECT.is_note("Any Name.md")
    others = ["sub/a.md", "UPPER.MD", "z.md.tmp", "notes.txt", ".a.md", "a.embedding"]
    others += ["a.conflict-20260102T030405Z.md"]
    assert [path for path in others if DIALECT.is_note(path)] == []


def test_a_note_is_its_name_and_its_description() -> None:
    assert DIALECT.parse("other.md", NOTE) == Memory("a", "b\n", "user", "a", "d")


def test_one_bad_relation_does_not_lose_the_note() -> None:
    content = NOTE.replace(
        b"type: user\n",
        b"type: user\nrelations:\n  - to: x\n    type: builds-on\n"
        b"  - to: B-c\n    type: builds-on\n"
        b"  - to: y\n    type: mentions\n  - to: a\n    type: child-of\nsupersedes: [z, 7, z]\n",
    )
    memory = DIALECT.parse("a.md", content)
    assert memory.edges == (Edge("builds-on", "x"), Edge("supersedes", "z"))
    assert [each.split(":")[0] for each in memory.extra["problems"]] == [
        "line 8", "line 10", "line 12", "line 14"
    ]  # fmt: skip
    linked = memory._replace(edges=(*memory.edges, Edge("related-to", "w")))
    after = DIALECT.render(linked, content)
    assert b"B-c" in after
    assert b"mentions" in after
    assert b"  - to: w\n    type: related-to\n" in after


def test_a_file_without_the_three_fields_is_kept_and_told() -> None:
    memory = DIALECT.parse("a.md", b"---\ntitle: x\n---\nb")
    assert (memory.id, memory.summary, memory.kind) == ("a", "", "reference")
    assert memory.extra["frontmatter"] == {"title": "x"}
    assert len(memory.extra["problems"]) == 3


def test_a_file_without_frontmatter_is_no_note() -> None:
    with pytest.raises(NoteBroken, match="starts with a line '---'"):
        DIALECT.parse("README.md", b"# Read me\n")


def test_a_byte_order_mark_stays() -> None:
    content = b"\xef\xbb\xbf" + NOTE
    memory = DIALECT.parse("a.md", content)._replace(pinned=True)
    after = DIALECT.render(memory, content)
    assert after == b"\xef\xbb\xbf---\nname: a\ndescription: d\ntype: user\npinned: true\n---\nb\n"
    assert DIALECT.render(memory._replace(pinned=False), after) == content


def test_a_kind_that_commonplace_would_skip_is_not_written() -> None:
    with pytest.raises(InvalidValue, match="user, feedback, project, reference"):
        DIALECT.render(Memory("a", "b", "fact"))
    odd = NOTE.replace(b"user", b"User")
    memory = DIALECT.parse("a.md", odd)
    assert memory.kind == "User"
    assert DIALECT.render(memory._replace(summary="e"), odd) == odd.replace(b": d", b": e")
    with pytest.raises(InvalidValue, match="'fact' is no type"):
        DIALECT.render(memory._replace(kind="fact"), odd)


@pytest.mark.case("CP07")
@pytest.mark.parametrize(
    "edge",
    [Edge("mentions", "b"), Edge("builds-on", "a"), Edge("builds-on", "B"), Edge("supersedes", "")],
)
def test_an_edge_that_commonplace_refuses_is_not_written(edge: Edge) -> None:
    for former in (None, NOTE):
        with pytest.raises(InvalidValue):
            DIALECT.render(Memory("a", "b", "user", summary="d", edges=(edge,)), former)


@pytest.mark.promise(15)
@pytest.mark.parametrize("name", ["", "A", "a-b", "../a", "a/b", "é", "a.b", "con", "a\n", "%2e"])
def test_a_new_name_is_one_that_commonplace_takes(name: str) -> None:
    with pytest.raises(InvalidValue):
        DIALECT.path_of(Memory(name, ""))


def test_a_good_name_is_its_file() -> None:
    assert DIALECT.path_of(Memory("use_pnpm_2", "")) == "use_pnpm_2.md"
