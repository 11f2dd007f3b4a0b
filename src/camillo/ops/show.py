"""`show`: memories, whole."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from camillo.errors import CamilloError, InvalidValue
from camillo.model import NOT_NOTES, Key, Memory
from camillo.ops._in_root import InRoot
from camillo.ops._lookup import find_memory, note_path, source_text, superseded, unread
from camillo.ops._scope import marked
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.text.lines import numbered

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["as_record", "show"]


@operation(writes=False)
def show(
    vault: Vault,
    ids: Annotated[tuple[str, ...], Doc("Names of notes, or ids by their first characters.")],
    *,
    lines: Annotated[str, Doc("Only these lines of it, numbered.", metavar="FIRST-LAST")] = "",
    scope: InRoot = None,
) -> Report:
    """Print memories, word for word, with where they came from.

    Of a note also its file with the hash that `--expect` takes, its links, the keys of the file
    that mean nothing to camillo, and what of it could not be read.

    camillo show 1a2b3c4d
    camillo show 1a2b3c4d --lines 2-5
    """
    chosen = [find_memory(vault, id, scope) for id in dict.fromkeys(ids)]
    results = [_whole(vault, root, memory, lines) for root, memory in chosen]
    return Report(results=results, degraded=unread(vault.roots(scope)))


def _whole(vault: Vault, root: OpenRoot, memory: Memory, lines: str) -> dict[str, Any]:
    newest = {} if memory.kind in NOT_NOTES else superseded(root)
    record = as_record(root, memory, newest.get(memory.key))
    if note_path(memory) and root.notebook is not None:
        record["folder"] = root.root.folder
        with suppress(CamilloError):  # it went or cannot be read: what is known of it is shown
            record["hash"] = root.notebook.hash_of(note_path(memory))
        record |= _used(root, memory, int(vault.clock() * 1000))
        record |= _broken(root, memory)
    if lines:
        record["text"] = numbered(memory.body, *_range(lines))
    [shown] = marked(vault, root, [record])
    return shown


def _used(root: OpenRoot, memory: Memory, now: int) -> dict[str, int]:
    """How often a note was used before, where its program counts that; this time counts too."""
    folder = root.notebook.folder if root.notebook is not None else None
    if folder is None or not folder.dialect.usage:
        return {}
    path = note_path(memory)
    hits, last = folder.usage().get(path, (0, 0))
    with suppress(CamilloError):  # what cannot be counted is shown all the same
        folder.used([path], now)
    return {"hits": hits, "last_hit": last}


def _broken(root: OpenRoot, memory: Memory) -> dict[str, Any]:
    """What is wrong with a file that is no note any more: what it held before is shown."""
    found = root.notebook.broken() if root.notebook is not None else []
    said = [said for each in found if each.path == note_path(memory) for said in each.problems]
    return {"problems": [f"{each}; shown as it was before" for each in said]} if said else {}


def as_record(root: OpenRoot, memory: Memory, newest: Key | None = None) -> dict[str, Any]:
    """A memory of a root as surfaces show it: places and origin spread out, empty fields left away.
    `newest` is what stands for it where it is superseded."""
    origin = memory.origin
    record: dict[str, Any] = {
        "id": memory.id,
        "kind": memory.kind,
        "root": root.name,
        "scope": memory.scope,
        "namespace": memory.namespace,
        "session": memory.session,
        "wing": memory.place.wing,
        "room": memory.place.room,
        "hall": memory.place.hall,
        "title": memory.title,
        "summary": memory.summary,
        "path": note_path(memory),
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
        "superseded_by": newest.id if newest else memory.superseded_by,
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
