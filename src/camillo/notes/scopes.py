"""Which scope a memory of a kind goes to when none is named."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

__all__ = ["default_scope"]

_USER = frozenset({"user", "feedback"})
_PROJECT = frozenset({"project", "reference"})


def default_scope(kind: str, *, project_open: bool) -> Literal["user", "project"]:
    """What is about the person goes to the user's root, what is about the project to the project's
    (where none is open, opening it says so); any other kind to the nearest there is."""
    if kind in _USER:
        return "user"
    return "project" if kind in _PROJECT or project_open else "user"
