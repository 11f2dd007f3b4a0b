"""`list`: what there is, without searching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from camillo.model import NOT_NOTES, Page
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import (
    NOTHING_KEPT,
    any_note,
    make_filter,
    source_of,
    superseded,
    unknown_places,
)
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report
from camillo.ops.show import as_record

if TYPE_CHECKING:
    from camillo.model import Filter
    from camillo.vault import OpenRoot, Vault

__all__ = ["ListReport", "list_"]


class ListReport(Report):
    """`total` counts all that the filter admits, `results` holds one page of them."""

    total: int = 0


@operation(writes=False, name="list")
def list_(
    vault: Vault,
    *,
    wing: Annotated[str | None, Doc("Only this wing.")] = None,
    room: Annotated[str | None, Doc("Only this room.")] = None,
    kind: Annotated[
        tuple[str, ...], Doc("Only this kind, note for every note; may be repeated.")
    ] = (),
    session: Annotated[str | None, Doc('Only this conversation; "" for none.')] = None,
    source: Annotated[str | None, Doc("Only this file.", metavar="FILE")] = None,
    scope: InRoot = None,
    archived: Annotated[bool, Doc("Also what was archived.")] = False,
    order: Annotated[Literal["newest", "oldest", "id"], Doc("What comes first.")] = "newest",
    limit: Annotated[int, Doc("How many to show.", metavar="N", min=1, max=100_000)] = 50,
    offset: Annotated[int, Doc("How many to pass over first.", metavar="N", min=0)] = 0,
) -> ListReport:
    """List memories, newest first, and say which are archived or superseded.

    camillo list --wing shop --limit 20
    camillo list --kind note --archived
    """
    roots = list(vault.roots(scope))
    kind = any_note(roots, kind)
    filter = make_filter(
        wing=wing,
        room=room,
        kind=kind,
        session=session,
        source=source_of(vault, source, scope),
        archived=archived,
    )
    report = ListReport()
    skip = offset
    for root in roots:
        count = root.store.count(filter)
        report.total += count
        wanted = limit - len(report.results)
        if wanted > 0:
            page = Page(wanted, skip, order)
            report.results += _page(root, filter, page)
        skip = max(0, skip - count)
    if not report.results:
        report.exit_code = NOTHING_FOUND
        report.degraded += unknown_places(roots, wing, room, kind) if roots else [NOTHING_KEPT]
    return report


def _page(root: OpenRoot, filter: Filter, page: Page) -> list[dict[str, Any]]:
    memories = list(root.store.scan(filter, page))
    notes = any(memory.kind not in NOT_NOTES for memory in memories)
    newest = superseded(root) if notes else {}
    return [as_record(memory, newest.get(memory.key)) for memory in memories]
