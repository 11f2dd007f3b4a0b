"""`migrate`: what commonplace's own command of that name does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from camillo import registry
from camillo.elsewhere import reopening
from camillo.errors import CamilloError, InvalidValue, NotFound, Refused
from camillo.ingest.importers.claude_code import sources
from camillo.ingest.prune import Pruned, prune
from camillo.layouts import form_of
from camillo.ops._folders import claude_memories, known_roots, lies_in
from camillo.ops._lookup import path_of
from camillo.ops.import_ import bring_in
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, Report
from camillo.text.frontmatter import FrontmatterError, read
from camillo.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from camillo.ports import NoteFolder
    from camillo.vault import Vault

__all__ = ["MigrateReport", "Migrated", "migrate"]

_CLAUDE = "~/.claude/projects"
_TYPES = ("user", "feedback", "project", "reference")  # of commonplace's notes


class Migrated(NamedTuple):
    """One folder: sidecars by what became of them."""

    folder: str
    loaded: int
    embedded: int
    re_embedded: int
    orphaned: int
    pruned: int


class Detected(NamedTuple):
    """A place that notes could be imported from."""

    source: str
    path: str
    files: int


class MigrateReport(Report):
    """`results` are what was found, or one `Migrated`, or the `Item`s of an import, which `counts`
    adds up. `skipped` are notes that cannot be read, or whose name is taken; `pruned` says how many
    links went out of each note."""

    looked_for: str = ""
    next: str = ""
    folder: str = ""
    counts: dict[str, int] = {}
    skipped: list[dict[str, str]] = []
    pruned: list[dict[str, str | int]] = []
    dry_run: bool = False


@operation(writes=True, idempotent=True, positional=("path",))
def migrate(
    vault: Vault,
    path: Annotated[str, Doc("A folder of commonplace notes.", metavar="DIR")] = "",
    *,
    source: Annotated[
        Literal["", "claude-code"], Doc("Import from there instead.", short="--from")
    ] = "",
    prune_dangling: Annotated[bool, Doc("Take out links to notes that are not there.")] = False,
    auto: Annotated[bool, Doc("Nothing; commonplace has it too.")] = False,
    dry_run: Annotated[bool, Doc("Say what would be done; write nothing.")] = False,
) -> MigrateReport:
    """Rebuild a commonplace folder's sidecars; without a folder, say what could be imported.

    Sidecars of another model are made anew with the embedder in use; from then on they are kept
    current. Pruning changes the lines of the links that go, and nothing else of a note. A
    folder of another form is refused, and one that is open to be read only.

    camillo migrate
    camillo migrate --from claude-code --dry-run
    camillo migrate ~/.commonplace/memory --prune-dangling
    """
    if source:
        return _import(vault, source, path, prune_dangling, dry_run)
    if path:
        return _rebuild(vault, path, prune_dangling, dry_run)
    if prune_dangling:
        raise InvalidValue("--prune-dangling needs the folder whose notes are pruned: give DIR")
    return _detect(vault)


def _detect(vault: Vault) -> MigrateReport:
    found = [Detected("claude-code", *each) for each in sources(path_of(vault, _CLAUDE))]
    report = MigrateReport(results=found, looked_for=f"{_CLAUDE}/*/memory/*.md (Claude Code)")
    if found:
        report.next = "camillo migrate --from claude-code imports them; --dry-run shows how"
    return report


def _import(vault: Vault, source: str, path: str, prune: bool, dry_run: bool) -> MigrateReport:
    if path:
        raise InvalidValue(f"--from {source} reads its own place: leave out {path!r}")
    if prune:
        raise InvalidValue(f"--prune-dangling is for a folder: leave it out with --from {source}")
    importer = registry.load("importer", source)()
    folder = path_of(vault, importer.default)
    if not os.path.isdir(folder):
        return MigrateReport(looked_for=f"{_CLAUDE}/*/memory/*.md (Claude Code)", dry_run=dry_run)
    done = bring_in(vault, importer, folder, "user", taken="skip", dry_run=dry_run)
    return MigrateReport(
        results=done.results,
        degraded=done.degraded,
        folder=done.folder,
        counts={
            "imported": done.stored,
            "changed": done.changed,
            "deduplicated": done.deduplicated,
            "forgotten": done.forgotten,
            "failed": done.failed,
        },
        skipped=[
            {"path": item.source, "reason": item.reason}
            for item in done.results
            if item.status == "skipped"
        ],
        dry_run=dry_run,
        exit_code=IN_PART if done.failed else 0,
    )


def _rebuild(vault: Vault, path: str, prune_dangling: bool, dry_run: bool) -> MigrateReport:
    place = path_of(vault, path)
    if not os.path.isdir(place):
        raise NotFound(f"there is no folder {printable(place)}: give one of commonplace notes")
    _check_folder(vault, place)
    folder = registry.open_note_folder("commonplace", place, not dry_run)
    pruned = prune(folder, dry_run=dry_run) if prune_dangling else Pruned()
    report = MigrateReport(folder=printable(place), dry_run=dry_run)
    report.pruned = [{"id": name, "links": links} for name, links in pruned.files.items()]
    report.skipped = [_skipped(report.folder, *each) for each in pruned.failed.items()]
    report.exit_code = IN_PART if pruned.failed else 0
    if vault.embedder is None:
        report.degraded.append("no sidecars: no embedder (`camillo setup light` brings one)")
        report.exit_code = IN_PART
        return report
    return _sidecars(vault, folder, report, sum(pruned.files.values()), dry_run)


def _check_folder(vault: Vault, place: str) -> None:
    """Raises Refused where no sidecars are to be written, and no notes changed."""
    shown = printable(place)
    for name, held, root in known_roots(vault):
        if place == held and root.form == "commonplace":
            if root.writable:
                return
            raise Refused(
                f"the root {name!r}, {shown}, is only read: `{reopening(place)}` lets camillo "
                "change it"
            )
        if lies_in(place, held):
            raise Refused(f"{shown} is in the root {name!r}, whose notes are no commonplace notes")
    if lies_in(place, claude_memories()):
        raise Refused(
            f"{shown} is what Claude Code remembers, and only read: `camillo migrate --from "
            "claude-code` imports it"
        )
    if reason := _otherwise(place):
        raise Refused(
            f"{shown} is no folder of commonplace notes: {reason}. `camillo open` searches it "
            "where it lies, and `camillo export FOLDER --form commonplace` makes such notes of it"
        )


def _otherwise(place: str) -> str:
    """What tells that these notes are not commonplace's; "" for nothing. One that commonplace
    itself cannot read tells nothing, unless all are so."""
    form = form_of(place)
    if form != "camillo":  # which any folder is that no other form knows
        return "" if form == "commonplace" else f"it is laid out as the form {form} has it"
    if os.path.isdir(os.path.join(place, ".obsidian")):
        return "it is a vault of Obsidian"
    if registry.open_note_folder("oc", place, False).scan()[0]:
        return "it has rooms"
    folder = registry.open_note_folder("commonplace", place, False)
    paths, heads = sorted(folder.scan()[0]), 0
    for path in paths:
        try:
            fields = read(folder.read(path)).fields
        except (CamilloError, FrontmatterError):
            continue
        heads += bool(fields)
        if fields and not _is_theirs(fields):
            return f"{path} has other keys than name, description and type"
    return "no note has the keys name, description and type" if paths and not heads else ""


def _is_theirs(fields: Mapping[str, Any]) -> bool:
    said = all(isinstance(fields.get(key), str) for key in ("name", "description"))
    return said and fields.get("type") in _TYPES and not {"created", "updated"} & fields.keys()


def _sidecars(
    vault: Vault, folder: NoteFolder, report: MigrateReport, pruned: int, dry_run: bool
) -> MigrateReport:
    total = len(folder.scan()[0])
    done = 0

    def told(count: int) -> None:
        nonlocal done
        done += count
        vault.progress(done, total, "sidecars")

    sidecars = registry.load("index", "sidecars")(folder, vault.embedder)
    made = sidecars.refresh(replace_foreign=True, dry_run=dry_run, told=told)
    report.results = [
        Migrated(
            report.folder, made.fresh, made.embedded, made.re_embedded, len(made.orphaned), pruned
        )
    ]
    report.skipped += [_skipped(report.folder, *each) for each in made.skipped]
    return report


def _skipped(folder: str, name: str, reason: str) -> dict[str, str]:
    return {"path": os.path.join(folder, printable(name)), "reason": reason}
