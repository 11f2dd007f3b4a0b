"""What the worker's job `write_on` said before it died, held against what the store has."""

from __future__ import annotations

from collections.abc import Sequence

from camillo.model import GLOBAL, Key
from camillo.ports import Store

__all__ = ["assert_kept"]


def assert_kept(store: Store, name: str, said: Sequence[str]) -> None:
    """Every step that was said has been done, and of the step after it all or nothing."""
    whole = [line.split() for line in said if line.endswith("\n")]
    last = max(int(line.split("-")[1].split()[0]) for line in said)
    for id_, word in whole:
        number = int(id_.removeprefix(f"{name}-"))
        if number == last:
            continue  # its next step may have been done and not said
        (found,) = store.get([Key("", "user", GLOBAL, id_)])
        steps = [step for other, step in whole if other == id_]
        if number % 5 == 0:
            assert found is None, (id_, steps)
        elif word == "second" or number % 2 == 0:
            assert found, (id_, steps)
            assert found.body == ("second " * 200 if number % 2 else "first"), (id_, steps)
    if last % 5:
        assert store.get([Key("", "user", GLOBAL, f"{name}-{last}")]) != [None]
