"""Links and tags of Markdown, outside code."""

from __future__ import annotations

import pytest

from camillo.ingest.importers._links import (
    field_links,
    markdown_links,
    prose,
    tags,
    target_of,
    wikilinks,
)
from camillo.ingest.importers.note import Link, relation_of


@pytest.mark.parametrize(
    ("inside", "target"),
    [
        ("Note", "Note"),
        ("Note|a label", "Note"),
        (r"Note\|in a table", "Note"),
        ("Note#Heading", "Note"),
        ("Note#^block|label", "Note"),
        ("folder/Note.md", "folder/Note"),
        ("#Heading", ""),
        (" 笔记 ", "笔记"),
    ],
)
def test_a_link_leads_to_the_note_before_label_and_heading(inside: str, target: str) -> None:
    assert target_of(inside) == target


def test_embedded_notes_are_links_and_pictures_are_none() -> None:
    text = "![[Note]] ![[pic.png]] [[v1.2 plans]] [[ ]] [[#here]]"
    assert [link.target for link in wikilinks(text)] == ["Note", "v1.2 plans"]


def test_links_in_code_are_text() -> None:
    body = "[[a]] `[[b]]` ``x ` [[c]]``\n```md\n[[d]]\n```\n~~~\n[[e]]\n```\n~~~\n[[f]]\n"
    text = prose(body)
    assert [link.target for link in wikilinks(text)] == ["a", "f"]
    assert text.count("\n") == body.count("\n")


def test_markdown_links_are_seen_from_the_folder_of_their_note() -> None:
    text = "[a](b.md) [c](../d%20e.md#x) [f](../../out.md) [g](https://x.org/a.md) ![h](i.md)"
    assert [link.target for link in markdown_links(text, "one")] == ["one/b", "d e"]


def test_links_in_a_frontmatter_have_the_relation_of_their_key() -> None:
    fields = {"up": "[[A]]", "cast": ["[[B|b]]", "no link"], "see": [["C"]], "n": 1}
    assert list(field_links(fields)) == [
        Link("A", "child-of"), Link("B", said="cast"), Link("C", said="see")
    ]  # fmt: skip


def test_tags_are_words_after_a_hash() -> None:
    text = "#one # heading #2024 #a/b-c x#no (#) http://x/#frag #主题 #one"
    assert tags(text) == ("one", "a/b-c", "主题")


@pytest.mark.parametrize(
    ("word", "relation"),
    [
        ("relates_to", "related-to"),
        ("Builds On", "builds-on"),
        ("part-of", "child-of"),
        ("REPLACES", "supersedes"),
        ("contradicts", "contradicts"),
        ("implements", ""),
        ("mentions", ""),
        ("", ""),
    ],
)
def test_a_word_of_another_tool_may_be_a_relation_of_ours(word: str, relation: str) -> None:
    assert relation_of(word) == relation
