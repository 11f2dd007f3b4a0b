"""A person's own cases: kept, run, listed, removed, and there where the memories are copied to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camillo.vault import open_vault
from flows.command import Camillo, Ran, files

QUESTION = "why was the queue moved"


def mine(camillo: Camillo, *words: object) -> Ran:
    return camillo.plain("bench", "mine", "--json", *words)


@pytest.fixture
def notes(camillo: Camillo) -> None:
    for name, text in (
        ("redis", "The queue was moved to Redis, since it lost jobs."),
        ("rabbit", "Rabbits are kept in the garden behind the queue."),
        ("lamp", "The lamp is lit at dusk."),
    ):
        assert camillo("remember", text, "--name", name).code == 0


@pytest.mark.usefixtures("notes")
class TestKeeping:
    def test_a_case_says_what_it_holds(self, camillo: Camillo) -> None:
        ran = camillo("expect", QUESTION, "--must", "redis", "--must-not", "lamp", "-k", 5)
        assert ran.code == 0
        assert {key: ran.first[key] for key in ("question", "must", "must_not", "k", "root")} == {
            "question": QUESTION, "must": ["redis"], "must_not": ["lamp"], "k": 5, "root": "user",
        }  # fmt: skip
        assert ran.first["status"] == "stored"
        assert [each["question"] for each in camillo("expect", "--list").results] == [QUESTION]

    def test_the_same_question_again_replaces_it(self, camillo: Camillo) -> None:
        camillo("expect", QUESTION, "--must", "lamp")
        assert camillo("expect", QUESTION, "--must", "redis").first["status"] == "updated"
        [kept] = camillo("expect", "--list").results
        assert kept["must"] == ["redis"]

    def test_it_is_no_memory_to_anything_else(self, camillo: Camillo) -> None:
        before = camillo("list").report["results"], camillo.texts("queue")
        camillo("expect", QUESTION, "--must", "redis")
        assert (camillo("list").report["results"], camillo.texts("queue")) == before

    def test_removed_no_byte_of_it_is_left(self, camillo: Camillo, user: Path) -> None:
        camillo("expect", "unmistakable xylophone", "--must", "redis")
        [kept] = camillo("expect", "--list").results
        removed = camillo("expect", "--remove", kept["id"][:8])
        assert (removed.code, removed.first["status"]) == (0, "removed")
        assert camillo("expect", "--list").code == 1
        for _, _, content in files(user).values():
            assert b"xylophone" not in content

    def test_ids_are_looked_up_at_once(self, camillo: Camillo) -> None:
        assert camillo("expect", QUESTION, "--must", "nothing").code == 1
        assert camillo("expect", "--list").results == []

    @pytest.mark.parametrize(
        "words",
        [
            (QUESTION,),
            ("--must", "redis"),
            (QUESTION, "--must", "redis", "--must-not", "redis"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, camillo: Camillo, words: tuple[str]) -> None:
        assert camillo("expect", *words).code == 2

    def test_an_unknown_case_cannot_be_removed(self, camillo: Camillo) -> None:
        ran = camillo("expect", "--remove", "0123abcd")
        assert ran.code == 1
        assert "--list" in ran.err


@pytest.mark.usefixtures("notes")
class TestRunning:
    def test_all_that_pass_end_well(self, camillo: Camillo) -> None:
        camillo("expect", QUESTION, "--must", "redis", "--must-not", "lamp")
        ran = mine(camillo)
        assert (ran.code, ran.report["metrics"]) == (0, {"passed": 1.0})
        assert (ran.first["passed"], ran.first["rank"]) == (True, 1)

    def test_what_fails_is_told_and_ends_with_3(self, camillo: Camillo) -> None:
        camillo("expect", QUESTION, "--must", "redis")
        camillo("expect", "queue", "--must", "lamp", "--must-not", "rabbit")
        ran = mine(camillo)
        assert (ran.code, ran.report["metrics"]["passed"], ran.report["cases"]) == (3, 0.5, 2)
        good, bad = ran.results
        assert (good["passed"], good["missing"], good["unwanted"]) == (True, [], [])
        assert (bad["passed"], bad["missing"], bad["unwanted"]) == (False, ["lamp"], ["rabbit"])
        assert bad["rank"] is None

    def test_only_the_first_results_count(self, camillo: Camillo) -> None:
        camillo("expect", "queue", "--must", "redis", "--must", "rabbit", "-k", 1)
        assert mine(camillo).code == 3
        camillo("expect", "queue", "--must", "redis", "--must", "rabbit", "-k", 2)
        assert mine(camillo).code == 0

    def test_a_memory_that_is_gone_is_said_to_be(self, camillo: Camillo) -> None:
        camillo("expect", QUESTION, "--must", "redis")
        camillo("forget", "redis")
        ran = mine(camillo)
        assert (ran.code, ran.first["missing"], ran.first["gone"]) == (3, ["redis"], ["redis"])

    def test_without_a_case_there_is_nothing_to_run(self, camillo: Camillo) -> None:
        assert mine(camillo).code == 1

    def test_two_runs_are_compared(self, camillo: Camillo) -> None:
        camillo("expect", QUESTION, "--must", "redis")
        camillo("expect", "dusk", "--must", "lamp")
        assert mine(camillo, "--out", "before.json").code == 0
        camillo("forget", "lamp")
        assert mine(camillo, "--out", "after.json").code == 3
        compared = camillo.plain("bench", "compare", "--json", "before.json", "after.json")
        [passed] = [each for each in compared.results if each["metric"] == "passed"]
        assert (passed["n"], passed["a"], passed["b"], passed["worse"]) == (2, 1.0, 0.5, 1)

    def test_another_embedder_leaves_the_vectors_alone(self, camillo: Camillo) -> None:
        camillo("expect", QUESTION, "--must", "redis")
        ran = mine(camillo, "--preset", "hybrid", "--embedder", "hashing")
        assert (ran.code, ran.report["embedder"]) == (0, "hashing/1/f32/256")
        assert not [note for note in ran.report["degraded"] if "behind" in note]
        with open_vault() as vault:
            assert vault.root("user").meaning.models() == []


def test_a_case_of_a_project_is_kept_in_it(camillo: Camillo, home: Path) -> None:
    assert camillo("init", "--scope", "project").code == 0
    camillo("remember", "The queue was moved.", "--name", "moved", "--scope", "project")
    camillo("remember", "The lamp is lit.", "--name", "lamp", "--scope", "user")
    assert camillo("expect", "queue", "--must", "moved", "--must-not", "lamp").first["root"] == (
        "project"
    )
    assert camillo("expect", "lamp", "--must", "lamp").first["root"] == "user"
    assert mine(camillo).report["cases"] == 2
    assert mine(camillo, "--scope", "user").report["cases"] == 1


@pytest.mark.usefixtures("notes")
def test_cases_go_where_the_memories_are_copied(camillo: Camillo, home: Path) -> None:
    camillo("expect", QUESTION, "--must", "redis")
    other = f"sqlite:{home / 'other.db'}"
    copied = camillo("copy", "--from", "sqlite", "--to", other)
    assert copied.code == 0, copied
    camillo("expect", "--remove", camillo("expect", "--list").first["id"])
    assert camillo("copy", "--from", other, "--to", "sqlite").code == 0
    assert [each["question"] for each in camillo("expect", "--list").results] == [QUESTION]


def test_why_something_is_missed_is_told_by_the_command(camillo: Camillo) -> None:
    camillo("remember", "The lamp is lit at dusk.", "--name", "lamp")
    ran = camillo.plain("inspect", "query", "--json", "brass beacon", "--show-misses", "lamp")
    assert ran.code == 0
    assert (ran.first["found"], ran.first["stage"]) == (False, "keyword")
    assert ran.first["lacks"] == ["brass", "beacon"]
    shown = camillo.plain("inspect", "query", "brass beacon", "--show-misses", "lamp")
    assert "it lacks brass, beacon" in shown.out


def test_a_search_shows_what_a_score_adds_up_of(camillo: Camillo) -> None:
    camillo("remember", "The lamp is lit at dusk.", "--name", "lamp")
    [found] = camillo("search", "lamp", "--explain").results
    assert abs(sum(found["parts"].values()) - found["score"]) <= 1e-6
    shown = camillo.plain("search", "lamp", "--explain").out
    assert f"{found['score']:.3g} = " in shown
    assert "confident" in shown
    assert json.loads(camillo("search", "lamp").out)["results"][0]["parts"] == {}
