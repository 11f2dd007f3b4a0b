"""Stage `keyword`: words nominate. What is worth it is read and scored by `read`.

A process that searches often knows BM25 of every passage (`exact.py`). Otherwise the engine is
asked; in a large store the commonest words then nominate nothing, since they would drag in most of
it. Every content word counts when scoring.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence

from camillo.retrieval import bm25
from camillo.retrieval.candidate import (
    Candidate,
    Context,
    Counts,
    Nomination,
    Query,
    SearchRoot,
)
from camillo.text.tokens import Term, term_counts_of_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.retrieval.exact import Scores

__all__ = [
    "MIDDLING",
    "NOMINATED",
    "count_words",
    "keyword",
    "keyword_score",
    "nominating_terms",
]

_FEW = 8  # searches in a small store that do without NumPy
_SEARCHES = itertools.count()  # of this process
NOMINATED = 200  # passages that an engine is asked for, at least
MIDDLING = 2_000  # passages above which only the most promising are read

_LIGHT = 0.2  # share of the question's weight that a server is not asked for there
_LARGE = 20_000  # passages above which common words stop nominating …
_COMMON = 0.05  # … that is, those in more than this share of them
_POSTINGS = 0.12  # and the words that do nominate, rarest first, up to this share in all


def keyword(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    terms = context.terms
    if not terms:
        return candidates
    forms = [form for term in terms for form in term.forms]
    passages = words = 0
    df = dict.fromkeys(forms, 0)
    for number, root in enumerate(context.roots):
        size, total = root.words.size()
        context.sizes[number] = size
        passages, words = passages + size, words + total
        for form, count in root.words.df(df).items():
            df[form] += count
    known = [max(df[form] for form in term.forms) for term in terms]
    context.weights = [
        term.weight * bm25.idf(passages, count) for term, count in zip(terms, known, strict=True)
    ]
    there = sum(w for w, count in zip(context.weights, known, strict=True) if count)
    context.known_mass = there / (sum(context.weights) or 1.0)
    context.nominating = nominating_terms(terms, df, passages)
    context.passages = passages
    context.average = words / passages if passages else 0.0
    asked = max(NOMINATED, 4 * query.k)
    for number, root in enumerate(context.roots):
        exact = _exact(root, [form for form in df if df[form]], context)
        if exact is not None:
            context.exact[number] = exact
            chosen = exact.best(asked, query.filter)
        else:
            tokens = context.nominating
            if root.store.remote and MIDDLING < passages <= _LARGE:
                tokens = nominating_terms(_telling(context), df, passages)
            chosen = root.words.keyword(tokens, asked, query.filter)
        best = context.loudest[number] = chosen[0][1] if chosen else 1.0
        context.unheard[number] = chosen[-1][1] / best if len(chosen) >= asked else 0.0
        context.nominated += [Nomination(number, row, score / best) for row, score in chosen]
    return candidates


def _exact(root: SearchRoot, tokens: Sequence[str], context: Context) -> Scores | None:
    """BM25 of all passages, where this process keeps what that takes in memory: in a small store
    once NumPy is loaded, which is not worth it for a few searches by words."""
    if not context.warm:
        return None
    if context.passages <= MIDDLING and "numpy" not in sys.modules and next(_SEARCHES) < _FEW:
        return None
    occurrences = root.words.occurrences(tokens)
    if occurrences is None:
        return None
    from camillo.retrieval.exact import Scores

    known = set(tokens)
    terms = [term._replace(forms=tuple(known.intersection(term.forms))) for term in context.terms]
    return Scores(occurrences, terms, context.weights, context.average)


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


def _telling(context: Context) -> list[Term]:
    """The terms without those of least weight that together have little: what holds nothing else
    of the question cannot win, and a server has to look through all that holds them."""
    ranked = sorted(zip(context.weights, context.terms, strict=True), key=_weight)
    light = _LIGHT * sum(context.weights)
    while len(ranked) > 2 and ranked[0][0] <= light:
        light -= ranked.pop(0)[0]
    return [term for _, term in ranked]


def _weight(weighted: tuple[float, Term]) -> float:
    return weighted[0]


def _asked(forms: Sequence[str], df: Mapping[str, int]) -> Sequence[str]:
    """Of a word's surface form and its stem, the stem alone where it stands in at least as many
    passages: a text that holds the one holds the other, unless another stemmer was asked."""
    if len(forms) == 2 and df[forms[1]] >= df[forms[0]]:
        return forms[1:]
    return [form for form in forms if df[form]]


def count_words(texts: Sequence[str], context: Context) -> list[Counts]:
    """What the context's terms find in each text."""
    return [Counts(*each) for each in term_counts_of_all(texts, context.terms)]


def keyword_score(counts: Counts, context: Context) -> float:
    """BM25 for the context's terms, on 0 to 1."""
    return bm25.rank(counts.tf, counts.words, context.average, context.weights)
