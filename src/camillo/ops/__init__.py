"""The use cases, one file each, and what makes them one interface.

`run(vault, "search", query="why jwt")` is the Python API; it checks arguments as every surface
does. Importing this package loads nothing else: the names below come on first use.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # not from typing: `camillo --help` does without it
if TYPE_CHECKING:
    from camillo.ops.signature import json_schema, run, validate

__all__ = ["json_schema", "run", "validate"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("camillo.ops.signature"), name)
