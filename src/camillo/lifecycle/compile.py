"""Compiling the pages of a root: `ROOT.md`, and `index.md` in each room with notes.

Only what differs is written. A page is made anew when notes of its room changed, or when it is not
what it was after the last time; what it says is `notes/outline.py`'s. A process that dies on the
way leaves whole pages, and to the next one all of its work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial

from camillo.errors import CamilloError, NoteChanged, NotFound
from camillo.model import Key
from camillo.notes.outline import (
    REGISTRY,
    VERSION,
    emptied_page,
    language_of,
    leads,
    room_page,
    root_page,
)
from camillo.ports import NoteFolder, Outline
from camillo.records import NamedTuple
from camillo.text.blake2 import blake2b
from camillo.text.frontmatter import FrontmatterError, to_bytes, to_text
from camillo.text.printable import printable
from camillo.text.regions import block, label_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from camillo.notes.outline import Language

    Status = Literal["written", "unchanged", "kept", "removed", "failed"]

__all__ = ["Compiled", "compile_pages"]

_ROOT, _INDEX = "ROOT.md", "index.md"
_TRIES = 5  # while somebody else writes the page
_BUSY = "somebody else writes it all the time; try again"
_GONE = b""  # for the digest of a page that is looked at again, or is not there


class Compiled(NamedTuple):
    """What became of a page; `added` and `removed` count the lines that are new in it and those
    that went. One that is kept is as people wrote it, `reason` says why."""

    path: str
    status: Status
    added: int = 0
    removed: int = 0
    reason: str = ""


class _Page(NamedTuple):
    """A page to be compiled. `made` is its text from the one that is there (None: there is none):
    None to keep that, "" to remove it. `settled` is the digest with which it is as it should be."""

    path: str
    made: Callable[[str | None], str | None]
    settled: bytes | None
    label: str  # of the region that one which is kept lacks; "" where nobody asks


def compile_pages(
    folder: NoteFolder,
    outline: Outline,
    superseded: Callable[[], Collection[Key]],
    *,
    scope: str,
    label: str = "",
    language: Language | None = None,
    everything: bool = False,
    new: bool = True,
    dry_run: bool = False,
) -> list[Compiled]:
    """`superseded` gives the notes that others stand for: nothing leads to them any more. `label`
    is what a new `ROOT.md` calls its root. Without a `language` a page keeps the one that it has.
    `everything` looks at all pages, also at those of rooms that emptied long ago or were never
    compiled here. Without `new` none is made where there is none."""
    pages = _Pages(folder, outline, superseded, scope, label, language)
    seen, stale, known = outline.cursor(), outline.stale(), outline.pages()
    everything = everything or not known
    salt = f"{VERSION} {language or ''}".encode()
    done: list[Compiled] = []
    digests: dict[str, bytes] = {}
    for page in pages.all(stale, known, everything):
        compiled, digest = _compiled(folder, page, salt, new, dry_run)
        if compiled.status != "failed" and known.get(page.path, _GONE) != digest:
            digests[page.path] = digest
        if page.label or compiled.status != "kept":
            done.append(compiled)
    failed = {each.path.rpartition("/")[0] for each in done if each.status == "failed"}
    settled = [] if "" in failed else [room for room in stale if room not in failed]
    if failed and "" in settled:  # it may be of a room that emptied
        settled.remove("")
    if (settled or digests) and not dry_run:
        outline.compiled(settled, seen, digests)
    return done


class _Pages:
    """The pages of one root."""

    def __init__(
        self,
        folder: NoteFolder,
        outline: Outline,
        superseded: Callable[[], Collection[Key]],
        scope: str,
        label: str,
        language: Language | None,
    ) -> None:
        self._folder, self._outline, self._superseded = folder, outline, superseded
        self._scope, self._label, self._language = scope, label, language

    def all(
        self, stale: Collection[str], known: Mapping[str, bytes], everything: bool
    ) -> Iterator[_Page]:
        """The root's page, those of rooms with notes, those of rooms that emptied."""
        rooms = [room.name for room in self._outline.rooms()]
        settled = {} if everything else known
        of_all = {} if stale else settled
        yield _Page(_ROOT, self._root, of_all.get(_ROOT), REGISTRY)
        for room in filter(None, rooms):
            path = f"{room}/{_INDEX}"
            digest = None if room in stale else settled.get(path)
            yield _Page(path, partial(self._room, room), digest, room)
        there = _rooms_of([*known, *(self._folder.pages() if everything else ())])
        for room in sorted(there.difference(rooms)):
            path = f"{room}/{_INDEX}"
            yield _Page(path, partial(self._room, room), of_all.get(path), "")

    def _root(self, existing: str | None) -> str | None:
        if existing is not None and not leads(existing):
            return None
        gone = self._superseded()
        routes = [each for each in self._outline.routes() if each[1].key not in gone]
        language = self._language_of(existing)
        rooms = self._outline.rooms()
        return root_page(rooms, routes, existing, language, self._label, self._scope)

    def _room(self, room: str, existing: str | None) -> str | None:
        """Of a room with notes or without: either may have become the other meanwhile."""
        language, entries = self._language_of(existing), self._outline.entries(room)
        if entries:
            return room_page(room, entries, existing, language)
        return None if existing is None else emptied_page(room, existing, language)

    def _language_of(self, existing: str | None) -> Language:
        """The one that is asked for, else the page's, else the root's, else that of its form."""
        own = language_of(existing) if existing and self._language is None else None
        return self._language or own or self._usual

    @cached_property
    def _usual(self) -> Language:
        own: Language | None = None
        with suppress(CamilloError):
            own = language_of(to_text(self._folder.read(_ROOT)))
        return own or ("zh" if self._folder.dialect.name == "oc" else "en")


def _rooms_of(paths: Iterable[str]) -> set[str]:
    """The rooms that these pages are of."""
    pages = (path.rpartition("/") for path in paths if printable(path) == path)
    return {room for room, _, name in pages if room and name == _INDEX}


def _compiled(
    folder: NoteFolder, page: _Page, salt: bytes, new: bool, dry_run: bool
) -> tuple[Compiled, bytes]:
    """What became of it, and its digest now. `salt` is what else settles it."""
    why = _BUSY
    for _ in range(_TRIES):
        try:
            return _once(folder, page, salt, new, dry_run)
        except NoteChanged:
            continue
        except CamilloError as error:
            why = str(error)
            break
    return Compiled(page.path, "failed", reason=why), _GONE


def _once(
    folder: NoteFolder, page: _Page, salt: bytes, new: bool, dry_run: bool
) -> tuple[Compiled, bytes]:
    """Reads the page before what it is made of: what changes meanwhile is seen by the write."""
    path = page.path
    try:
        former: bytes | None = folder.read(path)
    except NotFound:
        if not new:
            return Compiled(path, "kept", reason="there is none"), _GONE
        former = None
    digest = _GONE if former is None else _digest(former, salt)
    if former is not None and digest == page.settled:
        return Compiled(path, "unchanged"), digest
    try:
        made = page.made(None if former is None else to_text(former))
    except FrontmatterError:
        return Compiled(path, "kept", reason="not in UTF-8; save it so"), _GONE
    if made is None:
        return Compiled(path, "kept", reason=_by_hand(page.label)), _GONE
    content = to_bytes(made)
    if content == former:
        return Compiled(path, "unchanged"), digest
    if former is not None and not made:
        if not dry_run:
            folder.remove(path, former)
        return Compiled(path, "removed", removed=former.count(b"\n")), _GONE
    if not dry_run:
        folder.write(path, content, former)
    return Compiled(path, "written", *_differing(former or b"", content)), _digest(content, salt)


def _differing(former: bytes, content: bytes) -> tuple[int, int]:
    """How many lines are new, and how many are gone."""
    old, new = Counter(former.splitlines()), Counter(content.splitlines())
    return (new - old).total(), (old - new).total()


def _digest(content: bytes, salt: bytes) -> bytes:
    return blake2b(content, digest_size=16, salt=salt).digest()


def _by_hand(label: str) -> str:
    begin, end = block(label_of(label), "").splitlines()
    return f"written by hand; a table goes between the lines `{begin}` and `{end}`"
