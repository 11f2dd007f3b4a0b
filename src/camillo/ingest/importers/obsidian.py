"""Obsidian: a vault of Markdown pages. Folders become rooms, links between pages become edges.

Templates, attachments, drawings and what is hidden are counted and left out; a page's own words
stay as they are, links too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from camillo.ingest.importers._links import field_links, markdown_links, prose, tags, wikilinks
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
from camillo.ingest.importers.note import Found, LeftOut
from camillo.layouts import template_folders
from camillo.model import Memory, Place

__all__ = ["ObsidianImporter"]

_SETTINGS = ".obsidian"
_CREATED = ("created", "date created", "created_at", "date")
_UPDATED = ("updated", "modified", "date modified", "last modified")
_SUMMARY = ("description", "summary")
_KNOWN = (
    "title", "type", "tags", "tag", "aliases", "alias", "date",
    "created", "updated", "description", "summary",
)  # fmt: skip


class ObsidianImporter:
    name = "obsidian"
    default = ""

    def recognises(self, path: str) -> bool:
        return os.path.isdir(os.path.join(path, _SETTINGS))

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        templates = template_folders(path)

        def why_not(relative: str, folder: bool) -> str:
            name = relative.rpartition("/")[2]
            if name.startswith("."):
                return "hidden"
            if folder:
                return "templates" if relative.casefold() in templates else ""
            if name.endswith(".excalidraw.md"):
                return "drawing"
            return "" if name.endswith(".md") else "attachment"

        for each in pages(path, why_not):
            if isinstance(each, LeftOut):
                yield each
                continue
            page = read_page(*each)
            if isinstance(page, Page) and "excalidraw-plugin" in page.fields:
                yield LeftOut(page.path, "drawing", "counted")
            else:
                yield page if isinstance(page, LeftOut) else _found(page)


def _found(page: Page) -> Found:
    fields, text = page.fields, prose(page.body)
    title = text_of(fields, "title") or page.stem
    aliases = texts_of(fields, "aliases", "alias")
    tagged = (tag.removeprefix("#") for tag in texts_of(fields, "tags", "tag"))
    links = [*field_links(fields), *wikilinks(text), *markdown_links(text, page.folder)]
    others = known_fields(fields, *_KNOWN)
    memory = Memory(
        id=page.stem,
        body=page.body,
        kind=kind_of(text_of(fields, "type")),
        title=title,
        summary=text_of(fields, *_SUMMARY),
        place=Place(room=room_of(page.folder)),
        origin=origin_of(page),
        tags=listed([*tagged, *tags(text)]),
        aliases=aliases,
        happened_at=day_of(page.stem, fields, "date"),
        created=millis(fields, *_CREATED) or page.changed,
        updated=millis(fields, *_UPDATED) or page.changed,
        extra={"frontmatter": others} if others else {},
    )
    known_as = listed([page.relative.removesuffix(".md"), page.stem, title, *aliases])
    return Found(memory, known_as=known_as, links=tuple(dict.fromkeys(links)))
