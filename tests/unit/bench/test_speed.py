"""`bench speed`: what it times, and what its object holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from camillo.bench.speed import Latency, Timed, apart, latency, sentences
from camillo.ops.bench_speed import SpeedReport, bench_speed
from camillo.vault import open_vault

TEXT = "".join(
    f"The painted door number {word} leads into another room.\n\n"
    for word in ("one", "two", "three", "four", "five", "six")
)
SPENT = {"runs", "min_ms", "p50_ms", "p95_ms"}


@pytest.fixture
def folder(home: Path) -> Path:
    folder = home / "work" / "folder"
    folder.mkdir()
    for n in range(3):
        (folder / f"{n}.md").write_text(f"# Doors {n}\n\n{TEXT}", "utf-8")
    return folder


def _measured(folder: Path, embedder: str, queries: int = 4) -> SpeedReport:
    with open_vault(overrides={"search.embedder": embedder}) as vault:
        return bench_speed(vault, str(folder), queries=queries)


class TestCommand:
    def test_by_words_it_has_the_keys_that_were_promised(self, folder: Path) -> None:
        report = _measured(folder, "none")
        assert set(report.search) == {"warm", "cold process", "bare python"}
        assert all(set(each) == SPENT for each in report.search.values())
        assert (report.files, report.search["warm"]["runs"]) == (3, 4)
        assert report.drawers >= 3
        assert (report.embedder, report.embed_ms_per_drawer) == ("none", 0)
        assert {row["phase"] for row in report.results} >= {"store", "lexical", "closets"}

    def test_with_a_named_embedder_searches_by_meaning_are_timed_too(self, folder: Path) -> None:
        report = _measured(folder, "hashing")
        assert set(report.search) == {
            "warm", "cold process", "bare python", "warm hybrid", "query embedding",
        }  # fmt: skip
        assert report.search["warm hybrid"]["runs"] == report.search["query embedding"]["runs"] == 4
        assert report.search["warm hybrid"]["min_ms"] > 0
        assert report.embedder.startswith("hashing/")
        assert report.embed_ms_per_drawer > 0

    def test_searches_in_a_running_process_are_warm(self, folder: Path) -> None:
        """Also when a command asks, which would search once and begin cold."""
        with open_vault(overrides={"search.embedder": "none"}) as vault:
            vault.warm = False
            bench_speed(vault, str(folder), queries=1)
            assert vault.warm

    def test_nothing_is_kept(self, folder: Path, home: Path) -> None:
        _measured(folder, "hashing")
        assert not (home / ".camillo").exists()

    def test_a_folder_without_sentences_has_no_searches(self, home: Path) -> None:
        (home / "work" / "a.txt").write_text("one two", "utf-8")
        assert _measured(home / "work", "hashing").search == {}


class TestTimes:
    def test_a_latency_is_by_nearest_rank(self) -> None:
        seconds = [n / 1000 for n in range(1, 21)]
        assert Latency.of(reversed(seconds)) == Latency(20, 1, 10, 19)
        assert Latency.of([]) == Latency(0, 0, 0, 0)

    def test_a_part_is_taken_out_of_each_call(self) -> None:
        class Part:
            def work(self) -> int:
                return sum(range(300_000))

        part: Any = Timed(Part())
        rest, within = apart([part.work] * 3, part)
        assert (rest.runs, within.runs) == (3, 3)
        assert within.min_ms > rest.p50_ms

    def test_every_call_is_made_once(self) -> None:
        made: list[int] = []
        assert latency([lambda: made.append(1)] * 5).runs == len(made) == 5

    def test_sentences_are_those_of_the_texts(self) -> None:
        found = sentences(iter([TEXT]), 3)
        assert len(set(found)) == 3
        assert all(sentence in TEXT for sentence in found)
        assert sentences(iter([TEXT]), 3) == found
