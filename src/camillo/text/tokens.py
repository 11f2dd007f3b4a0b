"""What the word index stores for a text, what it looks for when asked, and how matches count.

A word gives its folded form and its Snowball stem; an identifier also its parts; a run of Han,
kana, hangul, Thai, Lao, Khmer or Myanmar gives every character and every pair of neighbours;
an emoji or other symbol gives itself; punctuation gives nothing.

Format (`TOKENISER_VERSION`): a token has 1 to 64 characters (what is longer is cut there): letters,
digits, combining marks and symbols. Never white space, a control character, a double quote, an
underscore or a lone surrogate. So `token_text`, the tokens joined by single spaces, is what a full
text index stores when it splits at U+0020 and takes all else as it is.

The tokens of a text depend on nothing but the text: an index deletes by making them again.
Those of one word are made in word_tokens.py; terms.py has what a query looks for, counts.py how
matches count. All of it is imported from here.
"""

from __future__ import annotations

from camillo.text.characters import extent, words_of
from camillo.text.counts import may_hold, term_counts, term_counts_of_all
from camillo.text.terms import Term, query_terms
from camillo.text.word_tokens import table_of_text

__all__ = [
    "TOKENISER_VERSION",
    "Term",
    "may_hold",
    "query_terms",
    "term_counts",
    "term_counts_of_all",
    "token_text",
    "tokenise",
    "word_count",
]

TOKENISER_VERSION: int = 1


def tokenise(text: str) -> list[str]:
    """Tokens of a text in reading order; see the head of this file for what they may hold."""
    joined = token_text(text)
    return joined.split(" ") if joined else []


def token_text(text: str) -> str:
    """The tokens of a text joined by single spaces: the form that an index stores."""
    words = words_of(text)
    return " ".join(filter(None, map(table_of_text(text, words).__getitem__, words)))


def word_count(text: str) -> int:
    """How long a text is: its words, each character of a run without spaces being one."""
    words = words_of(text)
    return len(words) if text.isascii() else sum(map(extent, words))
