"""`close`: the end of `open`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.elsewhere import close_folder, opened_folders
from camillo.errors import NotFound, UnknownName
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["close"]


@operation(writes=True)
def close(
    vault: Vault,
    name: Annotated[str, Doc("The root, as `camillo roots` calls it.", metavar="NAME")],
) -> Report:
    """End that a folder is open as a root. The folder and its notes stay as they are.

    What goes is camillo's own: indexes, and the journal of this root.

    camillo close claw
    """
    known = {each.name: each for each in opened_folders(vault.notes)}
    if not known:
        raise NotFound(f"no folder is open as {name!r}, nor any other: `camillo open` opens one")
    if name not in known:
        raise UnknownName.of("opened folder", name, known)
    close_folder(name)
    return Report(results=[{"root": name, "folder": known[name].folder, "status": "closed"}])
