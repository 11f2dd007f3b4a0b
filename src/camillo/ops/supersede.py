"""`supersede`: let a newer note take the place of an older one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.model import Key, Memory, replace
from camillo.notes.link import remove_edge
from camillo.notes.supersede import supersede as superseding
from camillo.ops._in_root import InRoot
from camillo.ops._naming import meant
from camillo.ops._notes import circles, exists_in, find_source, must_exist, write_note
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["supersede"]


@operation(writes=True)
def supersede(
    vault: Vault,
    newer: Annotated[str, Doc("The note that holds now.")],
    older: Annotated[str, Doc("The note that it replaces.")],
    *,
    undo: Annotated[bool, Doc("Let both stand for themselves again.")] = False,
    scope: InRoot = None,
) -> Report:
    """Say that one note replaces another: searches show the newer one, both are kept.

    camillo supersede deploy_rule_2027 deploy_rule
    camillo supersede deploy_rule_2027 deploy_rule --undo
    """
    root, found = find_source(vault, newer, scope)
    older = meant(root, older)
    replaced = found.key._replace(id=older)

    def change(now: Memory | None) -> Memory:
        memory = must_exist(now, found.key)
        if undo:
            return remove_edge(memory, older, "supersedes")
        return superseding(memory, replaced, exists_in(root))

    report = write_note(vault, root, found.key, change, "supersede", follow=False)
    if root.notebook is not None and root.notebook.folder.dialect.marks_superseded:
        report.degraded += _marked(vault, root, found.key, replaced, undo)
    report.degraded += circles(root, found.key)
    if undo and report.results[0]["status"] == "deduplicated":
        report.results, report.exit_code = [], NOTHING_FOUND
        report.degraded.append(f"{newer!r} does not supersede {older!r}")
    else:
        report.results[0] |= {"supersedes": "" if undo else older}
    return report


def _marked(vault: Vault, root: OpenRoot, newer: Key, older: Key, undo: bool) -> list[str]:
    """The older one says so too, for a program that reads it there; what is to be said of that."""

    def change(now: Memory | None) -> Memory:
        memory = must_exist(now, older)
        if undo:
            return replace(memory, superseded_by="") if memory.superseded_by == newer.id else memory
        return replace(memory, superseded_by=newer.id)

    return write_note(vault, root, older, change, "supersede", follow=False).degraded
