"""Progress on terminals and in logs."""

from __future__ import annotations

import io

import pytest

from camillo.surfaces.progress import Progress


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError("no descriptor")


def test_a_log_gets_a_line_at_most_every_five_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    for second in range(1, 13):
        clock.now += 1
        progress(10 * second, 200, "mining")
    assert stream.getvalue().splitlines() == [
        "mining: 50 of 200, 10 a second, 15 s left",
        "mining: 100 of 200, 10 a second, 10 s left",
    ]


def test_a_short_operation_says_nothing() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    clock.now += 4.9
    progress(5, 5, "mining")
    progress.close()
    assert stream.getvalue() == ""


def test_an_unknown_total_has_a_rate_and_no_end() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    clock.now += 8
    progress(12_000, None, "reading")
    assert stream.getvalue() == "reading: 12,000, 1,500 a second\n"


def test_a_new_count_starts_a_new_rate() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    clock.now += 8
    progress(800, 800, "words")
    clock.now += 1
    progress(0, 100, "vectors")
    clock.now += 10
    progress(20, 100, "vectors")
    assert stream.getvalue().splitlines()[-1] == "vectors: 20 of 100, 2.0 a second, 40 s left"


def test_the_name_of_what_is_done_cannot_command_the_terminal() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    clock.now += 6
    progress(1, None, "a\x1b[2J\nb")
    assert stream.getvalue().startswith("a\\x1b[2J b: 1")


def test_a_terminal_line_is_rewritten_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camillo.surfaces.progress.columns", lambda stream: 20)
    stream, clock = Terminal(), Clock()
    progress = Progress(stream, clock)
    clock.now += 1
    progress(1, 10, "a long name of a file")
    progress.close()
    assert stream.getvalue() == "\r\x1b[Ka long name of a f…\r\x1b[K"


def test_a_stream_that_went_away_does_not_stop_the_work() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = Progress(stream, clock)
    stream.close()
    for done in range(3):
        clock.now += 6
        progress(done, 3, "mining")
    progress.close()
    assert stream.closed
