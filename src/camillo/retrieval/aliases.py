"""Stage `aliases`: what a question calls by its name is meant.

A name is a memory's title or one of its aliases; it counts when all of its words follow each other
in the question, in their folded form or in their stems, and not when parts of it do. A word that no
passage holds may be a slip of the pen for a word of a name. A memory that is named becomes a
candidate even when nothing nominated it, is lifted, and is one to be confident of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camillo.model import Key
from camillo.retrieval.candidate import Candidate, Context, Query, Via
from camillo.retrieval.keyword import count_words, keyword_score
from camillo.retrieval.unnominated import candidates_of
from camillo.text.question import question_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from camillo.retrieval.candidate import SearchRoot
    from camillo.text.phrases import Word

__all__ = ["LIFT", "SLIP", "aliases"]

LIFT = 0.40  # of what the score of a memory that is named lacks to 1
SLIP = 0.20  # the same where a word of its name is misspelled

_LONGEST = 2_000  # characters of a prompt; of a longer one only its question can name something
_COMMON = 0.01  # share of the passages above which a word alone is nobody's title …
_FEW = 10  # … where it stands in more than so many


def aliases(query: Query, candidates: list[Candidate], context: Context) -> list[Candidate]:
    roots = [each for each in enumerate(context.roots) if not each[1].aliases.empty()]
    if not roots:
        return candidates
    lines = _lines(query.text)
    known = {(each.root, each.key): each for each in candidates}
    for number, root in roots:
        named = _named(lines, root)
        meant = {key: _meant(key, query, context) for key in named}
        unread = [key for key in dict.fromkeys(meant.values()) if (number, key) not in known]
        known.update(((number, each.key), each) for each in _fresh(unread, number, query, context))
        for key, most in named.items():
            candidate = known.get((number, meant[key]))
            if candidate is not None and "alias" not in candidate.signals:
                _lift(candidate, most, context)
                if key != candidate.key and candidate.via is None:
                    candidate.via = Via("supersedes", key)
    return list(known.values())


def _meant(key: Key, query: Query, context: Context) -> Key:
    """Who calls what was replaced by its name is told what replaced it."""
    return key if query.include_superseded else context.superseded.get(key, key)


def _lift(candidate: Candidate, most: float, context: Context) -> None:
    """Its names count as a text of its own, where they say more than what it has."""
    score = max(candidate.score, _by_name(candidate, context))
    added = score + most * (1.0 - score) - candidate.score
    candidate.score += added
    candidate.signals["alias"] = candidate.parts["alias"] = added
    candidate.confident = True


def _by_name(candidate: Candidate, context: Context) -> float:
    """What it would score by what it is called and how near it is."""
    memory = candidate.memory
    [counts] = count_words(["\n".join((memory.title, *memory.aliases))], context)
    words, scale = keyword_score(counts, context), context.scales.get(candidate.root)
    return words if scale is None else scale.score(words, candidate.signals.get("vector"))


def _fresh(keys: Sequence[Key], number: int, query: Query, context: Context) -> list[Candidate]:
    """Candidates of what nothing nominated."""
    held = context.held(number, keys) if keys else []
    memories = [each for each in held if each is not None and query.filter.admits(each)]
    return candidates_of(memories, number, context)


# --- which names a question holds ---------------------------------------------------------------


class _Line:
    """The words of a question in one of the forms that names are compared in. With a `place`, only
    names that hold the word there count."""

    def __init__(
        self, forms: Sequence[str], words: Sequence[Word], place: int | None = None
    ) -> None:
        self.forms = forms
        self.place = place
        self._edges = {at for at, word in enumerate(words) if word.first} | {len(words)}

    def heads(self) -> Iterator[tuple[str, int]]:
        """What a name in here may begin with, and where."""
        for at, form in enumerate(self.forms):
            yield form, at
            if at + 1 < len(self.forms):
                yield f"{form} {self.forms[at + 1]}", at

    def holds(self, phrase: str, at: int) -> bool:
        """Does the phrase stand there, and not just in the middle of an identifier?"""
        words = phrase.split(" ")
        end = at + len(words)
        if self.place is not None and not at <= self.place < end:
            return False
        return {at, end} <= self._edges and list(self.forms[at:end]) == words


def _lines(text: str) -> list[list[Word]]:
    from camillo.text.phrases import readings

    return readings(text if len(text) <= _LONGEST else question_of(text))


def _named(readings: Sequence[Sequence[Word]], root: SearchRoot) -> dict[Key, float]:
    """The memories that are named, each with what it is lifted by."""
    spelled = [line for words in readings for line in _forms(words)]
    found = dict.fromkeys(_in(spelled, root), LIFT)
    slips = [line for words in readings for line in _slips(words, root)]
    for key in _in(slips, root) if slips else ():
        found.setdefault(key, SLIP)
    return found


def _in(lines: Sequence[_Line], root: SearchRoot) -> Iterator[Key]:
    """The memories of which a name is in one of these lines."""
    places: dict[str, list[tuple[_Line, int]]] = {}
    for line in lines:
        for head, at in line.heads():
            places.setdefault(head, []).append((line, at))
    for phrase, key, titled in root.aliases.begun(places):
        head = " ".join(phrase.split(" ", 2)[:2])
        there = any(line.holds(phrase, at) for line, at in places.get(head, ()))
        if there and (not titled or " " in phrase or _is_rare(phrase, root)):
            yield key


def _forms(words: Sequence[Word]) -> Iterator[_Line]:
    loud = len(words) > 1 and all(word.written.isupper() for word in words)
    lines = list(zip(*(word.forms for word in words), strict=True))
    for forms in dict.fromkeys(lines[:2] if loud else lines):  # where all is in capitals, none tell
        yield _Line(forms, words)


def _slips(words: Sequence[Word], root: SearchRoot) -> Iterator[_Line]:
    """The same with a word that nobody wrote replaced by one of a name that is near it."""
    from camillo.text.phrases import begins, readings

    asked = {word.folded: word for word in words if begins(word.folded)}
    counts = root.words.df([form for word in asked.values() for form in word.forms[:2]])
    for at, word in enumerate(words):
        if word.folded not in asked or any(counts.get(form) for form in word.forms[:2]):
            continue
        for name in root.aliases.near(word.folded):
            [meant] = readings(name)[0]
            changed = [*words[:at], meant, *words[at + 1 :]]
            for forms in dict.fromkeys(zip(*(each.forms[:2] for each in changed), strict=True)):
                yield _Line(forms, words, at)


def _is_rare(word: str, root: SearchRoot) -> bool:
    """Is a title of one word a name? Not where the word stands everywhere."""
    return root.words.df([word]).get(word, 0) <= max(_FEW, _COMMON * root.words.size()[0])
