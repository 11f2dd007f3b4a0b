"""The pages beside the notes, kept in step with every write: compiled ones, and lists of other
programs."""

from __future__ import annotations

from functools import partial

from camillo.errors import CamilloError
from camillo.model import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["COMPILED_FORMS", "keep_pages", "list_in", "unlist_from"]

COMPILED_FORMS = frozenset({"camillo", "oc"})
_LABELS = frozenset({"registry", "routing"})


def keep_pages(vault: Vault, root: OpenRoot, *, always: bool = False) -> list[str]:
    """Compile the pages of a root that has any, after its notes were written and its indexes caught
    up; what a report has to say of that. `always`: also where a setting switches it off, since a
    page may hold what was erased."""
    off = vault.settings.outline.compile == "off" and not always
    if off or not _has_pages(root, always):
        return []
    from camillo.lifecycle.compile import compile_pages

    language = vault.settings.outline.language
    assert root.notebook is not None
    try:
        done = compile_pages(
            root.notebook.folder,
            root.outline,
            partial(root.superseded, root.store.get),
            scope=root.scope,
            label=root.root.title,
            language=None if language == "auto" else language,  # type: ignore[arg-type]
        )
    except CamilloError as error:  # the notes are written; the pages follow with the next one
        return [f"pages are behind: {error}"]
    return [f"{each.path}: {each.reason}" for each in done if each.status == "failed"]


def _has_pages(root: OpenRoot, always: bool) -> bool:
    """Does a `ROOT.md` there ask for them, or `always`, were any compiled?"""
    if root.root.form not in COMPILED_FORMS or not root.root.writable or root.notebook is None:
        return False
    if always and root.outline.pages():
        return True
    from camillo.text.regions import regions

    try:
        text = root.notebook.folder.read("ROOT.md").decode("utf-8", "replace")
    except CamilloError:
        return False
    return any(region.label in _LABELS for region in regions(text))


def list_in(root: OpenRoot, path: str, memory: Memory | None, former: Memory | None) -> list[str]:
    """Give a note its line in the page where its program lists notes."""
    if memory is None or root.notebook is None or not root.notebook.folder.dialect.listing:
        return []
    from camillo.lifecycle.listing import list_note

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
    from camillo.lifecycle.listing import unlist_notes

    folder = root.notebook.folder
    paths = [str(path) for each in memories if (path := each.extra.get("file"))]
    try:
        unlist_notes(folder, paths)
    except CamilloError as error:
        return [f"{folder.dialect.listing} still lists them: {error}"]
    return []
