"""`link`: say how one memory stands to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from camillo.model import Memory
from camillo.notes.link import add_edge
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
    scope: Annotated[Literal["user", "project"] | None, Doc("Only in this root.")] = None,
) -> Report:
    """Link one note to another of the same scope.

    camillo link deploy_rule incident_2026_05 --relation builds-on
    """
    root, found = find_source(vault, source, scope)

    def change(now: Memory | None) -> Memory:
        return add_edge(must_exist(now, found.key), relation, target, exists_in(root))

    reply = write_note(vault, root, found.key, change, "link")
    return Report(
        results=[{**reply, "relation": relation, "target": target}],
        degraded=circles(root, found.key) if relation == "supersedes" else [],
    )
