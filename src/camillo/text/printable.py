"""Text that can be stored: what the system hands over as a name need not be Unicode."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    """`text` with bytes that were no UTF-8 as `\\xNN`, and half surrogate pairs as `\\uNNNN`."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        pass
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
