"""Names as phrases: a name is in a text when all of its words follow each other there.

A word is compared in its folded form and in its stem, an identifier whole and in its parts, a run
without spaces character by character. Words of grammar, and single letters, are a name only as they
are written, in capitals: `US`, never `us`; numbers are none. Which memories have which names is
left to an index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camillo.records import NamedTuple
from camillo.text.characters import is_run, words_of
from camillo.text.stopwords import is_stop, language_of
from camillo.text.word_tokens import (
    LANGUAGE_SAMPLE,
    WordTokens,
    fold,
    is_one_word,
    pieces,
    split,
    table_of_language,
)

__all__ = ["MOST_WORDS", "Word", "begins", "is_near", "phrases", "readings", "spelled"]

MOST_WORDS = 12  # of a name; a longer one is a sentence

_SHORTEST_NEAR = 4  # letters of a word that may hold a slip of the pen
_SAME = 2  # letters that such a word begins with alike


class Word(NamedTuple):
    """A word of a text: as it is written, folded, and its stem; and is it the first part of what
    stands there without a space?"""

    written: str
    folded: str
    stem: str
    first: bool = True

    @property
    def forms(self) -> tuple[str, str, str]:
        """In what ways it is compared with the words of a phrase."""
        return self.folded, self.stem, self.written if self.written.isupper() else self.folded


def readings(text: str) -> list[list[Word]]:
    """The words of a text in order: with identifiers whole, and with them in their parts where
    that differs. Clitics ('s, n't) are no words."""
    words = words_of(_without_clitics(text))
    table = table_of_language(language_of(list(map(str.lower, words[:LANGUAGE_SAMPLE]))))
    whole: list[Word] = []
    parted: list[Word] = []
    for word in words:
        for joined, parts in _units(word):
            whole.append(_word(joined, table))
            parted += [_word(part, table, not n) for n, part in enumerate(parts or (joined,))]
    return [whole] if len(whole) == len(parted) else [whole, parted]


def phrases(name: Sequence[Sequence[Word]]) -> list[tuple[str, ...]]:
    """The phrases that stand for a name, by its readings, each once; none for one that says nothing
    alone."""
    found: dict[tuple[str, ...], None] = {}
    for words in name:
        if not words or len(words) > MOST_WORDS:
            continue
        if all(map(_says_little, words)):
            if all(word.written.isupper() for word in words):
                found[tuple(word.written for word in words)] = None
            continue
        for form in ("folded", "stem"):
            found[tuple(getattr(word, form) for word in words)] = None
    return list(found)


def spelled(name: Sequence[Sequence[Word]]) -> list[tuple[str, str]]:
    """The folded words of a name that may be misspelled, each with what a slip begins with."""
    words = dict.fromkeys(word.folded for reading in name for word in reading)
    return [(word, start) for word in words if (start := begins(word))]


def begins(word: str) -> str:
    """The letters that a slip for this folded word begins with too; "" for a word that is too
    short, or of a script without spaces."""
    return word[:_SAME] if len(word) >= _SHORTEST_NEAR and not is_run(word) else ""


def is_near(word: str, name: str) -> bool:
    """May a folded word be a slip for a word of a name? Both have four letters or more, the first
    two alike, and one is the other with one letter added, left out, changed, or two neighbours
    exchanged (Damerau 1964)."""
    if min(len(word), len(name)) < _SHORTEST_NEAR or word[:_SAME] != name[:_SAME]:
        return False
    return word != name and _one_edit(word, name)


def _one_edit(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    if short[at + 1 :] == long[at + 1 :]:
        return True
    exchanged = short[at + 1 : at + 2] + short[at : at + 1]
    return exchanged == long[at : at + 2] and short[at + 2 :] == long[at + 2 :]


def _without_clitics(text: str) -> str:
    if "'" not in text and "’" not in text:
        return text
    from camillo.text.patterns import clitics

    return clitics().sub(" ", text)


def _units(word: str) -> Iterator[tuple[str, Sequence[str]]]:
    """(a word, its parts) of what stands between spaces."""
    if word.isascii() or is_one_word(word):
        yield word, _parts(word)
        return
    for piece in pieces(word):
        run, symbol, plain = piece.groups()
        if run:
            yield from ((character, ()) for character in run)
        else:
            yield symbol or plain, _parts(plain) if plain else ()


def _parts(word: str) -> Sequence[str]:
    """Of an identifier, where they are all of it: what `split` leaves out may tell two apart."""
    joined, parts = split(word)
    return parts if "".join(parts) == joined else ()


def _word(written: str, table: WordTokens, first: bool = True) -> Word:
    joined, _ = split(written)
    forms = table.part(joined) if joined and not is_run(joined) else joined
    folded, _, stem = forms.partition(" ")
    return Word(written, folded or fold(joined), stem or folded, first)


def _says_little(word: Word) -> bool:
    folded = word.folded
    single = len(folded) < 2 and not is_run(folded)
    return single or folded.isdecimal() or is_stop(folded)
