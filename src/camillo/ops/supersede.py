"""`supersede`: let a newer note take the place of an older one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from camillo.model import Memory
from camillo.notes.link import remove_edge
from camillo.notes.supersede import supersede as superseding
from camillo.ops._notes import circles, exists_in, find_source, must_exist, write_note
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["supersede"]


@operation(writes=True)
def supersede(
    vault: Vault,
    newer: Annotated[str, Doc("The note that holds now.")],
    older: Annotated[str, Doc("The note that it replaces.")],
    *,
    undo: Annotated[bool, Doc("Let both stand for themselves again.")] = False,
    scope: Annotated[Literal["user", "project"] | None, Doc("Only in this root.")] = None,
) -> Report:
    """Say that one note replaces another: searches show the newer one, both are kept.

    camillo supersede deploy_rule_2027 deploy_rule
    camillo supersede deploy_rule_2027 deploy_rule --undo
    """
    root, found = find_source(vault, newer, scope)
    replaced = found.key._replace(id=older)

    def change(now: Memory | None) -> Memory:
        memory = must_exist(now, found.key)
        if undo:
            return remove_edge(memory, older, "supersedes")
        return superseding(memory, replaced, exists_in(root))

    reply = write_note(vault, root, found.key, change, "supersede")
    return Report(
        results=[{**reply, "supersedes": "" if undo else older}], degraded=circles(root, found.key)
    )
