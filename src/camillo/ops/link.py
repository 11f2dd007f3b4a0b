"""`link`: say how one memory stands to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.model import Memory
from camillo.notes.link import add_edge
from camillo.ops._in_root import InRoot
from camillo.ops._naming import meant
from camillo.ops._notes import circles, exists_in, find_source, must_exist, write_note
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["link"]


@operation(writes=True)
def link(
    vault: Vault,
    source: Annotated[str, Doc("The note that the link is written in.")],
    target: Annotated[str, Doc("The note that it leads to.")],
    *,
    relation: Annotated[
        str, Doc("related-to, builds-on, contradicts, child-of or supersedes.")
    ] = "related-to",
    scope: InRoot = None,
) -> Report:
    """Link one note to another of the same scope.

    camillo link deploy_rule incident_2026_05 --relation builds-on
    """
    root, found = find_source(vault, source, scope)
    target = meant(root, target)

    def change(now: Memory | None) -> Memory:
        return add_edge(must_exist(now, found.key), relation, target, exists_in(root))

    report = write_note(vault, root, found.key, change, "link", follow=False)
    report.results[0] |= {"relation": relation, "target": target}
    if relation == "supersedes":
        report.degraded += circles(root, found.key)
    return report
