"""New note files in the commonplace dialect, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.errors import InvalidValue
from camillo.model import Edge, Memory

FILES = ("serialize.json", "serialize_fuzz.json")

DIALECT = CommonplaceDialect()


@pytest.mark.case("CP01", "CP02", "CP03", "CP05", "CP06", "CP07")
def test_a_new_note_has_the_bytes_that_commonplace_writes(case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(InvalidValue):
            DIALECT.render(_memory(case))
    else:
        made = DIALECT.render(_memory(case))
        assert made == case["text"].encode("utf-8", "surrogatepass")


def test_what_is_written_reads_back(case: dict[str, Any]) -> None:
    memory = _memory(case)
    if "error" in case:
        memory = memory._replace(edges=())
    edges = tuple(dict.fromkeys(memory.edges))
    read = DIALECT.parse(f"{memory.id}.md", DIALECT.render(memory))
    assert read == memory._replace(edges=edges)


def _memory(case: dict[str, Any]) -> Memory:
    fuzzed = {"name": "n", "type": "user", "body": "b", "description": case.get("description")}
    said = case.get("memory", fuzzed)
    edges = [Edge(each["type"], each["to"]) for each in said.get("relations", [])]
    edges += [Edge("supersedes", target) for target in said.get("supersedes", [])]
    return Memory(
        id=said["name"],
        body=said["body"],
        kind=said["type"],
        title=said["name"],
        summary=said["description"],
        edges=tuple(edges),
        pinned=said.get("pinned", False),
    )
