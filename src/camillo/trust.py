"""Which project roots a person trusts. Kept in the user's own store, as settings: what comes with a
clone cannot say that it is to be trusted."""

from __future__ import annotations

import os

from camillo.model import GLOBAL, Author, Key, Memory, source_id
from camillo.ports import Store

__all__ = ["is_trusted", "set_trust"]


def is_trusted(users: Store, folder: str) -> bool:
    """May the rules and notes of this project root be offered unasked?"""
    return users.get([_key(folder)])[0] is not None


def set_trust(users: Store, folder: str, trusted: bool, by: Author = Author("", "trust")) -> bool:
    """Remember the choice; was it another before?"""
    key = _key(folder)
    if not trusted:
        return users.delete([key], by) > 0
    record = Memory(key.id, os.path.realpath(folder), "setting", scope="user")
    return users.put([record], by)[0].status == "stored"


def _key(folder: str) -> Key:
    return Key("", "user", GLOBAL, f"trust:{source_id(os.path.realpath(folder))}")
