"""Folders that are not to be written into unasked: those of roots, open here or elsewhere, and all
that Claude Code remembers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from camillo.config import claude_folder
from camillo.elsewhere import opened_folders, root_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.roots import Root
    from camillo.vault import Vault

__all__ = ["claude_memories", "known_roots", "lies_in"]


def known_roots(vault: Vault) -> Iterator[tuple[str, str, Root]]:
    """The name of each root, its folder with links resolved, and the root, also those that are open
    in another project."""
    here = vault.folders()
    elsewhere = [(each.name, root_of(each)) for each in opened_folders([])]
    seen = set()
    for name, root in [*here, *elsewhere]:
        if root.folder not in seen:
            seen.add(root.folder)
            yield name, os.path.realpath(root.folder), root


def claude_memories() -> str:
    """Where Claude Code keeps what it remembers of each project, links resolved."""
    return os.path.realpath(os.path.join(claude_folder(), "projects"))


def lies_in(path: str, folder: str) -> bool:
    """Is it this folder, or below it?"""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
