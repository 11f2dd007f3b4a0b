"""`roots`: which folders hold memories here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from camillo.model import Filter
from camillo.ops._in_root import InRoot
from camillo.ops._notes import circles
from camillo.ops.operation import operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["roots"]


@operation(writes=False)
def roots(
    vault: Vault,
    *,
    scope: InRoot = None,
) -> Report:
    """List the folders that hold memories, with their form and whether they are trusted.

    Says besides what in their note files could not be read, which texts wait to be merged, and
    which notes supersede each other.

    camillo roots
    """
    report = Report()
    for root in vault.roots(scope):
        notebook = root.notebook if root.has_notes else None
        problems = notebook.problems() if notebook else []
        report.results.append(
            {
                "name": root.name,
                "root": root.root.folder,
                "scope": root.scope,
                "form": root.root.form,
                "memories": root.store.count(Filter(None)),
                "trusted": vault.trusts(root),
                "problems": len(problems),
            }
        )
        report.degraded += [
            f"{root.root.folder}/{each.path}"
            + (f", line {each.line}" if each.line else "")
            + f": {each.message}"
            for each in problems
        ]
        root.catch_up()
        report.degraded += circles(root)
    if not report.results:
        report.exit_code = NOTHING_FOUND
    return report
