"""Notes as commonplace writes them, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest

from camillo.text.frontmatter import read
from camillo.text.yaml_write import KEY_ORDER, frontmatter_text

FILES = ("serialize.json", "serialize_fuzz.json")


def test_a_note_has_the_bytes_that_commonplace_writes(case: dict[str, Any]) -> None:
    fields, body = _note(case)
    assert frontmatter_text(fields) + body == case["text"]


def test_a_note_that_commonplace_wrote_reads_back_as_what_it_was(case: dict[str, Any]) -> None:
    fields, body = _note(case)
    note = read(case["text"].encode("utf-8", "surrogatepass"))
    assert note.body == body
    said = {key: _once(value) for key, value in fields.items() if value or value == ""}
    assert note.fields == said


def _note(case: dict[str, Any]) -> tuple[dict[str, Any], str]:
    if "error" in case:
        pytest.skip("what names and relations a note may have is for the dialect to say")
    fuzzed = {"name": "n", "type": "user", "body": "b", "description": case.get("description")}
    memory = dict(case.get("memory", fuzzed))
    body = memory.pop("body")
    assert memory.keys() <= set(KEY_ORDER)
    return memory, body


def _once(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [item for at, item in enumerate(value) if item not in value[:at]]
