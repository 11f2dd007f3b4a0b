"""`revise`: change parts of a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from unicodedata import normalize

from camillo.errors import InvalidValue
from camillo.model import Memory
from camillo.notes.merge import merge
from camillo.ops._in_root import InRoot
from camillo.ops._naming import check_room
from camillo.ops._notes import find_note, milliseconds, must_exist, words_of, write_note
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["revise"]


@operation(writes=True, idempotent=True)
def revise(
    vault: Vault,
    id: Annotated[str, Doc("The note's name.")],
    *,
    text: Annotated[str | None, Doc("A new body; - reads it from standard input.")] = None,
    title: Annotated[str | None, Doc("A new title.")] = None,
    summary: Annotated[str | None, Doc("A new summary.")] = None,
    kind: Annotated[str | None, Doc("Another kind.")] = None,
    room: Annotated[str | None, Doc('Move it there; "" for no room.')] = None,
    tag: Annotated[tuple[str, ...], Doc("These tags, a,b or repeated, for the former.")] = (),
    load_when: Annotated[
        tuple[str, ...], Doc("When to read it, for the former; may be repeated.")
    ] = (),
    pinned: Annotated[bool | None, Doc("Always offer it.")] = None,
    expires: Annotated[str | None, Doc('Until when it holds; "" for ever.', metavar="DATE")] = None,
    scope: InRoot = None,
    expect: Annotated[str, Doc("Only if its file still has this hash.", metavar="HASH")] = "",
) -> Report:
    """Change what is named here; everything else of the note stays, its links and unknown keys too.

    A list that is given as "" is emptied, and --no-pinned takes that back. With --room the file
    moves; where notes are called by their paths it would be another note, and that is refused.

    camillo revise deploy_rule --summary "Before anything reaches production"
    """
    root, found = find_note(vault, id, scope)
    options = {
        "body": text, "title": title, "summary": summary, "kind": kind, "pinned": pinned,
        "room": _room(root, found, room), "tags": words_of(tag, comma=True),
        "load_when": words_of(load_when), "expires": milliseconds("--expires", expires),
    }  # fmt: skip
    given: dict[str, Any] = {field: value for field, value in options.items() if value is not None}
    if not given:
        raise InvalidValue("nothing to change: name a part, as --summary or --text")

    def change(now: Memory | None) -> Memory:
        return merge(must_exist(now, found.key), given, int(vault.clock() * 1000)).memory

    return write_note(vault, root, found.key, change, "revise", expect, move=room is not None)


def _room(root: OpenRoot, found: Memory, room: str | None) -> str | None:
    if room is None:
        return None
    check_room(room)
    room = normalize("NFC", room)
    if root.notebook is not None and root.notebook.by_path and room != found.place.room:
        named = f"{room}/{found.id.rpartition('/')[2]}"
        raise InvalidValue(
            f"{found.id!r} is called by its room: remember it as {named!r}, then forget "
            f"{found.id!r}"
        )
    return room
