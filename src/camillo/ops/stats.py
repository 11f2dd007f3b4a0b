"""`stats`: how much is kept, where, and how current the indexes are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

from camillo.model import Filter
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["stats"]


@operation(writes=False)
def stats(
    vault: Vault,
    *,
    scope: Annotated[Literal["user", "project"] | None, Doc("Only this root.")] = None,
) -> Report:
    """Count what is kept: per kind, wing and room, with the bytes on disk.

    camillo stats --json
    """
    report = Report(results=[_root_stats(root) for root in vault.roots(scope)])
    for root in vault.roots(scope):
        left = root.behind()
        if left:
            report.degraded.append(f"the {root.scope} index is {left} changes behind")
    if not report.results:
        report.degraded.append("nothing is kept yet: run `camillo mine PATH` first")
        report.exit_code = NOTHING_FOUND
    return report


def _root_stats(root: OpenRoot) -> dict[str, Any]:
    store = root.store
    return {
        "scope": root.scope,
        "folder": root.root.folder,
        "engine": store.name,
        "memories": store.count(Filter(None)),
        "put_away": store.count(Filter(None, archived=True)) - store.count(Filter(None)),
        "kinds": store.tally("kind", Filter(None)),
        "wings": store.tally("wing", Filter(None)),
        "rooms": store.tally("room", Filter(None)),
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
