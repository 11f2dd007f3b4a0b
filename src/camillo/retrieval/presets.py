"""Presets: named lists of stages. What is listed is what runs.

`default` is itself where the embedder gives token vectors, else `hybrid`, and without an embedder
`words`.
"""

from __future__ import annotations

from camillo.errors import UnknownName

__all__ = ["DEFAULT", "EMBEDDING", "PRESETS", "stages"]

DEFAULT = "default"

# `superseded` before `read`: what is hidden must not raise the bar for what is worth reading.
PRESETS = {
    "words": (
        "expand", "keyword", "superseded", "read", "grains", "notes", "aliases", "newest",
        "closets", "connected", "limit", "cutoff",
    ),
    "default": (
        "expand", "keyword", "vector", "superseded", "read", "grains", "fuse", "late", "notes",
        "aliases", "newest", "closets", "connected", "limit", "cutoff",
    ),
    "vectors": (
        "vector", "superseded", "read", "aliases", "newest", "connected", "limit", "cutoff",
    ),
    "hybrid": (
        "expand", "keyword", "vector", "superseded", "read", "grains", "fuse", "notes", "aliases",
        "newest", "closets", "connected", "limit", "cutoff",
    ),
}  # fmt: skip

EMBEDDING = frozenset({"default", "vectors", "hybrid"})  # presets that ask an embedder


def stages(preset: str, *, expand: bool = False) -> tuple[str, ...]:
    """The stages of a preset; `expand` puts in `related`, where scores are whole. Raises
    UnknownName."""
    if preset not in PRESETS:
        raise UnknownName.of("preset", preset, PRESETS)
    found = PRESETS[preset]
    if not expand:
        return found
    at = 1 + found.index("newest")
    return (*found[:at], "related", *found[at:])
