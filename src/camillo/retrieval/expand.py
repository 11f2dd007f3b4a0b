"""Stage `expand`: the query's text becomes weighted terms.

A prompt that is longer than a question is often a question after a preamble: the terms of its
question count in full, those of the rest a third, and none is dropped.
"""

from __future__ import annotations

from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.text.question import question_of
from camillo.text.tokens import Term, query_terms

__all__ = ["MOST_TERMS", "expand"]

_PREAMBLE = 1 / 3
_LONGEST = 20_000  # characters of a prompt that are looked at
MOST_TERMS = 256


def expand(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    prompt = query.text[:_LONGEST]
    question = question_of(prompt)
    terms = list(query_terms(question))
    if question != prompt:
        known = {term.word for term in terms}
        terms += [
            Term(term.word, term.forms, term.weight * _PREAMBLE)
            for term in query_terms(prompt)
            if term.word not in known
        ]
    if len(terms) > MOST_TERMS:
        context.degraded.append(f"only the first {MOST_TERMS} words of the query were looked for")
    context.terms = tuple(terms[:MOST_TERMS])
    return candidates
