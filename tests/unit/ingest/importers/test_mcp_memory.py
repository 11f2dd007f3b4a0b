"""Files of the memory server of MCP, in the forms that they have in the wild."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camillo.errors import NotFound
from camillo.ingest.importers.mcp_memory import McpMemoryImporter
from camillo.ingest.importers.note import Found, LeftOut, Link

IMPORTER = McpMemoryImporter()


def _file(folder: Path, *lines: object) -> str:
    path = folder / "memory.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts), "utf-8")
    return str(path)


def _notes(path: str) -> dict[str, Found]:
    return {each.item: each for each in IMPORTER.read(path) if isinstance(each, Found)}


def test_observations_are_bullet_lines_each_once(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        {"name": "A", "observations": ["x", {"content": "y"}, "x", 7]},
        {"name": "B", "observations": "alone"},
        {"name": "C"},
    )
    notes = _notes(path)
    assert {name: found.memory.body for name, found in notes.items()} == {
        "A": "- x\n- y\n", "B": "- alone\n", "C": ""
    }  # fmt: skip
    assert notes["A"].problems == ("an observation is no text; left out",)


def test_times_of_entities_are_kept(tmp_path: Path) -> None:
    path = _file(tmp_path, {"name": "A", "createdAt": "2024-02-03T04:05:06.000Z", "version": 2})
    assert _notes(path)["A"].memory.created == 1706933106000


def test_relations_without_a_type_and_in_another_case_are_read(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        {"name": "Ada", "entityType": "person", "observations": []},
        {"from": "ada", "to": "B", "relationType": "knows"},
    )
    assert _notes(path)["Ada"].links == (Link("B", said="knows", where=f"{path}:2"),)


def test_half_a_character_does_not_stop_the_reading(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"name": "A\\ud800", "observations": ["\\udcff"]}', {"name": "B"})
    assert len(_notes(path)) == 2
    assert "\N{REPLACEMENT CHARACTER}" in _notes(path)["A\N{REPLACEMENT CHARACTER}"].memory.body


@pytest.mark.parametrize(
    "line", ["{", "[1]", '"text"', "null", '{"type": "entity"}', '{"name": ""}', "[" * 100_000]
)
def test_a_line_that_is_neither_is_told_with_its_number(tmp_path: Path, line: str) -> None:
    path = _file(tmp_path, {"name": "A"}, "", line, {"name": "B"})
    left = [each for each in IMPORTER.read(path) if isinstance(each, LeftOut)]
    assert [each.where for each in left] == [f"{path}:3"]
    assert sorted(_notes(path)) == ["A", "B"]


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(IMPORTER.read(str(tmp_path)))
    assert not IMPORTER.recognises(str(tmp_path / "none"))
