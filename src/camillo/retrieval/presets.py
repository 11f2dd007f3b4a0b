"""Presets: named lists of stages. What is listed is what runs.

`default` is no list of its own: it is `hybrid` where there is an embedder, else `words`.
"""

from __future__ import annotations

from camillo.errors import UnknownName

__all__ = ["DEFAULT", "EMBEDDING", "PRESETS", "stages"]

DEFAULT = "default"

# `superseded` before `read`: what is hidden must not raise the bar for what is worth reading.
PRESETS = {
    "words": (
        "expand", "keyword", "superseded", "read", "grains", "notes", "closets", "connected",
        "limit",
    ),
    "vectors": ("vector", "superseded", "read", "connected", "limit"),
    "hybrid": (
        "expand", "keyword", "vector", "superseded", "read", "grains", "fuse", "notes", "closets",
        "connected", "limit",
    ),
}  # fmt: skip

EMBEDDING = frozenset({"vectors", "hybrid"})  # presets that ask an embedder


def stages(preset: str, *, expand: bool = False) -> tuple[str, ...]:
    """The stages of a preset; `expand` puts in `related`, where scores are whole. Raises
    UnknownName."""
    if preset not in PRESETS:
        raise UnknownName.of("preset", preset, [DEFAULT, *PRESETS])
    found = PRESETS[preset]
    if not expand:
        return found
    at = 1 + max(found.index(name) for name in ("read", "grains", "fuse", "notes") if name in found)
    return (*found[:at], "related", *found[at:])
