"""LoCoMo: a list of conversations with numbered sessions of turns, and questions with `evidence`.

Categories are named as the paper names them. Evidence strings that hold several ids, or one with a
slip, are taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from camillo.bench.loaders.layout import Asked, first_value, values, word, words
from camillo.bench.records import Text

__all__ = ["NAME", "evidence_ids", "read", "recognises", "sessions"]

NAME = "locomo"
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")


def recognises(path: str) -> bool:
    first = first_value(path)
    return isinstance(first, Mapping) and "conversation" in first and "qa" in first


def read(path: str) -> Iterator[Text | Asked]:
    for number, sample in enumerate(values(path)):
        conv = word(sample.get("sample_id")) or f"conv-{number}"
        told = sample["conversation"]
        for session, turns in sessions(told):
            for turn in turns:
                yield Text(
                    id=f"{conv}/{turn['dia_id']}",
                    conv=conv,
                    session=session,
                    speaker=word(turn.get("speaker")),
                    time=word(told.get(f"{session}_date_time")),
                    text=word(turn.get("text")),
                    caption=word(turn.get("blip_caption")),
                )
        for place, question in enumerate(sample["qa"]):
            yield Asked(
                id=f"{conv}/q{place}",
                text=word(question["question"]),
                conv=conv,
                relevant_ids=evidence_ids(conv, question.get("evidence") or []),
                answer=words(question.get("answer", question.get("adversarial_answer"))),
                category=_CATEGORIES.get(question.get("category"), ""),
            )


def sessions(told: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """The sessions in the order of their numbers."""
    found = {int(m[1]): m[0] for key in told if (m := _SESSION.fullmatch(key))}
    return ((name, told[name]) for _, name in sorted(found.items()))


def evidence_ids(conv: str, evidence: Sequence[Any]) -> tuple[str, ...]:
    """`["D8:6; D9:17", "D:11:26"]` names D8:6, D9:17 and D11:26."""
    found = (match for each in evidence for match in _EVIDENCE.findall(word(each)))
    return tuple(dict.fromkeys(f"{conv}/D{session}:{turn}" for session, turn in found))
