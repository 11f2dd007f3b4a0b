"""Files of erased notes that are yet to go, or to be taken out of the page that lists them. It is
noted in the transaction that deletes the rows which they are, and they go after it: a process that
dies between leaves the rest to the next one.

Format owned: the setting `erasing`; in `extra["files"]`, by path the hash of what the file held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from camillo.errors import CamilloError, NoteChanged, NotFound
from camillo.model import DEFAULT_NAMESPACE, GLOBAL, Author, Key, Memory
from camillo.notebook.batch import digest
from camillo.notebook.listing import unlist_notes

if TYPE_CHECKING:
    from camillo.ports import NoteFolder, Store

__all__ = ["Doomed"]

_ID = "erasing"


class Doomed:
    """Of one notebook; `files` is the index of that name, whose lock comes before the store's."""

    def __init__(self, folder: NoteFolder, store: Store, files: Any, scope: str) -> None:
        self._folder = folder
        self._store = store
        self._files = files
        self._scope = scope

    def files(self) -> dict[str, str]:
        """By path the hash of what a file held when its note was erased."""
        key = Key(DEFAULT_NAMESPACE, self._scope, GLOBAL, _ID)
        record = self._store.get([key])[0]
        return dict(record.extra.get("files", {})) if record else {}

    def note(self, files: Mapping[str, str]) -> None:
        """These are to go, and no others."""
        if files != self.files():
            extra = {"files": dict(files)}
            record = Memory(_ID, "", kind="setting", scope=self._scope, extra=extra)
            self._store.put([record], Author("", "forget"), bulk=True)

    def remove(self) -> set[str]:
        """Remove them, with their lines where notes are listed, and what killed writers left of any
        note; the paths of those that cannot be removed, and are no notes any more. A file that
        holds something else by now stays."""
        if not self.files() or not self._folder.writable:
            return set()
        left, gone = {}, {}
        with self._files.held(), self._store.transaction():  # nobody writes a note meanwhile
            self._folder.sweep()
            for path, held in self.files().items():
                try:
                    if self._removed(path, held):
                        gone[path] = held
                except CamilloError:
                    left[path] = held
            self.note(left if self._unlisted(gone) else left | gone)
        return set(left)

    def _removed(self, path: str, held: str) -> bool:
        """Is the file gone now? One that holds something else is not."""
        try:
            content = self._folder.read(path)
            if digest(content).hex() != held:
                return False
            with self._folder.locked(path):
                self._folder.remove(path, content)
        except NotFound:
            return True
        except NoteChanged:
            return False
        return True

    def _unlisted(self, gone: Iterable[str]) -> bool:
        try:
            unlist_notes(self._folder, list(gone))
        except CamilloError:
            return False
        return True
