"""Vectors of what a search finds without one, as of notes that were edited by hand.

A few are made before the search answers, as long as that takes no more than a moment. The others
are left to a process in the background, where one may be started.
"""

from __future__ import annotations

import time

from camillo.errors import StoreBusy, StoreFull
from camillo.retrieval.candidate import BY_COMMAND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["FEW", "SECONDS", "embed_new"]

FEW = 32  # passages without a vector that a search does not leave to others
SECONDS = 0.1  # that it spends on them
_FIRST = 2  # texts that tell how long one takes


def embed_new(vault: Vault, root: OpenRoot, behind: int) -> str:
    """Make vectors for some of the passages that have none; in words, how the others come."""
    try:
        if behind <= FEW:
            with root.briefly():
                left, made = _embed_a_few(vault, root)
            if not left:
                return ""
        with root.lease("vectors") as free:
            pass
    except (OSError, StoreBusy, StoreFull):  # what is there already can be found
        return BY_COMMAND
    if not free:
        return "another process is at them"
    if vault.later is None or (behind <= FEW and not made):  # nor could another process
        return BY_COMMAND
    named = vault.settings.search.embedder
    vault.later(["embed", "--scope", root.name, "--embedder", named, "--quiet"])
    return "they follow in the background"


def _embed_a_few(vault: Vault, root: OpenRoot) -> tuple[int, int]:
    """How many texts are left, and how many have their vectors now."""
    made: list[int] = []
    start = time.monotonic()
    left = vault.embed(root, made.append, at_most=_FIRST)
    spent = time.monotonic() - start
    if left and made:
        more = int((SECONDS - spent) * sum(made) / spent)
        if more > 0:
            left = vault.embed(root, made.append, at_most=more)
    return left, sum(made)
