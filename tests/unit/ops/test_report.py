"""The plain form of reports."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

import pytest

from camillo.model import Edge, Memory, Origin
from camillo.ops.report import Report, plain


class Mined(Report):
    sources: int = 0
    skipped: tuple[tuple[str, str], ...] = ()


def test_a_report_has_the_common_keys_first_and_its_own_after() -> None:
    report = Mined([], ["words only"], 3, sources=2, skipped=(("a", "too large"),))
    assert list(report.as_dict().items()) == [
        ("schema", 1),
        ("results", []),
        ("degraded", ["words only"]),
        ("sources", 2),
        ("skipped", [["a", "too large"]]),
    ]


def test_records_become_dicts_at_any_depth() -> None:
    memory = Memory("m", "text", origin=Origin("a.md", 1), edges=(Edge("supersedes", "b"),))
    shown = plain([memory])[0]
    assert shown["origin"]["source"] == "a.md"
    assert shown["edges"] == [{"relation": "supersedes", "target": "b"}]
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (0.5, 0.5),
        (PurePosixPath("a/b"), "a/b"),
        (MappingProxyType({1: (2,)}), {"1": [2]}),
        (frozenset({"x"}), ["x"]),
        ("\ud800", "\ud800"),
    ],
)
def test_other_values_become_what_json_has(value: Any, shown: Any) -> None:
    assert plain(value) == shown


@pytest.mark.parametrize("value", [b"bytes", object()])
def test_what_has_no_plain_form_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="cannot hold"):
        plain(value)
