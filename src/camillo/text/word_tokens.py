"""The tokens of one word: its folded form and its stem, the parts of an identifier, the characters
and pairs of a run without spaces. They are kept for reuse, a table for each language.

What tokens may hold is said in tokens.py; which stemmer is asked is left to stems.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from unicodedata import decimal, is_normalized, normalize

from camillo.text.characters import is_run
from camillo.text.stems import LATIN_STEMMERS, stem
from camillo.text.stopwords import language_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

__all__ = [
    "LANGUAGE_SAMPLE",
    "TABLES",
    "WordTokens",
    "fold",
    "is_one_word",
    "is_plain_run",
    "pieces",
    "split",
    "table_of_language",
    "table_of_text",
]

LANGUAGE_SAMPLE = 128  # words that say what language a text is in

_LONGEST = 64
_UNSPACED_FROM = "\u0e01"  # the first character of a script without spaces, Thai
# What is kept for reuse; beyond it the tables start afresh. 200,000 words take about 40 MB.
_CACHED_WORDS = 200_000


# --- folding ----------------------------------------------------------------------------------


class _Fold(dict[int, str]):
    """Code point -> what is left of it without accents, for `str.translate` on NFC text."""

    def __missing__(self, point: int) -> str:
        self[point] = folded = _folded(chr(point))
        return folded


_LETTERS = {
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th",
    "ŧ": "t", "ŋ": "n", "ё": "е", "ѐ": "е", "ѝ": "и", "ـ": "", "أ": "ا", "إ": "ا", "آ": "ا",
    "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك",
}  # fmt: skip
_DROPPED = (
    (0x300, 0x36F),  # accents that no letter took up, as the stress in за́мок
    (0x591, 0x5C7),  # Hebrew points
    (0x610, 0x61A),  # Arabic vowel and Koran marks
    (0x64B, 0x65F),
    (0x670, 0x670),
    (0x6D6, 0x6ED),
    (0x93C, 0x93C),  # Devanagari nukta: ज़ is often typed ज
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20F0),
    (0xFE20, 0xFE2F),
)


def _folded(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    digit = decimal(character, None)
    if digit is not None:
        return str(digit)
    point = ord(character)
    # й, ї, ў, が and every vowel sign stay: there the mark makes another letter.
    if point < 0x400 or 0x1E00 <= point < 0x2000 or 0x900 <= point < 0x980:
        character = normalize("NFD", character)
    return "".join(c for c in character if not _is_dropped(ord(c)))


def _is_dropped(point: int) -> bool:
    return any(low <= point <= high for low, high in _DROPPED)


_FOLD = _Fold()


def fold(word: str) -> str:
    return (word if word.isascii() else word.translate(_FOLD))[:_LONGEST]


def _lower(word: str) -> str:
    return word.lower() if word.isascii() else normalize("NFKC", word.casefold())


# --- tables -----------------------------------------------------------------------------------


class WordTokens(dict[str, str]):
    """Word as it is written -> its tokens joined by spaces, for one language of Latin letters.

    Filled on demand. A value follows from the word alone, so threads may race for it.
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def __missing__(self, word: str) -> str:
        if word.isascii():
            lower = word.isalpha() and word.islower()
            tokens = self.forms(word) if lower else self._word(word)
        elif is_plain_run(word):
            return _grams(word)
        else:
            tokens = self._any(word, normalize("NFKC", word))
        if len(word) <= _LONGEST:
            self._keep(word, tokens)
        return tokens

    def forms(self, word: str) -> str:
        """Folded form of a lower-case word without parts and, where it differs, its stem."""
        if not word.isascii():
            folded = word.translate(_FOLD)[:_LONGEST]
            stemmed = stem(word, self.language).translate(_FOLD)[:_LONGEST]
        else:
            folded = word[:_LONGEST]
            stemmed = stem(word, self.language) if word.isalpha() else word
            stemmed = stemmed[:_LONGEST]
        return folded if stemmed == folded or not stemmed else f"{folded} {stemmed}"

    def _any(self, word: str, normal: str) -> str:
        if is_one_word(normal):
            return self._word(normal)
        if len(word) == 1 and word == normal and not word.isalnum():
            return word  # a symbol
        return " ".join(filter(None, map(self._piece, pieces(normal))))

    def _piece(self, piece: re.Match[str]) -> str:
        run, symbol, word = piece.groups()
        return _grams(run) if run else symbol or self._word(word)

    def _word(self, word: str) -> str:
        joined, parts = split(word)
        if not parts:
            return self.part(joined)
        return " ".join(filter(None, [fold(joined), *map(self.part, parts)]))

    def part(self, part: str) -> str:
        """`forms`, from the table where it can be: other texts hold the same part as a word."""
        return self[part] if part.isascii() and part.isalpha() else self.forms(part)

    def _keep(self, word: str, tokens: str) -> None:
        if sum(map(len, TABLES.values())) >= _CACHED_WORDS:
            for table in TABLES.values():
                table.clear()
        self[word] = tokens


TABLES = {language: WordTokens(language) for language in LATIN_STEMMERS}


def table_of_text(text: str, words: list[str]) -> WordTokens:
    # The commonest English word first: it settles most texts without a look at any table.
    if " the " in text:
        return TABLES["en"]
    return table_of_language(language_of(words[:LANGUAGE_SAMPLE]))


def table_of_language(language: str) -> WordTokens:
    return TABLES[language if language in TABLES else "en"]


def is_one_word(word: str) -> bool:
    """Whether a normalised word is letters and digits of scripts with spaces, and nothing else."""
    return word.isalnum() and max(word) < _UNSPACED_FROM


def pieces(word: str) -> Iterator[re.Match[str]]:
    """Matches of `patterns.piece` in a normalised word."""
    from camillo.text.patterns import piece, unseen

    return piece().finditer(normalize("NFKC", unseen().sub("", word)))


def is_plain_run(word: str) -> bool:
    """Whether a word can be indexed by its characters as it stands."""
    return is_run(word) and is_normalized("NFKC", word)


def _grams(run: str) -> str:
    pairs = [f"{first} {first}{second}" for first, second in pairwise(run)]
    return " ".join([*pairs, run[-1]])


# --- identifiers ------------------------------------------------------------------------------


def split(word: str) -> tuple[str, list[str]]:
    """Lower-case joined form of a word, and its parts when it is an identifier.

    getUserName -> getusername, [get, user, name]; get_user -> getuser, [get, user].
    """
    chunks = [chunk for chunk in word.split("_") if chunk]
    parts = [part for chunk in chunks for part in _humps(chunk)]
    joined = _lower("".join(chunks))
    if len(chunks) == 1 and parts == chunks:
        return joined, []
    return joined, [_lower(part) for part in parts]


def _humps(chunk: str) -> list[str]:
    """Parts of two or more characters of a camelCase word; the word itself when it has none, or
    when it is cut so small that it must be a hash, a code or base64.
    """
    if chunk.islower() and chunk.isalpha():
        return [chunk]
    spans = _spans(chunk.translate(_SHAPES))
    count = len(spans)
    if count < 2 or len(chunk) > _LONGEST or len(chunk) < 2 * count:
        return [chunk]
    if count > 3 and 2 * len(chunk) < 5 * count:
        return [chunk]
    return [chunk[start:end] for start, end in spans if end - start > 1]


def _spans(shape: str) -> list[tuple[int, int]]:
    """HTTPServer2 -> HTTP, Server, 2: runs of one shape, a last capital going to what follows."""
    spans: list[tuple[int, int]] = []
    start, before = 0, ""
    for kind, run in groupby(shape):
        end = start + len(list(run))
        if kind == "a" and before == "A":
            capitals = spans.pop()[0]
            if capitals < start - 1:
                spans.append((capitals, start - 1))
            spans.append((start - 1, end))
        else:
            spans.append((start, end))
        start, before = end, kind
    return spans


class _Shapes(dict[int, str]):
    """Code point -> A for a capital, 0 for a digit, a for all else; for `str.translate`."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        digit_or_letter = "0" if character.isdecimal() else "a"
        self[point] = shape = "A" if character.isupper() else digit_or_letter
        return shape


_SHAPES = _Shapes()
