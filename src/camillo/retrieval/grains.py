"""Stage `grains`: a message is also judged by its neighbours and by its conversation.

What answers a question often lacks its words: they stand in the message before, or a few later.
Words are therefore scored at three grains: the message, the message with two neighbours on each
side, and all of its session. Grains are computed from the candidates and never stored; a neighbour
that no word and no vector nominated holds none of the words. What belongs to no session is judged
by itself alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from camillo.model import GLOBAL
from camillo.retrieval import bm25
from camillo.retrieval.candidate import Candidate, Context, Counts, Query

__all__ = ["MESSAGE", "SESSION", "WINDOW", "grains", "judge", "members_of"]

MESSAGE, WINDOW, SESSION = 0.45, 0.35, 0.20  # what each grain weighs

_REACH = 2  # neighbours on each side
_SESSION_WORDS = 20  # a session counts as so many messages of average length


def grains(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    for members in members_of(candidates):
        judge(members, members, context)
    return candidates


def members_of(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """The messages among the candidates, session by session."""
    sessions: dict[tuple[int, str, str, str], list[Candidate]] = {}
    for candidate in candidates:
        memory = candidate.memory
        if memory.session != GLOBAL and candidate.row and candidate.counts is not None:
            key = (candidate.root, memory.namespace, memory.scope, memory.session)
            sessions.setdefault(key, []).append(candidate)
    return list(sessions.values())


def judge(told: Sequence[Candidate], members: Sequence[Candidate], context: Context) -> None:
    """Tell some of a session's candidates what its words say at each grain."""
    if not told:
        return
    by_row = {member.row: member for member in members}
    average = context.average
    whole = _score(members, _SESSION_WORDS * average, _SESSION_WORDS * average, context)
    around = 2 * _REACH * average
    for member in told:
        rows = range(member.row - _REACH, member.row + _REACH + 1)
        near = [by_row[row] for row in rows if row in by_row]
        words = member.counts.words if member.counts else 0
        window = _score(near, words + around, average + around, context)
        own = member.signals.get("keyword", 0.0)
        member.signals["window"] = window
        member.signals["session"] = whole
        member.signals["words"] = MESSAGE * own + WINDOW * window + SESSION * whole
        member.score = member.signals["words"]
        member.parts = {
            "keyword": MESSAGE * own, "window": WINDOW * window, "session": SESSION * whole
        }  # fmt: skip


def _score(members: Iterable[Candidate], words: float, average: float, context: Context) -> float:
    """BM25 of several messages as one text."""
    counted: list[Counts] = [member.counts for member in members if member.counts is not None]
    tf = [sum(column) for column in zip(*(each.tf for each in counted), strict=True)]
    return bm25.rank(tf, words, average, context.weights)
