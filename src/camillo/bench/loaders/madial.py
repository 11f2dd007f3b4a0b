"""MADial-Bench: a folder with a file of memories and one of dialogues, both JSON lines.

What is asked is the dialogue before its first test turn, without names and quotes: the memories
that someone would be reminded of there are relevant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from camillo.bench.loaders.layout import Asked, file_like, first_value, json_files, values, word
from camillo.bench.records import Text

__all__ = ["NAME", "read", "recognises"]

NAME = "madial"
_CONV = "all"
_SPOKEN = re.compile(r"""^\s*(?:<[^<>]*>\s*[:：]?)?\s*["“]?(.*?)["”]?\s*$""", re.DOTALL)


def recognises(path: str) -> bool:
    return _memories(path) is not None and _dialogues(path) is not None


def read(path: str) -> Iterator[Text | Asked]:
    for line in values(_memories(path) or path):
        for id_, told in line.items():
            yield Text(
                id=id_,
                conv=_CONV,
                session=word(told.get("scene")),
                speaker="",
                time=word(told.get("time")),
                text=word(told["event"]),
            )
    for number, dialogue in enumerate(values(_dialogues(path) or path)):
        yield Asked(
            id=f"d{number}",
            text=_before(dialogue["dialogue"], dialogue["test-turn"]),
            conv=_CONV,
            relevant_ids=tuple(map(word, dialogue["relevant-id"])),
            category="proactive",
        )


def _memories(path: str) -> str | None:
    for each in json_files(path):
        line = first_value(each)
        told = next(iter(line.values()), None) if isinstance(line, Mapping) else None
        if isinstance(told, Mapping) and "event" in told:
            return each
    return None


def _dialogues(path: str) -> str | None:
    return file_like(path, "dialogue", "relevant-id", "test-turn")


def _before(turns: Sequence[str], tests: Sequence[int] | int) -> str:
    first = min(tests) if isinstance(tests, list) else int(tests)  # type: ignore[arg-type]
    spoken = (_SPOKEN.sub(r"\1", turn) for turn in turns[:first])
    return " ".join(text for text in spoken if text)
