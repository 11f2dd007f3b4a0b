"""`mine`: file a folder's text, word for word."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from camillo.errors import InvalidValue
from camillo.ingest.mine import SkippedFile
from camillo.ingest.mine import mine as mine_folder
from camillo.ingest.places import Placing
from camillo.model import Author
from camillo.ops._lookup import path_of
from camillo.ops.embed import embed_later
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, Report
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["Mined", "mine"]


class Mined(NamedTuple):
    """One mined folder: files by what became of them, drawers by the store's replies."""

    folder: str
    wing: str
    scope: str
    files_new: int
    files_changed: int
    files_unchanged: int
    files_skipped: int
    files_failed: int
    drawers_stored: int
    drawers_unchanged: int
    drawers_removed: int
    forgotten: int
    bytes: int


class MineReport(Report):
    """`skipped` and `failed` list every file that was left out, with one reason each; `withheld`
    the places, file:lines, that hold what was forgotten."""

    withheld: list[str] = []
    skipped: list[SkippedFile] = []
    failed: list[SkippedFile] = []
    dry_run: bool = False


@operation(writes=True, idempotent=True)
def mine(
    vault: Vault,
    path: Annotated[str, Doc("The folder or file to file.", metavar="PATH")],
    *,
    wing: Annotated[str, Doc("File under this wing; else the folder's name.")] = "",
    room: Annotated[str, Doc("File in this room; else the first folder below.")] = "",
    scope: Annotated[
        Literal["user", "project"], Doc("Into the user's root or the project's.")
    ] = "user",
    dry_run: Annotated[bool, Doc("Say what would be done; write nothing.")] = False,
) -> MineReport:
    """File a folder's text in drawers, word for word, and make it findable.

    Nothing is written into the folder. A file that did not change is not read again. Every file
    that is left out is listed with its reason. May be run again, and interrupted, at any time.

    camillo mine ~/projects/shop
    camillo mine notes.txt --wing diary --dry-run
    """
    folder = path_of(vault, path)
    if not os.path.lexists(folder):  # before a root is made for nothing
        raise InvalidValue(f"there is no {folder}: give the path of a folder or a file")
    settings = vault.settings.mine
    top = folder if os.path.isdir(folder) else os.path.dirname(folder)
    placing = Placing(printable(top), wing, room, settings.wings, settings.rooms)
    root = vault.scratch() if dry_run else vault.root(scope, create=True)
    if dry_run and any(each.scope == scope for each in vault.roots()):
        root = vault.root(scope)
    done = mine_folder(
        root,
        folder,
        placing,
        settings,
        vault.settings.rules(),
        scope=scope,
        by=Author(vault.author.who, "mine"),
        tell=vault.progress,
        count_first=vault.attended,
        clock=vault.clock,
        dry_run=dry_run,
    )
    mined = Mined(
        folder=printable(folder), wing=", ".join(sorted(done.wings)) or done.wing, scope=scope,
        files_new=done.new, files_changed=done.changed, files_unchanged=done.unchanged,
        files_skipped=len(done.skipped), files_failed=len(done.failed),
        drawers_stored=done.drawers_new, drawers_unchanged=done.drawers_unchanged,
        drawers_removed=done.drawers_gone, forgotten=done.forgotten, bytes=done.bytes,
    )  # fmt: skip
    notes = [] if dry_run else embed_later(vault, root)
    behind = f"the {scope} index is {done.behind} changes behind; the next command takes them in"
    return MineReport(
        results=[mined],
        degraded=[*([behind] if done.behind else []), *notes],
        withheld=done.withheld,
        skipped=done.skipped,
        failed=done.failed,
        dry_run=dry_run,
        exit_code=IN_PART if done.failed else 0,
    )
