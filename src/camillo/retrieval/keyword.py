"""Stage `keyword`: engines nominate by words, one BM25 scores.

In a large store the commonest words nominate nothing, since they would drag in most of it; every
content word counts when scoring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from camillo.model import GLOBAL, Memory
from camillo.ports import Hit
from camillo.records import NamedTuple
from camillo.retrieval import bm25
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.text.passages import passage
from camillo.text.tokens import Term, term_counts_of_all

__all__ = [
    "MIDDLING",
    "NOMINATED",
    "Counts",
    "count_words",
    "keyword",
    "keyword_score",
    "nominating_terms",
]

NOMINATED = 200  # candidates that an engine is asked for, at least

MIDDLING = 2_000  # passages above which what is nominated last is not worth scoring
_LARGE = 20_000  # passages above which common words stop nominating …
_COMMON = 0.05  # … that is, those in more than this share of them
_POSTINGS = 0.12  # and the words that do nominate, rarest first, up to this share in all
# Share of the engine's own k-th score below which a nomination is not scored.
# Against scoring all 200, the first ten results have 94.5% in common over 128,521 drawers (150
# sentences of theirs, with the limits above) and 99.0% over 10,139; the first is always the same.
_HOPELESS = 0.75


def keyword(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    terms = context.terms
    if not terms:
        return candidates
    forms = [form for term in terms for form in term.forms]
    passages = words = 0
    df = dict.fromkeys(forms, 0)
    for root in context.roots:
        size, total = root.lexical.size()
        passages, words = passages + size, words + total
        for form, count in root.lexical.df(df).items():
            df[form] += count
    known = [max(df[form] for form in term.forms) for term in terms]
    context.weights = [
        term.weight * bm25.idf(passages, count) for term, count in zip(terms, known, strict=True)
    ]
    there = sum(w for w, count in zip(context.weights, known, strict=True) if count)
    context.known_mass = there / (sum(context.weights) or 1.0)
    context.nominating = nominating_terms(terms, df, passages)
    context.average = words / passages if passages else 0.0
    found = {candidate.key for candidate in candidates}
    fresh: list[Candidate] = []
    for number, root in enumerate(context.roots):
        asked = max(NOMINATED, 4 * query.k)
        hits = root.lexical.keyword(context.nominating, asked, query.filter)
        if passages > MIDDLING:
            hits = _worth_scoring(hits, query.k)
        memories = context.held(number, [hit.key for hit in hits])
        fresh += [c for c in _scored(hits, memories, number, context) if c.key not in found]
    return candidates + fresh


def _worth_scoring(hits: Sequence[Hit], k: int) -> list[Hit]:
    """Of the nominations those that can still come under the first k: what the engine
    puts far below its own k-th does not. Messages stay, since they speak for their neighbours."""
    if len(hits) <= k:
        return list(hits)
    least = _HOPELESS * hits[k - 1].score
    return [hit for hit in hits if hit.score >= least or hit.key.session != GLOBAL]


def nominating_terms(terms: Sequence[Term], df: Mapping[str, int], passages: int) -> list[str]:
    """The tokens to ask an engine for: all that occur; in a large store the rarest."""
    counted = sorted((max(df[form] for form in term.forms), term.forms) for term in terms)
    present = [(count, forms) for count, forms in counted if count]
    if passages > _LARGE:
        budget = passages * _POSTINGS
        kept: list[tuple[int, tuple[str, ...]]] = []
        for count, forms in present:
            budget -= count
            if len(kept) >= 2 and (count > passages * _COMMON or budget < 0):
                break
            kept.append((count, forms))
        present = kept
    return list(dict.fromkeys(form for _, forms in present for form in _asked(forms, df)))


def _asked(forms: Sequence[str], df: Mapping[str, int]) -> Sequence[str]:
    """Of a word's surface form and its stem, the stem alone where it stands in at least as many
    passages: a text that holds the one holds the other, unless another stemmer was asked."""
    if len(forms) == 2 and df[forms[1]] >= df[forms[0]]:
        return forms[1:]
    return [form for form in forms if df[form]]


class Counts(NamedTuple):
    """Per term how often it stands in a text, and how many words the text has."""

    tf: list[int]
    words: int


def count_words(texts: Sequence[str], context: Context) -> list[Counts]:
    """What the context's terms find in each text."""
    return [Counts(*each) for each in term_counts_of_all(texts, context.terms)]


def keyword_score(counts: Counts, context: Context) -> float:
    """BM25 for the context's terms, on 0 to 1."""
    return bm25.rank(counts.tf, counts.words, context.average, context.weights)


def _scored(
    hits: Sequence[Hit],
    memories: Sequence[Memory | None],
    root: int,
    context: Context,
) -> list[Candidate]:
    """The best passage of each memory; a hit whose memory is gone is dropped."""
    best: dict[object, Candidate] = {}
    there = [(hit, memory) for hit, memory in zip(hits, memories, strict=True) if memory]
    texts = [passage(memory, hit.passage).text for hit, memory in there]
    for (hit, memory), counts in zip(there, count_words(texts, context), strict=True):
        score = keyword_score(counts, context)
        held = best.get(hit.key)
        if held is None or score > held.score:
            found = Candidate(memory, root, hit.passage, score, {"keyword": score}, hit.row)
            found.counts = counts
            best[hit.key] = found
    return list(best.values())
