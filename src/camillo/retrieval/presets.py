"""Presets: named lists of stages. What is listed is what runs.

`default` is no list of its own: it is `hybrid` where there is an embedder, else `words`.
"""

from __future__ import annotations

from camillo.errors import UnknownName

__all__ = ["DEFAULT", "EMBEDDING", "PRESETS", "stages"]

DEFAULT = "default"

PRESETS = {
    "words": ("expand", "keyword", "grains", "closets", "limit"),
    "vectors": ("vector", "limit"),
    "hybrid": ("expand", "keyword", "vector", "grains", "fuse", "closets", "limit"),
}

EMBEDDING = frozenset({"vectors", "hybrid"})  # presets that ask an embedder


def stages(preset: str) -> tuple[str, ...]:
    """The stages of a preset. Raises UnknownName."""
    if preset not in PRESETS:
        raise UnknownName.of("preset", preset, [DEFAULT, *PRESETS])
    return PRESETS[preset]
