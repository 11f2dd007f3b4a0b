"""`search`: the one search of every surface."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from camillo.errors import StoreDamaged, UnknownName
from camillo.model import NOT_NOTES, RELATIONS, Filter
from camillo.ops._lookup import (
    NOTHING_KEPT,
    any_note,
    make_filter,
    note_path,
    source_of,
    source_text,
    unknown_places,
    unread,
)
from camillo.ops._new_vectors import embed_new
from camillo.ops.operation import Doc, operation
from camillo.ops.report import NOTHING_FOUND, Report
from camillo.records import NamedTuple
from camillo.retrieval.candidate import Candidate, Context, Expansion, Query
from camillo.retrieval.pipeline import run
from camillo.text.passages import passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated, Any, Literal, TypeVar

    from camillo.ops._in_root import InRoot
    from camillo.retrieval.pipeline import Watch
    from camillo.vault import OpenRoot, Plan, Vault

    AnyReport = TypeVar("AnyReport", bound="SearchReport")

__all__ = ["SearchReport", "SearchResult", "answer", "find", "search"]


class SearchResult(NamedTuple):
    """One memory that answers. `score` is on 0 to 1 and holds `closet_boost`; `signals` names
    what it is made of, `parts` (with explain) what each of them brings to it; lines count from 1 in
    the source as it was read. A `weak` one is among the best there are, and no more is known."""

    id: str
    source: str
    line_start: int
    line_end: int
    score: float
    signals: dict[str, float]
    text: str
    matched_via: Literal["drawer", "drawer+closet", "note"]
    closet_boost: float
    closet_preview: str
    kind: str
    scope: str
    wing: str
    room: str
    title: str
    happened_at: str
    also_in: tuple[str, ...] = ()
    via: dict[str, str] | None = None  # the link that led here: relation, from
    superseded_by: str = ""
    trust: str = "normal"  # untrusted: of a project that nobody vouched for
    archived: int = 0  # when it was archived
    path: str = ""  # a note's own file, seen from its root
    root: str = ""  # the name of the root that it lives in
    confidence: Literal["confident", "weak"] = "weak"
    parts: dict[str, float] = {}


class SearchReport(Report):
    """`trace` (with explain) says per stage what went in and out, and the CPU milliseconds."""

    query: str = ""
    preset: str = ""
    terms: list[str] = []
    trace: list[dict[str, Any]] = []


@operation(writes=False)
def search(
    vault: Vault,
    query: Annotated[str, Doc("What to look for, in any language.")],
    *,
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
    expand: Annotated[
        Literal["none", "one-hop", "hierarchical"], Doc("Follow links out of what is found.")
    ] = "none",
    expand_types: Annotated[
        tuple[str, ...], Doc("Along these; else builds-on and related-to.", metavar="RELATION")
    ] = (),
    expand_limit: Annotated[
        int, Doc("At most so many neighbours of each.", metavar="N", min=0, max=100)
    ] = 2,
    include_superseded: Annotated[bool, Doc("Also what newer memories replace.")] = False,
    explain: Annotated[bool, Doc("Show what each stage did and what scores are made of.")] = False,
) -> SearchReport:
    """Find memories by what they say.

    Best first, each with its file and lines. The score tells how much of the question a text
    holds, on 0 to 1. Ends with code 1 when nothing was found.

    camillo search "why did we move the queue to redis" --wing shop -k 3
    """
    roots = list(vault.roots(scope))
    kind = any_note(roots, kind)
    filter = make_filter(
        wing=wing, room=room, kind=kind, session=session,
        source=source_of(vault, source, scope), since=since,
        before=before, archived=archived,
    )  # fmt: skip
    wanted = k or vault.settings.search.k
    asked = Query(
        query,
        wanted,
        filter,
        Expansion(expand, _relations(expand_types), expand_limit),
        include_superseded,
    )
    report = answer(vault, roots, asked, SearchReport(), preset, explain)
    if not query.strip():  # any text is a valid question, also one that asks nothing
        report.degraded.append("the question is empty: give some words")
    if not roots:
        report.degraded.append(NOTHING_KEPT)
    elif not report.results:
        report.degraded += unknown_places(roots, wing, room, kind)
        if since or before:
            report.degraded.append("what has no date is in no range of dates")
    report.degraded += unread(roots)
    return report


def find(
    vault: Vault,
    roots: Sequence[OpenRoot],
    query: str,
    k: int,
    report: AnyReport,
    filter: Filter = Filter(),
    preset: str | None = None,
    explain: bool = False,
) -> AnyReport:
    """Run the pipeline over the roots for a plain question and fill the report."""
    return answer(vault, roots, Query(query, k, filter), report, preset, explain)


def answer(
    vault: Vault,
    roots: Sequence[OpenRoot],
    query: Query,
    report: AnyReport,
    preset: str | None = None,
    explain: bool = False,
    watch: Watch | None = None,
) -> AnyReport:
    """Run the pipeline over the roots and fill the report; `watch` is shown what each stage
    left."""
    plan = vault.plan(preset, expand=query.expansion.mode != "none")
    report.query, report.preset = query.text, plan.preset
    report.degraded += plan.notes
    for root in roots:
        report.degraded += _current(root)
    try:
        context = _context(vault, roots, plan, explain)
        candidates = run(query, plan.stages, context, watch)
    except Exception as error:
        mended = [root.mend(error) for root in roots]
        if not any(mended):
            raise
        report.degraded += [note for root in roots for note in _current(root)]
        context = _context(vault, roots, plan, explain)
        candidates = run(query, plan.stages, context, watch)
    report.degraded += context.degraded
    trusted = [vault.trusts(root) for root in roots]
    report.results = [
        _result(each, context, trusted[each.root])._replace(root=roots[each.root].name)
        for each in candidates
    ]
    if explain:
        report.terms = [term.word for term in context.terms]
        report.trace = [step._asdict() for step in context.trace]
    if not report.results:
        report.exit_code = NOTHING_FOUND
    return report


def _context(vault: Vault, roots: Sequence[OpenRoot], plan: Plan, explain: bool) -> Context:
    context = Context(roots, vault.settings.search, plan.embedder, warm=vault.warm)
    context.explain = explain
    context.reopen = vault.reopen_embedder
    context.embed_new = lambda number, behind: embed_new(vault, roots[number], behind)
    for number, root in enumerate(roots):
        folded = root.superseded(partial(context.held, number))
        context.superseded = {**context.superseded, **folded}
    return context


def _current(root: OpenRoot) -> list[str]:
    """Bring the root's indexes up to date; in words what could not be taken in."""
    notes = []
    try:
        left = root.refresh()
    except StoreDamaged as error:  # a row that is damaged: what was indexed before can be found
        notes.append(str(error))
        left = root.behind()
    if missing := root.store.lacks():
        notes.append(missing)
    if left:
        notes.append(f"the {root.name} index is {left} changes behind")
    return notes


def _result(candidate: Candidate, context: Context, trusted: bool) -> SearchResult:
    memory = candidate.memory
    origin = memory.origin
    note = memory.kind != "drawer"
    via: Literal["drawer", "drawer+closet", "note"]
    via = "note" if note else "drawer+closet" if candidate.closet_boost else "drawer"
    filed = memory.kind in NOT_NOTES  # of a note all of its text, which is never cut
    return SearchResult(
        id=memory.id,
        source=source_text(memory),
        line_start=origin.line_start if origin else 0,
        line_end=origin.line_end if origin else 0,
        score=round(candidate.score, 6 if context.explain else 4),
        signals={name: round(value, 4) for name, value in candidate.signals.items()},
        text=passage(memory, candidate.passage).shown if filed else memory.body,
        matched_via=via,
        closet_boost=round(candidate.closet_boost, 4),
        closet_preview=candidate.closet_preview,
        kind=memory.kind,
        scope=memory.scope,
        wing=memory.place.wing,
        room=memory.place.room,
        title=memory.title,
        happened_at=memory.happened_at,
        also_in=tuple(candidate.also_in),
        via=_via(candidate),
        superseded_by=newer.id if (newer := context.superseded.get(memory.key)) else "",
        trust=memory.trust if trusted or memory.trust != "normal" else "untrusted",
        archived=memory.archived,
        path=note_path(memory),
        confidence="confident" if candidate.confident else "weak",
        parts=_parts(candidate) if context.explain else {},
    )


def _parts(candidate: Candidate) -> dict[str, float]:
    """By signal, biggest first; they add up to the score."""
    ranked = sorted(candidate.parts.items(), key=lambda part: -abs(part[1]))
    return {name: round(value, 9) for name, value in ranked if value}


def _via(candidate: Candidate) -> dict[str, str] | None:
    if candidate.via is None:
        return None
    return {"relation": candidate.via.relation, "from": candidate.via.hit.id}


def _relations(asked: Sequence[str]) -> tuple[str, ...]:
    for name in asked:
        if name not in RELATIONS:
            raise UnknownName.of("relation", name, RELATIONS)
    return tuple(asked) or ("builds-on", "related-to")
