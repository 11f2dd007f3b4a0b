"""What became of memories that somebody expected of a search: at which stage each fell out, and
why.

Watches a pipeline that runs, and asks the engines afterwards for what a search does not need to
know: how far behind the last that was nominated a memory stood. Nothing here changes a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from camillo.model import Filter, Key, Memory
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.keyword import count_words
from camillo.retrieval.read import nearness_of
from camillo.text.normalise import normalise
from camillo.text.passages import passages

__all__ = ["Fate", "Misses"]

_AT_ONCE = 1000  # rows that are looked up together
_EVERYTHING = Filter(None, archived=True, internal=True)


class Fate(NamedTuple):
    """What became of one memory. `stage` is where it fell out, "" for one that is `found`; `rank`
    and `score` are those that it had last. `lacks` are words of the question that it does not
    hold; `words_rank` and `near_rank` are the places of its best passage among all by words and in
    meaning, None where it has none."""

    id: str
    found: bool
    rank: int | None
    score: float | None
    stage: str
    why: str
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    words_rank: int | None = None
    cosine: float | None = None
    near_rank: int | None = None


class _Seen(NamedTuple):
    """Where a memory stood after a stage: as a candidate with its rank, or only nominated."""

    stage: str
    rank: int | None = None
    score: float | None = None


class _Run:
    """One search as it was watched: where each memory was seen last, and the candidates that
    `limit` was given."""

    def __init__(self, context: Context | None = None) -> None:
        self.context = context
        self.stages: list[str] = []
        self.seen: dict[tuple[int, Key], _Seen] = {}
        self.results: list[Candidate] = []


class Misses:
    """Watches a search for memories, each with the number of its root, None for one that is not
    searched; with none of them for all that it finds. `after` is for the pipeline; `fates` says
    afterwards what became of them."""

    def __init__(self, wanted: Sequence[tuple[int | None, Memory]]) -> None:
        self._wanted = wanted
        self._run = _Run()

    def after(self, stage: str, candidates: Sequence[Candidate], context: Context) -> None:
        """What a stage left. A search that begins anew is watched anew."""
        if context is not self._run.context:
            self._run = _Run(context)
        run = self._run
        run.stages.append(stage)
        run.results = list(candidates)
        ranked = {(c.root, c.key): (rank, c.score) for rank, c in enumerate(candidates, 1)}
        nominated = self._nominated(context)
        for root, memory in self._wanted:
            if root is None:
                continue
            place = root, memory.key
            if place in ranked:
                run.seen[place] = _Seen(stage, *ranked[place])
            elif place in nominated:
                run.seen[place] = _Seen(stage)

    def fates(self, query: Query) -> list[Fate]:
        """One for each memory, in order."""
        if not self._wanted:
            return list(_found(query, self._run))
        return [_fate(root, memory, query, self._run) for root, memory in self._wanted]

    def _nominated(self, context: Context) -> set[tuple[int, Key]]:
        """The memories behind what is nominated, in the roots of those that are wanted."""
        found: set[tuple[int, Key]] = set()
        for number in {root for root, _ in self._wanted if root is not None}:
            rows = [(each.row, 0.0) for each in context.nominated if each.root == number]
            if rows:
                found |= {(number, hit.key) for hit in context.roots[number].words.hits(rows)}
        return found


def _found(query: Query, run: _Run) -> Iterator[Fate]:
    for rank, each in enumerate(run.results, 1):
        assert run.context is not None
        said = _said(each.root, each.memory, query, run.context)
        yield said._replace(found=True, rank=rank, score=each.score)


def _fate(root: int | None, memory: Memory, query: Query, run: _Run) -> Fate:
    context = run.context
    if root is None or context is None:
        return Fate(memory.id, False, None, None, "scope", "its root is not among those searched")
    if refused := _refused(query.filter, memory):
        return Fate(memory.id, False, None, None, "filter", refused)
    said = _said(root, memory, query, context)
    seen = run.seen.get((root, memory.key))
    if seen is not None and seen.stage == run.stages[-1]:
        return said._replace(found=True, rank=seen.rank, score=seen.score)
    newer = None if query.include_superseded else context.superseded.get(memory.key)
    if newer is not None and "superseded" in run.stages:
        return said._replace(stage="superseded", why=f"{newer.id} supersedes it")
    if seen is None:
        return _not_nominated(said, run.stages, context)
    stage = run.stages[run.stages.index(seen.stage) + 1]
    why = {"read": _unread, "limit": _beyond}.get(stage, _taken_out)
    told = why(root, memory, seen, run, query)
    return said._replace(rank=seen.rank, score=seen.score, stage=stage, why=told)


# --- before the search --------------------------------------------------------------------------


def _refused(filter: Filter, memory: Memory) -> str:
    """What of a filter keeps a memory out, in words; "" where nothing does."""
    source = f"it is from {memory.origin.source if memory.origin else 'no file'}"
    date = f"it is of {memory.happened_at}" if memory.happened_at else "it has no date"
    told = {
        "namespace": f"it belongs to {memory.namespace or 'no agent'}",
        "scope": f"it is in the scope {memory.scope}",
        "session": f"it is of session {memory.session}" if memory.session else "it is of none",
        "kinds": f"it is of kind {memory.kind}",
        "wing": f"its wing is {memory.place.wing or 'none'}",
        "room": f"its room is {memory.place.room or 'none'}",
        "source": source,
        "under": source,
        "since": date,
        "before": date,
        "archived": "it is archived",
        "internal": f"{memory.kind} is a kind of the store's own",
    }
    refusing = [
        f"{field}: {told[field]}"
        for field, asked in filter._asdict().items()
        if not _EVERYTHING._replace(**{field: asked}).admits(memory)
    ]
    return "; ".join(refusing)


# --- what is nominated --------------------------------------------------------------------------


def _said(root: int, memory: Memory, query: Query, context: Context) -> Fate:
    """What words and meaning say of it, whatever became of it."""
    counts = count_words([piece.text for piece in passages(memory)], context)
    held = [any(column) for column in zip(*(each.tf for each in counts), strict=True)]
    words = list(zip([term.word for term in context.terms], held, strict=True))
    fate = Fate(
        memory.id, False, None, None, "", "",
        holds=tuple(word for word, there in words if there),
        lacks=tuple(word for word, there in words if not there),
        words_rank=_words_rank(root, memory.key, query, context),
    )  # fmt: skip
    nearness = context.nearness.get(root)
    if nearness is None or not len(nearness):
        return fate
    cosine = nearness_of([memory], [passages(memory)], root, context)[0]
    rows = (row for row, _ in nearness.best(len(nearness), query.filter))
    near_rank = _rank(root, memory.key, rows, context)
    return fate._replace(cosine=cosine and round(cosine, 4), near_rank=near_rank)


def _words_rank(root: int, key: Key, query: Query, context: Context) -> int | None:
    size = context.sizes.get(root, 0)
    if not context.nominating or not size:
        return None
    if root in context.exact:
        chosen: Sequence[tuple[int, float]] = context.exact[root].best(size, query.filter)
    else:
        words = context.roots[root].words
        chosen = words.keyword(context.nominating, size, query.filter)
    return _rank(root, key, (row for row, _ in chosen), context)


def _rank(root: int, key: Key, rows: Iterable[int], context: Context) -> int | None:
    """The place of a memory's first passage among these."""
    ordered = list(rows)
    for start in range(0, len(ordered), _AT_ONCE):
        portion = ordered[start : start + _AT_ONCE]
        hits = context.roots[root].words.hits([(row, 0.0) for row in portion])
        own = {hit.row for hit in hits if hit.key == key}
        if own:
            return next(place for place, row in enumerate(portion, start + 1) if row in own)
    return None


def _not_nominated(said: Fate, stages: Sequence[str], context: Context) -> Fate:
    """Neither words nor meaning thought of it, nor did a later stage bring it in."""
    nominating = [name for name in ("keyword", "vector") if name in stages]
    why = list(_by_words(said, context)) if "keyword" in stages else []
    why += _by_meaning(said, context) if "vector" in stages else []
    return said._replace(stage=" and ".join(nominating), why="; ".join(why))


def _by_words(said: Fate, context: Context) -> Iterator[str]:
    lacking = f"; it lacks {', '.join(said.lacks)}" if said.lacks else ""
    if not context.terms:
        yield "the question has no words to look for"
    elif not said.holds:
        yield f"it holds no word of the question{lacking}"
    elif said.words_rank is None:
        yield f"it holds only words that stand everywhere: {', '.join(said.holds)}{lacking}"
    else:
        yield f"by words it is number {said.words_rank}: it holds {', '.join(said.holds)}{lacking}"


def _by_meaning(said: Fate, context: Context) -> Iterator[str]:
    if said.near_rank is not None:
        yield f"in meaning it is number {said.near_rank}, with a cosine of {said.cosine}"
    elif context.nearness:
        yield "it has no vector"


# --- what is a candidate ------------------------------------------------------------------------


def _unread(root: int, memory: Memory, seen: _Seen, run: _Run, query: Query) -> str:
    assert run.context is not None
    bar = run.context.bars.get(root)
    if bar is not None:
        hits = run.context.roots[root].words.hits([(row, 0.0) for row in bar.standing])
        own = [bar.standing[hit.row] for hit in hits if hit.key == memory.key]
        if own and max(own) < bar.least:
            known = "by what is known without reading it"
            return f"it stands at {max(own):.4f} {known}; {bar.least:.4f} and more are read"
    return "its text could not be read"


def _beyond(root: int, memory: Memory, seen: _Seen, run: _Run, query: Query) -> str:
    text = normalise(memory.body)
    for each in run.results:
        if each.also_in and normalise(each.memory.body) == text:
            return f"its text is that of {each.memory.id}, which names its source"
    last = f", of which the last has {run.results[-1].score:.4f}" if run.results else ""
    return f"it is number {seen.rank} with {seen.score:.4f}; the first {query.k} are shown{last}"


def _taken_out(root: int, memory: Memory, seen: _Seen, run: _Run, query: Query) -> str:
    return "that stage took it out"
