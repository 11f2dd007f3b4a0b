"""Two ways to declare a record without loading `dataclasses` or `typing` (12 and 7 ms of CPU).

`NamedTuple` is `typing.NamedTuple` to a type checker and the same thing at run time, made when it
is first used. `Record` is a mutable one: annotated names with defaults, each instance with lists
and dicts of its own. See docs/decisions/0003-records-without-dataclasses.md.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

try:  # as `collections` has it: a field is read in C
    from _collections import _tuplegetter  # type: ignore[import-not-found]
except ImportError:  # pragma: no cover

    def _tuplegetter(at: int, doc: str) -> property:
        return property(itemgetter(at), doc=doc)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, NamedTuple, dataclass_transform
else:

    def dataclass_transform() -> Any:
        return lambda made: made

    class _Made(type):
        """`class X(NamedTuple)` makes a plain subclass of tuple; nothing of this class is left."""

        def __new__(mcls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(mcls, name, bases, space)
            return _tuple_class(name, space)

    class NamedTuple(metaclass=_Made):
        pass


__all__ = ["NamedTuple", "Record"]

_OFTEN = 20


@dataclass_transform()
class Record:
    """Base of records that are filled in step by step. Fields have defaults, in the order of their
    declaration; those of a base come first. A default list or dict is copied for each instance.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _copied: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        own = _annotated(vars(cls))
        cls._fields = (*cls._fields, *own)
        changing = [name for name in own if isinstance(getattr(cls, name), list | dict | set)]
        cls._copied = (*cls._copied, *changing)

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(self._fields, values, strict=False), **named)
        if len(given) != len(values) + len(named) or not given.keys() <= {*self._fields}:
            raise TypeError(f"{type(self).__name__} has {', '.join(self._fields)}; not {given}")
        for name in self._copied:
            default = getattr(self, name)
            setattr(self, name, type(default)(default))
        for name, value in given.items():
            setattr(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({', '.join(shown)})"


def _annotated(space: Any) -> tuple[str, ...]:
    """Names with an annotation in the body of a class."""
    if "__annotations__" in space:
        return tuple(space["__annotations__"])
    return ()


def _tuple_class(name: str, space: dict[str, Any]) -> type:
    fields = _annotated(space)
    defaults = {field: space.pop(field) for field in fields if field in space}
    made = type(name, (tuple,), {
        "__slots__": (),
        "__module__": space["__module__"],
        "_fields": fields,
        "_field_defaults": defaults,
        "__match_args__": fields,
        "__repr__": _repr,
        "__getnewargs__": lambda self: tuple(self),
        "_asdict": _asdict,
        "_make": classmethod(tuple.__new__),
        "_replace": _replace,
        **{field: _tuplegetter(at, "") for at, field in enumerate(fields)},
        **space,
    })  # fmt: skip
    made.__new__ = _patient(made)  # type: ignore[method-assign]
    return made


def _patient(made: Any) -> Callable[..., Any]:
    """A `__new__` that compiles a faster one when it has been called often: most records that a
    process imports it makes once or never."""
    fields, defaults = made._fields, made._field_defaults
    calls = 0

    def new(cls: type, /, *values: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        rest = fields[len(values) :]
        full = calls < _OFTEN and len(values) <= len(fields) and named.keys() <= {*rest}
        if not full or not {*rest} <= {*named, *defaults}:  # or wrong: that one says what is
            made.__new__ = _constructor(made)
            return made.__new__(cls, *values, **named)
        filled = (named[field] if field in named else defaults[field] for field in rest)
        return tuple.__new__(cls, (*values, *filled))

    return new


def _constructor(made: Any) -> Callable[..., Any]:
    fields, defaults = made._fields, tuple(made._field_defaults.values())
    names = ", ".join(fields)
    arguments = f"{names}," if names else ""
    space = {"_new": tuple.__new__, "__name__": made.__module__}
    built: Any = eval(f"lambda _cls, {names}: _new(_cls, ({arguments}))", space)
    built.__name__, built.__qualname__ = "__new__", f"{made.__name__}.__new__"
    built.__defaults__ = defaults
    return built  # type: ignore[no-any-return]


def _repr(self: Any) -> str:
    shown = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{type(self).__name__}({', '.join(shown)})"


def _asdict(self: Any) -> dict[str, Any]:
    return dict(zip(self._fields, self, strict=True))


def _replace(self: Any, /, **changes: Any) -> Any:
    made = tuple.__new__(type(self), map(changes.pop, self._fields, self))
    if changes:
        raise ValueError(f"got unexpected field names: {list(changes)}")
    return made
