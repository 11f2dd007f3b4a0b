"""`init`: make a root."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal

from camillo.errors import InvalidValue
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.roots import make_root

if TYPE_CHECKING:
    from camillo.vault import Vault

__all__ = ["init"]

_LONGEST = 128


@operation(writes=True, idempotent=True)
def init(
    vault: Vault,
    *,
    scope: Annotated[
        Literal["user", "project"], Doc("Your own memory, or this project's.")
    ] = "user",
    rooms: Annotated[
        tuple[str, ...], Doc("A room to begin with; may be repeated.", metavar="NAME")
    ] = (),
) -> Report:
    """Make the folder that memories live in. Says what is there already; changes nothing of it.

    camillo init
    camillo init --scope project --rooms decisions --rooms people
    """
    for room in rooms:
        _check_room(room)
    root = vault.new_root(scope)
    made = make_root(root)
    opened = vault.root(scope, create=True)
    opened.catch_up()
    new_rooms = [room for room in rooms if _make_room(root.folder, room)]
    return Report(
        results=[
            {
                "folder": root.folder,
                "scope": scope,
                "status": "made" if made else "already there",
                "rooms": new_rooms,
                "engine": opened.store.name,
            }
        ]
    )


def _check_room(room: str) -> None:
    if (
        not room.strip()
        or len(room) > _LONGEST
        or room in (".", "..")
        or room.startswith(".")
        or any(sign in room for sign in '/\\:*?"<>|\0')
        or any(ord(sign) < 32 for sign in room)
        or room.lower() in ("index", "backups")
    ):
        raise InvalidValue(
            f"{room!r} cannot be a room: use a name without slashes, of at most {_LONGEST} characters"
        )


def _make_room(folder: str, room: str) -> bool:
    path = os.path.join(folder, room)
    if os.path.isdir(path):
        return False
    os.mkdir(path, mode=0o700)
    return True
