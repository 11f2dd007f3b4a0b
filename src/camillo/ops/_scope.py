"""Which of several roots is meant where one thing was asked for, and whether a root is trusted."""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from camillo.vault import OpenRoot, Vault

    Thing = TypeVar("Thing")

__all__ = ["choices", "marked", "nearest_root"]


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


def marked(vault: Vault, root: OpenRoot, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Memories of a root as surfaces show them, marked where nobody vouched for its project."""
    if vault.trusts(root):
        return records
    return [
        each if each.get("trust", "normal") != "normal" else {**each, "trust": "untrusted"}
        for each in records
    ]
