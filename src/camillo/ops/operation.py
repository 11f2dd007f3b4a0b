"""`@operation` and `Doc`: how a use case declares itself.

A use case is a plain typed function; the decorator only attaches a record to it, so that importing
one costs nothing. What the signature means is worked out once, by `_generate.py`, into `table.py`;
`signature.py` reads it back from there.
"""

from __future__ import annotations

from collections.abc import Callable

from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__ = ["Doc", "Operation", "operation", "operation_of"]

_ATTRIBUTE = "__operation__"


class Doc(NamedTuple):
    """What an annotation says about a parameter: `Annotated[int, Doc("how many", short="-k")]`.

    `min` and `max` are inclusive. A metavar of PATH, FILE or DIR makes shells complete file names.
    """

    text: str
    metavar: str = ""
    short: str = ""
    min: float | None = None
    max: float | None = None


class Operation(NamedTuple):
    """A declared use case. Surfaces turn the three booleans into hints for their clients."""

    name: str
    writes: bool
    destructive: bool
    idempotent: bool
    positional: tuple[str, ...]


def operation(
    *,
    writes: bool,
    name: str | None = None,
    positional: tuple[str, ...] = (),
    destructive: bool = False,
    idempotent: bool | None = None,
) -> Callable[[Function], Function]:
    """Declare the decorated function as a use case.

    Parameters without a default are positional on the command line; `positional` names further
    ones. A first parameter called `vault` receives the open vault; a function without one runs
    without any. `idempotent` defaults to True for what only reads.
    """

    def declare(function: Function) -> Function:
        record = Operation(
            name=name or function.__name__.strip("_").replace("_", "-"),
            writes=writes,
            destructive=destructive,
            idempotent=not writes if idempotent is None else idempotent,
            positional=positional,
        )
        setattr(function, _ATTRIBUTE, record)
        return function

    return declare


def operation_of(thing: object) -> Operation | None:
    """The record that `@operation` left on `thing`, or None."""
    record = getattr(thing, _ATTRIBUTE, None)
    return record if isinstance(record, Operation) else None
