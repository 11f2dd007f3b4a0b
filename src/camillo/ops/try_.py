"""`try`: mine a folder into a store that nobody keeps, and answer a question from it."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Annotated

from camillo.ingest.mine import mine
from camillo.ingest.places import Placing
from camillo.model import Author
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND
from camillo.ops.search import SearchReport, find
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["TryReport", "try_"]


class TryReport(SearchReport):
    """A search's report, and what was mined for it."""

    files: int = 0
    drawers: int = 0
    skipped: int = 0
    failed: int = 0
    seconds: float = 0.0


@operation(writes=False, name="try")
def try_(
    vault: Vault,
    path: Annotated[str, Doc("The folder or file to mine.", metavar="PATH")],
    query: Annotated[str, Doc("The question to answer from it.", metavar="QUESTION")],
    *,
    k: Annotated[int, Doc("How many results.", metavar="N", short="-k", min=1, max=1000)] = 3,
) -> TryReport:
    """Mine a folder into a throwaway store and answer one question from it. Keeps nothing.

    Answers by words; `--embedder light` or `e5` searches by meaning too, and takes its time.

    camillo try ~/projects/shop "where is the discount computed"
    """
    folder = path_of(vault, path)
    top = folder if os.path.isdir(folder) else os.path.dirname(folder)
    settings = vault.settings.mine
    with tempfile.TemporaryDirectory(prefix="camillo-try-") as scratch:
        root = vault.scratch(scratch)
        start = vault.clock()
        done = mine(
            root,
            folder,
            Placing(printable(top), wings=settings.wings, rooms=settings.rooms),
            settings,
            vault.settings.rules(),
            by=Author(via="try"),
            tell=vault.progress,
            count_first=vault.attended,
            clock=vault.clock,
        )
        seconds = vault.clock() - start
        preset = "words" if vault.settings.search.embedder == "auto" else None
        if preset is None:
            vault.embed(root, lambda count: vault.progress(count, None, "vectors"))
        report = find(vault, [root], query, k, TryReport(), preset=preset)
        root.close()
    report.files = done.new
    report.drawers = done.drawers_new
    report.skipped, report.failed = len(done.skipped), len(done.failed)
    report.seconds = round(seconds, 2)
    report.exit_code = 0 if report.results else NOTHING_FOUND
    return report
