"""Which cases of a suite apply to an implementation: by its declared capabilities, nothing else.

A case says what it needs; a case that needs nothing applies to every implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

__all__ = ["NOT_APPLICABLE", "PASSED", "cases", "lacks", "needs", "verdict"]

PASSED = "passed"
NOT_APPLICABLE = "not applicable"

Case = TypeVar("Case", bound=Callable[..., Any])


def needs(*capabilities: str) -> Callable[[Case], Case]:
    """The case applies to implementations that declare all of these."""

    def mark(case: Case) -> Case:
        case.__dict__["needs"] = frozenset(capabilities)
        return case

    return mark


def lacks(*capabilities: str) -> Callable[[Case], Case]:
    """The case applies to implementations that declare none of these."""

    def mark(case: Case) -> Case:
        case.__dict__["lacks"] = frozenset(capabilities)
        return case

    return mark


def verdict(case: Callable[..., Any], capabilities: Iterable[str]) -> str:
    """What a run of `case` must end in on an implementation with these capabilities."""
    declared = frozenset(capabilities)
    needed: frozenset[str] = getattr(case, "needs", frozenset())
    lacked: frozenset[str] = getattr(case, "lacks", frozenset())
    applies = needed <= declared and not lacked & declared
    return PASSED if applies else NOT_APPLICABLE


def cases(suite: type) -> dict[str, Callable[..., Any]]:
    """The cases of a suite by name, without `test_`."""
    return {
        name.removeprefix("test_"): getattr(suite, name)
        for name in dir(suite)
        if name.startswith("test_")
    }
