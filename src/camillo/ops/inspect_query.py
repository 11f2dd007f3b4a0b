"""`inspect query`: why a memory that was expected is not among the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from camillo.ops._in_root import InRoot
from camillo.ops._lookup import any_note, find_memory, make_filter, source_of
from camillo.ops.operation import Doc, operation
from camillo.ops.report import DONE
from camillo.ops.search import SearchReport, answer
from camillo.retrieval.candidate import Query
from camillo.retrieval.misses import Misses

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["InspectReport", "inspect_query"]


class InspectReport(SearchReport):
    """`results` are `Fate`s: of the memories asked for, else of all that was found."""


@operation(writes=False, name="inspect query")
def inspect_query(
    vault: Vault,
    query: Annotated[str, Doc("What was looked for.")],
    *,
    show_misses: Annotated[
        tuple[str, ...], Doc("Why this memory is not found; may be repeated.", metavar="ID")
    ] = (),
    k: Annotated[
        int | None,
        Doc("How many results; else search.k, 10.", metavar="N", short="-k", min=1, max=1000),
    ] = None,
    wing: Annotated[str | None, Doc("Only this wing (project, person, agent).")] = None,
    room: Annotated[str | None, Doc("Only this room (topic inside the wing).")] = None,
    kind: Annotated[
        tuple[str, ...], Doc("Only this kind, note for every note; may be repeated.")
    ] = (),
    session: Annotated[str | None, Doc('Only this conversation; "" for none.')] = None,
    source: Annotated[str | None, Doc("Only this file.", metavar="FILE")] = None,
    since: Annotated[str, Doc("Only what happened on this date or later.", metavar="DATE")] = "",
    before: Annotated[str, Doc("Only what happened before this date.", metavar="DATE")] = "",
    scope: InRoot = None,
    archived: Annotated[bool, Doc("Also what was archived.")] = False,
    preset: Annotated[str | None, Doc("Which list of stages answers.", metavar="NAME")] = None,
    include_superseded: Annotated[bool, Doc("Also what newer memories replace.")] = False,
) -> InspectReport:
    """Run a search, and say what became of a memory: at which stage it fell out, and why.

    Takes the filters of `camillo search`. For each id: its rank and score, or the stage that it did
    not pass, which words of the question it lacks, and its places by words and in meaning. Without
    an id, the same of all that is found.

    camillo inspect query "why did we move the queue" --show-misses 1a2b3c4d
    """
    roots = list(vault.roots(scope))
    asked = Query(
        query,
        k or vault.settings.search.k,
        make_filter(
            wing=wing, room=room, kind=any_note(roots, kind), session=session,
            source=source_of(vault, source, scope), since=since, before=before, archived=archived,
        ),
        include_superseded=include_superseded,
    )  # fmt: skip
    wanted = [find_memory(vault, id) for id in dict.fromkeys(show_misses)]
    misses = Misses([(_number(root, roots), memory) for root, memory in wanted])
    report = answer(vault, roots, asked, InspectReport(), preset, explain=True, watch=misses.after)
    report.results = list(misses.fates(asked))
    if wanted:
        report.exit_code = DONE
    return report


def _number(root: OpenRoot, roots: Sequence[OpenRoot]) -> int | None:
    return next((number for number, each in enumerate(roots) if each is root), None)
