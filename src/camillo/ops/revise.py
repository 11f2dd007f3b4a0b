"""`revise`: change parts of a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from camillo.errors import InvalidValue
from camillo.model import Memory
from camillo.notes.merge import merge
from camillo.ops._in_root import InRoot
from camillo.ops._notes import check_date, find_note, must_exist, write_note
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report

if TYPE_CHECKING:
    from camillo.vault import Vault

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
    tag: Annotated[tuple[str, ...], Doc("These tags instead of the former.")] = (),
    pinned: Annotated[bool | None, Doc("Always offer it.")] = None,
    expires: Annotated[str | None, Doc("Until when it holds.", metavar="DATE")] = None,
    scope: InRoot = None,
    expect: Annotated[str, Doc("Only if its file still has this hash.", metavar="HASH")] = "",
) -> Report:
    """Change what is named here; everything else of the note stays, its links and unknown keys too.

    camillo revise deploy_rule --summary "Before anything reaches production"
    """
    root, found = find_note(vault, id, scope)
    options = {"body": text, "title": title, "summary": summary, "kind": kind, "pinned": pinned,
               "tags": tag or None, "expires": _milliseconds(expires)}  # fmt: skip
    given: dict[str, Any] = {field: value for field, value in options.items() if value is not None}
    if not given:
        raise InvalidValue("nothing to change: name a part, as --summary or --text")

    def change(now: Memory | None) -> Memory:
        return merge(must_exist(now, found.key), given, int(vault.clock() * 1000)).memory

    return write_note(vault, root, found.key, change, "revise", expect)


def _milliseconds(date: str | None) -> int | None:
    if date is None:
        return None
    check_date("--expires", date)
    from datetime import UTC, datetime

    moment = datetime.fromisoformat(date + "0001-01-01"[len(date) :])
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
