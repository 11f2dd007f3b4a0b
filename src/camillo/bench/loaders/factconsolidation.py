"""FactConsolidation (MemoryAgentBench's conflict resolution): numbered facts, later ones overrule.

The set has answers and no evidence. For single-hop questions evidence is derived here: of the facts
that hold an answer, the one that shares the rarest words with the question, the newest of equals.
Multi-hop questions stay unlabelled; `answer@20` counts them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from camillo.bench.loaders.layout import Asked, first_value, values, word, words
from camillo.bench.records import Text

__all__ = ["NAME", "read", "recognises"]

NAME = "factconsolidation"
_FACT = re.compile(r"(?m)^(\d+)\. (.+)$")
_WORD = re.compile(r"\w+")


def recognises(path: str) -> bool:
    first = first_value(path)
    if not isinstance(first, Mapping) or not {"context", "questions", "answers"} <= first.keys():
        return False
    return len(_FACT.findall(word(first["context"])[:2000])) > 1


def read(path: str) -> Iterator[Text | Asked]:
    told: set[str] = set()
    for number, row in enumerate(values(path)):
        source = word((row.get("metadata") or {}).get("source")) or f"row_{number}"
        conv = source.rpartition("_")[2]
        facts = _FACT.findall(row["context"])
        if conv not in told:
            told.add(conv)
            yield from (_fact(conv, place, text) for place, text in facts)
        yield from _asked(source, conv, row, facts)


def _fact(conv: str, place: str, text: str) -> Text:
    return Text(f"{conv}/{place}", conv, conv, "", f"{int(place):06}", text)


def _asked(
    source: str, conv: str, row: Mapping[str, Any], facts: Sequence[tuple[str, str]]
) -> Iterator[Asked]:
    single = "_sh_" in source
    rarity = _rarity(facts)
    for number, (question, answers) in enumerate(
        zip(row["questions"], row["answers"], strict=True)
    ):
        answer = words(answers)
        relevant = _evidence(question, answer, facts, rarity) if single else ()
        yield Asked(
            id=f"{source}/q{number}",
            text=word(question),
            conv=conv,
            relevant_ids=tuple(f"{conv}/{place}" for place in relevant),
            answer=answer,
            category="single-hop" if single else "multi-hop",
        )


def _rarity(facts: Sequence[tuple[str, str]]) -> dict[str, float]:
    counts = Counter(each for _, text in facts for each in _words(text))
    return {each: math.log(len(facts) / count) for each, count in counts.items()}


def _evidence(
    question: str,
    answers: Sequence[str],
    facts: Sequence[tuple[str, str]],
    rarity: Mapping[str, float],
) -> tuple[str, ...]:
    asked = _words(question)
    best, found = 0.0, ""
    for place, text in facts:
        if any(answer.casefold() in text.casefold() for answer in answers):
            shared = sum(sorted(rarity[each] for each in asked & _words(text)))
            if shared >= best and shared > 0:
                best, found = shared, place
    return (found,) if found else ()


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
