"""`path`: how one memory leads to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from camillo.errors import NotFound
from camillo.graph.path import shortest_path
from camillo.ops._notes import find_note, graph_around
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["PathReport", "path"]


class PathReport(Report):
    """`results` are the links in order; `reason` says why there is none: unreachable or
    depth-exceeded."""

    reason: str = ""


@operation(writes=False)
def path(
    vault: Vault,
    source: Annotated[str, Doc("The note to start from.")],
    target: Annotated[str, Doc("The note to reach.")],
    *,
    depth: Annotated[int, Doc("At most so many links.", metavar="N", min=1, max=100)] = 5,
    relation: Annotated[tuple[str, ...], Doc("Only these; may be repeated; else all.")] = (),
    direction: Annotated[
        Literal["outbound", "inbound", "both", "out", "in"], Doc("Which way to walk.")
    ] = "outbound",
    scope: Annotated[Literal["user", "project"] | None, Doc("Only in this root.")] = None,
) -> PathReport:
    """Show the shortest way from one note to another along their links.

    camillo path deploy_rule incident_2026_05
    """
    root, found = find_note(vault, source, scope)
    around = graph_around(root)
    goals = [key for key in around.named(target) if key.scope == found.scope]
    if not goals:
        raise NotFound(f"no memory {target!r} in the {found.scope} scope")
    way = shortest_path(
        around, found.key, goals[0], depth=depth, types=relation or None, direction=direction
    )
    if way.edges is None:
        return PathReport(reason=way.reason, exit_code=NOTHING_FOUND)
    return PathReport(
        results=[
            {"from": each.source.id, "relation": each.relation, "to": each.target.id}
            for each in way.edges
        ]
    )
