"""The SQuAD layout (XQuAD, CMRC 2018 and others) and CMRC's own: paragraphs with questions.

The paragraph that a question belongs to is the relevant one. `p0`, `p1` … number paragraphs in the
order of the file, so that parallel files in several languages agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from camillo.bench.loaders.layout import Asked, first_value, values, word
from camillo.bench.records import Text

__all__ = ["NAME", "read", "recognises"]

NAME = "squad"
_CONV = "all"


def recognises(path: str) -> bool:
    first = first_value(path)
    if not isinstance(first, Mapping):
        return False
    data = first.get("data")
    articles = isinstance(data, list) and bool(data) and "paragraphs" in data[0]
    return articles or ("context_text" in first and "qas" in first)


def read(path: str) -> Iterator[Text | Asked]:
    for number, paragraph in enumerate(_paragraphs(path)):
        id_ = f"p{number}"
        text = word(paragraph.get("context", paragraph.get("context_text")))
        yield Text(id_, _CONV, id_, "", "", text)
        for question in paragraph["qas"]:
            yield Asked(
                id=word(question.get("id", question.get("query_id"))),
                text=word(question.get("question", question.get("query_text"))),
                conv=_CONV,
                relevant_ids=(id_,),
                answer=_answers(question.get("answers") or []),
                category="qa",
            )


def _paragraphs(path: str) -> Iterator[Mapping[str, Any]]:
    for value in values(path):
        if "data" not in value:
            yield value
            continue
        for article in value["data"]:
            yield from article["paragraphs"]


def _answers(answers: list[Any]) -> tuple[str, ...]:
    texts = (each.get("text") if isinstance(each, Mapping) else each for each in answers)
    return tuple(dict.fromkeys(text for text in map(word, texts) if text.strip()))
