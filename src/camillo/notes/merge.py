"""A rewrite that keeps what it does not change. Pure: the caller reads under its lock, then writes.

What is given replaces the field of that name; everything else stays as the memory has it now, also
what camillo has no field for (`extra`, merged key by key; a None there takes a key away).
"""

from __future__ import annotations

from collections.abc import Mapping

from camillo.errors import InvalidValue, UnknownName
from camillo.model import Memory, replace
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

__all__ = ["Rewrite", "merge"]

_IDENTITY = ("namespace", "scope", "session", "id")
_PLACE = ("wing", "room", "hall")
_OURS = ("created", "updated")  # times that a write sets


class Rewrite(NamedTuple):
    """What to write, and what that is. Deduplicated: the memory as it is, nothing to write."""

    status: Literal["stored", "updated", "deduplicated"]
    memory: Memory


def merge(now: Memory | None, given: Mapping[str, Any], at: int) -> Rewrite:
    """`given` over the memory as it is now; a new one where there is none.

    Keys are the fields of a Memory, and `wing`, `room`, `hall` for one part of its place. `at` is
    the time, in milliseconds. Raises UnknownName for any other key, InvalidValue for a new memory
    without id or body and for one that would become another (its identity differs).
    """
    _must_be_known(given)
    if now is None:
        return Rewrite("stored", _made(given, at))
    for name in _IDENTITY:
        if given.get(name, getattr(now, name)) != getattr(now, name):
            raise InvalidValue(
                f"{name} of {now.id!r} is {getattr(now, name)!r} and cannot become "
                f"{given[name]!r}: remember it there and forget it here"
            )
    changed = replace(now, **_fields(now, given))
    if changed == now:
        return Rewrite("deduplicated", now)
    return Rewrite("updated", replace(changed, updated=at))


def _made(given: Mapping[str, Any], at: int) -> Memory:
    for name in ("id", "body"):
        if name not in given:
            raise InvalidValue(f"a new memory needs {name}")
    bare = Memory(given["id"], given["body"], created=at, updated=at)
    return replace(bare, **_fields(bare, given))


def _fields(now: Memory, given: Mapping[str, Any]) -> dict[str, Any]:
    """What is given, by fields of a memory."""
    fields = {name: value for name, value in given.items() if name not in _PLACE}
    parts = {name: value for name, value in given.items() if name in _PLACE}
    if parts:
        fields["place"] = replace(fields.get("place", now.place), **parts)
    if "extra" in fields:
        fields["extra"] = _over(now.extra, fields["extra"])
    return fields


def _over(now: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(now)
    for key, value in given.items():
        former = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(former, Mapping):
            merged[key] = _over(former, value)
        else:
            merged[key] = value
    return merged


def _must_be_known(given: Mapping[str, Any]) -> None:
    known = {*Memory._fields, *_PLACE} - {*_OURS}
    for name in given:
        if name not in known:
            raise UnknownName.of("field", name, known)
