"""Hard rules are known by their room or their kind."""

from __future__ import annotations

import pytest

from camillo.text.rules import is_rule


@pytest.mark.case("OC09")
@pytest.mark.parametrize(
    ("room", "kind", "rule"),
    [
        ("rules", "fact", True),
        ("rules/git", "rule-proposal", True),
        ("facts", "RuLe", True),
        ("", "rule", True),
        ("facts", "rule-proposal", False),
        ("ruleset", "fact", False),
        ("a/rules", "fact", False),
    ],
)
def test_by_room_or_by_kind(room: str, kind: str, rule: bool) -> None:
    assert is_rule(room, kind) is rule
