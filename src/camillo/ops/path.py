"""`path`: how one memory leads to another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from camillo.graph.path import Path, shortest_path
from camillo.ops._in_root import InRoot
from camillo.ops._naming import meant
from camillo.ops._notes import absent, find_note, graph_around
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["PathReport", "path"]

_FARTHEST = 100  # links, as many as --depth takes


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
    scope: InRoot = None,
) -> PathReport:
    """Show the shortest way from one note to another along their links.

    camillo path deploy_rule incident_2026_05
    """
    root, found = find_note(vault, source, scope)
    around = graph_around(root)
    goals = [key for key in around.named(meant(root, target)) if key.scope == found.scope]
    for name, known in ((source, found.key in around.named(found.id)), (target, goals)):
        if not known:
            raise absent(root, name)
    way = shortest_path(
        around, found.key, goals[0], depth=depth, types=relation or None, direction=direction
    )
    if way.edges is None:
        longer = partial(
            shortest_path, around, found.key, goals[0], depth=_FARTHEST, types=relation or None
        )
        unreachable = way.reason == "unreachable"
        hints = _against(longer, depth) if unreachable else _too_long(longer, direction)
        return PathReport(reason=way.reason, exit_code=NOTHING_FOUND, degraded=hints)
    return PathReport(
        results=[
            {"from": each.source.id, "relation": each.relation, "to": each.target.id}
            for each in way.edges
        ],
        degraded=[] if way.edges else [f"{source!r} is where it starts: no link is needed"],
    )


def _too_long(search: Callable[..., Path], direction: str) -> list[str]:
    edges = search(direction=direction).edges
    if edges is None:
        return []
    return [f"the shortest way has {len(edges)} links: --depth {len(edges)} shows it"]


def _against(search: Callable[..., Path], depth: int) -> list[str]:
    """Where a way leads there only against some arrow: how to see it."""
    edges = search(direction="both").edges
    if edges is None:
        return []
    far = f" (with --depth {len(edges)})" if len(edges) > depth else ""
    return [f"no arrows lead there; --direction both looks against the arrows too{far}"]
