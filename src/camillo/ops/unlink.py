"""`unlink`: take a link away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.model import Memory
from camillo.notes.link import remove_edge
from camillo.ops._in_root import InRoot
from camillo.ops._naming import meant
from camillo.ops._notes import find_source, must_exist, write_note
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["unlink"]


@operation(writes=True, idempotent=True)
def unlink(
    vault: Vault,
    source: Annotated[str, Doc("The note that the link is written in.")],
    target: Annotated[str, Doc("The note that it leads to; may be gone.")],
    *,
    relation: Annotated[str | None, Doc("Only links of this kind; else all.")] = None,
    scope: InRoot = None,
) -> Report:
    """Take the links from one note to another away.

    camillo unlink deploy_rule incident_2026_05
    """
    root, found = find_source(vault, source, scope)
    target = meant(root, target)

    def change(now: Memory | None) -> Memory:
        return remove_edge(must_exist(now, found.key), target, relation)

    report = write_note(vault, root, found.key, change, "unlink", follow=False)
    if report.results[0]["status"] == "deduplicated":
        report.results, report.exit_code = [], NOTHING_FOUND
        report.degraded.append(f"{source!r} has no such link to {target!r}")
    else:
        report.results[0] |= {"target": target}
    return report
