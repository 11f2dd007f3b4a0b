"""basic-memory: Markdown pages with observations and relations as bullet lines.

`- [category] fact #tag (context)` stays in the body; `- type [[Target]]` becomes an edge besides.
Only a line that is nothing but a relation is one: prose with a link in it is a plain link.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from camillo.ingest.importers._links import field_links, prose, tags, target_of, wikilinks
from camillo.ingest.importers._pages import (
    Page,
    day_of,
    kind_of,
    known_fields,
    listed,
    millis,
    origin_of,
    pages,
    read_page,
    room_of,
    text_of,
    texts_of,
)
from camillo.ingest.importers.note import RELATED, Found, LeftOut, Link, relation_of
from camillo.model import Memory, Place

__all__ = ["BasicMemoryImporter"]

_RELATION = re.compile(
    r"""(?mx)^[ \t]*[-*+][ \t]+
        (?: "(?P<quoted>[^"\n]+)" | (?P<plain>[^\W\d][\w \t-]{0,60}?) )? [ \t]*
        \[\[(?P<target>[^\[\]\n]+)\]\] [ \t]* (?:\([^\n]*\))? [ \t]*\r?$"""
)
_KNOWN = (
    "title", "type", "permalink", "tags", "created", "created_at", "modified", "updated_at", "date",
    "description", "summary",
)  # fmt: skip
_RECOGNISED = 50  # pages that are looked at to tell the format


class BasicMemoryImporter:
    name = "basic-memory"
    default = "~/basic-memory"

    def recognises(self, path: str) -> bool:
        """A page with a permalink, among the first ones."""
        if not os.path.isdir(path):
            return False
        for number, each in enumerate(pages(path, _why_not)):
            if number >= _RECOGNISED:
                return False
            page = None if isinstance(each, LeftOut) else read_page(*each)
            if isinstance(page, Page) and text_of(page.fields, "permalink"):
                return True
        return False

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        for each in pages(path, _why_not):
            page = each if isinstance(each, LeftOut) else read_page(*each)
            yield page if isinstance(page, LeftOut) else _found(page)


def _why_not(relative: str, folder: bool) -> str:
    return "hidden" if relative.rpartition("/")[2].startswith(".") else ""


def _found(page: Page) -> Found:
    fields, text = page.fields, prose(page.body)
    title = text_of(fields, "title") or page.stem
    permalink = text_of(fields, "permalink")
    tagged = (tag.removeprefix("#") for tag in texts_of(fields, "tags"))
    links = [*_relations(text), *field_links(fields), *wikilinks(text)]
    others = known_fields(fields, *_KNOWN)
    memory = Memory(
        id=title,
        body=page.body,
        kind=kind_of(text_of(fields, "type")),
        title=title,
        summary=text_of(fields, "description", "summary"),
        place=Place(room=room_of(page.folder)),
        origin=origin_of(page),
        tags=listed([*tagged, *tags(text)]),
        aliases=listed([permalink]),
        happened_at=day_of(page.stem, fields, "date"),
        created=millis(fields, "created", "created_at", "date") or page.changed,
        updated=millis(fields, "modified", "updated_at") or page.changed,
        extra={"frontmatter": others} if others else {},
    )
    relative = page.relative.removesuffix(".md")
    known_as = listed([title, permalink, f"memory://{permalink}", relative, page.stem])
    return Found(memory, known_as=known_as, links=tuple(dict.fromkeys(links)))


def _relations(text: str) -> Iterator[Link]:
    for found in _RELATION.finditer(text):
        word, target = (found["quoted"] or found["plain"] or "").strip(), target_of(found["target"])
        relation = relation_of(word)
        if target:
            yield Link(target, relation or RELATED, "" if relation else word)
