"""A note file made from fields, or a former one with only what differs changed.

A list keeps entries that could not be read, and bytes of the body that are no UTF-8 stay in lines
that stay. Which fields a note has is the dialect's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from camillo.engines.markdown._fields import listed_edges
from camillo.errors import InvalidValue, NoteBroken
from camillo.model import Edge
from camillo.text.frontmatter import FrontmatterError, readable, split, to_bytes, to_text
from camillo.text.yaml_edit import REMOVE, edit
from camillo.text.yaml_write import pair_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_edges", "edge_entries", "edge_lists", "edited", "made"]


def made(fields: Mapping[str, Any], body: str) -> bytes:
    """A new file: the fields in their order between `---` lines, and the body as it is."""
    lines = "".join(pair_text(key, value) for key, value in fields.items())
    return to_bytes(f"---\n{lines}---\n{readable(body)}")


def edited(former: bytes, changes: Mapping[str, Any], body: str) -> bytes:
    """`former` with `changes` to its keys, and this body. Raises NoteBroken."""
    try:
        content = edit(former, changes)
        if readable(split(former).body) == body:
            return content
        return to_bytes(_with_body(to_text(content), readable(body)))
    except FrontmatterError as error:
        raise NoteBroken(str(error), "", error.line) from None


def edge_entries(key: str, edges: Sequence[Edge]) -> list[Any]:
    """The entries of `relations` or `supersedes` that say these edges."""
    if key == "supersedes":
        return [edge.target for edge in edges if edge.relation == "supersedes"]
    return [
        {"to": edge.target, "type": edge.relation}
        for edge in edges
        if edge.relation != "supersedes"
    ]


def edge_lists(
    now: Mapping[str, Any],
    former: Sequence[Edge],
    edges: Sequence[Edge],
    relations: tuple[str, ...],
    is_target: Callable[[str], bool],
) -> dict[str, Any]:
    """The two lists of a file, `now`, changed so that in place of the `former` edges they say
    `edges`; entries that say nothing stay where they are. Raises NoteBroken where one is no list
    and would be lost."""
    changes: dict[str, Any] = {}
    gone = set(former) - set(edges)
    for key in ("relations", "supersedes"):
        present = now.get(key)
        wanted = edge_entries(key, edges)
        if not isinstance(present, list):
            if present is not None and wanted:
                raise NoteBroken(f"{key} is no list and would be lost; correct it by hand")
            if wanted:
                changes[key] = wanted
            continue
        said = [edge for edge, _ in listed_edges(key, present, relations, is_target)]
        entries = [
            entry for entry, edge in zip(present, said, strict=True) if edge not in gone
        ]  # fmt: skip
        entries += edge_entries(key, [edge for edge in edges if edge not in said])
        if entries != present:
            changes[key] = entries or REMOVE
    return changes


def check_edges(
    id_: str, edges: Sequence[Edge], relations: tuple[str, ...], is_target: Callable[[str], bool]
) -> None:
    """Raises InvalidValue for an edge that a note cannot have."""
    for edge in edges:
        if edge.target == id_:
            raise InvalidValue(f"{id_!r}: a note has no relation to itself")
        if not is_target(edge.target):
            raise InvalidValue(f"{id_!r}: {edge.target!r} is no name of a note here")
        if edge.relation != "supersedes" and edge.relation not in relations:
            why = "; a note mentions another by [[name]] in its body"
            raise InvalidValue(
                f"{id_!r}: relation {edge.relation!r} is none of "
                f"{', '.join((*relations, 'supersedes'))}"
                + (why if edge.relation == "mentions" else "")
            )


def _with_body(text: str, body: str) -> str:
    parts = split(text)
    closing = parts.closing
    if closing and not closing.endswith("\n"):
        closing += parts.newline
    head = parts.bom + parts.opening + parts.text + closing
    if not parts.opening and re.match(r"\ufeff|---[ \t]*\r?\n", body):
        head += "---\n---\n"  # or a reader would take the body's first lines for a frontmatter
    return head + _keeping_bytes(parts.body, body)


def _keeping_bytes(former: str, body: str) -> str:
    """`body`, but the lines at its beginning and end that stay as they are in the file."""
    if readable(former) == former:
        return body
    old, new = former.splitlines(keepends=True), body.splitlines(keepends=True)
    shown = [readable(line) for line in old]
    most = min(len(old), len(new))
    head = next((n for n in range(most) if shown[n] != new[n]), most)
    most -= head
    tail = next((n for n in range(most) if shown[-1 - n] != new[-1 - n]), most)
    return "".join([*old[:head], *new[head : len(new) - tail], *old[len(old) - tail :]])
