"""How often the terms of a query are among the tokens of texts, without making those tokens.

A query's counts are kept while it is asked: what one text taught about a word holds for the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, repeat
from struct import Struct
from unicodedata import is_normalized

from camillo.text.characters import extent, is_run, words_of
from camillo.text.stopwords import is_stop, stop_words
from camillo.text.terms import Term
from camillo.text.word_tokens import TABLES, WordTokens, fold, is_plain_run, split, table_of_text

__all__ = ["may_hold", "term_counts", "term_counts_of_all"]

# What is kept for reuse; beyond it a table starts afresh.
_COUNTED_WORDS = 50_000  # for one query
_COUNTED_QUERIES = 16


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
    tables = {each.language: _counts(terms, TABLES[each.language]) for each in parted}
    for language, counts in tables.items():
        counts.judge([each.words for each in parted if each.language == language])
    return [(tables[each.language].of_terms(each), each.length) for each in parted]


def may_hold(text: str, terms: tuple[Term, ...]) -> list[bool]:
    """Which terms any line of a text may hold: False is certain, and cheaper than to count.

    Certain where every line must be read as English, since no word is grammar elsewhere alone.
    """
    beginnings = _counts(terms, TABLES["en"]).beginnings_of_terms
    lower = text.lower()
    lower += lower.replace("_", "") if "_" in lower else ""
    possible = [any(map(lower.__contains__, begun)) for begun in beginnings]
    if all(possible) or (text.isascii() and not any(map(_FOREIGN.__getitem__, words_of(text)))):
        return possible
    return [True] * len(terms)


class _Foreign(dict[str, bool]):
    """Word -> is it grammar, though not in English? Filled on demand."""

    def __missing__(self, word: str) -> bool:
        if len(self) >= _COUNTED_WORDS:
            self.clear()
        self[word] = foreign = is_stop(word) and word not in stop_words("en")
        return foreign


_FOREIGN = _Foreign()


class _Parted:
    """A text as what is counted in it: its words, the joined runs without spaces, its length."""

    __slots__ = ("language", "length", "runs", "words")

    def __init__(self, text: str, words: list[str]) -> None:
        self.language = table_of_text(text, words).language
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

    def __init__(self, terms: tuple[Term, ...], tokens: WordTokens) -> None:
        self.tokens = tokens
        forms = list(dict.fromkeys(form for term in terms for form in term.forms))
        lanes = {form: lane for lane, form in enumerate(forms)}
        # The last lane stays empty: it is the count of a term without forms.
        self.lanes_of_terms = [[lanes[form] for form in term.forms] or [-1] for term in terms]
        self.units = {form: 1 << _LANE_BITS * lane for form, lane in lanes.items()}
        self.grams = [form for form in forms if len(form) < 3 and is_plain_run(form)]
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
        joined, parts = split(word)
        if not parts:
            return self.tokens.part(joined).split(" ")
        found = [fold(joined)]
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


def _counts(terms: tuple[Term, ...], tokens: WordTokens) -> _Counts:
    key = (tokens.language, terms)
    counts = _COUNTS.get(key)
    if counts is None:
        if len(_COUNTS) >= _COUNTED_QUERIES:
            _COUNTS.clear()
        counts = _COUNTS[key] = _Counts(terms, tokens)
    return counts
