"""Presets: named lists of stages. What is listed is what runs."""

from __future__ import annotations

from camillo.config import Settings
from camillo.errors import UnknownName

__all__ = ["PRESETS", "stages"]

PRESETS = {
    "words": ("expand", "keyword", "closets", "limit"),
}
PRESETS["default"] = PRESETS["words"]


def stages(preset: str | None, settings: Settings) -> tuple[str, ...]:
    """The stages of a preset; None is the one that the settings name. Raises UnknownName."""
    name = preset or settings.search.preset
    if name not in PRESETS:
        raise UnknownName.of("preset", name, PRESETS)
    return PRESETS[name]
