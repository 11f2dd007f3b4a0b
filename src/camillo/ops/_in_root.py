"""The type of an argument that says which root an operation is about."""

from __future__ import annotations

from typing import Annotated

from camillo.ops.operation import Doc

__all__ = ["InRoot"]

InRoot = Annotated[
    str | None,
    Doc("Only there: user, project or a name of `camillo roots`.", metavar="ROOT"),
]
