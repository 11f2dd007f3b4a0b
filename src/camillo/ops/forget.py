"""`forget`: erase memories at once, from every file, for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.errors import InvalidValue
from camillo.lifecycle.forget import erase
from camillo.lifecycle.holding import pages_holding
from camillo.model import NOT_NOTES, Author, Filter, Memory, short_id
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import find_memory, path_text, source_of
from camillo.ops._pages import keep_pages, unlist_from
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["ForgetReport", "forget"]


class ForgetReport(Report):
    """`still_held_by` names pages, backups and other memories that hold the text yet; `pending`
    says that a reader of another process keeps the last bytes alive until the next command."""

    still_held_by: list[str] = []
    pending: bool = False
    dry_run: bool = False


@operation(writes=True, destructive=True, positional=("ids",))
def forget(
    vault: Vault,
    ids: Annotated[tuple[str, ...], Doc("Names of notes, or ids by their first characters.")] = (),
    *,
    source: Annotated[str, Doc("Everything from this file instead.", metavar="FILE")] = "",
    scope: InRoot = None,
    dry_run: Annotated[bool, Doc("Say what would be erased; erase nothing.")] = False,
) -> ForgetReport:
    """Erase memories from every file of the root; mining does not bring them back.

    This cannot be undone; `archive` can. A keyed hash stays, so that the same text is skipped when
    its source is mined again. The reply names backups that still hold the text.

    camillo forget 1a2b3c4d
    camillo forget --source ~/projects/shop/secrets.md --dry-run
    """
    if bool(ids) == bool(source):
        raise InvalidValue("forget takes ids or --source FILE, one of the two")
    chosen = _by_source(vault, source, scope) if source else _by_id(vault, ids, scope)
    report = ForgetReport(dry_run=dry_run)
    for root, memories in chosen:
        report.results += [
            {
                "id": memory.id,
                "kind": memory.kind,
                "from": path_text(memory),
                "status": "would be erased" if dry_run else "erased",
            }
            for memory in memories
        ]
        report.still_held_by += _twins(root, memories)
        if not dry_run:
            done = erase(root, memories, Author(vault.author.who, "forget"))
            report.pending |= not done.clean
            report.still_held_by += done.held_by
            if any(memory.kind not in NOT_NOTES for memory in memories):
                report.degraded += unlist_from(root, memories)
                report.degraded += keep_pages(vault, root, always=True)
                report.still_held_by += pages_holding(root, memories, done.held_by)
    if report.pending:
        report.degraded.append(
            "another process still reads the old state; the next command clears the last bytes"
        )
        report.exit_code = IN_PART
    if not report.results:
        report.exit_code = NOTHING_FOUND
    return report


def _twins(root: OpenRoot, memories: list[Memory]) -> list[str]:
    """Other memories of the root with the same text, which are not asked for: in words."""
    asked = {memory.key for memory in memories}
    found: list[str] = []
    for start in range(0, len(memories), 500):
        bodies = [memory.body for memory in memories[start : start + 500]]
        keys = [key for key in root.words.same_text(bodies) if key not in asked]
        twins = (twin for twin in root.store.get(keys) if twin is not None)
        found += [f"{path_text(twin)} (id {short_id(twin.id)}) has the same text" for twin in twins]
    return found


def _by_id(
    vault: Vault, ids: tuple[str, ...], scope: str | None
) -> list[tuple[OpenRoot, list[Memory]]]:
    chosen: dict[str, tuple[OpenRoot, list[Memory]]] = {}
    for id in dict.fromkeys(ids):
        root, memory = find_memory(vault, id, scope)
        memories = chosen.setdefault(root.name, (root, []))[1]
        if memory not in memories:
            memories.append(memory)
    return list(chosen.values())


def _by_source(vault: Vault, source: str, scope: str | None) -> list[tuple[OpenRoot, list[Memory]]]:
    found = []
    name = source_of(vault, source, scope)
    for root in vault.roots(scope):
        memories = list(root.store.scan(Filter(None, source=name, archived=True)))
        if memories:
            found.append((root, memories))
    return found
