"""BEIR: a folder with `corpus.jsonl`, `queries.jsonl` and judgements under `qrels/`.

A text is its title and its body. Only queries with a judgement are taken, from test.tsv where it is
there, else from the first file; what is judged above 0 is relevant.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping

from camillo.bench.loaders.layout import Asked, first_value, values, word
from camillo.bench.records import Text
from camillo.errors import InvalidValue

__all__ = ["NAME", "read", "recognises"]

NAME = "beir"


def recognises(path: str) -> bool:
    paths = [os.path.join(path, name) for name in ("corpus.jsonl", "queries.jsonl")]
    return _judgements(path) is not None and all(
        os.path.isfile(each) and "_id" in (first_value(each) or {}) for each in paths
    )


def read(path: str) -> Iterator[Text | Asked]:
    for document in values(os.path.join(path, "corpus.jsonl")):
        title, body = word(document.get("title")), word(document.get("text"))
        text = f"{title}\n{body}" if title else body
        yield Text(word(document["_id"]), "", "", "", "", text)
    judgements = _judgements(path)
    assert judgements is not None
    relevant = _relevant(judgements)
    for query in values(os.path.join(path, "queries.jsonl")):
        id_ = word(query["_id"])
        if id_ in relevant:
            yield Asked(id_, word(query["text"]), "", tuple(relevant[id_]))


def _judgements(path: str) -> str | None:
    folder = os.path.join(path, "qrels")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    tables = [name for name in names if name.endswith(".tsv")]
    name = "test.tsv" if "test.tsv" in tables else next(iter(tables), None)
    return os.path.join(folder, name) if name else None


def _relevant(path: str) -> Mapping[str, list[str]]:
    """Query id -> relevant document ids; a query that has been judged has a row, even if empty."""
    found: dict[str, list[str]] = {}
    with open(path, encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
            if not row or (number == 1 and not _is_number(row[-1])):
                continue  # the head
            if len(row) not in (3, 4) or not _is_number(row[-1]):
                raise InvalidValue(f"{path}, line {number}: expected query, document and score")
            documents = found.setdefault(row[0], [])
            if float(row[-1]) > 0:
                documents.append(row[-2])
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
