"""docs/GLOSSARY.md: every word of the design has an entry, and what an entry names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camillo import model

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "GLOSSARY.md").read_text("utf-8")

WORDS = (
    "memory", "note", "drawer", "source", "origin", "passage", "grain", "closet", "wing", "room",
    "hall", "scope", "namespace", "session", "kind", "relation", "edge", "engine", "index",
    "dialect", "candidate", "signal", "stage", "pipeline", "preset", "remember", "revise",
    "forget", "archive", "link", "supersede", "search", "inject", "mine", "import", "extract",
    "journal", "vault",
)  # fmt: skip

_ENTRY = re.compile(r"^\*\*(.+)\*\*$\n: ", re.MULTILINE)
_EIGHT = (
    "get_closets_collection", "build_closet_lines", "_build_date_line_segment",
    "purge_file_closets", "upsert_closet_lines", "process_file",
    "_extract_drawer_ids_from_closet", "_closet_boosts",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_every_word_of_the_design_has_one_entry(word: str) -> None:
    entries = [name for entry in _ENTRY.findall(PAGE) for name in entry.split(", ")]
    assert entries.count(word) == 1


def test_every_relation_is_named() -> None:
    assert all(f"`{relation}`" in PAGE for relation in model.RELATIONS)


def test_every_internal_kind_is_named() -> None:
    assert all(f"`{kind}`" in PAGE for kind in model.INTERNAL_KINDS)


@pytest.mark.parametrize("name", _EIGHT)
def test_each_of_the_eight_entry_points_leads_to_functions_that_exist(name: str) -> None:
    (ours,) = re.findall(rf"^\| `{re.escape(name)}\(\)` \| (.+?) \|", PAGE, re.MULTILINE)
    targets = list(_targets(ours))
    assert targets
    for function, file in targets:
        kind = "class" if function[0].isupper() else "def"
        assert re.search(rf"\b{kind} {function}\b", (ROOT / file).read_text("utf-8")), function


def _targets(cell: str) -> list[tuple[str, str]]:
    """(function, file) of a cell: each function lies in the file that is named next."""
    found: list[tuple[str, str]] = []
    waiting: list[str] = []
    for code in re.findall(r"`([^`]+)`", cell):
        if code.endswith(".py"):
            found += [(function, code) for function in waiting]
            waiting = []
        else:
            waiting.append(code.removesuffix("()").rpartition(".")[2])
    assert not waiting, "a function without its file"
    return found
