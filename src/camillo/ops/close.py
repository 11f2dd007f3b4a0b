"""`close`: the end of `open`."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

from camillo import registry
from camillo.elsewhere import Opened, claude_root, close_folder, opened_folders, root_of, slot_of
from camillo.errors import Ambiguous, NotFound, Refused, UnknownName
from camillo.model import Filter
from camillo.notes.convert import only_here
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.roots import find_project_root
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["close"]

_ALL = Filter(None, archived=True)


@operation(writes=True)
def close(
    vault: Vault,
    name: Annotated[str, Doc("The root, as `camillo roots` calls it.", metavar="NAME")],
    *,
    drop: Annotated[bool, Doc("Also where notes have links or marks that go with it.")] = False,
) -> Report:
    """End that a folder is open as a root. The folder and its notes stay as they are.

    What goes is camillo's own: indexes, the journal of this root, and what its form has no key for:
    links, tags, what is archived or pinned. Where there are such, --drop has to be said.

    camillo close claw
    camillo close claw --drop
    """
    opened = _meant(vault, name)
    by_itself = _is_by_itself(vault, opened)
    if not by_itself:
        with closing(vault.kept(root_of(opened))) as root:
            _check(root, drop)
            _erase_rows(root)
    gone = close_folder(opened, keep=by_itself)
    report = Report(
        results=[{"root": name, "folder": printable(opened.folder), "status": "closed"}]
    )
    if by_itself:
        report.degraded.append(f"{name} is open by itself all the same, and only read")
    if not gone:
        report.degraded.append(
            f"another process embeds {name} yet: what camillo kept of it goes with a later command"
        )
    return report


def _meant(vault: Vault, name: str) -> Opened:
    """The folder that is open under this name, here or elsewhere."""
    known = opened_folders(vault.notes)
    found = [each for each in known if each.name == name]
    project = find_project_root(vault.cwd) or ""
    here = [each for each in found if each.project in ("", project)] or found
    if not known:
        raise NotFound(f"no folder is open as {name!r}, nor any other: `camillo open` opens one")
    if not found:
        raise UnknownName.of("opened folder", name, {each.name for each in known})
    if len(here) > 1:
        projects = " or ".join(sorted(each.project for each in here))
        raise Ambiguous(f"{name!r} is open in several projects: close it in {projects}")
    return here[0]


def _is_by_itself(vault: Vault, opened: Opened) -> bool:
    """Is this what Claude Code remembers of a project, which needs no person to be open?"""
    if "claude" not in vault.settings.memory.foreign or not opened.project:
        return False
    root = claude_root(opened.project)
    return (
        root is not None
        and slot_of(root) == opened.slot
        and os.path.realpath(root.folder) == os.path.realpath(opened.folder)
    )


def _check(root: OpenRoot, drop: bool) -> None:
    """Raises Refused for what would be lost."""
    dialect = registry.load("dialect", root.root.form)()
    count = sum(only_here(memory, dialect) for memory in root.store.scan(_ALL))
    if count and not drop:
        said = "1 note has" if count == 1 else f"{count:,} notes have"
        raise Refused(f"{said} links or marks that only camillo holds: --drop lets them go")


def _erase_rows(root: OpenRoot) -> None:
    """Of a store on a server, where no folder goes with it."""
    if root.store.remote:
        keys = [memory.key for memory in root.store.scan(_ALL._replace(internal=True))]
        root.store.delete(keys, bulk=True)
        root.catch_up()
        root.scrub()
