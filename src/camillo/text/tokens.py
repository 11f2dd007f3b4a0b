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

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, groupby, pairwise, repeat
from struct import Struct
from unicodedata import decimal, is_normalized, normalize

from camillo.records import NamedTuple
from camillo.text.characters import extent, is_run, words_of
from camillo.text.stems import LATIN_STEMMERS, stem
from camillo.text.stopwords import FUNCTION_CHARACTERS, is_stop, language_of, stop_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

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

_LONGEST = 64
_LANGUAGE_SAMPLE = 128
_PART_WEIGHT = 0.5
_CHARACTER_WEIGHT = 0.3
# The characters that mean something alone: Han and hangul syllables lie above nearly all else
# that is indexed by character (kana, Thai and its neighbours, jamo).
_IDEOGRAPH_OR_SYLLABLE = "\u3400"
_UNSPACED_FROM = "\u0e01"  # the first character of a script without spaces, Thai
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
    words = words_of(text)
    return " ".join(filter(None, map(_table(text, words).__getitem__, words)))


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


def term_counts(text: str, terms: tuple[Term, ...]) -> tuple[list[int], int]:
    """How often each term is in a text (its most frequent form), and `word_count(text)`.

    The counts are those in `tokenise(text)`, found without making that list.
    """
    return term_counts_of_all([text], terms)[0]


def term_counts_of_all(
    texts: Sequence[str], terms: tuple[Term, ...]
) -> list[tuple[list[int], int]]:
    """`term_counts` of each text; many at once cost less than one after the other."""
    parted = [_Parted(text, words_of(text)) for text in texts]
    tables = {each.language: _counts(terms, _TOKENS[each.language]) for each in parted}
    for language, counts in tables.items():
        counts.judge([each.words for each in parted if each.language == language])
    return [(tables[each.language].of_terms(each), each.length) for each in parted]


def may_hold(text: str, terms: tuple[Term, ...]) -> list[bool]:
    """Which terms any line of a text may hold: False is certain, and cheaper than to count.

    Certain where every line must be read as English, since no word is grammar elsewhere alone.
    """
    beginnings = _counts(terms, _TOKENS["en"]).beginnings_of_terms
    lower = text.lower()
    lower += lower.replace("_", "") if "_" in lower else ""
    possible = [any(map(lower.__contains__, begun)) for begun in beginnings]
    if all(possible) or (text.isascii() and not any(map(_FOREIGN.__getitem__, words_of(text)))):
        return possible
    return [True] * len(terms)


def word_count(text: str) -> int:
    """How long a text is: its words, each character of a run without spaces being one."""
    words = words_of(text)
    return len(words) if text.isascii() else sum(map(extent, words))


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
        if _is_one_word(normal):
            return self._word(normal)
        if len(word) == 1 and word == normal and not word.isalnum():
            return word  # a symbol
        return " ".join(filter(None, map(self._piece, _pieces(normal))))

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


class _Foreign(dict[str, bool]):
    """Word -> is it grammar, though not in English? Filled on demand."""

    def __missing__(self, word: str) -> bool:
        if len(self) >= _COUNTED_WORDS:
            self.clear()
        self[word] = foreign = is_stop(word) and word not in stop_words("en")
        return foreign


_FOREIGN = _Foreign()


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


def _is_one_word(word: str) -> bool:
    """Whether a normalised word is letters and digits of scripts with spaces, and nothing else."""
    return word.isalnum() and max(word) < _UNSPACED_FROM


def _pieces(word: str) -> Iterator[re.Match[str]]:
    """Matches of `patterns.piece` in a normalised word."""
    from camillo.text.patterns import piece, unseen

    return piece().finditer(normalize("NFKC", unseen().sub("", word)))


def _is_plain_run(word: str) -> bool:
    """Whether a word can be indexed by its characters as it stands."""
    return is_run(word) and is_normalized("NFKC", word)


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


def _without_clitics(query: str) -> str:
    if "'" not in query and "’" not in query:
        return query
    from camillo.text.patterns import clitics

    return clitics().sub(" ", query)


# --- queries ----------------------------------------------------------------------------------


def _query_words(query: str) -> list[tuple[Term, bool]]:
    """Every term of a query in order, and whether it is grammar rather than content."""
    words = words_of(query)
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
    normal = word if word.isascii() else normalize("NFKC", word)
    if word.isascii() or _is_one_word(normal):
        yield from _word_terms(normal, table)
        return
    for piece in _pieces(normal):
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


class _Parted:
    """A text as what is counted in it: its words, the joined runs without spaces, its length."""

    __slots__ = ("language", "length", "runs", "words")

    def __init__(self, text: str, words: list[str]) -> None:
        self.language = _table(text, words).language
        self.words = words
        self.runs = ""
        if text.isascii():
            self.length = len(words)
            return
        self.length = sum(map(extent, words))
        runs = list(filter(is_run, words))
        if runs:
            if not is_normalized("NFKC", " ".join(runs)):
                runs = [run for run in runs if is_normalized("NFKC", run)]
            counted = set(runs)
            self.words = [word for word in words if word not in counted]
            self.runs = " ".join(runs)


class _Counts:
    """How often each form of a query is among the tokens of words, for one language.

    The counts of a word are one integer, 32 bits for each form: the sum over the words of a text
    is the answer for all forms at once. Only words that hold a form are kept, and of others no
    tokens are made where their letters alone show that they hold none.
    """

    def __init__(self, terms: tuple[Term, ...], tokens: _Tokens) -> None:
        self.tokens = tokens
        forms = list(dict.fromkeys(form for term in terms for form in term.forms))
        lanes = {form: lane for lane, form in enumerate(forms)}
        # The last lane stays empty: it is the count of a term without forms.
        self.lanes_of_terms = [[lanes[form] for form in term.forms] or [-1] for term in terms]
        self.units = {form: 1 << _LANE_BITS * lane for form, lane in lanes.items()}
        self.grams = [form for form in forms if len(form) < 3 and _is_plain_run(form)]
        self.beginnings = tuple({_beginning(form) for form in forms if form.isascii()})
        # Of a form that is not ASCII nothing is said: "" begins every word.
        self.beginnings_of_terms = [
            {_beginning(form) if form.isascii() else "" for form in term.forms} for term in terms
        ]
        self.layout = Struct(f"<{len(forms) + 1}I")
        self.held: dict[str, int] = {}
        self.judged: set[str] = set()
        self.unpacked = {0: [0] * len(terms)}  # most texts hold what others hold as well

    def of_terms(self, text: _Parted) -> list[int]:
        held = self.held
        total = sum(map(held.__getitem__, filter(held.__contains__, text.words)))
        if text.runs:
            units = self.units
            total += sum([_occurrences(gram, text.runs) * units[gram] for gram in self.grams])
        counts = self.unpacked.get(total)
        if counts is None:
            lanes = self.layout.unpack(total.to_bytes(self.layout.size, "little"))
            counts = [max([lanes[lane] for lane in term]) for term in self.lanes_of_terms]
            self.unpacked[total] = counts
        return counts.copy()

    def judge(self, texts: Iterable[Iterable[str]]) -> None:
        """Find out about the words of texts; afterwards `held` says what each of them holds."""
        if len(self.judged) > _COUNTED_WORDS:
            self.judged.clear()
            self.held.clear()
            self.unpacked = {0: self.unpacked[0]}
        fresh = set().union(*texts)
        if self.judged:
            fresh = fresh - self.judged
        units = self.units
        for word, tokens in self._possible(fresh):
            if not units.keys().isdisjoint(tokens):
                self.held[word] = sum([units.get(token, 0) for token in tokens])
        self.judged |= fresh

    def _possible(self, words: set[str]) -> Iterator[tuple[str, list[str]]]:
        """The words that may hold a form, with their tokens: all, or as many as matter."""
        if self.tokens.language == "en":
            plain = words if "".join(words).isascii() else set(filter(str.isascii, words))
            for word in _that_begin(plain, self.beginnings):
                yield word, self._tokens_that_matter(word)
            words = words - plain
        for word in words:
            yield word, self.tokens[word].split(" ")

    def _tokens_that_matter(self, word: str) -> list[str]:
        """The tokens of an ASCII word, perhaps without those of parts that cannot hold a form."""
        if word in self.tokens or (word.islower() and word.isalpha()):
            return self.tokens[word].split(" ")
        joined, parts = _split(word)
        if not parts:
            return self.tokens.part(joined).split(" ")
        found = [_fold(joined)]
        for part in parts:
            if part.startswith(self.beginnings):
                found += self.tokens.part(part).split(" ")
        return found


def _beginning(form: str) -> str:
    """What a word must begin with, or a part of it, to have this form as itself or as its stem.

    The English stemmer changes at most the last letter of what it leaves of a word, but for the
    likes of dying, which becomes `die`.
    """
    if len(form) == 3 and form.endswith("ie"):
        return form[0]
    return form[: max(1, len(form) - 1)][:_LONGEST_BEGINNING]


def _that_begin(words: set[str], beginnings: tuple[str, ...]) -> set[str]:
    """The ASCII words with one of the beginnings at their own or at that of a part.

    The words are thousands, so they are searched as one text. A part begins with a capital, with a
    digit, or after what is no letter.
    """
    lines = "\n".join(["", *words, ""])
    lower = lines.lower()
    names = [word for word in words if "_" in word]
    joined = "\n".join(names).replace("_", "").lower().split("\n")
    found = set(compress(names, map(str.startswith, joined, repeat(beginnings))))
    for beginning in beginnings:
        at = lower.find(beginning)
        while at >= 0:
            following = at + 1
            if not (lines[at].islower() and lower[at - 1].isalpha()):
                following = lines.find("\n", at)
                found.add(lines[lines.rfind("\n", 0, at) + 1 : following])
            at = lower.find(beginning, following)
    return found


def _occurrences(gram: str, text: str) -> int:
    count = text.count(gram)
    if count and len(gram) == 2 and gram[0] == gram[1]:
        # 哈哈哈 holds 哈哈 twice, which str.count does not see.
        return sum(map(text.startswith, repeat(gram), range(len(text))))
    return count


_LANE_BITS = 32
_LONGEST_BEGINNING = 12
_COUNTS: dict[tuple[str, tuple[Term, ...]], _Counts] = {}


def _counts(terms: tuple[Term, ...], tokens: _Tokens) -> _Counts:
    key = (tokens.language, terms)
    counts = _COUNTS.get(key)
    if counts is None:
        if len(_COUNTS) >= _COUNTED_QUERIES:
            _COUNTS.clear()
        counts = _COUNTS[key] = _Counts(terms, tokens)
    return counts
