"""`archive`: put memories away, so that nothing finds them; it can be undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from camillo.errors import NotFound
from camillo.model import Author, Memory, replace
from camillo.notebook import FILE
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import find_memory
from camillo.ops._pages import keep_pages
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["archive"]

_DONE = {  # by whether it is undone, and whether nothing changed
    (False, False): "archived",
    (False, True): "was archived already",
    (True, False): "brought back",
    (True, True): "is not archived",
}


@operation(writes=True, idempotent=True)
def archive(
    vault: Vault,
    ids: Annotated[tuple[str, ...], Doc("Names of notes, or ids by their first characters.")],
    *,
    undo: Annotated[bool, Doc("Bring them back instead.")] = False,
    scope: InRoot = None,
) -> Report:
    """Put memories away: kept, but neither found nor listed. `--undo` brings them back.

    Says of each whether it was archived or brought back now, or was so already.

    camillo archive 1a2b3c4d
    camillo archive 1a2b3c4d --undo
    """
    report = Report()
    # All of them are found before the first is put away.
    chosen = [find_memory(vault, id, scope) for id in dict.fromkeys(ids)]
    for root, memory in chosen:
        when = 0 if undo else memory.archived or int(vault.clock() * 1000)
        by = Author(vault.author.who, "archive")
        if memory.extra.get(FILE) and root.notebook is not None:
            status = root.notebook.save(memory.key, _archived_at(when), by).outcome.status
        else:
            status = root.store.put([replace(memory, archived=when)], by)[0].status
        root.catch_up()
        root.scrub()
        report.degraded += keep_pages(vault, root)
        done = _DONE[undo, status == "deduplicated"]
        report.results.append(
            {"id": memory.id, "status": status, "archived": not undo, "done": done}
        )
    return report


def _archived_at(when: int) -> Callable[[Memory | None], Memory]:
    def change(now: Memory | None) -> Memory:
        if now is None:
            raise NotFound("the note is gone")
        return replace(now, archived=when)

    return change
