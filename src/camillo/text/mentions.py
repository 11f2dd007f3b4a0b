"""`[[name]]` in a body: a link to the note of that name, written in passing.

A name is lower-case ASCII letters, digits and underscores. Code is not special; links of other
forms (`[[Title]]`, `[[name|label]]`, `[[name#heading]]`) are not mentions. Whether a note exists,
and that one does not mention itself, is for the caller.
"""

from __future__ import annotations

import re

__all__ = ["mentions"]

_MENTION = r"(?<!\[)\[\[([a-z0-9_]+)\]\](?!\])"


def mentions(body: str) -> tuple[str, ...]:
    """The names that `body` mentions, each once, in the order in which they first come."""
    return tuple(dict.fromkeys(re.findall(_MENTION, body)))
