"""What an operation hands back, in one shape for every surface.

`as_dict()` is the public JSON form: `schema`, `results`, `degraded`, then the operation's own keys
in the order of its fields. How it looks to people is the business of `surfaces/`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from camillo.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DONE", "IN_PART", "NOTHING_FOUND", "SCHEMA", "Report", "plain"]

SCHEMA = 1

DONE = 0
NOTHING_FOUND = 1
IN_PART = 3

_ATOMS = frozenset({str, int, bool, type(None)})
_OWN = frozenset({"results", "degraded", "exit_code"})


class Report(Record):
    """Base of all reports. A subclass adds fields, with defaults; each becomes a key.

    `results` holds records, NamedTuples or dicts. `degraded` says in words what was missing
    ("words only: no embedder"). `exit_code`: DONE, NOTHING_FOUND or IN_PART.
    """

    results: list[Any] = []
    degraded: list[str] = []
    exit_code: int = DONE

    def as_dict(self) -> dict[str, Any]:
        own = (name for name in self._fields if name not in _OWN)
        return {
            "schema": SCHEMA,
            "results": [plain(item) for item in self.results],
            "degraded": list(self.degraded),
            **{name: plain(getattr(self, name)) for name in own},
        }


def plain(value: Any) -> Any:
    """`value` as dicts, lists and JSON scalars; NaN and infinity, which JSON lacks, are None."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is float:
        return value if value - value == 0 else None
    if kind is dict or isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    names = _field_names(value)
    if names is not None:
        return {name: plain(getattr(value, name)) for name in names}
    return _plain_rest(value)


def _field_names(value: Any) -> Iterable[str] | None:
    """Names of a record's fields; None when `value` is no record."""
    names: Iterable[str] | None = getattr(value, "__dataclass_fields__", None)
    return getattr(value, "_fields", None) if names is None else names


def _plain_rest(value: Any) -> Any:
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return plain(float(value))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item") and not hasattr(value, "__len__"):  # a NumPy scalar
        return plain(value.item())
    if isinstance(value, bytes | bytearray) or not isinstance(value, Iterable):
        raise TypeError(f"a report cannot hold a {type(value).__name__}")
    return [plain(item) for item in value]
