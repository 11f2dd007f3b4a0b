"""`open`: let a folder of notes be a root where it lies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

from camillo import registry
from camillo.elsewhere import Opened, is_name, open_folder, opened_folders, slot_of
from camillo.errors import InvalidValue, NotFound, Refused
from camillo.ingest.importers.openclaw import databases, holds_database
from camillo.layouts import form_of, template_folders
from camillo.model import INTERNAL_KINDS, NOT_NOTES, Filter
from camillo.notes.names import slug
from camillo.ops._lookup import path_of
from camillo.ops.embed import embed_later
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.roots import Root, find_project_root
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["open_"]

_THEIRS = "memory"  # what programs call their folder, whosesoever it is


@operation(writes=True, idempotent=True, name="open")
def open_(
    vault: Vault,
    folder: Annotated[str, Doc("A folder of Markdown notes.", metavar="FOLDER")],
    *,
    form: Annotated[
        Literal["auto", "camillo", "claude", "commonplace", "nullclaw", "oc"],
        Doc("How its notes are laid out; auto looks at what is there."),
    ] = "auto",
    name: Annotated[str, Doc("What the root is called; else made from the folder's name.")] = "",
    scope: Annotated[
        Literal["auto", "user", "project"],
        Doc("Yours everywhere, or open in this project only; auto: as it was, else yours."),
    ] = "auto",
    write: Annotated[bool, Doc("Let camillo change its files; else it only reads.")] = False,
) -> Report:
    """Open a folder of notes where it lies: searched, shown and linked from now on.

    It keeps the form that its own program gave it. Nothing is put into the folder: what camillo
    keeps of it lies in your own root. Without --write its files are never changed. Open it again
    to change how: what you do not say stays as it was. `camillo close NAME` ends it. A folder
    without notes is opened with --write only.

    camillo open ~/vault
    camillo open ~/.claude/projects/-home-me-app/memory --write
    camillo open ~/claw/workspace --form nullclaw --name claw
    """
    place = path_of(vault, folder)
    if not os.path.isdir(place):
        raise NotFound(f"there is no folder {printable(place)}")
    former = next((e for e in opened_folders([]) if os.path.realpath(e.folder) == place), None)
    own = None if former else _by_itself(vault, place)
    if own is not None and not _is_otherwise(own, form, name, scope):
        if own.writable or not write:
            return _told(vault, own)
        former = Opened(own.name, place, own.form, vault.project_folder(), slot=slot_of(own))
    wanted = _wanted(vault, place, form, name, scope, write, former)
    _check_free(vault, wanted, former)
    if not (former or write):
        _check_notes(wanted)
    config = open_folder(wanted)
    opened = vault.add_opened(wanted.name)
    opened.look_through_notes()
    opened.catch_up()
    report = _report(opened, printable(config))
    report.degraded += [*_beside(place), *_imported_before(vault, opened)]
    report.degraded += embed_later(vault, opened)
    return report


def _by_itself(vault: Vault, place: str) -> Root | None:
    """The root that this folder is without having been opened."""
    for _, root in vault.folders():
        if root.form != "camillo" and root.exists() and os.path.realpath(root.folder) == place:
            return root
    return None


def _is_otherwise(own: Root, form: str, name: str, scope: str) -> bool:
    return (
        form not in ("auto", own.form)
        or name not in ("", own.name)
        or scope not in ("auto", own.scope)
    )


def _wanted(
    vault: Vault,
    place: str,
    form: str,
    name: str,
    scope: str,
    write: bool,
    former: Opened | None,
) -> Opened:
    """What is to be noted: what was said, else as it was, else by what is there."""
    if scope == "auto" and former is not None:
        project = former.project
        if project and project != find_project_root(vault.cwd):
            raise Refused(
                f"{former.name!r} is open in {project} only: say --scope project to open it here "
                "instead, --scope user everywhere"
            )
    else:
        project = vault.project_folder() if scope == "project" else ""
    if form == "auto":
        form = former.form if former else form_of(place)
    label = name or (former.name if former else _label_of(place, form))
    if former is None or label != former.name:
        _check_name(label)
    return Opened(label, place, form, project, write, former.slot if former else label)


def _label_of(place: str, form: str) -> str:
    """Like the folder's own name; where that is a program's for all of its folders, like the one
    above."""
    for path in (place, os.path.dirname(place)):
        own = os.path.basename(path).lower().lstrip(".")
        own = own if is_name(own) else slug(own)
        if own not in ("", _THEIRS):
            return own
    return form


def _check_name(label: str) -> None:
    if not is_name(label):
        raise InvalidValue(
            f"{label!r} cannot be the name of a root: give --name with lower-case letters a to z, "
            "digits, '-' and '_', other than user, project and those of roots that are open by "
            "themselves"
        )


def _check_free(vault: Vault, wanted: Opened, former: Opened | None) -> None:
    """A folder in a root, or around one, would be read twice; and each name is one root's."""
    place = wanted.folder
    if former is not None and wanted.name != former.name:
        raise Refused(f"{printable(place)} is open as {former.name!r}: close that first")
    for label, root in vault.folders():
        held = os.path.realpath(root.folder)
        if held == place:
            if former is None and root.writable:
                raise Refused(f"{printable(place)} is a root already, {label!r}: it is searched")
        elif place.startswith(held + os.sep) or held.startswith(place + os.sep):
            raise Refused(
                f"{printable(place)} and the root {label!r}, {root.folder}, lie inside each other: "
                "its notes would be there twice"
            )
    named = [root.folder for label, root in vault.folders() if label == wanted.name]
    named += [each.folder for each in opened_folders([]) if each.slot == wanted.slot]
    for held in named:
        if os.path.realpath(held) != place:
            raise Refused(
                f"there is a root called {wanted.name!r} already, {held}: give another --name"
            )


def _check_notes(wanted: Opened) -> None:
    """Raises NotFound for a folder in which nothing is to be read."""
    place = wanted.folder
    left_out = template_folders(place) if wanted.form == "camillo" else frozenset()
    notes, unreadable = registry.open_note_folder(
        wanted.form, place, False, left_out, shared=False
    ).scan()
    if notes or unreadable:
        return
    hints = _beside(place) or ["--write opens it all the same, for notes to come"]
    raise NotFound(
        f"there are no notes in {printable(place)} (form {wanted.form}): {'; '.join(hints)}"
    )


def _beside(place: str) -> list[str]:
    """Databases of an agent: they hold memories that are no files."""
    return [
        f"{os.path.relpath(each, place)} is not searched where it lies: `camillo import nullclaw "
        f"{printable(each)}` brings it in"
        for each in (databases(place) if holds_database(place) else ())
    ]


def _imported_before(vault: Vault, opened: OpenRoot) -> list[str]:
    """Notes of this folder that are in another root as well: one line for each of these."""
    below = printable(os.path.realpath(opened.root.folder)) + os.sep
    told = []
    for root in vault.roots():
        kinds = set(root.store.tally("kind", Filter(None))) - NOT_NOTES - INTERNAL_KINDS
        if root.name == opened.name or not kinds:
            continue
        notes = root.store.scan(Filter(None, kinds=tuple(sorted(kinds))))
        count = sum(
            memory.origin is not None and memory.origin.source.startswith(below) for memory in notes
        )
        if count:
            told.append(
                f"imported before, and found twice now: {count:,} in {root.name} "
                f"(`camillo list --scope {root.name}`)"
            )
    return told


def _told(vault: Vault, own: Root) -> Report:
    """Of a folder that is open by itself: nothing has to be done."""
    report = _report(vault.root(own.name), "")
    report.degraded.append(f"{own.name} is open by itself: nothing had to be done")
    return report


def _report(opened: OpenRoot, config: str) -> Report:
    root, notebook = opened.root, opened.notebook
    problems = notebook.problems() if notebook else []
    result = {
        "root": root.name,
        "folder": printable(root.folder),
        "form": root.form,
        "scope": root.scope,
        "access": "read and write" if root.writable else "read only",
        "memories": opened.store.count(Filter(None)),
        "config": config,
    }
    return Report(
        results=[result],
        degraded=[
            os.path.join(root.folder, each.path)
            + (f":{each.line}" if each.line else "")
            + f": {each.message}"
            for each in problems
        ],
    )
