"""PrecisionMemBench: a folder with beliefs and retrieval cases, each a JSON list.

Relevant are the beliefs that a case wants in its relevant tier. What else it asserts (other tiers,
scopes, exclusions) is more than a ranking can show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from camillo.bench.loaders.layout import Asked, file_like, values, word
from camillo.bench.records import Text

__all__ = ["NAME", "read", "recognises"]

NAME = "precisionmembench"
_CONV = "all"


def recognises(path: str) -> bool:
    return _beliefs(path) is not None and _cases(path) is not None


def read(path: str) -> Iterator[Text | Asked]:
    for belief in values(_beliefs(path) or path):
        yield Text(
            id=word(belief["_id"]),
            conv=_CONV,
            session=word(next(iter(belief.get("scope") or []), "")),
            speaker=word(belief.get("user_id")),
            time=word(belief.get("created_at")),
            text=word(belief["content"]),
        )
    for case in values(_cases(path) or path):
        yield Asked(
            id=word(case["caseId"]),
            text=word(case["query"]),
            conv=_CONV,
            relevant_ids=_wanted(case["expect"]),
            category=word(case.get("category")),
        )


def _wanted(expect: Mapping[str, Any]) -> tuple[str, ...]:
    tier = expect.get("relevantBeliefs") or {}
    listed = [*(tier.get("shouldOnlyInclude") or []), *(tier.get("mustInclude") or [])]
    return tuple(dict.fromkeys(map(word, listed)))


def _beliefs(path: str) -> str | None:
    return file_like(path, "_id", "content", "canonical_name")


def _cases(path: str) -> str | None:
    return file_like(path, "caseId", "query", "expect")
