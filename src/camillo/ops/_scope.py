"""Which of several roots is meant where one thing was asked for."""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from camillo.vault import OpenRoot

    Thing = TypeVar("Thing")

__all__ = ["choices", "nearest_root"]


def nearest_root(
    found: Sequence[tuple[OpenRoot, Thing]], scope: str | None
) -> Sequence[tuple[OpenRoot, Thing]]:
    """Of several roots of a scope the one with exactly this name comes first: `user` is the name
    of a root, too, and nothing else would choose it."""
    return [each for each in found if each[0].name == scope] or found


def choices(found: Sequence[tuple[OpenRoot, object]]) -> str:
    """In words, what chooses one of these; "" where they are in one root."""
    names = list(dict.fromkeys(root.name for root, _ in found))
    return " or ".join(f"--scope {name}" for name in names) if len(names) > 1 else ""
