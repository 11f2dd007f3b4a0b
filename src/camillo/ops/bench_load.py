"""`bench load`: a public test set that you have, as files that the bench reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from camillo.bench.loaders.layouts import convert, find_layout
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["LoadReport", "bench_load"]


class LoadReport(Report):
    """`results` are the paths of the two files."""

    layout: str = ""
    texts: int = 0
    haystacks: int = 0
    queries: int = 0
    unlabelled: int = 0


@operation(writes=True, name="bench load")
def bench_load(
    vault: Vault,
    path: Annotated[str, Doc("The set's file, or its folder.", metavar="PATH")],
    *,
    out: Annotated[str, Doc("The folder to write into.", metavar="DIR")] = ".",
    layout: Annotated[str, Doc("Its layout, where it is not recognised.", metavar="NAME")] = "auto",
) -> LoadReport:
    """Turn a public test set into a corpus.jsonl and a queries.jsonl for the bench.

    Recognised by structure: LoCoMo, REALTALK, LongMemEval, MADial-Bench, PrecisionMemBench,
    FactConsolidation, SQuAD (XQuAD, CMRC 2018) and BEIR. Nothing is downloaded: the files are
    yours, and so are their licences to keep.

    camillo bench load locomo10.json --out locomo
    """
    source, folder = path_of(vault, path), path_of(vault, out)
    found = find_layout(source, layout)
    written = convert(found, source, folder)
    files = [{"path": os.path.join(folder, name)} for name in ("corpus.jsonl", "queries.jsonl")]
    return LoadReport(results=files, layout=found.NAME, **written._asdict())
