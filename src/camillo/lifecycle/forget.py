"""Erasing: truth, words, closets and logs at once, with a mark so that the text stays away."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple, Protocol

from camillo.errors import StoreBusy, StoreFull
from camillo.forgotten import Forgotten
from camillo.model import GLOBAL, Author, Memory, replace, source_id
from camillo.notebook import FILE, Notebook
from camillo.ports import Store
from camillo.roots import Root, git_folder

__all__ = ["Erased", "erase"]


class Erasable(Protocol):
    """The opened root that is erased from."""

    root: Root

    @property
    def store(self) -> Store: ...

    @property
    def notebook(self) -> Notebook | None: ...

    def catch_up(self, *, at_most: int | None = None) -> int: ...

    def scrub(self) -> bool: ...


class Erased(NamedTuple):
    """`clean`: no byte is left in the root's live files. `held_by`: files that still hold it."""

    erased: int
    clean: bool
    held_by: list[str]


def erase(root: Erasable, memories: Sequence[Memory], by: Author) -> Erased:
    """Erase these memories. The marks and the deletion are one transaction; when the process dies
    after it, the next catch-up finishes the indexes."""
    with root.notebook.held() if root.notebook else nullcontext(), root.store.transaction():
        scopes = {memory.scope for memory in memories}
        for scope in scopes:
            mine = [memory for memory in memories if memory.scope == scope]
            root.store.put(Forgotten(root.store, scope).records(mine), by)
        files = [memory.key for memory in memories if memory.extra.get(FILE)]
        removed = root.notebook.erase(files) if files and root.notebook is not None else []
        count = root.store.delete([memory.key for memory in memories], by)
        root.store.put(_without_hashes(root.store, memories), by, bulk=True)
    held_by = _note_copies(root, removed)
    try:
        root.catch_up()
        clean = root.scrub()
    except (StoreBusy, StoreFull):  # it is deleted; the next command clears the last bytes
        clean = False
    return Erased(count, clean, [*held_by, *_backups(root.root)])


def _without_hashes(store: Store, memories: Sequence[Memory]) -> list[Memory]:
    """The records of the sources that these came from, without the hash of the whole file: of a
    short file it would confirm a guess at the text."""
    keys = {
        memory.key._replace(session=GLOBAL, id=source_id(memory.origin.source))
        for memory in memories
        if memory.origin
    }
    held = [record for record in store.get(sorted(keys)) if record is not None]
    return [replace(record, extra={**record.extra, "hash": ""}) for record in held]


def _note_copies(root: Erasable, removed: list[str]) -> list[str]:
    """What may hold the text of note files yet: conflict files, and a history that git keeps."""
    if not removed or root.notebook is None:
        return []
    folder = root.root.folder
    held = [os.path.join(folder, path) for path in root.notebook.strike(removed)]
    repository = git_folder(folder)
    if repository:
        held.append(f"the history of {repository} (git), if the note was ever committed")
    return held


def _backups(root: Root) -> list[str]:
    folder = os.path.join(os.path.dirname(root.store_path), "backups")
    if not os.path.isdir(folder):
        return []
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))
