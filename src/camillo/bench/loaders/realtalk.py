"""REALTALK: a file for each chat, with sessions of messages as people wrote them.

A message's session is the list that holds it: the number in its id is another one. Evidence of a
question is read as in LoCoMo.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from camillo.bench.loaders.layout import Asked, first_value, values, word, words
from camillo.bench.loaders.locomo import evidence_ids, sessions
from camillo.bench.records import Text

__all__ = ["NAME", "read", "recognises"]

NAME = "realtalk"
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}


def recognises(path: str) -> bool:
    return bool(_chats(path))


def read(path: str) -> Iterator[Text | Asked]:
    for chat_path in _chats(path):
        conv = os.path.splitext(os.path.basename(chat_path))[0]
        (chat,) = values(chat_path)
        for session, messages in sessions(chat):
            for message in messages:
                yield Text(
                    id=f"{conv}/{message['dia_id']}",
                    conv=conv,
                    session=session,
                    speaker=word(message.get("speaker")),
                    time=word(message.get("date_time") or chat.get(f"{session}_date_time")),
                    text=word(message.get("clean_text")),
                    caption=word(message.get("blip_caption")),
                )
        for place, question in enumerate(chat.get("qa") or []):
            yield Asked(
                id=f"{conv}/q{place}",
                text=word(question["question"]),
                conv=conv,
                relevant_ids=evidence_ids(conv, question.get("evidence") or []),
                answer=words(question.get("answer")),
                category=_CATEGORIES.get(question.get("category"), ""),
            )


def _chats(path: str) -> list[str]:
    names = sorted(os.listdir(path)) if os.path.isdir(path) else []
    paths = [os.path.join(path, name) for name in names if name.endswith(".json")]
    return [each for each in paths or [path] if not os.path.isdir(each) and _is_chat(each)]


def _is_chat(path: str) -> bool:
    chat = first_value(path)
    if not isinstance(chat, Mapping):
        return False
    first = next((messages for _, messages in sessions(chat)), None)
    return bool(first) and isinstance(first, list) and "clean_text" in first[0]
