"""`show`: one memory, whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from camillo.errors import InvalidValue
from camillo.model import Memory
from camillo.ops._lookup import find_memory, source_text
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.text.lines import numbered

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["as_record", "show"]


@operation(writes=False)
def show(
    vault: Vault,
    id: Annotated[str, Doc("An id, or its first characters.")],
    *,
    lines: Annotated[str, Doc("Only these lines of it, numbered.", metavar="FIRST-LAST")] = "",
    scope: Annotated[Literal["user", "project"] | None, Doc("Only in this root.")] = None,
) -> Report:
    """Print one memory, word for word, with where it came from.

    Of a note also its links, the keys of its file that mean nothing to camillo, what of the file
    could not be read, and the hash that `--expect` takes.

    camillo show 1a2b3c4d
    camillo show 1a2b3c4d --lines 2-5
    """
    root, memory = find_memory(vault, id, scope)
    record = as_record(memory)
    if memory.extra.get("file") and root.notebook is not None:
        record["hash"] = root.notebook.hash_of(str(memory.extra["file"]))
    if lines:
        record["text"] = numbered(memory.body, *_range(lines))
    return Report(results=[record])


def as_record(memory: Memory) -> dict[str, Any]:
    """A memory as surfaces show it: places and origin spread out, empty fields left away."""
    origin = memory.origin
    record: dict[str, Any] = {
        "id": memory.id,
        "kind": memory.kind,
        "scope": memory.scope,
        "namespace": memory.namespace,
        "session": memory.session,
        "wing": memory.place.wing,
        "room": memory.place.room,
        "hall": memory.place.hall,
        "title": memory.title,
        "summary": memory.summary,
        "source": source_text(memory),
        "part": origin.part if origin else None,
        "line_start": origin.line_start if origin else 0,
        "line_end": origin.line_end if origin else 0,
        "byte_start": origin.byte_start if origin else None,
        "byte_end": origin.byte_end if origin else None,
        "happened_at": memory.happened_at,
        "created": memory.created,
        "updated": memory.updated,
        "expires": memory.expires,
        "archived": memory.archived,
        "trust": memory.trust,
        "pinned": memory.pinned,
        "tags": list(memory.tags),
        "aliases": list(memory.aliases),
        "load_when": list(memory.load_when),
        "edges": [list(edge) for edge in memory.edges],
        "superseded_by": memory.superseded_by,
        "frontmatter": memory.extra.get("frontmatter"),
        "problems": memory.extra.get("problems"),
    }
    kept = {name: value for name, value in record.items() if not _is_empty(name, value)}
    return {**kept, "text": memory.body}


def _is_empty(name: str, value: object) -> bool:
    """The first part of a source, and its first byte, have the number 0."""
    return value in ("", None, []) or (value == 0 and name not in ("part", "byte_start"))


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()):
        raise InvalidValue(f"--lines takes a range like 2-5, not {text!r}")
    return int(first), int(last or first)
