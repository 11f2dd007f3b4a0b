"""oc: a tree `<room>/<slug>.md` beside the `ROOT.md` that lists it. As such it opens in place; this
copies it into a root. What its fields mean is its dialect's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from camillo import registry
from camillo.errors import CamilloError, NotFound
from camillo.ingest.importers._links import markdown_links, prose, wikilinks
from camillo.ingest.importers._pages import kind_of, listed, pages, room_of
from camillo.ingest.importers.note import SUPERSEDED, Found, LeftOut, Link
from camillo.model import Origin, Place, replace
from camillo.ports import Dialect, NoteFolder
from camillo.text.printable import printable

__all__ = ["OcImporter"]

_ROOT = "ROOT.md"
_PAGES = (_ROOT, "index.md")
_BELOW = ".memory"  # in a project


class OcImporter:
    name = "oc"
    default = ""

    def recognises(self, path: str) -> bool:
        """By `ROOT.md` and a note one folder deep."""
        if not os.path.isfile(os.path.join(path, _ROOT)):
            return False
        left_out = _left_out(registry.load("dialect", self.name)())
        return any(not isinstance(each, LeftOut) for each in pages(path, left_out))

    def read(self, path: str) -> Iterator[Found | LeftOut]:
        top = _tree(path)
        folder = registry.open_note_folder(self.name, top, False)
        for each in pages(top, _left_out(folder.dialect)):
            yield each if isinstance(each, LeftOut) else _found(folder, *each)


def _tree(path: str) -> str:
    """The folder that holds `ROOT.md`: the one that is named, or `.memory` in it."""
    for folder in (path, os.path.join(path, _BELOW)):
        if os.path.isfile(os.path.join(folder, _ROOT)):
            return folder
    raise NotFound(
        f"there is no {_ROOT} in {printable(path)}: give oc's folder, as {_BELOW} of a project"
    )


def _left_out(dialect: Dialect) -> Callable[[str, bool], str]:
    def why_not(relative: str, folder: bool) -> str:
        room, _, name = relative.rpartition("/")
        if name.startswith("."):
            return "hidden"
        if folder:
            return "" if dialect.enters(relative) else "no room"
        if name in _PAGES:
            return "page"
        if not name.endswith(".md") or dialect.is_note(relative):
            return ""
        return "conflict file" if room else "in no room"

    return why_not


def _found(folder: NoteFolder, path: str, relative: str) -> Found | LeftOut:
    try:
        content = folder.read(relative)
        note = folder.dialect.parse(relative, content)
        changed = os.stat(path).st_mtime_ns // 1_000_000
    except CamilloError as error:
        line = getattr(error, "line", 0)
        where = f"{printable(path)}:{line}" if line else printable(path)
        return LeftOut(where, str(error), "failed")
    except OSError as error:
        return LeftOut(printable(path), f"cannot be read: {error.strerror}", "failed")
    room, _, slug = note.id.rpartition("/")
    problems = tuple(note.extra.get("problems", ()))
    extra = {key: value for key, value in note.extra.items() if key != "problems"}
    text, lines = prose(note.body), content.count(b"\n") + (not content.endswith(b"\n"))
    links = [Link(edge.target, edge.relation) for edge in note.edges]
    links += [Link(note.superseded_by, SUPERSEDED)] if note.superseded_by else []
    links += [*wikilinks(text), *markdown_links(text, room)]
    memory = replace(
        note,
        id=slug,
        kind=kind_of(note.kind),
        place=Place(room=room_of(room)),
        origin=Origin(printable(os.path.realpath(path)), line_start=1, line_end=lines),
        edges=(),
        superseded_by="",
        created=note.created or changed,
        updated=note.updated or changed,
        extra=extra,
    )
    known_as = listed([note.id, f"{note.id}.md", slug])
    return Found(memory, known_as=known_as, links=tuple(dict.fromkeys(links)), problems=problems)
