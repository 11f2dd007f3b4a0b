"""The bench of stores: a corpus of any size, honest sums, and a run through the local engine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from camillo.bench.stores import Costs, Recorded, ServerClock, grown, nearest_share
from camillo.embed.hashing import HashingEmbedder
from camillo.errors import InvalidValue, UnknownName
from camillo.ops.bench_stores import StoresReport, bench_stores
from camillo.vault import Vault, open_vault
from contract.specimens import drawer, memory

CORPUS = [drawer("/a.md", n, f"The gate number {n} opens to the north of town.") for n in range(5)]
BURN = "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"


class TestACorpusThatGrows:
    def test_it_starts_with_the_real_texts(self) -> None:
        assert list(grown(CORPUS, 3)) == CORPUS[:3]
        assert list(grown(CORPUS, 7))[:5] == CORPUS

    def test_it_has_the_size_that_was_asked_for_and_no_key_twice(self) -> None:
        keys = [each.key for each in grown(CORPUS, 1234)]
        assert len(keys) == len(set(keys)) == 1234

    def test_three_words_in_ten_are_others_of_the_corpus(self) -> None:
        texts = [re.findall(r"\w+", each.body) for each in grown(CORPUS, 2005)]
        known = {word for words in texts[:5] for word in words}
        pairs = [
            pair
            for number, words in enumerate(texts[5:])
            for pair in zip(words, texts[number % 5], strict=True)
        ]
        assert {new for new, _ in pairs} <= known
        assert 0.2 < sum(new != old for new, old in pairs) / len(pairs) < 0.3  # some fall on equals

    def test_it_is_the_same_every_time(self) -> None:
        assert list(grown(CORPUS, 40)) == list(grown(CORPUS, 40))

    def test_memories_without_a_source_grow_too(self) -> None:
        assert len({each.key for each in grown([memory("a", "one two")], 9)}) == 9

    def test_nothing_cannot_grow(self) -> None:
        with pytest.raises(InvalidValue, match="no text"):
            list(grown([], 10))


class TestCosts:
    def test_a_row_holds_the_calls_since_the_last_one(self) -> None:
        costs = Costs(ServerClock())
        assert [costs.timed(lambda: 7) for _ in range(3)] == [7, 7, 7]
        row = costs.row(10, "get")
        assert (row.memories, row.what, row.runs, row.server_p50_ms) == (10, "get", 3, None)
        assert costs.row(10, "put").runs == 0

    def test_work_here_is_the_clients(self) -> None:
        costs = Costs(ServerClock())
        costs.timed(lambda: sum(range(3_000_000)))
        row = costs.row(1, "sum")
        assert 0 < row.client_p50_ms <= row.client_p95_ms
        assert row.cpu_seconds == pytest.approx(row.client_p50_ms / 1000, abs=0.002)


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="no /proc here")
class TestTheServersClock:
    def test_it_counts_a_process_and_what_that_started(self) -> None:
        child = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN!r}])"
        with subprocess.Popen(
            [sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "done\n"
            spent = ServerClock(process.pid)()
            process.communicate("\n")
        assert 0.3 <= spent < 3

    def test_a_process_that_is_not_there_is_an_error(self) -> None:
        with pytest.raises(InvalidValue, match="no process 999999999"):
            ServerClock(999_999_999)


class TestRecall:
    COSINES = np.array([0.9, 0.8, 0.7, 0.6, 0.5], np.float32)

    def test_it_is_the_share_of_the_nearest(self) -> None:
        assert nearest_share(self.COSINES, [0, 1, 2], 3) == 1.0
        assert nearest_share(self.COSINES, [0, 4, 2], 3) == pytest.approx(2 / 3)
        assert nearest_share(self.COSINES, [], 3) == 0.0

    def test_which_of_equals_comes_first_does_not_count(self) -> None:
        cosines = np.array([0.9, 0.7, 0.7, 0.7], np.float32)
        assert nearest_share(cosines, [0, 3], 2) == 1.0

    def test_fewer_than_k_are_all(self) -> None:
        assert nearest_share(self.COSINES[:2], [0, 1], 10) == 1.0

    def test_one_named_twice_counts_once(self) -> None:
        assert nearest_share(self.COSINES, [0, 0, 0], 3) == pytest.approx(1 / 3)

    def test_vectors_are_kept_by_their_text(self) -> None:
        inner = HashingEmbedder()
        recorded = Recorded(inner)
        recorded.embed(["a gate", "a door", "a gate"], "passage")
        recorded.embed(["a question"], "query")
        assert set(recorded.places) == {"a gate", "a door"}
        expected = inner.embed(["a gate", "a door"], "passage")
        assert np.array_equal(recorded.vectors(), expected)


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault(overrides={"search.embedder": "hashing"}) as opened:
        yield opened


@pytest.fixture
def corpus(home: Path) -> Path:
    folder = home / "work" / "shop"
    folder.mkdir()
    for number in range(30):
        town = "".join(chr(ord("a") + int(digit)) for digit in f"{number * 7919:06}")
        line = f"The gates of the town {town} open towards the quiet river.\n"
        (folder / f"{number}.md").write_text(line * 3, "utf-8")
    return folder


class TestARun:
    def test_every_call_has_a_row_at_every_size(
        self, vault: Vault, corpus: Path, home: Path
    ) -> None:
        report = bench_stores(vault, str(corpus), backend="sqlite", sizes="40,120", queries=5)
        assert isinstance(report, StoresReport)
        what = [(row.memories, row.what) for row in report.results]
        calls = ["put 500", "put one", "catch up", "vectors", "get", "keyword", "hybrid"]
        assert what == [(size, call) for size in (40, 120) for call in calls]
        assert (report.backend, report.searches_itself, report.drawers) == ("sqlite", False, 30)
        assert [(each.memories, each.queries) for each in report.recall] == [(40, 5), (120, 5)]
        assert all(each.recall_at_10 >= 0.7 for each in report.recall)  # all are much alike here
        assert not (home / ".camillo").exists()

    def test_without_an_embedder_it_measures_words_and_says_so(
        self, home: Path, corpus: Path
    ) -> None:
        with open_vault() as vault:
            report = bench_stores(vault, str(corpus), backend="memory", sizes="40", queries=5)
        assert "hybrid" not in {row.what for row in report.results}
        assert any("no embedder" in note for note in report.degraded)

    @pytest.mark.parametrize("sizes", ["", "many", "100,10", "0", "5,5"])
    def test_sizes_must_rise(self, vault: Vault, corpus: Path, sizes: str) -> None:
        with pytest.raises(InvalidValue, match="--sizes"):
            bench_stores(vault, str(corpus), sizes=sizes)

    def test_a_file_of_yours_is_not_measured_with(self, vault: Vault, corpus: Path) -> None:
        with pytest.raises(InvalidValue, match="thrown away"):
            bench_stores(vault, str(corpus), backend="sqlite:mine.db", sizes="10")

    def test_an_engine_that_is_not_there_is_named(self, vault: Vault, corpus: Path) -> None:
        with pytest.raises(UnknownName, match="sqlite"):
            bench_stores(vault, str(corpus), backend="sqllite", sizes="10")
        with pytest.raises(InvalidValue, match="keeps nothing"):
            bench_stores(vault, str(corpus), backend="none", sizes="10")
