"""What is looked for when a query is asked: its content words, as terms.

Tokens of a word are made in word_tokens.py; which words are grammar is left to stopwords.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from unicodedata import normalize

from camillo.records import NamedTuple
from camillo.text.characters import words_of
from camillo.text.stopwords import FUNCTION_CHARACTERS, is_stop, language_of
from camillo.text.word_tokens import (
    LANGUAGE_SAMPLE,
    WordTokens,
    fold,
    is_one_word,
    pieces,
    split,
    table_of_language,
)

__all__ = ["Term", "query_terms"]

_PART_WEIGHT = 0.5
_CHARACTER_WEIGHT = 0.3
# The characters that mean something alone: Han and hangul syllables lie above nearly all else
# that is indexed by character (kana, Thai and its neighbours, jamo).
_IDEOGRAPH_OR_SYLLABLE = "\u3400"


class Term(NamedTuple):
    """A content word of a query: any of `forms` among the tokens of a text is a match."""

    word: str
    forms: tuple[str, ...]
    weight: float


def query_terms(query: str) -> tuple[Term, ...]:
    """Content words of a query in order, none twice; () when it holds nothing but punctuation.

    Stop words are dropped unless nothing else is left. An identifier is one term, its parts are
    further ones of weight 0.5. A run of Han, kana or the like is its pairs of neighbours, and its
    Han and hangul characters with weight 0.3; a run of one character is that character.
    """
    found = _query_words(_without_clitics(query)) or _query_words(query)
    content = [term for term, grammar in found if not grammar]
    terms: dict[str, Term] = {}
    for term in content or [term for term, _ in found]:
        known = terms.get(term.word)
        if known is None or known.weight < term.weight:
            terms[term.word] = term
    return tuple(terms.values())


def _without_clitics(query: str) -> str:
    if "'" not in query and "’" not in query:
        return query
    from camillo.text.patterns import clitics

    return clitics().sub(" ", query)


def _query_words(query: str) -> list[tuple[Term, bool]]:
    """Every term of a query in order, and whether it is grammar rather than content."""
    words = words_of(query)
    language = language_of(list(map(str.lower, words[:LANGUAGE_SAMPLE])))
    table = table_of_language(language)
    loud = query.isupper()
    found: list[tuple[Term, bool]] = []
    for before, word in zip(["", *words], words, strict=False):
        named = not loud and _is_name(word, before, language)
        terms = _terms_of(word, table)
        found += [(term, not named and _is_grammar(term.word, language)) for term in terms]
    return found


def _is_name(word: str, before: str, language: str) -> bool:
    """Whether capitals say that a stop word is none: `US` and `IT`, or `Will` in mid-sentence
    (in English; a German `Sie` is grammar).
    """
    if len(word) < 2 or word in ("AND", "OR", "NOT"):
        return False
    return word.isupper() or (language == "en" and word.istitle() and before.islower())


def _is_grammar(word: str, language: str) -> bool:
    if FUNCTION_CHARACTERS.issuperset(word):
        return True
    return is_stop(word, language) or is_stop(fold(word), language)


def _terms_of(word: str, table: WordTokens) -> Iterator[Term]:
    normal = word if word.isascii() else normalize("NFKC", word)
    if word.isascii() or is_one_word(normal):
        yield from _word_terms(normal, table)
        return
    for piece in pieces(normal):
        run, symbol, plain = piece.groups()
        if run:
            yield from _run_terms(run)
        elif symbol:
            yield Term(symbol, (symbol,), 1.0)
        else:
            yield from _word_terms(plain, table)


def _word_terms(word: str, table: WordTokens) -> Iterator[Term]:
    joined, parts = split(word)
    if not parts:
        yield from _plain_terms(joined, table, 1.0)
        return
    yield Term(joined, (fold(joined),), 1.0)
    for part in parts:
        yield from _plain_terms(part, table, _PART_WEIGHT)


def _plain_terms(word: str, table: WordTokens, weight: float) -> Iterator[Term]:
    forms = table.part(word)
    if forms:
        yield Term(word, tuple(forms.split(" ")), weight)


def _run_terms(run: str) -> Iterator[Term]:
    if len(run) == 1:
        yield Term(run, (run,), 1.0)
        return
    for first, second in pairwise(run):
        yield Term(first + second, (first + second,), 1.0)
    for character in run:
        if character >= _IDEOGRAPH_OR_SYLLABLE:
            yield Term(character, (character,), _CHARACTER_WEIGHT)
