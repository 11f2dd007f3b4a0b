"""`open`: let a folder of notes be a root where it lies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

from camillo.elsewhere import Opened, form_of, is_name, open_folder, opened_folders
from camillo.errors import InvalidValue, NotFound, Refused
from camillo.model import Filter
from camillo.notes.names import slug
from camillo.ops._lookup import path_of
from camillo.ops.embed import embed_later
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["open_"]

_BY_ITSELF = "project-claude"  # open without being asked for, and read-only


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
        Literal["user", "project"], Doc("Yours everywhere, or open in this project only.")
    ] = "user",
    write: Annotated[bool, Doc("Let camillo change its files; else it only reads.")] = False,
) -> Report:
    """Open a folder of notes where it lies: searched, shown and linked from now on.

    It keeps the form that its own program gave it. Nothing is put into the folder: what camillo
    keeps of it lies in your own root. Without --write its files are never changed. Open it again
    to change how; `camillo close NAME` ends it.

    camillo open ~/vault
    camillo open ~/.claude/projects/-home-me-app/memory --form claude --write
    camillo open ~/claw/workspace --form nullclaw --name claw
    """
    place = path_of(vault, folder)
    if not os.path.isdir(place):
        raise NotFound(f"there is no folder {printable(place)}")
    label = name or _label_of(place)
    _check_name(label)
    _check_free(vault, place, name)
    form = form_of(place) if form == "auto" else form  # type: ignore[assignment]
    former = vault.named(label)
    if former is not None and os.path.realpath(former.folder) != place:
        raise Refused(
            f"there is a root called {label!r} already, {former.folder}: give another --name"
        )
    project = vault.project_folder() if scope == "project" else ""
    config = open_folder(Opened(label, place, form, project, write))
    opened = vault.add_opened(label)
    opened.look_through_notes()
    opened.catch_up()
    notebook = opened.notebook
    degraded = [
        f"{os.path.join(place, each.path)}" + (f":{each.line}" if each.line else "") +
        f": {each.message}"
        for each in (notebook.problems() if notebook else [])
    ]  # fmt: skip
    return Report(
        results=[
            {
                "root": label,
                "folder": printable(place),
                "form": form,
                "scope": scope,
                "access": "read and write" if write else "read only",
                "memories": opened.store.count(Filter(None)),
                "config": printable(config),
            }
        ],
        degraded=degraded + embed_later(vault, opened),
    )


def _label_of(place: str) -> str:
    """The name under which a folder was opened before, else one like its own."""
    for each in opened_folders([]):
        if os.path.realpath(each.folder) == place:
            return each.name
    own = os.path.basename(place).lower()
    return own if is_name(own) else slug(own)


def _check_name(label: str) -> None:
    if not is_name(label):
        raise InvalidValue(
            f"{label!r} cannot be the name of a root: give --name with lower-case letters a to z, "
            "digits, '-' and '_', other than user and project"
        )


def _check_free(vault: Vault, place: str, name: str) -> None:
    """A folder in a root, or around one, would be read twice."""
    opened = {each.name for each in opened_folders([])}
    for label, root in vault.folders():
        held = os.path.realpath(root.folder)
        if held == place and (label in opened or label == _BY_ITSELF):
            if name in ("", label) or label == _BY_ITSELF:
                continue  # opened again, or to be opened otherwise
            raise Refused(f"{printable(place)} is open as {label!r}: close that first")
        if held == place:
            raise Refused(f"{printable(place)} is a root already, {label!r}: it is searched")
        if place.startswith(held + os.sep) or held.startswith(place + os.sep):
            raise Refused(
                f"{printable(place)} and the root {label!r}, {root.folder}, lie inside each other: "
                "its notes would be there twice"
            )
