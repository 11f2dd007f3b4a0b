"""Stage `notes`: among thousands of drawers, what was decided gets its due.

The words of a note lie apart: its title and summary are one passage, pieces of its body are others,
and where a store is large some drawer holds more of a question than any of them. So title, summary
and body are each evidence: the first two head every piece of the body, and count twice there.
Where drawers are found as well, the best notes are then lifted by how much of the question they
answer; few, and each less than the one before, so that many notes do not push the drawers out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from camillo.model import NOT_NOTES, Filter, Key
from camillo.records import NamedTuple
from camillo.retrieval import bm25
from camillo.retrieval.candidate import Candidate, Context, Counts, Query
from camillo.retrieval.fuse import words_said
from camillo.retrieval.keyword import count_words, keyword_score
from camillo.retrieval.late import late_score
from camillo.retrieval.read import nearness_of
from camillo.text.passages import PassageText, passages

__all__ = ["CONSIDERED", "HEADING", "LIFTS", "notes"]

HEADING = 2  # how often a word of the title or the summary counts
LIFTS = (0.30, 0.25, 0.20, 0.15, 0.10)  # of what a score lacks to 1, by rank among the notes
CONSIDERED = 16  # passages of notes that words nominate in a root, and as many that meaning does


class _Fields(NamedTuple):
    """What the words of a question find in a note, field by field. The body is in pieces, one at
    least; `numbers` says which passages they are."""

    title: Counts
    summary: Counts
    body: Sequence[Counts]
    numbers: Sequence[int]


def notes(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    kinds = [_note_kinds(root.words.kinds(), query.filter) for root in context.roots]
    if not any(kinds):
        return candidates
    there = [each for each in candidates if each.memory.kind not in NOT_NOTES]
    over = len(there) < len(candidates)  # is there anything that notes could be lifted over?
    named = _named(query, kinds, context) if over else set()
    known = [each for n, each in enumerate(there) if n < CONSIDERED or _place(each) in named]
    fresh = _fresh(named - set(map(_place, there)), context)
    pieces = [passages(each.memory) for each in known + fresh]
    _tell_nearness(fresh, pieces[len(known) :], context)
    judged = list(zip(known + fresh, _fields(pieces, context), strict=True))
    for candidate, fields in judged:
        _judge(candidate, fields, context)
    if over:
        _lift(judged, context)
    return candidates + [each for each in fresh if each.score > 0]


def _note_kinds(held: Iterable[str], filter: Filter) -> tuple[str, ...]:
    """The kinds of a root's notes, of those that are asked for."""
    asked = filter.kinds
    return tuple(
        sorted(kind for kind in held if kind not in NOT_NOTES and (asked is None or kind in asked))
    )


# --- notes that drawers kept from being candidates ---------------------------------------------


def _named(
    query: Query, kinds: Sequence[tuple[str, ...]], context: Context
) -> set[tuple[int, Key]]:
    """The notes that words and meaning would nominate first if there were no drawers."""
    hidden = frozenset() if query.include_superseded else context.superseded.keys()
    named: set[tuple[int, Key]] = set()
    for number, own in enumerate(kinds):
        if not own:
            continue
        root, filter = context.roots[number], query.filter._replace(kinds=own)
        chosen = list(root.words.keyword(context.nominating, CONSIDERED, filter))
        if number in context.nearness:
            chosen += context.nearness[number].best(CONSIDERED, filter)
        keys = {hit.key for hit in root.words.hits(list(dict(chosen).items()))}
        named |= {(number, key) for key in keys if key not in hidden}
        for key in keys & hidden:
            context.hide(number, key, 1.0)
    return named


def _fresh(named: Iterable[tuple[int, Key]], context: Context) -> list[Candidate]:
    """Candidates of what is none yet."""
    found: list[Candidate] = []
    by_root = sorted(named)
    for number in dict(by_root):
        held = context.held(number, [key for root, key in by_root if root == number])
        found += [Candidate(memory, number) for memory in held if memory is not None]
    return found


def _place(candidate: Candidate) -> tuple[int, Key]:
    return candidate.root, candidate.key


def _tell_nearness(
    fresh: Sequence[Candidate], pieces: Sequence[Sequence[PassageText]], context: Context
) -> None:
    for number in context.nearness:
        here = [at for at, each in enumerate(fresh) if each.root == number]
        if not here:
            continue
        memories = [fresh[at].memory for at in here]
        cosines = nearness_of(memories, [pieces[at] for at in here], number, context)
        for at, cosine in zip(here, cosines, strict=True):
            if cosine is not None:
                fresh[at].signals["vector"] = cosine


# --- what a note is worth ----------------------------------------------------------------------


def _fields(notes: Sequence[Sequence[PassageText]], context: Context) -> list[_Fields]:
    """Of each note, by its passages."""
    bodies = [[each for each in own if each.body] or own[:1] for own in notes]
    texts: list[str] = []
    for own, body in zip(notes, bodies, strict=True):
        texts += [own[0].title, own[0].summary, *(each.body for each in body)]
    counted = iter(count_words(texts, context))
    return [
        _Fields(
            next(counted),
            next(counted),
            [next(counted) for _ in body],
            [each.number for each in body],
        )
        for body in bodies
    ]


def _judge(candidate: Candidate, fields: _Fields, context: Context) -> None:
    """Its words are those of its best passage, or of all fields together where that is more."""
    if context.terms:
        _tell_words(candidate, fields, context)
    score, parts = late_score(candidate, context) or _score(candidate, context)
    if score > candidate.score:
        candidate.score, candidate.parts = score, parts


def _score(candidate: Candidate, context: Context) -> tuple[float, dict[str, float]]:
    """The score by words and meaning, and its parts."""
    words, cosine = words_said(candidate), candidate.signals.get("vector")
    said = {"words" if "words" in candidate.signals else "keyword": words}
    scale = context.scales.get(candidate.root)
    if scale is None:
        return words, said
    return scale.score(words, cosine), scale.parts(said, cosine)


def _tell_words(candidate: Candidate, fields: _Fields, context: Context) -> None:
    signals = candidate.signals
    heading = _sum(fields.title, fields.summary)
    if "keyword" not in signals:
        scores = [keyword_score(each, context) for each in fields.body]
        candidate.passage = fields.numbers[scores.index(max(scores))]
        signals["keyword"] = max(*scores, keyword_score(heading, context))
    together = max(keyword_score(_sum(heading, piece, HEADING), context) for piece in fields.body)
    if together > words_said(candidate):
        signals["words"] = together
    parts = (("title", [fields.title]), ("summary", [fields.summary]), ("body", fields.body))
    signals.update((name, held) for name, texts in parts if (held := _held(texts, context)))


def _lift(judged: Sequence[tuple[Candidate, _Fields]], context: Context) -> None:
    """The best notes, each by its share of the question. What a newer one replaces is no longer
    what was decided."""
    current = [each for each in judged if each[0].key not in context.superseded]
    current.sort(key=_rank)
    for (candidate, fields), most in zip(current, LIFTS, strict=False):
        added = most * _share(candidate, fields, context) * (1.0 - candidate.score)
        candidate.score += added
        candidate.signals["note"] = candidate.parts["note"] = added


def _rank(judged: tuple[Candidate, _Fields]) -> tuple[float, Key]:
    return -judged[0].score, judged[0].key


def _share(candidate: Candidate, fields: _Fields, context: Context) -> float:
    """How much of the question a note answers, on 0 to 1: the weight of the words that it holds
    in any field and, where there is meaning, how near it is."""
    held = _held([fields.title, fields.summary, *fields.body], context)
    scale = context.scales.get(candidate.root)
    return held if scale is None else scale.share(held, candidate.signals.get("vector"))


def _held(texts: Sequence[Counts], context: Context) -> float:
    """The share of the question's weight whose words stand in any of these texts."""
    found = [max(column) for column in zip(*(each.tf for each in texts), strict=True)]
    return bm25.coverage(found, context.weights)


def _sum(heading: Counts, piece: Counts, times: int = 1) -> Counts:
    """Two texts as one, the words of the first counted so many times."""
    tf = [times * a + b for a, b in zip(heading.tf, piece.tf, strict=True)]
    return Counts(tf, heading.words + piece.words)
