"""PrecisionMemBench run natively: beliefs become memories of a store, each case is asked of it, and
passes when every tier that it speaks of is right.

Four tiers are built for a case, by rules that know no id: the prelude (what holds in every scope),
the pinned (pinned and rules of the case's scopes), the relevant (results to be confident of that
stand in no other tier, with the participants of a relation among them), and the open questions. A
belief is its user's alone (namespace), lies in a scope (wing), is archived once resolved, and is
hidden once another supersedes it. How it is searched is left to the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from camillo.bench.loaders.layout import file_like, values, word
from camillo.bench.records import happened_at
from camillo.errors import InvalidValue
from camillo.model import Edge, Filter, Memory, Place

__all__ = ["Case", "Failure", "Found", "Tiers", "build", "failures", "memories", "read_cases"]

QUESTION, RELATION, RULE = "question", "relation", "rule"
_KINDS = {"open_question": QUESTION}
_EVERYWHERE = "user:"  # a scope that begins so holds in every other
_ARCHIVED = 1  # a time that is long past


class Case(NamedTuple):
    """One case. `user` is "" where it names none: then the one with most beliefs asks."""

    id: str
    user: str
    scopes: tuple[str, ...]
    text: str
    most: int | None
    expect: Mapping[str, Mapping[str, Any]]
    category: str


class Found(NamedTuple):
    """A result to be confident of."""

    memory: Memory
    score: float


class Tiers(NamedTuple):
    """What is offered for a case: the prelude's text, the others as ids of beliefs, best first."""

    prelude: str
    pinned: tuple[str, ...]
    relevant: tuple[str, ...]
    questions: tuple[str, ...]


class Failure(NamedTuple):
    """An assertion that does not hold."""

    tier: str
    why: str


# From a question and what it may see to the results to be confident of; and to memories that
# stand there whatever is asked.
Search = Callable[[str, Filter], Sequence[Found]]
Scan = Callable[[Filter], Iterable[Memory]]


# --- reading ------------------------------------------------------------------------------------


def memories(folder: str) -> list[Memory]:
    """The beliefs of a folder, one memory for each scope that they are in. Raises InvalidValue
    where there are none."""
    path = file_like(folder, "canonical_name")
    if path is None:
        raise InvalidValue(f"{folder} holds no beliefs: a file of objects with canonical_name")
    beliefs = list(values(path))
    users = {_id(belief): _user(belief) for belief in beliefs}
    return [memory for belief in beliefs for memory in _memories(belief, users, path)]


def _memories(belief: Mapping[str, Any], users: Mapping[str, str], path: str) -> Iterator[Memory]:
    id = _id(belief)
    if not id:
        raise InvalidValue(f"{path} holds a belief without an id")
    user, newer = _user(belief), word(belief.get("superseded_by"))
    gone = bool(belief.get("resolved_at"))
    gone |= belief.get("status") == "superseded" and users.get(newer) != user
    kind = word(belief.get("type"))
    for number, scope in enumerate(belief.get("scope") or [""]):
        yield Memory(
            id=f"{id}@{scope}" if number else id,
            body=word(belief.get("text", belief.get("content"))),
            kind=_KINDS.get(kind, kind) or "fact",
            title=word(belief.get("canonical_name")).replace("_", " "),
            namespace=user,
            place=Place(word(scope)),
            edges=tuple(Edge("related-to", word(e)) for e in belief.get("participants") or ()),
            aliases=tuple(map(word, belief.get("aliases") or ())),
            pinned=bool(belief.get("pinned")),
            happened_at=happened_at(word(belief.get("time", belief.get("created_at")))),
            archived=_ARCHIVED if gone else 0,
            superseded_by=newer,
            extra={"belief": id},
        )


def read_cases(folder: str) -> list[Case]:
    """The cases of a folder, in order. Raises InvalidValue where there are none."""
    path = file_like(folder, "expect")
    if path is None:
        raise InvalidValue(f"{folder} holds no cases: a file of objects with expect")
    return [_case(each, path) for each in values(path)]


def _case(record: Mapping[str, Any], path: str) -> Case:
    expect = record.get("expect")
    if not isinstance(expect, Mapping):
        raise InvalidValue(f"{path}: case {_id(record)!r} expects nothing")
    return Case(
        id=_id(record),
        user=_user(record),
        scopes=tuple(map(word, record.get("scope") or ())),
        text=word(record.get("text", record.get("query"))),
        most=(record.get("budget") or {}).get("maxBeliefs"),
        expect=expect,
        category=word(record.get("category")),
    )


def _id(record: Mapping[str, Any]) -> str:
    return word(record.get("id", record.get("_id", record.get("caseId"))))


def _user(record: Mapping[str, Any]) -> str:
    return word(record.get("speaker", record.get("user_id", record.get("userId"))))


# --- the tiers of a case ------------------------------------------------------------------------


def build(case: Case, user: str, search: Search, scan: Scan) -> Tiers:
    """What is offered to this user for a case."""
    standing = [each for scope in case.scopes for each in scan(_seen(user, scope))]
    everywhere = [each for each in scan(Filter(user)) if _is_everywhere(each.place.wing)]
    questions = [each for each in standing if each.kind == QUESTION]
    pinned = [each for each in standing if (each.pinned or each.kind == RULE)]
    taken = {_belief(each) for each in (*questions, *pinned, *everywhere)}
    hits = [hit for scope in case.scopes for hit in search(case.text, _seen(user, scope))]
    hits.sort(key=lambda hit: -hit.score)
    there = {each.id: each for each in standing}
    relevant = dict.fromkeys(
        _belief(each)
        for hit in hits
        for each in (hit.memory, *_participants(hit.memory, there))
        if _belief(each) not in taken
    )
    shown = dict.fromkeys(_belief(each) for each in pinned if each.kind != QUESTION)
    room = len(relevant) if case.most is None else max(0, case.most - len(shown))
    return Tiers(
        prelude="\n".join(each.body for each in everywhere),
        pinned=tuple(shown),
        relevant=tuple(relevant)[:room],
        questions=tuple(dict.fromkeys(map(_belief, questions))),
    )


def _participants(memory: Memory, there: Mapping[str, Memory]) -> Iterator[Memory]:
    """What a relation is between, as far as it may be seen."""
    if memory.kind == RELATION:
        yield from (there[edge.target] for edge in memory.edges if edge.target in there)


def _seen(user: str, scope: str) -> Filter:
    return Filter(user, wing=scope)


def _is_everywhere(scope: str) -> bool:
    return scope.startswith(_EVERYWHERE)


def _belief(memory: Memory) -> str:
    return str(memory.extra["belief"])


# --- what has to hold ---------------------------------------------------------------------------


def failures(case: Case, tiers: Tiers) -> list[Failure]:
    """The assertions of a case that do not hold, tier by tier. Of the relevant tier, what must or
    must not be there may stand among the pinned too, as in the bench's own runner."""
    unknown = [tier for tier in case.expect if tier not in _TIERS]
    if unknown:
        raise InvalidValue(f"case {case.id!r} expects something of {unknown[0]!r}: no such tier")
    return [
        Failure(tier, why)
        for tier in _TIERS
        for why in _wrong(tier, tiers, case.expect.get(tier) or {})
    ]


_TIERS = ("personaPrelude", "pinnedFacts", "relevantBeliefs", "openQuestions")


def _wrong(tier: str, tiers: Tiers, expect: Mapping[str, Any]) -> Iterator[str]:
    if tier == "personaPrelude":
        return _of_text(tiers.prelude, expect)
    if tier == "relevantBeliefs":
        return _of_ids(tiers.relevant, (*tiers.pinned, *tiers.relevant), expect)
    own = tiers.pinned if tier == "pinnedFacts" else tiers.questions
    return _of_ids(own, own, expect)


def _of_text(text: str, expect: Mapping[str, Any]) -> Iterator[str]:
    if expect.get("nonEmpty") and not text:
        yield "is empty"
    if expect.get("isNull") and text:
        yield "is not empty"
    yield from (f"lacks {each!r}" for each in expect.get("contains") or () if each not in text)
    yield from (f"holds {each!r}" for each in expect.get("mustNotContain") or () if each in text)


def _of_ids(own: Sequence[str], seen: Sequence[str], expect: Mapping[str, Any]) -> Iterator[str]:
    wanted = [*(expect.get("mustInclude") or ()), *(expect.get("shouldInclude") or ())]
    yield from (f"lacks {id}" for id in wanted if id not in seen)
    yield from (f"holds {id}" for id in expect.get("mustExclude") or () if id in seen)
    only = expect.get("shouldOnlyInclude")
    if only is not None:
        yield from (f"lacks {id}" for id in only if id not in own)
        yield from (f"holds {id}" for id in own if id not in only)
    if len(own) > expect.get("maxCount", len(own)):
        yield f"holds {len(own)}, more than {expect['maxCount']}"
    if len(own) < expect.get("minCount", 0):
        yield f"holds {len(own)}, less than {expect['minCount']}"
    for first, second in expect.get("orderedBefore") or ():
        if first not in own or second not in own:
            yield f"lacks {first if first not in own else second}"
        elif own.index(first) > own.index(second):
            yield f"has {second} before {first}"
