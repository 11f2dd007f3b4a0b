"""Mentions as commonplace finds them."""

from __future__ import annotations

from typing import Any

from camillo.text.mentions import mentions

FILES = ("mentions.json",)


def test_a_body_mentions_what_commonplace_finds_in_it(case: dict[str, Any]) -> None:
    assert list(mentions(case["body"])) == case["mentions"]
