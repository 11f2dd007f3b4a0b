"""Does a search know when it has no answer? Questions of one haystack asked of the others.

A search is silent when it is confident of none of its results. What is asked elsewhere should find
it silent, as it is (A) and with the names of the haystack's own people put into it (B), which is
much harder: the names stand everywhere there. What is asked at home should not. How confident a
result is, is the pipeline's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from camillo.bench.metrics import Mean, mean
from camillo.bench.records import Text

__all__ = ["Silence", "participants", "renamed"]


@dataclass(slots=True)
class Silence:
    """What was found: of each question asked elsewhere 1 for silence, of each at home 1 for an
    answer."""

    asked: list[float] = field(default_factory=list)
    asked_by_name: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)

    def means(self) -> dict[str, Mean]:
        """`A`, `B` and `kept`, each with its 95% interval."""
        return {
            "A": mean(self.asked),
            "B": mean(self.asked_by_name),
            "kept": mean(self.answered),
        }


def participants(texts: Iterable[Text]) -> list[str]:
    """Who speaks in a haystack, in the order of their first words."""
    return list(dict.fromkeys(text.speaker for text in texts if text.speaker))


def renamed(question: str, own: Sequence[str], others: Sequence[str]) -> str:
    """A question with the people of another haystack in place of its own, the first for the first;
    where that one has fewer, they take turns. Of a name of several words the first counts too."""
    if not own or not others:
        return question
    pairs = {name: others[n % len(others)] for n, name in enumerate(own)}
    firsts = {_first(name): _first(other) for name, other in pairs.items()}
    return _replaced(question, {**firsts, **pairs})


def _replaced(text: str, pairs: Mapping[str, str]) -> str:
    longest = sorted(pairs, key=len, reverse=True)
    pattern = "|".join(_bounded(name) for name in longest)
    return re.sub(pattern, lambda found: pairs[found[0]], text)


def _bounded(name: str) -> str:
    """Not inside another word; where words have no spaces between them that cannot be told."""
    return rf"\b{re.escape(name)}\b" if name.isascii() else re.escape(name)


def _first(name: str) -> str:
    return name.split()[0]
