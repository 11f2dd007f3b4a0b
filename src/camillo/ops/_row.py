"""One operation's row, read from its function's signature and docstring.

The one place that inspects functions. A signature that cannot be a command, a tool and a route at
once is refused here, with SystemExit, when the table is made. Writing it is `_generate.py`'s.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from camillo.ops._in_root import InRoot
from camillo.ops.operation import Doc, Operation, operation_of
from camillo.ops.output import HELP_FLAGS, OUTPUT
from camillo.ops.signature import REQUIRED, Parameter, ParameterRow, Row, validate

__all__ = ["row_of", "sample"]

_SCALARS = {str: "str", int: "int", float: "float", bool: "bool"}
# Usable without importing them at run time.
_ANNOTATION_NAMES = {**vars(typing), "Doc": Doc, "InRoot": InRoot}


def row_of(function: Callable[..., Any]) -> Row:
    """The table's row of one operation. SystemExit says what is wrong with its signature."""
    record = operation_of(function)
    if record is None:
        raise SystemExit(f"{function.__qualname__} is not an operation")
    summary, text = _summary_and_help(function)
    parameters = list(inspect.signature(function).parameters.values())
    vault = bool(parameters) and parameters[0].name == "vault"
    arguments = tuple(_parameter(function, record, each) for each in parameters[vault:])
    row = (
        function.__module__,
        function.__name__,
        summary,
        record.writes,
        arguments,
        text,
        record.destructive,
        record.idempotent,
        vault,
    )
    _refuse_clashes(record, row)
    return row


def sample(parameter: Parameter) -> object:
    """A value that will do, so that the defaults can be checked through the public door."""
    if parameter.kind == "strs":
        return [*parameter.choices[:1]] or ["text"]
    if parameter.choices:
        return parameter.choices[0]
    number = parameter.min if parameter.min is not None else parameter.max or 0
    return {"str": "text", "bool": False}.get(parameter.kind, number)


def _summary_and_help(function: Callable[..., Any]) -> tuple[str, str]:
    text = inspect.getdoc(function)
    if not text:
        raise SystemExit(f"{function.__qualname__} has no docstring: its first line is the summary")
    summary, _, rest = text.partition("\n")
    return summary.strip(), rest.strip()


def _parameter(
    function: Callable[..., Any], record: Operation, parameter: inspect.Parameter
) -> ParameterRow:
    where = f"parameter {parameter.name!r} of {function.__qualname__}"
    kind, choices, doc, nullable = _annotation(where, function, parameter.annotation)
    if doc is None or not doc.text:
        raise SystemExit(f"{where} has no Doc with a help text")
    default = REQUIRED if parameter.default is inspect.Parameter.empty else parameter.default
    if (default is None) != nullable:
        raise SystemExit(f"{where} must have the default None if, and only if, it may be None")
    positional = default is REQUIRED or parameter.name in record.positional
    flags = () if positional else _flags(parameter.name, doc.short, kind, default)
    return (
        parameter.name,
        kind,
        default,
        choices,
        " ".join(doc.text.split()),
        flags,
        doc.min,
        doc.max,
        doc.metavar,
    )


def _annotation(
    where: str, function: Callable[..., Any], annotation: Any
) -> tuple[str, tuple[str, ...], Doc | None, bool]:
    """(kind, choices, doc, nullable) of an annotation."""
    hint = _evaluated(where, function, annotation)
    doc: Doc | None = None
    nullable = False
    while True:
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin is typing.Annotated:
            doc = next((each for each in arguments[1:] if isinstance(each, Doc)), doc)
            hint = arguments[0]
        elif origin in (typing.Union, types.UnionType) and _is_optional(arguments):
            nullable = True
            hint = next(each for each in arguments if each is not types.NoneType)
        else:
            return *_kind(where, hint), doc, nullable


def _evaluated(where: str, function: Callable[..., Any], annotation: Any) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {**_ANNOTATION_NAMES, **function.__globals__})
    except NameError as error:
        raise SystemExit(f"{where}: {error} at run time in {annotation!r}") from None


def _is_optional(arguments: tuple[Any, ...]) -> bool:
    return len(arguments) == 2 and types.NoneType in arguments


def _kind(where: str, hint: Any) -> tuple[str, tuple[str, ...]]:
    arguments = typing.get_args(hint)
    if hint in _SCALARS:
        return _SCALARS[hint], ()
    if typing.get_origin(hint) is typing.Literal and all(isinstance(a, str) for a in arguments):
        return "str", arguments
    if typing.get_origin(hint) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        kind, choices = _kind(where, arguments[0])
        if kind == "str":
            return "strs", choices
    raise SystemExit(
        f"{where} is a {hint}; known: str, int, float, bool, Literal of texts, tuple[str, ...], "
        "each also with None"
    )


def _flags(name: str, short: str, kind: str, default: object) -> tuple[str, ...]:
    long = f"--{name.replace('_', '-')}"
    first = (short, long) if short else (long,)
    return (*first, f"--no-{long[2:]}") if kind == "bool" and default is not False else first


def _refuse_clashes(record: Operation, row: Row) -> None:
    parameters = [Parameter(*each) for each in row[4]]
    names = {each.name for each in parameters}
    for name in record.positional:
        if name not in names:
            raise SystemExit(f"{record.name} has no parameter {name!r} to be positional")
    flags = [*HELP_FLAGS, *(flag for each in OUTPUT for flag in each[5])]
    for flag in (flag for each in parameters for flag in each.flags):
        if flag in flags:
            raise SystemExit(
                f"{record.name} cannot have {flag}: it is taken; rename the parameter, or make it "
                "positional (`@operation(positional=…)`)"
            )
        flags.append(flag)
    required = {each.name: sample(each) for each in parameters if each.required}
    defaults = {each.name: each.default for each in parameters if not each.required}
    validate(record.name, {**required, **defaults}, {record.name: row})
