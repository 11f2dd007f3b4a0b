"""The pages beside the notes, kept in step with every write: compiled ones, and lists of other
programs."""

from __future__ import annotations

from functools import partial

from camillo.errors import CamilloError
from camillo.model import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.notes.outline import Language
    from camillo.vault import OpenRoot, Vault

__all__ = ["COMPILED_FORMS", "keep_pages", "language_for", "list_in", "unlist_from"]

COMPILED_FORMS = frozenset({"camillo", "oc"})
_LABELS = frozenset({"registry", "routing"})


def keep_pages(vault: Vault, root: OpenRoot, *, always: bool = False) -> list[str]:
    """Compile the pages of a root whose `ROOT.md` asks for it, after its notes were written and its
    indexes caught up; what a report has to say of that. `always`: all that are there, also where
    nobody asks and where a setting switches it off, since a page may hold what was erased."""
    if not _may_have_pages(root):
        return []
    asked = vault.settings.outline.compile != "off" and _asks(root)
    if not (asked or always):
        return []
    from camillo.lifecycle.compile import compile_pages

    assert root.notebook is not None
    try:
        done = compile_pages(
            root.notebook.folder,
            root.outline,
            partial(root.superseded, root.store.get),
            scope=root.scope,
            label=root.root.title,
            language=language_for(vault),
            everything=always,
            new=asked,
        )
    except CamilloError as error:  # the notes are written; the pages follow with the next one
        return [f"pages are behind: {error}"]
    return [f"{each.path}: {each.reason}" for each in done if each.status == "failed"]


def language_for(vault: Vault, asked: str = "auto") -> Language | None:
    """Of what is generated, as it was asked for or set; None for what the page itself says."""
    named = vault.settings.outline.language if asked == "auto" else asked
    return None if named == "auto" else named  # type: ignore[return-value]


def _may_have_pages(root: OpenRoot) -> bool:
    form, writable = root.root.form, root.root.writable
    return form in COMPILED_FORMS and writable and root.notebook is not None


def _asks(root: OpenRoot) -> bool:
    """Does a `ROOT.md` there ask for pages, by a region?"""
    from camillo.text.regions import regions

    assert root.notebook is not None
    try:
        text = root.notebook.folder.read("ROOT.md").decode("utf-8", "replace")
    except CamilloError:
        return False
    return any(region.label in _LABELS for region in regions(text))


def list_in(root: OpenRoot, path: str, memory: Memory | None, former: Memory | None) -> list[str]:
    """Give a note its line in the page where its program lists notes."""
    if memory is None or root.notebook is None or not root.notebook.folder.dialect.listing:
        return []
    from camillo.notebook.listing import list_note

    folder = root.notebook.folder
    try:
        list_note(folder, memory, path, former)
    except CamilloError as error:
        return [f"{folder.dialect.listing} does not list {path}: {error}"]
    return []


def unlist_from(root: OpenRoot, memories: list[Memory]) -> list[str]:
    """Take the lines of notes that are gone out of that page."""
    if root.notebook is None or not root.notebook.folder.dialect.listing:
        return []
    from camillo.notebook.listing import unlist_notes

    folder = root.notebook.folder
    paths = [str(path) for each in memories if (path := each.extra.get("file"))]
    try:
        unlist_notes(folder, paths)
    except CamilloError as error:
        return [f"{folder.dialect.listing} still lists them: {error}"]
    return []
