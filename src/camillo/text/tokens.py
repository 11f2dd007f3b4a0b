"""What the word index stores for a text, what it looks for when asked, and how matches count.

A word gives its folded form and its Snowball stem; an identifier also its parts; a run of Han,
kana, hangul, Thai, Lao, Khmer or Myanmar gives every character and every pair of neighbours;
an emoji or other symbol gives itself; punctuation gives nothing.

Format (`TOKENISER_VERSION`): a token has 1 to 64 characters (what is longer is cut there): letters,
digits, combining marks and symbols. Never white space, a control character, a double quote, an
underscore or a lone surrogate. So `token_text`, the tokens joined by single spaces, is what a full
text index stores when it splits at U+0020 and takes all else as it is.

The tokens of a text depend on nothing but the text: an index deletes by making them again.
Which stemmer is asked is left to stems.py, which words are grammar to stopwords.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise, repeat
from struct import Struct
from typing import NamedTuple
from unicodedata import decimal, is_normalized, normalize

from camillo.text.stems import LATIN_STEMMERS, stem
from camillo.text.stopwords import FUNCTION_CHARACTERS, is_stop, language_of

__all__ = [
    "TOKENISER_VERSION",
    "Term",
    "query_terms",
    "term_counts",
    "token_text",
    "tokenise",
]

TOKENISER_VERSION: int = 1

_LONGEST = 64
_LANGUAGE_SAMPLE = 128
_PART_WEIGHT = 0.5
_CHARACTER_WEIGHT = 0.3
# The characters that mean something alone: Han and hangul syllables lie above nearly all else
# that is indexed by character (kana, Thai and its neighbours, jamo).
_IDEOGRAPH_OR_SYLLABLE = "\u3400"
# What is kept for reuse; beyond it a table starts afresh. 200,000 words take about 40 MB.
_CACHED_WORDS = 200_000
_COUNTED_WORDS = 50_000  # for one query
_COUNTED_QUERIES = 16


class Term(NamedTuple):
    """A content word of a query: any of `forms` among the tokens of a text is a match."""

    word: str
    forms: tuple[str, ...]
    weight: float


def tokenise(text: str) -> list[str]:
    """Tokens of a text in reading order; see the head of this file for what they may hold."""
    joined = token_text(text)
    return joined.split(" ") if joined else []


def token_text(text: str) -> str:
    """The tokens of a text joined by single spaces: the form that an index stores."""
    words = _words(text)
    return " ".join(filter(None, map(_table(text, words).__getitem__, words)))


def query_terms(query: str) -> tuple[Term, ...]:
    """Content words of a query in order, none twice; () when it holds nothing but punctuation.

    Stop words are dropped unless nothing else is left. An identifier is one term, its parts are
    further ones of weight 0.5. A run of Han, kana or the like is its pairs of neighbours, and its
    Han and hangul characters with weight 0.3; a run of one character is that character.
    """
    found = _query_words(_clitics().sub(" ", query)) or _query_words(query)
    content = [term for term, grammar in found if not grammar]
    terms: dict[str, Term] = {}
    for term in content or [term for term, _ in found]:
        known = terms.get(term.word)
        if known is None or known.weight < term.weight:
            terms[term.word] = term
    return tuple(terms.values())


def term_counts(text: str, terms: tuple[Term, ...]) -> tuple[list[int], int]:
    """How often each term is in a text (its most frequent form), and `len(tokenise(text))`.

    The counts are those in `tokenise(text)`, found without making that list.
    """
    words = _words(text)
    counts = _counts(terms, _table(text, words))
    total = counts.total(words) if text.isascii() else counts.total_of_any(words)
    lanes = counts.unpack(total)
    return [max([lanes[lane] for lane in term]) for term in counts.lanes_of_terms], lanes[0]


# --- characters -------------------------------------------------------------------------------

# Written without spaces between words: indexed by character. Digits and punctuation of these
# scripts are left out.
_HAN_KANA_HANGUL = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096"
    "\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff"
    "\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)
# Marks that continue a word (general category M), with letters and gaps between them swallowed.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u074a\u07a6-\u07b0"
    "\u07eb-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe"
    "\u0a01-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d"
    "\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18\u0f19\u0f35\u0f37"
    "\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734"
    "\u1752-\u17d3\u17dd\u180b-\u180d\u180f\u18a9\u1920-\u193b\u1a17-\u1a1b\u1a55-\u1a7f"
    "\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0"
    "\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a\ua66f-\ua672\ua674-\ua67d"
    "\ua69e\ua69f\ua6f0\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    "\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea"
    "\uabec\uabed\ufb1e\ufe20-\ufe2f\U00010a01-\U00010a3f\U00011000-\U00011046"
    "\U00011070-\U000110ba\U00011100-\U00011134\U00011180-\U000111c0\U0001122c-\U00011237"
    "\U000112df-\U00011446\U000114b0-\U000114c3\U000115af-\U000115c0\U00011630-\U00011640"
    "\U000116ab-\U000116b7\U0001e130-\U0001e136\U0001e2ec-\U0001e2ef\U0001e8d0-\U0001e94a"
)
# Inside a word without being seen: soft hyphen, joiners, direction marks, variation selectors.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200c-\u200f\u2060-\u2064\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef"
)
_SYMBOLS = (
    "\u00a2-\u00a5\u00a9\u00ae\u00b0\u00b1\u20a0-\u20bf\u2100-\u214f\u2190-\u23ff\u2460-\u24ff"
    "\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2900-\u297f\u2b00-\u2bff\u3004\u3012\u3013"
    "\u3200-\u33ff\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_UNSPACED = _HAN_KANA_HANGUL + _SOUTH_EAST_ASIAN

_WORD_BYTES = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_ASCII_WORD_BYTES = bytes(byte if byte in _WORD_BYTES else 0x20 for byte in range(256))

# Regular expressions are compiled on first use: together they take 4 ms.


@cache
def _clitics() -> re.Pattern[str]:
    """Grammar glued to a word by an apostrophe: Melanie's, don't, l'homme, dell'arte."""
    return re.compile(
        r"(?:\bca|\bwo)?n['’]t\b|(?<=\w)['’](?:s|re|ve|ll|d|m|t)\b"
        r"|\b(?:[dljmnstc]|qu|dell|all|nell|sull|un)['’](?=\w)",
        re.IGNORECASE,
    )


@cache
def _humps_of_ascii() -> re.Pattern[str]:
    """The parts of an identifier: HTTPServer2 -> HTTP, Server, 2."""
    return re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


@cache
def _unicode_word() -> re.Pattern[str]:
    return re.compile(rf"[^\W_][\w{_MARKS}{_UNSEEN}]*|{_FLAG}|[{_SYMBOLS}]")


@cache
def _piece() -> re.Pattern[str]:
    """One normalised word: groups are a run without spaces, a symbol, an ordinary word."""
    other = rf"(?![{_UNSPACED}])"
    return re.compile(
        rf"([{_UNSPACED}]+)|({_FLAG}|[{_SYMBOLS}])"
        rf"|({other}[^\W_](?:{other}[\w{_MARKS}])*)"
    )


@cache
def _unseen() -> re.Pattern[str]:
    return re.compile(f"[{_UNSEEN}]")


@cache
def _unspaced_run() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+")


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


# --- words ------------------------------------------------------------------------------------


class _Tokens(dict[str, str]):
    """Word as it is written -> its tokens joined by spaces, for one language of Latin letters.

    Filled on demand. A value follows from the word alone, so threads may race for it.
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def __missing__(self, word: str) -> str:
        if word.isascii():
            lower = word.isalpha() and word.islower()
            tokens = self.forms(word) if lower else self._word(word)
        elif _is_plain_run(word):
            return _grams(word)
        else:
            tokens = " ".join(filter(None, map(self._piece, _pieces(word))))
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

    def _piece(self, piece: re.Match[str]) -> str:
        run, symbol, word = piece.groups()
        return _grams(run) if run else symbol or self._word(word)

    def _word(self, word: str) -> str:
        joined, parts = _split(word)
        if not parts:
            return self.part(joined)
        return " ".join(filter(None, [_fold(joined), *map(self.part, parts)]))

    def part(self, part: str) -> str:
        """`forms`, from the table where it can be: other texts hold the same part as a word."""
        return self[part] if part.isascii() and part.isalpha() else self.forms(part)

    def _keep(self, word: str, tokens: str) -> None:
        if sum(map(len, _TOKENS.values())) >= _CACHED_WORDS:
            for table in _TOKENS.values():
                table.clear()
        self[word] = tokens


_TOKENS = {language: _Tokens(language) for language in LATIN_STEMMERS}


def _words(text: str) -> list[str]:
    if text.isascii():
        # Twice as fast as a regular expression.
        return text.encode().translate(_ASCII_WORD_BYTES).decode().split()
    return _unicode_word().findall(text)


def _table(text: str, words: list[str]) -> _Tokens:
    # The commonest English word first: it settles most texts without a look at any table.
    if " the " in text:
        return _TOKENS["en"]
    return _table_of(language_of(words[:_LANGUAGE_SAMPLE]))


def _table_of(language: str) -> _Tokens:
    return _TOKENS[language if language in _TOKENS else "en"]


def _fold(word: str) -> str:
    return (word if word.isascii() else word.translate(_FOLD))[:_LONGEST]


def _lower(word: str) -> str:
    return word.lower() if word.isascii() else normalize("NFKC", word.casefold())


def _pieces(word: str) -> Iterator[re.Match[str]]:
    seen = _unseen().sub("", normalize("NFKC", word))
    return _piece().finditer(normalize("NFKC", seen))


def _is_plain_run(word: str) -> bool:
    """Whether a word is nothing but characters to index singly and in pairs, as it stands."""
    return _unspaced_run().fullmatch(word) is not None and is_normalized("NFKC", word)


def _grams(run: str) -> str:
    pairs = [f"{first} {first}{second}" for first, second in pairwise(run)]
    return " ".join([*pairs, run[-1]])


def _split(word: str) -> tuple[str, list[str]]:
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
    shape = chunk if chunk.isascii() else "".join(map(_shape, chunk))
    spans = [found.span() for found in _humps_of_ascii().finditer(shape)]
    count = len(spans)
    if count < 2 or len(chunk) > _LONGEST or len(chunk) < 2 * count:
        return [chunk]
    if count > 3 and 2 * len(chunk) < 5 * count:
        return [chunk]
    return [chunk[start:end] for start, end in spans if end - start > 1]


def _shape(character: str) -> str:
    if character.isupper():
        return "A"
    return "0" if character.isdecimal() else "a"


# --- queries ----------------------------------------------------------------------------------


def _query_words(query: str) -> list[tuple[Term, bool]]:
    """Every term of a query in order, and whether it is grammar rather than content."""
    words = _words(query)
    language = language_of(list(map(str.lower, words[:_LANGUAGE_SAMPLE])))
    table = _table_of(language)
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
    return is_stop(word, language) or is_stop(_fold(word), language)


def _terms_of(word: str, table: _Tokens) -> Iterator[Term]:
    if word.isascii():
        yield from _word_terms(word, table)
        return
    for piece in _pieces(word):
        run, symbol, plain = piece.groups()
        if run:
            yield from _run_terms(run)
        elif symbol:
            yield Term(symbol, (symbol,), 1.0)
        else:
            yield from _word_terms(plain, table)


def _word_terms(word: str, table: _Tokens) -> Iterator[Term]:
    joined, parts = _split(word)
    if not parts:
        yield from _plain_terms(joined, table, 1.0)
        return
    yield Term(joined, (_fold(joined),), 1.0)
    for part in parts:
        yield from _plain_terms(part, table, _PART_WEIGHT)


def _plain_terms(word: str, table: _Tokens, weight: float) -> Iterator[Term]:
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


# --- counting ---------------------------------------------------------------------------------


class _Counts(dict[str, int]):
    """Word as it is written -> how many tokens it gives and how many of each form of a query.

    All in one integer, 32 bits each, the number of tokens lowest: the sum over the words of a
    text is the answer for all forms at once.
    """

    def __init__(self, terms: tuple[Term, ...], tokens: _Tokens) -> None:
        self.tokens = tokens
        forms = list(dict.fromkeys(form for term in terms for form in term.forms))
        lanes = {form: lane for lane, form in enumerate(forms, start=1)}
        # Lane -1, the last one, stays empty: it is the count of a term without forms.
        self.lanes_of_terms = [[lanes[form] for form in term.forms] or [-1] for term in terms]
        self.units = {form: 1 << _LANE_BITS * lane for form, lane in lanes.items()}
        self.grams = [form for form in forms if len(form) < 3 and _is_plain_run(form)]
        self.layout = Struct(f"<{len(forms) + 2}I")

    def __missing__(self, word: str) -> int:
        tokens = self.tokens[word]
        found = tokens.split(" ") if tokens else []
        value = len(found)
        if not self.units.keys().isdisjoint(found):
            value += sum([self.units.get(token, 0) for token in found])
        self[word] = value
        return value

    def total(self, words: Iterable[str]) -> int:
        return sum(map(self.__getitem__, words))

    def total_of_any(self, words: list[str]) -> int:
        """As `total`; runs without spaces are counted together and not one by one, since no two
        of them are alike and each gives many tokens.
        """
        runs = list(filter(_unspaced_run().fullmatch, words))
        if not is_normalized("NFKC", " ".join(runs)):
            runs = list(filter(_is_plain_run, runs))
        if not runs:
            return self.total(words)
        plain = set(runs)
        return self._total_of_runs(runs) + self.total([w for w in words if w not in plain])

    def _total_of_runs(self, runs: list[str]) -> int:
        joined = " ".join(runs)
        # n characters give n tokens and n - 1 pairs; of joined, len(runs) - 1 are spaces.
        tokens = 2 * len(joined) - 3 * len(runs) + 2
        return tokens + sum([_occurrences(gram, joined) * self.units[gram] for gram in self.grams])

    def unpack(self, total: int) -> tuple[int, ...]:
        """The number of tokens, the number of each form, and a zero."""
        return self.layout.unpack(total.to_bytes(self.layout.size, "little"))


def _occurrences(gram: str, text: str) -> int:
    count = text.count(gram)
    if count and len(gram) == 2 and gram[0] == gram[1]:
        # 哈哈哈 holds 哈哈 twice, which str.count does not see.
        return sum(map(text.startswith, repeat(gram), range(len(text))))
    return count


_LANE_BITS = 32
_COUNTS: dict[tuple[str, tuple[Term, ...]], _Counts] = {}


def _counts(terms: tuple[Term, ...], tokens: _Tokens) -> _Counts:
    key = (tokens.language, terms)
    counts = _COUNTS.get(key)
    if counts is None:
        if len(_COUNTS) >= _COUNTED_QUERIES:
            _COUNTS.clear()
        counts = _COUNTS[key] = _Counts(terms, tokens)
    if len(counts) > _COUNTED_WORDS:
        counts.clear()
    return counts
