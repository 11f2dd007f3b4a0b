"""`watch`: keep what is searched current, until it is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.errors import CamilloError
from camillo.lifecycle.sidecars import sidecars_of
from camillo.lifecycle.watch import ticks, watcher
from camillo.ops._in_root import InRoot
from camillo.ops._pages import keep_pages
from camillo.ops.embed import embed_root
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, Report

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["WatchReport", "watch"]

_KEPT_ERRORS = 20


class WatchReport(Report):
    """`results` say of each root what was taken in, in all `looks`; `by` how changes were seen.
    `problems` are what went wrong, the last twenty of them."""

    looks: int = 0
    by: str = ""
    problems: list[str] = []


@operation(writes=True, idempotent=True)
def watch(
    vault: Vault,
    *,
    scope: InRoot = None,
    every: Annotated[float, Doc("Look at least once in so many seconds.", min=0.5, max=3600)] = 2.0,
    times: Annotated[int, Doc("End after so many looks; 0 = when interrupted.", min=0)] = 0,
) -> WatchReport:
    """Take in notes as they are written by hand or by other programs, until Ctrl-C.

    Every command does that by itself before it answers; this keeps words, links, vectors and
    sidecars ready. With the library watchfiles changes are seen at once, else at each look.

    camillo watch
    camillo watch --every 10 --embedder none
    """
    how, wait = watcher()
    report = WatchReport(by=how)
    taken: dict[str, dict[str, int]] = {}
    folders = [root.root.folder for root in vault.roots(scope)]
    if not folders:
        report.degraded.append("nothing to watch: no root is there yet (`camillo init` makes one)")
        return report
    try:
        for number in ticks(folders, every, wait, times):
            report.looks = number
            _look(vault, scope, taken, report, first=number == 1)
            if number == 1:
                vault.notice(f"watching {', '.join(folders)} ({how}); Ctrl-C ends it")
    except KeyboardInterrupt:
        pass  # that is how it ends
    report.results = [{"root": name, **counts} for name, counts in sorted(taken.items())]
    report.exit_code = IN_PART if report.problems else 0
    return report


def _look(
    vault: Vault,
    scope: str | None,
    taken: dict[str, dict[str, int]],
    report: WatchReport,
    *,
    first: bool,
) -> None:
    """Take in what changed in every root; what goes wrong is told, and tried again at the next."""
    try:
        for root in vault.roots(scope):
            sums = taken.setdefault(root.name, {"changes": 0, "vectors": 0, "sidecars": 0})
            counts = _take_in(vault, root, first)
            for name, count in counts.items():
                sums[name] += count
            said = [f"{count} {name}" for name, count in counts.items() if count]
            if said:
                vault.notice(f"{root.name}: took in {', '.join(said)}")
    except CamilloError as error:
        if str(error) not in report.problems:
            vault.notice(str(error))
        report.problems = [*report.problems, str(error)][-_KEPT_ERRORS:]


def _take_in(vault: Vault, root: OpenRoot, first: bool) -> dict[str, int]:
    """By what it is: changes of the store, vectors, sidecars."""
    if "feed" not in root.store.capabilities:
        return {}
    changes = root.behind()
    if changes or root.store.unclean():
        root.catch_up()
        root.scrub()
        for problem in keep_pages(vault, root):
            vault.notice(problem)
    counts = {"changes": changes, "vectors": 0, "sidecars": 0}
    embedder = vault.embedder
    if embedder is not None and (changes or first):
        before = root.meaning.missing(embedder)
        sidecars = sidecars_of(root, embedder, vault.settings.memory.sidecars)
        if sidecars is not None:  # first, since their vectors need not be made again
            made = sidecars.refresh()
            counts["sidecars"] = made.embedded + made.re_embedded + len(made.orphaned)
        counts["vectors"] = before - embed_root(vault, root) if before else 0
    return counts
