"""Links and tags in Markdown, outside code. Pure text: where a link leads is for the importing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from camillo.ingest.importers.note import RELATED, Link, relation_of
from camillo.text.mentions import prose, target_of

__all__ = ["field_links", "markdown_links", "prose", "tags", "target_of", "wikilinks"]

_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]+)\]\]")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}\Z")
_MARKDOWN = re.compile(r"(?<!!)\[[^\]\n]*\]\(<?([^)<>\n]+?\.md)(?:#[^)<>\n]*)?>?\)")
_TAG = re.compile(r"(?<![\w#&/=.(\[])#(?=[\w/-]*[^\W\d_])([\w/-]+)")


def wikilinks(text: str) -> Iterator[Link]:
    """`[[note]]`, `[[note|label]]`, `[[note#heading]]`, `![[note]]`; an embedded picture or other
    file is none."""
    for embeds, inside in _WIKILINK.findall(text):
        target = target_of(inside)
        if target and not (embeds and _FILE.search(target)):
            yield Link(target)


def markdown_links(text: str, folder: str) -> Iterator[Link]:
    """`[text](other.md)`, seen from the note's folder; not those that leave the tree."""
    for found in _MARKDOWN.finditer(text):
        path = unquote(found[1]).strip()
        if "://" in path or path.startswith(("/", "\\")):
            continue
        path = posixpath.normpath(posixpath.join(folder, path))
        if not path.startswith("../"):
            yield Link(path.removesuffix(".md"))


def field_links(fields: dict[str, Any]) -> Iterator[Link]:
    """`[[note]]` in a frontmatter; the key says which relation is meant."""
    for key, value in fields.items():
        relation = relation_of(key)
        said = "" if relation else key
        for text in _texts(value):
            for link in wikilinks(text):
                yield link._replace(relation=relation or RELATED, said=said)


def tags(text: str) -> tuple[str, ...]:
    """`#tag` in running text, each once. A number alone is none."""
    return tuple(dict.fromkeys(found[1].strip("/-") for found in _TAG.finditer(text)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            # YAML reads an unquoted [[note]] as a list in a list
            if isinstance(each, list) and len(each) == 1 and isinstance(each[0], str):
                yield f"[[{each[0]}]]"
            yield from _texts(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
