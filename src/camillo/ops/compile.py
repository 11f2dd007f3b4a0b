"""`compile`: the pages that say what notes there are, made from the notes."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from camillo.elsewhere import reopening
from camillo.lifecycle.compile import compile_pages
from camillo.ops._in_root import InRoot
from camillo.ops._pages import COMPILED_FORMS, language_for
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.notes.outline import Language
    from camillo.vault import OpenRoot, Vault

__all__ = ["CompileReport", "compile_"]

_PLAN = "ROOT.md"


class CompileReport(Report):
    """`results` are `Compiled`s with the root of each: what became of each page."""

    written: int = 0
    unchanged: int = 0
    kept: int = 0
    removed: int = 0
    failed: int = 0
    dry_run: bool = False


@operation(writes=True, idempotent=True, name="compile")
def compile_(
    vault: Vault,
    *,
    scope: InRoot = None,
    language: Annotated[
        Literal["auto", "en", "zh"],
        Doc("Of what is made; auto: outline.language, else the page's, else oc's is Chinese."),
    ] = "auto",
    all: Annotated[bool, Doc("Look at all pages, not only at those that may be stale.")] = False,
    dry_run: Annotated[bool, Doc("Say what would be written; write nothing.")] = False,
) -> CompileReport:
    """Make the tables of `ROOT.md` and of each room's `index.md` from the heads of the notes.

    What stands outside the marked regions is never changed, and a page without any is left alone.
    Nothing is written where nothing changed. Without --scope these are the roots that have a
    ROOT.md, or the only one that holds notes.

    camillo compile
    camillo compile --scope project --dry-run
    """
    report = CompileReport(dry_run=dry_run)
    for root in _chosen(vault, scope, report):
        _compile(root, language_for(vault, language), all, dry_run, report)
    for each in report.results:
        setattr(report, each["status"], getattr(report, each["status"]) + 1)
    if not report.results:
        report.degraded = report.degraded or ["there are no notes to make pages of"]
        report.exit_code = NOTHING_FOUND
    elif report.failed:
        report.exit_code = IN_PART
    return report


def _chosen(vault: Vault, scope: str | None, report: CompileReport) -> list[OpenRoot]:
    """The root that is named; of several those that have a plan. What is left alone is told."""
    roots = [root for root in vault.roots(scope) if scope or root.has_notes]
    roots = [root for root in roots if root.name == scope] or roots
    why = {root.name: _left_alone(root) for root in roots}
    ours = [root for root in roots if not why[root.name]]
    if len(ours) > 1:
        for root in ours:
            if not _has_plan(root):
                how = f"`camillo compile --scope {root.name}` makes one"
                why[root.name] = f"it has no {_PLAN} yet; {how}"
    report.degraded += [f"{name} is left alone: {said}" for name, said in why.items() if said]
    return [root for root in ours if not why[root.name]]


def _has_plan(root: OpenRoot) -> bool:
    return os.path.isfile(os.path.join(root.root.folder, _PLAN))


def _compile(
    root: OpenRoot,
    language: Language | None,
    everything: bool,
    dry_run: bool,
    report: CompileReport,
) -> None:
    assert root.notebook is not None
    root.catch_up()
    pages = compile_pages(
        root.notebook.folder,
        root.outline,
        partial(root.superseded, root.store.get),
        scope=root.scope,
        label=root.root.title,
        language=language,
        everything=everything,
        dry_run=dry_run,
    )
    report.results += [{"root": root.name, **page._asdict()} for page in pages]


def _left_alone(root: OpenRoot) -> str:
    """Why no page of this root is ours to write; "" for one that is."""
    if root.root.form not in COMPILED_FORMS:
        return f"its pages are those of {root.root.form}"
    if not root.root.writable:
        return f"it is only read; `{reopening(root.root.folder)}` lets camillo change it"
    if root.notebook is None:
        return "its notes are no files"
    return ""
