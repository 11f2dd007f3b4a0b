"""Normal form of a text: what counts as equal among duplicates and erased texts."""

from __future__ import annotations

import unicodedata

__all__ = ["NORMALISER_VERSION", "normalise"]

NORMALISER_VERSION = 1


def normalise(text: str) -> str:
    """Unicode NFC, each stretch of white space one space, none at the ends. Case is kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())
