"""LongMemEval: a list of questions, each with a haystack of sessions of its own.

Relevant are the turns marked `has_answer`; of an answer session without a mark, its user turns.
A question whose id ends in `_abs` cannot be answered and has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from camillo.bench.loaders.layout import Asked, first_value, values, word, words
from camillo.bench.records import Text

__all__ = ["NAME", "read", "recognises"]

NAME = "longmemeval"


def recognises(path: str) -> bool:
    first = first_value(path)
    return isinstance(first, Mapping) and "haystack_sessions" in first and "question_id" in first


def read(path: str) -> Iterator[Text | Asked]:
    for entry in values(path):
        conv = word(entry["question_id"])
        answering = set(entry.get("answer_session_ids") or [])
        relevant: list[str] = []
        for session, date, turns in _sessions(entry):
            ids = [f"{conv}/{session}:{place}" for place in range(1, len(turns) + 1)]
            for id_, turn in zip(ids, turns, strict=True):
                speaker, text = word(turn.get("role")), word(turn.get("content"))
                yield Text(id_, conv, session, speaker, date, text)
            if session in answering:
                relevant += _relevant(ids, turns)
        yield Asked(
            id=conv,
            text=word(entry["question"]),
            conv=conv,
            relevant_ids=() if conv.endswith("_abs") else tuple(relevant),
            answer=words(entry.get("answer")),
            category=word(entry.get("question_type")),
        )


def _sessions(entry: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """(id, date, turns); one that stands in the haystack twice is taken once."""
    told = entry["haystack_sessions"]
    names = entry.get("haystack_session_ids") or [f"session_{n}" for n in range(1, len(told) + 1)]
    dates = entry.get("haystack_dates") or [""] * len(told)
    seen: set[str] = set()
    for name, date, turns in zip(names, dates, told, strict=True):
        if name not in seen:
            seen.add(name)
            yield word(name), word(date), turns


def _relevant(ids: list[str], turns: list[Any]) -> list[str]:
    marked = [id_ for id_, turn in zip(ids, turns, strict=True) if turn.get("has_answer")]
    users = (id_ for id_, turn in zip(ids, turns, strict=True) if turn.get("role") == "user")
    return marked or list(users)
