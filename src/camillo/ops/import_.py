"""`import`: bring notes of another tool into a root."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from camillo import registry
from camillo.errors import InvalidValue, Refused
from camillo.ingest.importing import Imported, Item, import_notes
from camillo.model import Author
from camillo.ops._lookup import path_of
from camillo.ops._pages import keep_pages
from camillo.ops.embed import embed_later
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.ingest.importers.note import NoteImporter
    from camillo.roots import Root
    from camillo.vault import OpenRoot, Vault

__all__ = ["ImportReport", "bring_in", "import_"]

_SHOWN = 20  # links that are named
_IN_PLACE = "open in place as "
_LINE = re.compile(r":\d+\Z")  # after the file that something was read in

# Whose folders hold more than the notes that a root of theirs has: databases.
_WITH_MORE = ("nullclaw", "openclaw")


class ImportReport(Report):
    """`results` are `Item`s: what became of each note. `not_notes` counts files by the reason why
    they are none, `open_in_place` by their root notes that need no import; `loose_links` names
    links that lead to no note, at most twenty of them. `note` says why nothing needs importing."""

    format: str = ""
    path: str = ""
    scope: str = ""
    folder: str = ""
    stored: int = 0
    changed: int = 0
    deduplicated: int = 0
    forgotten: int = 0
    skipped: int = 0
    failed: int = 0
    links: int = 0
    not_notes: dict[str, int] = {}
    open_in_place: dict[str, int] = {}
    loose: int = 0
    loose_links: list[str] = []
    dry_run: bool = False
    note: str = ""


@operation(writes=True, idempotent=True, name="import", positional=("path",))
def import_(
    vault: Vault,
    format: Annotated[
        Literal[
            "auto",
            "basic-memory",
            "claude-code",
            "commonplace",
            "mcp-memory",
            "nullclaw",
            "obsidian",
            "oc",
            "openclaw",
        ],
        Doc("Whose notes; auto looks at what is there."),
    ],
    path: Annotated[str, Doc("Where they lie; else the tool's own place.", metavar="PATH")] = "",
    *,
    scope: Annotated[
        Literal["user", "project"], Doc("Into the user's root or the project's.")
    ] = "user",
    dry_run: Annotated[bool, Doc("Say what would be done; write nothing.")] = False,
) -> ImportReport:
    """Bring notes of another tool in, with their links, tags and dates. Twice changes nothing.

    Nothing of the source is changed. A note whose source changed is updated, unless it was changed
    here too; what was forgotten stays away. Every note is listed with what became of it. Notes of
    a folder that is open in place are not brought in a second time.

    camillo import obsidian ~/Documents/vault --dry-run
    camillo import claude-code
    camillo import openclaw --dry-run
    camillo import mcp-memory ~/memory.jsonl --scope project
    """
    importer, source = _chosen(vault, format, path)
    if not path and (name := _open_as(vault, importer, source)):
        report = ImportReport(format=importer.name, path=printable(source), scope=scope)
        report.note, report.dry_run = f"nothing needs importing: {_in_place(name)}", dry_run
        return report
    return bring_in(vault, importer, source, scope, dry_run=dry_run)


def bring_in(
    vault: Vault,
    importer: NoteImporter,
    source: str,
    scope: Literal["user", "project"],
    *,
    taken: Literal["number", "skip"] = "number",
    dry_run: bool = False,
) -> ImportReport:
    """Import, catch up, and say what became of each note."""
    if name := _open_as(vault, importer, source):
        raise Refused(
            f"{printable(source)} is in a root of camillo already, {name!r}: it is searched"
        )
    elsewhere = _elsewhere(vault)
    root = _target(vault, importer.name, scope, dry_run)
    done = import_notes(
        root,
        importer,
        source,
        by=Author(vault.author.who, "import"),
        clock=vault.clock,
        tell=vault.progress,
        taken=taken,
        elsewhere=elsewhere,
        dry_run=dry_run,
    )
    notes = [] if dry_run else _follow(vault, root)
    report = _report(done)
    report.format, report.path = importer.name, printable(source)
    report.scope, report.folder, report.dry_run = scope, root.root.folder, dry_run
    report.degraded += notes
    return report


def _chosen(vault: Vault, format: str, path: str) -> tuple[NoteImporter, str]:
    """The importer and the place to read."""
    if format != "auto":
        importer: NoteImporter = registry.load("importer", format)()
        if not path and not importer.default:
            raise InvalidValue(f"{format} notes have no place of their own: give their PATH")
        return importer, path_of(vault, path or importer.default)
    if not path:
        raise InvalidValue("auto looks at what lies somewhere: give a PATH")
    source = path_of(vault, path)
    importers = [registry.load("importer", name)() for name in registry.names("importer")]
    matching = [each for each in importers if each.recognises(source)]
    if len(matching) != 1:
        fits = " and ".join(each.name for each in matching) or "none of the formats"
        known = ", ".join(registry.names("importer"))
        raise InvalidValue(f"{printable(source)} looks like {fits}: name one of {known}")
    return matching[0], source


def _open_as(vault: Vault, importer: NoteImporter, source: str) -> str:
    """The root that this folder is, or lies in: its notes are searched where they lie."""
    if not os.path.isdir(source) or importer.name in _WITH_MORE:
        return ""
    roots = ((name, os.path.realpath(root.folder)) for name, root in _open_folders(vault))
    return next((name for name, folder in roots if _is_within(source, folder)), "")


def _elsewhere(vault: Vault) -> Callable[[str], str]:
    """Why a note does not come in, by where it was read: its folder is a root. What else lies in
    such a folder is not searched there."""
    roots = [
        (name, printable(os.path.realpath(root.folder))) for name, root in _open_folders(vault)
    ]

    def reason(where: str) -> str:
        path = _LINE.sub("", where)
        if not path.endswith(".md"):
            return ""
        return next((_in_place(name) for name, folder in roots if _is_within(path, folder)), "")

    return reason


def _open_folders(vault: Vault) -> list[tuple[str, Root]]:
    return [(name, root) for name, root in vault.folders() if root.folder and root.exists()]


def _in_place(name: str) -> str:
    return f"{_IN_PLACE}{name}"


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _target(
    vault: Vault, format: str, scope: Literal["user", "project"], dry_run: bool
) -> OpenRoot:
    """camillo's own root, which holds every field. Claude's notes have commonplace's types, and go
    to a store of commonplace where there is no other of its scope, as commonplace imports them."""
    roots = list(vault.roots(scope))
    own = any(root.root.form == "camillo" for root in roots)
    theirs = [root for root in roots if root.root.form == "commonplace"]
    if format == "claude-code" and theirs and not own:
        return theirs[0]
    if dry_run and not own:
        return vault.scratch(scope=scope)
    return vault.root(scope, create=True)


def _follow(vault: Vault, root: OpenRoot) -> list[str]:
    """Make what came in findable; what a report has to say of that."""
    root.catch_up()
    root.scrub()
    return keep_pages(vault, root) + embed_later(vault, root)


def _report(done: Imported) -> ImportReport:
    counted = sorted(done.counted.items())
    report = ImportReport(
        results=list[Item](done.items),
        links=done.links,
        not_notes={why: n for why, n in counted if not why.startswith(_IN_PLACE)},
        open_in_place={
            why.removeprefix(_IN_PLACE): n for why, n in counted if why.startswith(_IN_PLACE)
        },
        loose=len(done.loose),
        loose_links=done.loose[:_SHOWN],
    )
    report.stored, report.changed = done.count("stored"), done.count("updated")
    report.deduplicated, report.forgotten = done.count("deduplicated"), done.count("forgotten")
    report.skipped, report.failed = done.count("skipped"), done.count("failed")
    if report.failed:
        report.exit_code = IN_PART
    elif not done.items:
        in_place = next(iter(report.open_in_place), "")
        report.note = f"nothing needs importing: {_in_place(in_place)}" if in_place else ""
        report.exit_code = 0 if in_place else NOTHING_FOUND
    return report
