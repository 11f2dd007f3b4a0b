"""Words of a command line to texts per parameter. What the texts mean is `ops.signature`'s.

Options may stand anywhere among the positional words, `--name=value` and `-k5` are read, `--` ends
the options, and nothing is abbreviated. argparse is not used: it takes 6 ms of every call, refuses
`mine A --wing w B`, and words its help and errors differently in each Python version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from camillo.errors import InvalidValue, UnknownName
from camillo.ops.output import HELP_FLAGS
from camillo.ops.signature import Parameter

__all__ = ["Texts", "placeholder", "split"]

Texts = dict[str, list[str]]


def split(words: Sequence[str], parameters: Iterable[Parameter]) -> Texts:
    """The texts given for each parameter, in order; a bool's are `true` and `false`.

    Raises UnknownName for an unknown option and InvalidValue for a missing or surplus word.
    """
    known = list(parameters)
    flags = {flag: each for each in known for flag in each.flags}
    texts: Texts = {}
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            plain.extend(rest)
        elif not _is_option(word, flags):
            plain.append(word)
        else:
            name, value = _option(word, flags)
            parameter = flags[name]
            if parameter.kind == "bool":
                value = _switch(name, value)
            elif value is None:
                value = _next_value(name, rest, flags)
            texts.setdefault(parameter.name, []).append(value)
    _place(plain, [each for each in known if not each.flags], texts)
    return texts


def placeholder(parameter: Parameter) -> str:
    """How a positional parameter or an option's value is shown: `QUERY`, `[ID...]`."""
    label = parameter.metavar or parameter.name.upper()
    if parameter.flags:
        return label
    label += "..." if parameter.kind == "strs" else ""
    return label if parameter.required else f"[{label}]"


def _is_option(word: str, flags: Iterable[str]) -> bool:
    if word in flags:
        return True
    if len(word) < 2 or word[0] != "-" or _is_number(word):
        return False
    return " " not in word.partition("=")[0]  # a phrase that begins with a dash is text


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _option(word: str, flags: dict[str, Parameter]) -> tuple[str, str | None]:
    """(flag, value given in the same word). Raises UnknownName."""
    if word in flags:
        return word, None
    name, equals, value = word.partition("=")
    if equals and name in flags:
        return name, value
    short = word[:2]
    if short in flags and flags[short].kind != "bool":
        return short, word[2:]
    error = UnknownName.of("option", name, [*flags, *HELP_FLAGS])
    raise UnknownName(f"{error} (a text that begins with a dash goes after --)")


def _switch(name: str, value: str | None) -> str:
    if value is not None:
        raise InvalidValue(f"{name} takes no value; not {value!r}")
    return "false" if name.startswith("--no-") else "true"


def _next_value(name: str, rest: Iterable[str], flags: Iterable[str]) -> str:
    value = next(iter(rest), None)
    if value is None or value in flags:
        raise InvalidValue(f"{name} needs a value")
    return value


def _place(words: list[str], positional: list[Parameter], texts: Texts) -> None:
    """Give each positional parameter its words; a repeatable one takes what others can spare."""
    left = list(words)
    for index, parameter in enumerate(positional):
        later = sum(each.required for each in positional[index + 1 :])
        many = parameter.kind == "strs"
        spare = max(0, len(left) - later) if many else min(1, len(left))
        taken, left = left[:spare], left[spare:]
        if taken:
            texts[parameter.name] = taken
    missing = [each for each in positional if each.required and each.name not in texts]
    if missing:
        names = " ".join(map(placeholder, missing))
        raise InvalidValue(f"{names} is missing; --help explains the command")
    if left:
        hint = "; put a text of several words into quotes" if positional else ""
        raise InvalidValue(f"unexpected argument {left[0]!r}{hint}")
