"""Where a memory of a kind goes."""

from __future__ import annotations

import pytest

from camillo.notes.scopes import default_scope


@pytest.mark.parametrize(
    ("kind", "with_project", "without"),
    [
        ("user", "user", "user"),
        ("feedback", "user", "user"),
        ("project", "project", "project"),
        ("reference", "project", "project"),
        ("fact", "project", "user"),
        ("rule", "project", "user"),
        ("anything", "project", "user"),
    ],
)
def test_the_scope_follows_the_kind(kind: str, with_project: str, without: str) -> None:
    assert default_scope(kind, project_open=True) == with_project
    assert default_scope(kind, project_open=False) == without
