"""A use case's arguments as data: what they are, whether given ones will do, and the call.

Reads rows of `table.py` and never the functions. Three kinds of caller: typed values (`validate`),
words from a command line or a query string (`read_texts`), and schemas for clients (`json_schema`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from camillo.errors import InvalidValue, UnknownName, nearest
from camillo.ops.table import TABLE
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from camillo.ops.report import Report

__all__ = [
    "REQUIRED",
    "Parameter",
    "Row",
    "Signature",
    "Table",
    "call",
    "json_schema",
    "read_texts",
    "run",
    "signature",
    "validate",
]

REQUIRED = ...  # stands in the place of a default

# name, kind, default, choices, help, flags, min, max, metavar
ParameterRow = tuple[
    str, str, object, tuple[str, ...], str, tuple[str, ...], float | None, float | None, str
]
# module, function, summary, writes, parameters, help, destructive, idempotent, vault
Row = tuple[str, str, str, bool, tuple[ParameterRow, ...], str, bool, bool, bool]
Table = Mapping[str, Row]

_WHOLE = 2**63  # what a store can hold as an integer
_SCHEMA_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_WORDS = {"str": "text", "bool": "true or false", "strs": "a list of texts"}
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


class Parameter(NamedTuple):
    """`kind` is str, int, float, bool or strs (repeatable). No flags means positional."""

    name: str
    kind: str
    default: Any
    choices: tuple[str, ...]
    help: str
    flags: tuple[str, ...]
    min: float | None
    max: float | None
    metavar: str

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def wanted(self) -> str:
        """What would do, in words: `a whole number from 1 to 200`."""
        if self.choices:
            return f"one of: {', '.join(filter(None, self.choices))}"
        if self.kind in _WORDS:
            return _WORDS[self.kind]
        return ("a whole number" if self.kind == "int" else "a number") + self._range()

    @property
    def fallback(self) -> str:
        """The default, in words; empty where leaving it out needs no explanation."""
        if self.required or self.default in (None, (), ""):
            return ""
        if self.kind == "bool":
            return "yes" if self.default else ""
        if self.kind == "strs":
            return " ".join(self.default)
        return str(self.default) if self.kind == "str" else f"{self.default:g}"

    def _range(self) -> str:
        if self.min is not None and self.max is not None:
            return f" from {self.min:g} to {self.max:g}"
        if self.min is not None:
            return f" of {self.min:g} or more"
        return "" if self.max is None else f" up to {self.max:g}"


class Signature(NamedTuple):
    """One row of the table, named."""

    name: str
    module: str
    function: str
    summary: str
    writes: bool
    parameters: tuple[Parameter, ...]
    help: str
    destructive: bool
    idempotent: bool
    vault: bool

    @property
    def positional(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if not parameter.flags)


def signature(name: str, table: Table = TABLE) -> Signature:
    """Raises UnknownName, naming the nearest."""
    row = table.get(name)
    if row is None:
        groups = {each.partition(" ")[0] for each in table}
        raise UnknownName.of("command", name, {*table, *groups})
    module, function, summary, writes, parameters, *_ = row
    records = tuple(Parameter(*parameter) for parameter in parameters)
    return Signature(name, module, function, summary, writes, records, *row[5:])


def json_schema(name: str, table: Table = TABLE) -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the arguments."""
    found = signature(name, table)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": found.name,
        "description": found.summary,
        "type": "object",
        "properties": {each.name: _property(each) for each in found.parameters},
        "required": [each.name for each in found.parameters if each.required],
        "additionalProperties": False,
    }


def validate(name: str, arguments: Mapping[str, Any], table: Table = TABLE) -> dict[str, Any]:
    """The arguments, checked and in the types of the function; defaults are left to it.

    Raises UnknownName for an argument it does not have and InvalidValue for a value that will not
    do. A null stands for an absent argument where the default is None.
    """
    found = signature(name, table)
    known = {each.name: each for each in found.parameters}
    for given in arguments:
        if given not in known:
            raise UnknownName.of(f"argument of {name}", str(given), known)
    for each in found.parameters:
        if each.required and each.name not in arguments:
            raise InvalidValue(f"{name} needs {each.name} ({each.wanted})")
    return {given: _check(name, known[given], value) for given, value in arguments.items()}


def read_texts(found: Signature, texts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Values from words, per parameter in the order given; the last word counts where one is
    wanted. Words that do not read as the type stay as they are: `validate` names them."""
    kinds = {each.name: each.kind for each in found.parameters}
    return {name: _read(kinds.get(name, "str"), words) for name, words in texts.items() if words}


def call(found: Signature, vault: Any, arguments: Mapping[str, Any]) -> Report:
    """Import the one module that is needed and run. The arguments come from `validate`."""
    function = getattr(import_module(found.module), found.function)
    if not found.vault:
        alone: Report = function(**arguments)
        return alone
    report: Report = function(vault, **arguments)
    report.degraded[:0] = getattr(vault, "notes", ())
    return report


def run(vault: Any, name: str, /, **arguments: Any) -> Report:
    """The Python API: `run(vault, "search", query="why jwt", k=5)`."""
    return call(signature(name), vault, validate(name, arguments))


def _property(parameter: Parameter) -> dict[str, Any]:
    many = parameter.kind == "strs"
    one: dict[str, Any] = {"type": "string" if many else _SCHEMA_TYPES[parameter.kind]}
    if parameter.choices:
        one["enum"] = list(parameter.choices)
    if parameter.min is not None:
        one["minimum"] = parameter.min
    if parameter.max is not None:
        one["maximum"] = parameter.max
    schema: dict[str, Any] = {"type": "array", "items": one} if many else one
    schema["description"] = parameter.help
    if not parameter.required and parameter.default is not None:
        schema["default"] = list(parameter.default) if many else parameter.default
    elif many and parameter.required:
        schema["minItems"] = 1
    return schema


def _check(name: str, parameter: Parameter, value: Any) -> Any:
    if value is None and parameter.default is None:
        return None
    checked = _CHECKS[parameter.kind](parameter, value)
    if checked is None:
        raise InvalidValue(_complaint(name, parameter, value))
    return checked


def _complaint(name: str, parameter: Parameter, value: Any) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    close = nearest(value, parameter.choices) if isinstance(value, str) else None
    hint = f"; did you mean {close!r}?" if close else ""
    return f"{parameter.name} of {name} must be {parameter.wanted}; not {shown}{hint}"


def _check_str(parameter: Parameter, value: Any) -> str | None:
    if not isinstance(value, str) or (parameter.choices and value not in parameter.choices):
        return None
    return value


def _check_strs(parameter: Parameter, value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or (parameter.required and not value):
        return None
    items = [_check_str(parameter, item) for item in value]
    return None if None in items else tuple(value)


def _check_bool(_: Parameter, value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _check_int(parameter: Parameter, value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():  # JSON does not tell 5.0 from 5
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not -_WHOLE <= value < _WHOLE:
        return None
    return value if _within(parameter, value) else None


def _check_float(parameter: Parameter, value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number - number == 0 and _within(parameter, number) else None


def _within(parameter: Parameter, value: float) -> bool:
    low, high = parameter.min, parameter.max
    return (low is None or value >= low) and (high is None or value <= high)


_CHECKS = {
    "str": _check_str,
    "strs": _check_strs,
    "bool": _check_bool,
    "int": _check_int,
    "float": _check_float,
}


def _read(kind: str, words: Sequence[str]) -> Any:
    word = words[-1]
    if kind == "strs":
        return list(words)
    if kind == "bool":
        return _read_bool(word)
    if kind in ("int", "float"):
        try:
            return int(word) if kind == "int" else float(word)
        except ValueError:
            return word
    return word


def _read_bool(word: str) -> bool | str:
    lowered = word.lower()
    return lowered in _TRUE if lowered in _TRUE | _FALSE else word
