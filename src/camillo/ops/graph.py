"""`graph`: what lies around a memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from camillo.graph.document import document
from camillo.graph.draw import draw
from camillo.graph.edges import AUTHORED, MENTIONS
from camillo.graph.mermaid import mermaid
from camillo.graph.walk import walk
from camillo.ops._in_root import InRoot
from camillo.ops._notes import absent, find_note, graph_around
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["GraphReport", "graph"]


class GraphReport(Report):
    """`results` are the memories, nearest first; `edges` the links between them; `drawing` the
    picture in the form that was asked for."""

    root: str = ""
    edges: list[Any] = []
    truncated: bool = False
    form: str = ""
    drawing: str = ""


@operation(writes=False)
def graph(
    vault: Vault,
    id: Annotated[str, Doc("The note to start from.")],
    *,
    depth: Annotated[int, Doc("How many links away.", metavar="N", min=0, max=100)] = 1,
    relation: Annotated[
        tuple[str, ...], Doc("Only these; may be repeated; else all but mentions.")
    ] = (),
    direction: Annotated[
        Literal["both", "outbound", "inbound", "out", "in"], Doc("Which way to walk.")
    ] = "both",
    form: Annotated[Literal["mermaid", "dot", "json", "svg"], Doc("How to draw it.")] = "mermaid",
    scope: InRoot = None,
) -> GraphReport:
    """Show the memories around a note and how they are linked.

    The drawing is printed as it is, for a program that shows it; --md puts it into a fence.

    camillo graph deploy_rule --depth 2
    camillo graph deploy_rule --form svg > deploys.svg
    """
    root, found = find_note(vault, id, scope)
    around = graph_around(root)
    if found.key not in around.named(found.id):
        raise absent(root, id)
    along = partial(walk, around, found.key, depth=depth, direction=direction)
    view = along(types=relation or AUTHORED)
    shown = document(view)
    return GraphReport(
        results=shown["nodes"],
        edges=shown["edges"],
        root=id,
        truncated=view.truncated,
        form=form,
        drawing=mermaid(view, fenced=False) if form == "mermaid" else draw(view, form),
        degraded=[] if relation else _left_out(len(along(types=(MENTIONS,)).edges)),
    )


def _left_out(mentions: int) -> list[str]:
    """In words, how many are not walked along unless they are asked for."""
    if not mentions:
        return []
    are = "1 mention is" if mentions == 1 else f"{mentions:,} mentions are"
    return [f"{are} left out; --relation {MENTIONS} shows {'it' if mentions == 1 else 'them'}"]
