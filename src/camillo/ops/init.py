"""`init`: make a root."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Literal
from unicodedata import normalize

from camillo import registry
from camillo.errors import InvalidValue
from camillo.lifecycle.compile import compile_pages
from camillo.model import Memory, Place
from camillo.ops.operation import Doc, operation
from camillo.ops.report import Report
from camillo.roots import check_inside
from camillo.text.printable import printable

if TYPE_CHECKING:
    from camillo.vault import OpenRoot, Vault

__all__ = ["init"]

_LONGEST = 200  # bytes in UTF-8
_ENCODED = re.compile("%(2e|2f|5c|00)", re.IGNORECASE)  # a dot, a slash … to what decodes it
# Folders of the root itself, and names that are devices on Windows.
_TAKEN = frozenset(
    (
        "index",
        "backups",
        *("con", "prn", "aux", "nul"),
        *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
    )
)


@operation(writes=True, idempotent=True)
def init(
    vault: Vault,
    *,
    scope: Annotated[
        Literal["user", "project"], Doc("Your own memory, or this project's.")
    ] = "user",
    form: Annotated[
        Literal["camillo", "commonplace", "oc"], Doc("How its notes are laid out.")
    ] = "camillo",
    rooms: Annotated[
        tuple[str, ...], Doc("Rooms to begin with: a,b or repeated.", metavar="NAME")
    ] = (),
    language: Annotated[
        Literal["auto", "en", "zh"], Doc("Of oc's ROOT.md; auto: Chinese, as oc has it.")
    ] = "auto",
) -> Report:
    """Make the folder that memories live in. Says what is there already; changes nothing of it.

    camillo init
    camillo init --scope project --rooms decisions --rooms people
    camillo init --scope project --form commonplace
    camillo init --scope project --form oc --rooms rules,decisions --language en
    """
    rooms = tuple(normalize("NFC", room.lstrip()) for each in rooms for room in each.split(","))
    for room in rooms:
        _check_room(room)
    if form == "oc":
        for room in rooms:
            registry.load("dialect", "oc")().path_of(Memory("x", "", place=Place(room=room)))
    if rooms and form == "commonplace":
        raise InvalidValue("a commonplace folder is flat: leave out --rooms, or take form camillo")
    root = vault.new_root(scope, form)
    check_inside(root)
    made = not root.exists()
    opened = vault.root(root.name, create=True)
    opened.catch_up()
    new_rooms = [room for room in rooms if _make_room(root.folder, room)]
    if form == "oc":
        _make_plan(opened, language)
    return Report(
        results=[
            {
                "folder": root.folder,
                "scope": scope,
                "status": "made" if made else "already there",
                "form": form,
                "rooms": new_rooms,
                "engine": opened.store.name,
            }
        ]
    )


def _check_room(room: str) -> None:
    """A room is a folder, on every system the same: nothing that any of them reads otherwise."""
    text = printable(room)
    if (
        text != room
        or not room.strip()
        or room != room.strip()
        or room.startswith(".")
        or room.endswith(".")
        or len(room.encode()) > _LONGEST
        or any(ord(sign) < 32 or sign in '/\\:*?"<>|' for sign in room)
        or _ENCODED.search(room)
        or room.partition(".")[0].lower() in _TAKEN
    ):
        raise InvalidValue(
            f"{room!r} cannot be a room: use a name without slashes, of at most {_LONGEST} bytes"
        )


def _make_room(folder: str, room: str) -> bool:
    path = os.path.join(folder, room)
    with os.scandir(folder) as entries:
        there = {normalize("NFC", entry.name) for entry in entries if entry.is_dir()}
    if room in there or os.path.isdir(path):
        return False
    os.mkdir(path, mode=0o700)
    return True


def _make_plan(root: OpenRoot, language: str) -> None:
    """oc takes a folder for its own by the `ROOT.md` in it."""
    assert root.notebook is not None
    compile_pages(
        root.notebook.folder,
        root.outline,
        dict,
        scope=root.scope,
        label=root.root.title,
        language=None if language == "auto" else language,  # type: ignore[arg-type]
    )
