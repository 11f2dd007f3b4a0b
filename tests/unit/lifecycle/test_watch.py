"""When a watch looks again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camillo.lifecycle.watch import ticks


def _at_once(folders: Sequence[str], every: float) -> Iterator[None]:
    while True:
        yield


def _never(folders: Sequence[str], every: float) -> Iterator[None]:
    raise AssertionError("nobody should wait")
    yield


def test_the_first_look_waits_for_nothing() -> None:
    assert list(ticks(["/a"], 1.0, _never, 1)) == [1]
    assert next(ticks(["/a"], 1.0, _never)) == 1


def test_it_ends_after_so_many_looks() -> None:
    assert list(ticks(["/a"], 1.0, _at_once, 4)) == [1, 2, 3, 4]


def test_without_a_number_it_goes_on() -> None:
    looks = ticks(["/a"], 1.0, _at_once)
    assert [next(looks) for _ in range(50)] == list(range(1, 51))
