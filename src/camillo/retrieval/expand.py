"""Stage `expand`: the query's text becomes weighted terms.

A prompt that is longer than a question is often a question after a preamble: the terms of its
question count in full, those of the rest a third, and none is dropped.
"""

from __future__ import annotations

from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.text.question import question_of
from camillo.text.tokens import Term, query_terms

__all__ = ["expand"]

_PREAMBLE = 1 / 3


def expand(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    question = question_of(query.text)
    terms = list(query_terms(question))
    if question != query.text:
        known = {term.word for term in terms}
        terms += [
            Term(term.word, term.forms, term.weight * _PREAMBLE)
            for term in query_terms(query.text)
            if term.word not in known
        ]
    context.terms = tuple(terms)
    return candidates
