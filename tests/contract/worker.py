"""What the suites have done by other processes: `python -m contract.worker JOB TARGET PATH …`.

Each job waits for a line on its standard input before it touches the store, so that several start
together; it prints what was acknowledged, line by line.
"""

from __future__ import annotations

import itertools
import random
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from camillo.model import GLOBAL, Key, Memory, replace
from contract.opener import Opener

if TYPE_CHECKING:
    from collections.abc import Callable


def write(opener: Opener, name: str, count: str) -> None:
    """`count` memories, one put each."""
    store = opener.open()
    for number in range(int(count)):
        store.put([Memory(id=f"{name}-{number}", body=f"line {number} of {name}")])
    store.close()
    say("done")


def write_on(opener: Opener, name: str) -> None:
    """Until killed, in turns: a put, an update of the one before, a delete of every fifth."""
    store = opener.open()
    for number in itertools.count():
        id_ = f"{name}-{number}"
        store.put([Memory(id=id_, body="first")])
        say(f"{id_} first")
        if number % 2:
            store.put([Memory(id=id_, body="second " * 200)])
            say(f"{id_} second")
        if number % 5 == 0:
            store.delete([Key("", "user", GLOBAL, id_)])
            say(f"{id_} gone")


def churn(opener: Opener, name: str, count: str, seed: str) -> None:
    """`count` memories in transactions of their own: each put twice, some of them deleted, some
    put again; and as many transactions that are given up."""
    store = opener.open()
    order = random.Random(int(seed)).sample(range(int(count)), int(count))
    for number in order:
        mine = Memory(id=f"{name}-{number}", body=f"first of {name}")
        with store.transaction():
            store.put([mine])
            store.put([replace(mine, body=f"second of {name}")])
        with suppress(LookupError), store.transaction():
            store.put([replace(mine, body="given up"), Memory(id=f"{name} given up", body="")])
            raise LookupError
        if number % 2:
            store.delete([mine.key])
        if number % 6 == 1:
            store.put([replace(mine, body="third " * 50)])
    store.close()
    say("done")


CHURN_LEAVES = [n for n in range(25) if not n % 2 or n % 6 == 1]  # of 25


def half_way(opener: Opener, name: str) -> None:
    """Stops inside a transaction, until killed."""
    store = opener.open()
    with store.transaction():
        store.put([Memory(id="kept", body="after"), Memory(id=name, body="new")])
        store.delete([Key("", "user", GLOBAL, "gone")])
        say("half way")
        sys.stdin.readline()


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


JOBS: dict[str, Callable[..., None]] = {
    "write": write, "write_on": write_on, "churn": churn, "half_way": half_way
}  # fmt: skip


if __name__ == "__main__":
    job, target, path, *rest = sys.argv[1:]
    say("ready")
    sys.stdin.readline()
    JOBS[job](Opener(target, path, ""), *rest)
