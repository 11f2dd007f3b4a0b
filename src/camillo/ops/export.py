"""`export`: the notes of a root as another program lays them out."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Literal

from camillo import registry
from camillo.errors import Ambiguous, InvalidValue, NotFound, Refused
from camillo.lifecycle.compile import Compiled, compile_pages
from camillo.lifecycle.export import export_notes
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Filter, Page
from camillo.ops._folders import claude_memories, known_roots, lies_in
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import path_of
from camillo.ops._pages import language_for
from camillo.ops._scope import choices, nearest_root
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.model import Memory
    from camillo.notes.outline import Language
    from camillo.vault import OpenRoot, Vault

__all__ = ["ExportReport", "export"]


class ExportReport(Report):
    """`results` are `Exported`s: what became of each note, and what of it the form cannot hold."""

    form: str = ""
    folder: str = ""
    root: str = ""
    written: int = 0
    changed: int = 0
    unchanged: int = 0
    differs: int = 0
    failed: int = 0
    lossy: int = 0
    dry_run: bool = False


@operation(writes=True, idempotent=True)
def export(
    vault: Vault,
    folder: Annotated[str, Doc("Where to; made where it is missing.", metavar="FOLDER")],
    *,
    form: Annotated[
        Literal["", "camillo", "claude", "commonplace", "nullclaw", "oc"],
        Doc("How the notes are to be laid out; has to be said."),
    ] = "",
    scope: InRoot = None,
    language: Annotated[
        Literal["auto", "en", "zh"],
        Doc("Of oc's pages; auto: outline.language, else the page's, else Chinese, as oc has it."),
    ] = "auto",
    overwrite: Annotated[bool, Doc("Change files that say something else.")] = False,
    archived: Annotated[bool, Doc("Also what was archived.")] = False,
    dry_run: Annotated[bool, Doc("Say what would be done; write nothing.")] = False,
) -> ExportReport:
    """Write the notes of a root into a folder, as another program lays them out.

    Each note is listed with the file that it goes to, and with what that form has no place for.
    Texts stay byte for byte. Twice changes nothing; a file that says something else stays, unless
    --overwrite, and the command ends with 3. Drawers are no notes and stay here. A folder in a
    root, or around one, is refused.

    camillo export ~/notes-for-oc --form oc --dry-run
    camillo export ./.commonplace/memory --form commonplace --scope project
    """
    if not form:
        raise InvalidValue(f"say --form, one of {', '.join(registry.names('dialect'))}")
    root = _root(vault, scope)
    place = path_of(vault, folder)
    _check_place(vault, root, place, form)
    notes = _notes(root, archived)
    target = registry.open_note_folder(form, place, True)
    if not dry_run:
        os.makedirs(place, mode=0o700, exist_ok=True)
    done = 0

    def told(count: int) -> None:
        nonlocal done
        done += count
        vault.progress(done, len(notes), "notes")

    items = export_notes(notes, target, overwrite=overwrite, dry_run=dry_run, told=told)
    report = ExportReport(
        results=items, form=form, folder=printable(place), root=root.name, dry_run=dry_run
    )
    pages = []
    if form == "oc" and items and not dry_run:
        pages = _make_plan(vault, place, language_for(vault, language))
    report.degraded += [f"{each.path}: {each.reason}" for each in pages if each.reason]
    for name in ("written", "changed", "unchanged", "differs", "failed"):
        setattr(report, name, sum(item.status == name for item in items))
    report.lossy = sum(bool(item.lost) for item in items)
    if report.failed or report.differs or any(each.status == "failed" for each in pages):
        report.exit_code = IN_PART
    elif not items:
        report.exit_code = NOTHING_FOUND
    return report


def _make_plan(vault: Vault, place: str, language: Language | None) -> list[Compiled]:
    """oc takes a folder for its own by the `ROOT.md` in it."""
    with TemporaryDirectory() as state, closing(vault.look_at(place, "oc", state)) as root:
        root.look_through_notes()
        root.catch_up()
        assert root.notebook is not None
        return compile_pages(
            root.notebook.folder,
            root.outline,
            partial(root.superseded, root.store.get),
            scope=root.scope,
            label=os.path.basename(place),
            language=language,
        )


def _root(vault: Vault, scope: str | None) -> OpenRoot:
    """The one root that holds notes. Raises Ambiguous, NotFound."""
    found = [(root, root) for root in vault.roots(scope) if root.has_notes]
    near = nearest_root(found, scope)
    if len(near) > 1:
        raise Ambiguous(f"several roots hold notes: choose one with {choices(found)}")
    if not near:
        raise NotFound("there are no notes to export; `camillo roots` shows what there is")
    return near[0][0]


def _check_place(vault: Vault, source: OpenRoot, place: str, form: str) -> None:
    """Another root of this form may be written into, if it may be written at all: its notes are
    found there as those that people write."""
    if os.path.lexists(place) and not os.path.isdir(place):
        raise InvalidValue(f"{printable(place)} is no folder")
    allowed = False
    for name, held, root in known_roots(vault):
        if place == held and name != source.name and root.form == form and root.writable:
            allowed = True
        elif lies_in(place, held):
            raise Refused(f"{printable(place)} is in the root {name!r}: export to another folder")
        elif root.exists() and lies_in(held, place):
            raise Refused(
                f"the root {name!r} lies in {printable(place)}, {printable(held)}: export to "
                "another folder"
            )
    memories = claude_memories()
    around = os.path.isdir(memories) and lies_in(memories, place)
    if around or (lies_in(place, memories) and not allowed):
        raise Refused(
            f"what Claude Code remembers, {printable(memories)}, is only read: export to another "
            "folder, or open one of its folders with --write"
        )


def _notes(root: OpenRoot, archived: bool) -> list[Memory]:
    kinds = set(root.store.tally("kind", Filter(None, archived=archived)))
    wanted = tuple(sorted(kinds - NOT_NOTES - INTERNAL_KINDS))
    if not wanted:
        return []
    return list(root.store.scan(Filter(None, kinds=wanted, archived=archived), Page(order="id")))
