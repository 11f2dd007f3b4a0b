"""A frontmatter that is no YAML, read line by line: `key: value`, whatever YAML makes of the value.

Claude Code writes such pages (`description: Note: never …`), and other readers take them so. Where
the lines are indented below another key they count as keys of their own.
"""

from __future__ import annotations

import re

from camillo.text.frontmatter import readable, split

__all__ = ["by_lines"]

_PAIR = r"[ ]*([A-Za-z_][\w-]*)[ \t]*:(.*)\Z"


def by_lines(content: bytes) -> tuple[dict[str, str], str]:
    """Fields and body; a value loses the quotes around it, an empty one is left out, the first of
    two stands. Raises FrontmatterError for a frontmatter without an end, ValueError for a line that
    is no pair."""
    parts = split(content)
    fields: dict[str, str] = {}
    for line in readable(parts.text).splitlines():
        pair = re.match(_PAIR, line)
        if pair is None:
            if line.strip() and not line.lstrip().startswith("#"):
                raise ValueError(line)
            continue
        value = pair[2].strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        if value:
            fields.setdefault(pair[1], value)
    return fields, readable(parts.body)
