"""`stats`: how much is kept, where, and how current the indexes are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from camillo.errors import MissingExtra
from camillo.model import Filter
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import NOTHING_KEPT
from camillo.ops.operation import operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["stats"]


@operation(writes=False)
def stats(
    vault: Vault,
    *,
    scope: InRoot = None,
) -> Report:
    """Count what is kept: per kind, wing and room, with the bytes on disk.

    Says how far the indexes are behind, and with an embedder how many vectors are.

    camillo stats --json
    """
    report = Report()
    for root in vault.roots(scope):
        counted = {**_root_stats(root), **_vectors_behind(vault, root)}
        report.results.append(counted)
        if left := counted["behind"]:
            report.degraded.append(f"the {root.name} index is {left} changes behind")
        if left := counted.get("vectors_behind"):
            report.degraded.append(
                f"{root.name}: vectors {left} behind: `camillo embed` makes them"
            )
    if not report.results:
        report.degraded.append(NOTHING_KEPT)
        report.exit_code = NOTHING_FOUND
    return report


def _vectors_behind(vault: Vault, root: OpenRoot) -> dict[str, int]:
    """With an embedder, how many texts have no vector of it yet."""
    try:
        embedder = vault.embedder
    except MissingExtra:  # the one that is named is not installed
        return {}
    if embedder is None or "feed" not in root.store.capabilities:
        return {}
    return {"vectors_behind": root.meaning.missing(embedder)}


def _root_stats(root: OpenRoot) -> dict[str, Any]:
    store = root.store
    wings, rooms = (store.tally(each, Filter(None)) for each in ("wing", "room"))
    return {
        "scope": root.scope,
        "folder": root.root.folder,
        "engine": store.name,
        "memories": store.count(Filter(None)),
        "put_away": store.count(Filter(None, archived=True)) - store.count(Filter(None)),
        "kinds": store.tally("kind", Filter(None)),
        "wings": {name: count for name, count in wings.items() if name},
        "without_wing": wings.get("", 0),
        "rooms": {name: count for name, count in rooms.items() if name},
        "without_room": rooms.get("", 0),
        "sources": store.count(Filter(None, kinds=("source",), internal=True)),
        "bytes": _bytes(root.root.folder),
        "behind": root.behind(),
    }


def _bytes(folder: str) -> int:
    """What the root takes on disk."""
    total = 0
    for top, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.stat(os.path.join(top, name), follow_symlinks=False).st_size
            except FileNotFoundError:
                continue  # a write-ahead log that was just emptied and removed
    return total
