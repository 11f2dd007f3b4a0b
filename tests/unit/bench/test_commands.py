"""The bench's commands end to end: a small set of our own, the real store, the real pipeline."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo.bench.haystack import memory_of
from camillo.bench.records import Text
from camillo.errors import CamilloError, InvalidValue, UnknownName
from camillo.ops.bench_ablate import bench_ablate
from camillo.ops.bench_compare import bench_compare
from camillo.ops.bench_load import bench_load
from camillo.ops.bench_retrieval import bench_retrieval
from camillo.retrieval.presets import PRESETS
from camillo.vault import Vault, open_vault

TEXTS: list[dict[str, Any]] = [
    {"id": "a1", "text": "I went to the pottery class.", "conv": "a", "session": "s1",
     "speaker": "Ann", "time": "1:56 pm on 8 May, 2023"},
    {"id": "a2", "text": "The swimming pool was closed.", "conv": "a", "session": "s1",
     "speaker": "Bob", "time": "1:56 pm on 8 May, 2023"},
    {"id": "a3", "text": "Look at this", "conv": "a", "session": "s2", "speaker": "Ann",
     "time": "9 May, 2023", "image_caption": "a violin on a chair"},
    {"id": "b1", "text": "The pottery class was in another town.", "conv": "b", "time": "000001"},
    {"id": "b2", "text": "黑豹队的防守很好。", "conv": "b", "time": "000000"},
]  # fmt: skip
QUERIES: list[dict[str, Any]] = [
    {"id": "q1", "text": "Who went to pottery?", "conv": "a", "relevant_ids": ["a1"],
     "answer": "Ann", "category": "easy"},
    {"id": "q2", "text": "violin", "conv": "a", "relevant_ids": ["a3"], "category": "easy"},
    {"id": "q3", "text": "the garden's fence", "conv": "a", "relevant_ids": ["a2"],
     "answer": ["pool"], "category": "hard"},
    {"id": "q4", "text": "防守", "conv": "b", "relevant_ids": ["b2"], "category": "easy"},
    {"id": "q5", "text": "pottery", "conv": "b", "relevant_ids": [], "answer": "TOWN",
     "category": "hard"},
]  # fmt: skip


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault(str(home / "work"), {"search.embedder": "none"}) as vault:
        yield vault


@pytest.fixture(autouse=True)
def _files(home: Path) -> None:
    put("corpus.jsonl", TEXTS)
    put("queries.jsonl", QUERIES)


def put(name: str, records: list[dict[str, Any]]) -> None:
    lines = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    Path(name).write_text(lines, "utf-8")


def measured(vault: Vault, **options: Any) -> Any:
    return bench_retrieval(
        vault, corpus="corpus.jsonl", queries="queries.jsonl", preset="words", **options
    )


def test_each_haystack_is_searched_by_its_own_queries_only(vault: Vault) -> None:
    report = measured(vault)
    assert (report.haystacks, report.texts, report.queries) == (2, 5, 5)
    assert report.unlabelled == 1
    # q1, q2 and q4 are found at once, q3 shares no word with anything.
    assert report.metrics["any@1"] == report.metrics["any@10"] == 0.75
    assert report.metrics["mrr"] == 0.75
    assert report.metrics["evidence@2000"] == 0.75
    assert report.baseline["any@10"] == 0.75
    # Three have an answer; "Ann" and "town" are found, the second in another case.
    assert report.metrics["answer@20"] == pytest.approx(2 / 3, abs=1e-6)
    assert report.degraded == []


def test_the_metrics_have_the_names_that_are_promised(vault: Vault) -> None:
    report = measured(vault).as_dict()
    names = {"any@1", "any@5", "any@10", "frac@5", "frac@10", "all@10", "ndcg@10", "mrr",
             "evidence@2000", "answer@20", "p50_ms", "p95_ms"}  # fmt: skip
    assert names <= report["metrics"].keys()
    assert report["metrics"].keys() == report["baseline"].keys()
    assert report["schema"] == 1
    assert [row["metric"] for row in report["results"]] == list(report["metrics"])


def test_other_cutoffs_change_what_is_reported_and_nothing_else(vault: Vault) -> None:
    metrics = measured(vault, k="3, 1").metrics
    assert {name for name in metrics if name.startswith("any@")} == {"any@1", "any@3"}
    assert metrics["evidence@2000"] == 0.75


def test_a_run_repeats_exactly(vault: Vault) -> None:
    first, second = measured(vault), measured(vault)
    for report in (first, second):
        for times in ("p50_ms", "p95_ms"):
            del report.metrics[times], report.baseline[times]
    assert first.metrics == second.metrics
    assert first.baseline == second.baseline
    assert first.categories == second.categories


def test_sessions_are_ranked_by_their_best_turn(vault: Vault) -> None:
    report = measured(vault, level="session")
    assert report.metrics["any@1"] == 0.75


def test_mempalace_counts_unlabelled_queries_as_found(vault: Vault) -> None:
    report = measured(vault, level="session", protocol="mempalace")
    assert report.metrics["frac@10"] == pytest.approx(4 / 5)
    assert report.metrics["any@10"] == 0.75


def test_categories_are_told_apart(vault: Vault) -> None:
    rows = {row["category"]: row for row in measured(vault).categories}
    assert rows["easy"]["queries"] == 3
    assert rows["easy"]["any@10"] == 1
    assert rows["hard"]["any@10"] == 0


def test_nothing_is_kept_and_no_root_is_made(vault: Vault, home: Path) -> None:
    measured(vault)
    assert not (home / ".camillo").exists()
    assert sorted(path.name for path in Path().iterdir()) == ["corpus.jsonl", "queries.jsonl"]


def test_what_does_not_fit_together_is_counted_and_said(vault: Vault) -> None:
    put("corpus.jsonl", [*TEXTS, TEXTS[0]])
    more = [
        {"id": "q6", "text": "pottery", "conv": "a", "relevant_ids": ["a1", "gone"]},
        {"id": "q7", "text": "pottery", "conv": "nowhere", "relevant_ids": ["a1"]},
        {"id": "q8", "text": "…", "conv": "a", "relevant_ids": ["a1"]},
        {"id": "q1", "text": "pottery", "conv": "a", "relevant_ids": ["a1"]},
    ]
    put("queries.jsonl", [*QUERIES, *more])
    report = measured(vault)
    assert report.missing_ids == 2  # one of q6, and that of q7
    assert report.queries == 9
    said = " | ".join(report.degraded)
    assert "1 texts have an id that came before" in said
    assert "1 queries name a conv that the corpus does not have" in said
    assert "2 relevant ids are not in their query's haystack" in said
    assert report.metrics["any@10"] == pytest.approx(5 / 8)


def test_files_are_asked_for_and_cutoffs_checked(vault: Vault) -> None:
    with pytest.raises(InvalidValue, match="bench retrieval needs --corpus FILE"):
        bench_retrieval(vault)
    with pytest.raises(InvalidValue, match="bench retrieval needs --queries FILE"):
        bench_retrieval(vault, corpus="corpus.jsonl")
    for wrong in ("", "0", "1,x", "-1", "1.5"):
        with pytest.raises(InvalidValue, match="--k takes whole numbers"):
            measured(vault, k=wrong)
    with pytest.raises(UnknownName, match="no preset named"):
        bench_retrieval(vault, corpus="corpus.jsonl", queries="queries.jsonl", preset="nine")


def test_a_speaker_makes_a_message_and_none_a_note() -> None:
    message = memory_of(Text("a", "c", "s1", "Ann", "8 May, 2023", "Hi", "a cat"), 3)
    assert (message.kind, message.session) == ("conversation", "s1")
    assert message.extra == {"speaker": "Ann"}
    assert message.body == "Ann: Hi [photo: a cat]"
    assert message.happened_at == "2023-05-08"
    note = memory_of(Text("b", "c", "s1", "", "000007", "Fact"), 4)
    assert (note.kind, note.session, note.extra, note.happened_at) == ("note", "", {}, "")
    assert message.created < note.created


def test_long_notes_fold_to_one_result(vault: Vault) -> None:
    long = " ".join(f"Sentence {n} is about gardens and walls." for n in range(60))
    put("corpus.jsonl", [{"id": "long", "text": long}, {"id": "short", "text": "No gardens."}])
    put("queries.jsonl", [{"id": "q", "text": "gardens", "relevant_ids": ["long", "short"]}])
    report = measured(vault, k="2", out="run.json")
    assert report.metrics["all@2"] == 1
    run = json.loads(Path("run.json").read_text("utf-8"))
    assert sorted(run["camillo_outcomes"][0]["found"]) == ["long", "short"]


def test_saved_runs_compare(vault: Vault) -> None:
    measured(vault, out="a.json")
    measured(vault, out="b.json")
    report = bench_compare(vault, "a.json", "b.json", plot="c.svg")
    assert (report.a, report.b, report.queries) == ("words none", "words none", 5)
    rows = {row.metric: row for row in report.results}
    assert rows["any@10"].n == 4
    assert rows["answer@20"].n == 3
    assert all(row.change == 0 and row.p == 1 for row in report.results)
    assert Path("c.svg").read_text("utf-8").startswith("<svg")


def test_a_run_alone_is_compared_with_its_baseline(vault: Vault) -> None:
    measured(vault, out="a.json")
    report = bench_compare(vault, "a.json")
    assert (report.a, report.b) == ("BM25", "words none")


def test_runs_of_different_queries_pair_what_they_share(vault: Vault) -> None:
    measured(vault, out="a.json")
    put("queries.jsonl", QUERIES[:2])
    measured(vault, out="b.json")
    report = bench_compare(vault, "a.json", "b.json")
    assert (report.queries, report.only_in_a, report.only_in_b) == (2, 3, 0)
    assert "3 only in A, 0 only in B" in report.degraded[0]


def test_runs_that_cannot_be_compared_are_refused(vault: Vault) -> None:
    measured(vault, out="a.json")
    measured(vault, out="s.json", level="session")
    with pytest.raises(InvalidValue, match="differ in level"):
        bench_compare(vault, "a.json", "s.json")
    put("queries.jsonl", [{**QUERIES[0], "id": "else"}])
    measured(vault, out="other.json")
    with pytest.raises(InvalidValue, match="no query in common"):
        bench_compare(vault, "a.json", "other.json")


def test_an_ablation_leaves_each_stage_out_once(vault: Vault) -> None:
    report = bench_ablate(
        vault, corpus="corpus.jsonl", queries="queries.jsonl", preset="words", plot="a.svg"
    )
    rows = {row.left_out: row for row in report.results}
    assert report.stages == list(PRESETS["words"])
    offered = [name for name in report.stages if name not in ("expand", "read")]
    assert list(rows) == ["(nothing)", *offered]
    assert rows["(nothing)"].value == 0.75
    assert rows["keyword"].value == 0
    assert (rows["keyword"].better, rows["keyword"].worse) == (0, 3)
    assert rows["keyword"].change == -0.75
    assert "without keyword" in Path("a.svg").read_text("utf-8")


@pytest.mark.parametrize("plot", ["a.pdf", "gone/a.svg", "a.png"])
def test_what_cannot_be_drawn_is_said_before_the_work(vault: Vault, plot: str) -> None:
    if plot == "a.png" and importlib.util.find_spec("PIL"):
        pytest.skip("Pillow is here")
    missing = {"corpus": "gone.jsonl", "queries": "gone.jsonl"}  # work would fail at once
    for command in (
        lambda: bench_ablate(vault, **missing, preset="words", plot=plot),
        lambda: bench_retrieval(vault, **missing, preset="words", plot=plot),
        lambda: bench_compare(vault, "gone.json", plot=plot),
    ):
        with pytest.raises(CamilloError, match=r"plot is|is no folder|needs Pillow"):
            command()


def test_an_ablation_names_the_nearest_measure(vault: Vault) -> None:
    with pytest.raises(UnknownName, match="did you mean 'ndcg@10'"):
        bench_ablate(vault, corpus="c", queries="q", metric="ndgc@10")


def test_a_measure_that_no_query_has_is_no_error(vault: Vault) -> None:
    put("queries.jsonl", [{key: QUERIES[1][key] for key in ("id", "text", "conv", "relevant_ids")}])
    options = {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "preset": "words"}
    report = bench_ablate(vault, **options, metric="answer@20")
    assert all(row.change is None for row in report.results)
    assert measured(vault).metrics["answer@20"] is None


def test_a_set_is_loaded_and_measured(vault: Vault) -> None:
    asked = {"id": "1", "question": "Where does the cat sleep?", "answers": [{"text": "mat"}]}
    paragraph = {"context": "The cat sleeps on the mat.", "qas": [asked]}
    squad = {"data": [{"paragraphs": [paragraph]}]}
    Path("squad.json").write_text(json.dumps(squad), "utf-8")
    loaded = bench_load(vault, "squad.json", out="set")
    assert (loaded.layout, loaded.texts, loaded.queries, loaded.unlabelled) == ("squad", 1, 1, 0)
    corpus, queries = (row["path"] for row in loaded.results)
    report = bench_retrieval(vault, corpus=corpus, queries=queries, preset="words")
    assert report.metrics["any@1"] == report.metrics["answer@20"] == 1
