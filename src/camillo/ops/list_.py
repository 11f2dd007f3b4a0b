"""`list`: what there is, without searching."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

from camillo.model import INTERNAL_KINDS, NOT_NOTES, Memory, Page, replace
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import (
    NOTHING_KEPT,
    any_note,
    make_filter,
    source_of,
    superseded,
    unknown_places,
    unread,
)
from camillo.ops._scope import marked
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
    limit: Annotated[
        int, Doc("How many to show.", metavar="N", short="-k", min=1, max=100_000)
    ] = 50,
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
    report = ListReport(total=sum(root.store.count(filter) for root in roots))
    chosen = _chosen(roots, filter, Page(limit, offset, order))
    records = {
        root.name: iter(marked(vault, root, _records(root, [m for at, m in chosen if at is root])))
        for root in roots
    }
    report.results = [next(records[root.name]) for root, _ in chosen]
    if chosen and not kind:
        report.degraded += _buried([memory for _, memory in chosen], roots, filter)
    if not report.results:
        report.exit_code = NOTHING_FOUND
        report.degraded += unknown_places(roots, wing, room, kind) if roots else [NOTHING_KEPT]
    report.degraded += unread(roots)
    return report


def _chosen(roots: Sequence[OpenRoot], filter: Filter, page: Page) -> list[tuple[OpenRoot, Memory]]:
    """One page of what all roots hold, in one order."""
    if len(roots) == 1:
        return [(roots[0], memory) for memory in roots[0].store.scan(filter, page)]
    end = page.offset + page.limit
    scans = [_scan(root, filter, Page(end, 0, page.order)) for root in roots]
    place: Callable[[tuple[OpenRoot, Memory]], Any] = _id if page.order == "id" else _when
    merged = merge(*scans, key=place, reverse=page.order == "newest")
    return list(islice(merged, page.offset, end))


def _scan(root: OpenRoot, filter: Filter, page: Page) -> Iterator[tuple[OpenRoot, Memory]]:
    return ((root, memory) for memory in root.store.scan(filter, page))


def _when(found: tuple[OpenRoot, Memory]) -> tuple[int, str]:
    return found[1].created, found[1].id


def _id(found: tuple[OpenRoot, Memory]) -> str:
    return found[1].id


def _records(root: OpenRoot, memories: Sequence[Memory]) -> list[dict[str, Any]]:
    notes = any(memory.kind not in NOT_NOTES for memory in memories)
    newest = superseded(root) if notes else {}
    return [as_record(root, memory, newest.get(memory.key)) for memory in memories]


def _buried(shown: Sequence[Memory], roots: Sequence[OpenRoot], filter: Filter) -> list[str]:
    """In words, how many notes come after a page on which there is none."""
    if any(memory.kind not in NOT_NOTES for memory in shown):
        return []
    filed = replace(filter, kinds=tuple(sorted(NOT_NOTES | INTERNAL_KINDS)))
    notes = sum(root.store.count(filter) - root.store.count(filed) for root in roots)
    if not notes:
        return []
    come = "1 note comes" if notes == 1 else f"{notes:,} notes come"
    return [f"{come} after these; --kind note lists {'it' if notes == 1 else 'them'}"]
