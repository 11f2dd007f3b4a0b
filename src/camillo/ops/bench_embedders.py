"""`bench embedders`: what embedding costs here, beside the bare models on the same texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from camillo.bench.embedders import measured_costs, pieces, read_texts
from camillo.config import models_folder
from camillo.errors import InvalidValue
from camillo.ops._lookup import path_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["EmbeddersReport", "bench_embedders"]


class EmbeddersReport(Report):
    """`results` are one `Cost` for each embedder."""


@operation(writes=False, name="bench embedders")
def bench_embedders(
    vault: Vault,
    path: Annotated[str, Doc("A text file, or .jsonl records with a text.", metavar="FILE")],
    *,
    texts: Annotated[int, Doc("How many texts.", metavar="N", min=1, max=100_000)] = 100,
    characters: Annotated[
        int, Doc("Cut into pieces of this length; 0 = each record by itself.", metavar="N", min=0)
    ] = 800,
) -> EmbeddersReport:
    """Measure the embedders that are present, or the one that --embedder names.

    Times are CPU milliseconds a text, not wall. `ratio` is ours to the bare model's in the same
    run: its own library in the shortest loop that gives the same vectors.

    camillo bench embedders notes.txt
    camillo bench embedders corpus.jsonl --characters 0 --embedder e5 --json
    """
    cut = pieces(read_texts(path_of(vault, path)), characters, texts)
    if not cut:
        raise InvalidValue(f"{path} holds no text to embed")
    name = vault.settings.search.embedder
    results = list(measured_costs(name, models_folder(), cut))
    return EmbeddersReport(results=results, exit_code=0 if results else NOTHING_FOUND)
