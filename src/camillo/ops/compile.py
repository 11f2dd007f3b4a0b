"""`compile`: the pages that say what notes there are, made from the notes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from camillo.lifecycle.compile import compile_pages
from camillo.ops._in_root import InRoot
from camillo.ops._pages import COMPILED_FORMS
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["CompileReport", "compile_"]


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
    Nothing is written where nothing changed.

    camillo compile
    camillo compile --scope project --dry-run
    """
    report = CompileReport(dry_run=dry_run)
    for root in vault.roots(scope):
        if why := _left_alone(root):
            if scope or root.has_notes:
                report.degraded.append(f"{root.name} is left alone: {why}")
        elif scope or root.has_notes:
            chosen = vault.settings.outline.language if language == "auto" else language
            _compile(root, chosen, all, dry_run, report)
    for each in report.results:
        setattr(report, each["status"], getattr(report, each["status"]) + 1)
    if not report.results:
        report.degraded.append("there are no notes to make pages of")
        report.exit_code = NOTHING_FOUND
    elif report.failed:
        report.exit_code = IN_PART
    return report


def _compile(
    root: OpenRoot, language: str, everything: bool, dry_run: bool, report: CompileReport
) -> None:
    assert root.notebook is not None
    root.catch_up()
    pages = compile_pages(
        root.notebook.folder,
        root.outline,
        partial(root.superseded, root.store.get),
        scope=root.scope,
        label=root.root.title,
        language=None if language == "auto" else language,  # type: ignore[arg-type]
        everything=everything,
        dry_run=dry_run,
    )
    report.results += [{"root": root.name, **page._asdict()} for page in pages]


def _left_alone(root: OpenRoot) -> str:
    """Why no page of this root is ours to write; "" for one that is."""
    if root.root.form not in COMPILED_FORMS:
        return f"its pages are those of {root.root.form}"
    if not root.root.writable:
        return "it is only read; `camillo open` it with --write to change it"
    if root.notebook is None:
        return "its notes are no files"
    return ""
