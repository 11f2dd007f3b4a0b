"""Records of mined files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from camillo.ingest.sources import VERSIONS, SourceRecord, on_disk
from camillo.model import Place
from camillo.text.printable import printable

SECOND = 1_000_000_000
RECORD = SourceRecord(
    name="/shop/a.md", folder="/shop", place=Place("shop", "general"), size=9,
    mtime_ns=100 * SECOND, hash="ab", encoding="utf-8", bom=3, parts=1, read_at=200_000, rules="r",
)  # fmt: skip


def test_it_comes_back_from_its_memory() -> None:
    for record in (RECORD, RECORD._replace(missing=77), RECORD._replace(encoding="", parts=0)):
        memory = record.memory("user")
        assert SourceRecord.of(memory) == record
        assert (memory.kind, memory.body, memory.scope) == ("source", "", "user")


def test_the_same_stamps_mean_the_same_file() -> None:
    assert RECORD.unchanged(9, 100 * SECOND, RECORD.place, "r")


@pytest.mark.parametrize(
    "changed",
    [
        {"size": 8},
        {"mtime_ns": 101 * SECOND},
        {"rules": "other"},
        {"place": Place("other", "general")},
        {"versions": VERSIONS + ".1"},
        {"missing": 5},
    ],
)
def test_anything_else_means_that_it_is_read_again(changed: dict[str, Any]) -> None:
    record = RECORD._replace(**changed)
    assert not record.unchanged(9, 100 * SECOND, RECORD.place, "r")


@pytest.mark.parametrize(("before", "told"), [(0, False), (1, False), (1.9, False), (2.5, True)])
def test_a_stamp_as_new_as_the_reading_tells_nothing(before: float, told: bool) -> None:
    """Within the same two seconds a file may have been written once more."""
    record = RECORD._replace(read_at=int((100 + before) * 1000))
    assert record.unchanged(9, 100 * SECOND, RECORD.place, "r") is told


def test_names_that_are_no_unicode_lead_back_to_the_file(tmp_path: Path) -> None:
    for name in (b"caf\xe9.md", b"plain.md", b"\\xe9.md"):
        path = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
        with open(path, "wb"):
            pass
        assert on_disk(printable(path)) == path
