"""`migrate`: what commonplace's own command of that name does."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from camillo import registry
from camillo.errors import InvalidValue, NotFound
from camillo.ingest.importers.claude_code import sources
from camillo.ingest.prune import Pruned, prune
from camillo.ops._lookup import path_of
from camillo.ops.import_ import bring_in
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, Report
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.ports import NoteFolder
    from camillo.vault import Vault

__all__ = ["MigrateReport", "Migrated", "migrate"]

_CLAUDE = "~/.claude/projects"


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
    current. Pruning changes the lines of the links that go, and nothing else of a note.

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
    folder = registry.open_note_folder("commonplace", place, True)
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
