"""`sync`: memories of files that are gone are put away, and only of those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.ingest.sync import vanished
from camillo.model import Author
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["SyncReport", "sync"]


class SyncReport(Report):
    """`results` are the sources whose files are gone; `kept` those that could not be told, with the
    reason; `present` counts the others."""

    present: int = 0
    drawers: int = 0
    kept: list[dict[str, str]] = []
    dry_run: bool = False


@operation(writes=True, idempotent=True, positional=("path",))
def sync(
    vault: Vault,
    path: Annotated[str, Doc("Only what was mined from here.", metavar="PATH")] = "",
    *,
    scope: InRoot = None,
    emptied: Annotated[
        bool, Doc("Believe it also when a mined folder has none of its files left.")
    ] = False,
    dry_run: Annotated[bool, Doc("Say what would be marked; mark nothing.")] = False,
) -> SyncReport:
    """Mark the drawers of files that no longer exist: kept, but no longer found.

    A folder that cannot be read, or is not there at all, changes nothing: its disk may only be
    missing. Mining a file that came back brings its drawers back.

    camillo sync ~/projects/shop --dry-run
    """
    under = path_of(vault, path) if path else None
    report = SyncReport(dry_run=dry_run)
    known = 0
    for root in vault.roots(scope):
        found = vanished(root.store, root.scope, under and printable(under), emptied=emptied)
        known += found.known
        report.present += found.present
        report.kept += [{"source": name, "reason": why} for name, why in found.unsure]
        for record in found.gone:
            report.results.append({"source": record.name, "drawers": record.parts})
            report.drawers += record.parts
        if not dry_run and found.gone:
            found.mark(root.store, Author(vault.author.who, "sync"), int(vault.clock() * 1000))
            root.catch_up()
            root.scrub()
    if under and not known:
        report.degraded.append(f"nothing was mined from {printable(under)}")
        report.exit_code = NOTHING_FOUND
    if report.kept:
        report.exit_code = IN_PART
    return report
