"""Operations and a vault small enough to test the machinery with; no memory is involved."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from camillo.errors import NotFound
from camillo.model import Author
from camillo.ops._row import row_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import IN_PART, NOTHING_FOUND, Report
from camillo.ops.signature import Table

__all__ = ["TOYS", "Hit", "ToyVault", "opener"]


class ToyVault:
    """Holds results to be found; remembers how it was opened, used and closed."""

    def __init__(self, results: list[Any], degraded: list[str]) -> None:
        self.results = results
        self.degraded = degraded
        self.overrides: Mapping[str, str] = {}
        self.called_with: dict[str, Any] = {}
        self.author = Author()
        self.progress: Any = None
        self.closed = False

    def __enter__(self) -> ToyVault:
        return self

    def __exit__(self, *exception: object) -> None:
        self.closed = True

    def open(self, overrides: Mapping[str, str]) -> ToyVault:
        self.overrides = overrides
        return self


class Hit(NamedTuple):
    id: str
    text: str
    source: str = ""
    line_start: int = 0
    line_end: int = 0
    wing: str = ""
    room: str = ""
    score: float = 0.5
    matched_via: str = "drawer"


class Tally(Report):
    total: int = 0
    rooms: dict[str, int] = {}
    skipped: list[dict[str, Any]] = []


@operation(writes=False, positional=("query",))
def find(
    vault: ToyVault,
    query: Annotated[str, Doc("Words to look for.")] = "",
    *,
    k: Annotated[int, Doc("How many results.", short="-k", min=1, max=50)] = 5,
    kind: Annotated[Literal["note", "drawer"] | None, Doc("Only this kind.")] = None,
    tags: Annotated[tuple[str, ...], Doc("Only with this tag.", metavar="TAG")] = (),
    min_score: Annotated[float, Doc("Nothing below.", min=0, max=1)] = 0.0,
    boost: Annotated[bool, Doc("Let pointers raise scores.")] = True,
    explain: Annotated[bool, Doc("Show the signals.")] = False,
) -> Report:
    """Find what the vault was given.

    camillo find "why jwt" -k 3
    """
    vault.called_with = {
        "query": query,
        "k": k,
        "kind": kind,
        "tags": tags,
        "min_score": min_score,
        "boost": boost,
        "explain": explain,
    }
    results = vault.results[:k]
    return Report(results, list(vault.degraded), exit_code=0 if results else NOTHING_FOUND)


@operation(writes=True, destructive=True)
def drop(
    vault: ToyVault,
    ids: Annotated[tuple[str, ...], Doc("What to drop.", metavar="ID")],
    reason: Annotated[str, Doc("Why.")],
    *,
    dry_run: Annotated[bool, Doc("Only say what would go.")] = False,
) -> Report:
    """Drop some results.

    camillo drop 1a2b3c4d mistake
    """
    vault.called_with = {"ids": ids, "reason": reason, "dry_run": dry_run}
    return Report([{"id": each} for each in ids], exit_code=IN_PART)


@operation(writes=False)
def tally(vault: ToyVault) -> Tally:
    """Count.

    camillo tally
    """
    return Tally(vault.results, list(vault.degraded), total=1234, rooms={"api": 7, "部署": 12})


@operation(writes=True)
def fail(
    vault: ToyVault,
    how: Annotated[Literal["known", "unknown", "interrupt"], Doc("In which way.")],
) -> Report:
    """Fail.

    camillo fail known
    """
    vault.progress(1, 2, "failing")
    if how == "known":
        raise NotFound("nothing has the id '\x1b[31mred'")
    if how == "unknown":
        raise ZeroDivisionError("by design")
    signal.raise_signal(signal.SIGINT)
    return Report()


@operation(writes=False)
def greet(name: Annotated[str, Doc("Whom.")]) -> Report:
    """Greet without a vault.

    camillo greet Giulio
    """
    return Report([f"hello {name}"])


TOYS: Table = {
    "find": row_of(find),
    "drop": row_of(drop),
    "tally": row_of(tally),
    "fail": row_of(fail),
    "greet": row_of(greet),
}


def opener(vault: ToyVault) -> Any:
    return vault.open
