"""Stage `notes`: a note is judged by all that it says, and comes up among drawers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from camillo import registry
from camillo.config import SearchSettings
from camillo.model import Filter, Memory, Origin, Place
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.notes import LIFTS
from camillo.retrieval.pipeline import run
from camillo.retrieval.presets import PRESETS, stages
from camillo.vault import OpenRoot, Vault, open_vault

QUESTION = "why was the ferry timetable moved to the harbour office"
SUBJECTS = ("ferry", "timetable", "harbour", "office", "moved", "ticket", "bridge", "lamp")
BOTH = pytest.mark.parametrize("preset", ["words", "hybrid"])


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault(overrides={"search.embedder": "hashing"}) as opened:
        yield opened


@pytest.fixture
def root(vault: Vault) -> OpenRoot:
    return vault.root("user", create=True)


def drawers(count: int) -> list[Memory]:
    """Texts that speak of the same things again and again, each of two or three of them."""
    found = []
    for n in range(count):
        spoken = [SUBJECTS[n % 8], SUBJECTS[n // 8 % 8], SUBJECTS[(n * 5 + n // 64) % 8]]
        body = " ".join(f"{word} {n} and {word} again, word{n * 7 % 31}" for word in spoken * 3)
        found.append(Memory(f"d{n}", body, "drawer", origin=Origin(f"/work/{n}.md")))
    return found


def note(id: str, body: str, title: str = "", summary: str = "", **fields: Any) -> Memory:
    return Memory(id, body, "fact", title, summary, **fields)


def decision() -> Memory:
    return note(
        "decision", "It was moved in May, after the storm.", "Ferry timetable",
        "Kept by the harbour office",
    )  # fmt: skip


def kept(vault: Vault, *memories: Memory) -> OpenRoot:
    root = vault.root("user", create=True)
    root.store.put(memories)
    root.catch_up()
    assert vault.embed(root) == 0
    return root


def search(
    vault: Vault,
    roots: Sequence[OpenRoot],
    preset: str,
    question: str = QUESTION,
    *,
    without: bool | tuple[str, ...] = False,
    warm: bool = False,
    **asked: Any,
) -> list[Candidate]:
    """What a preset finds; `without` leaves the stage out, or others. What a question calls by its
    title is lifted by another stage, which is out of it."""
    left_out = ("aliases", *(("notes",) if without is True else without or ()))
    context = Context(roots, SearchSettings(), vault.embedder, warm=warm)
    for root in roots:
        context.superseded = {**context.superseded, **root.superseded(root.store.get)}
    names = [name for name in stages(preset) if name not in left_out]
    chosen = [(name, registry.load("stage", name)) for name in names]
    return run(Query(question, **{"k": 20, **asked}), chosen, context)


def ids(found: Sequence[Candidate]) -> list[str]:
    return [each.memory.id for each in found]


def the(id: str, found: Sequence[Candidate]) -> Candidate:
    [one] = [each for each in found if each.memory.id == id]
    return one


def as_told(found: Sequence[Candidate]) -> list[tuple[str, float, dict[str, float]]]:
    return [(each.memory.id, each.score, each.signals) for each in found]


class TestDrawersAlone:
    """Where a store holds no notes the stage is as if it were not there."""

    @BOTH
    @pytest.mark.parametrize("warm", [False, True])
    def test_nothing_changes(self, vault: Vault, preset: str, warm: bool) -> None:
        talk = [Memory(f"t{n}", f"the ferry {n}", "conversation", session="s") for n in range(9)]
        root = kept(vault, *drawers(300), *talk)
        for question in (QUESTION, "ferry", "lamp of the bridge", "xylophone", "门", ""):
            told = [
                as_told(search(vault, [root], preset, question, without=without, warm=warm))
                for without in (True, False)
            ]
            assert told[0] == told[1], question

    @BOTH
    def test_nor_does_the_order_of_drawers_beside_notes(self, vault: Vault, preset: str) -> None:
        root = kept(vault, *drawers(300), decision(), note("other", "A lamp for the bridge."))
        for question in (QUESTION, "ferry office", "lamp of the bridge"):
            with_notes, without = (
                [each for each in search(vault, [root], preset, question, k=400, without=left_out)
                 if each.memory.kind == "drawer"]
                for left_out in (False, True)
            )  # fmt: skip
            assert as_told(with_notes) == as_told(without)


class TestFields:
    def test_title_summary_and_body_count_together(self, vault: Vault) -> None:
        one = note("one", "It was moved in May.", "Ferry timetable", "Kept by the harbour office")
        root = kept(vault, one)
        apart = search(vault, [root], "words", without=True)[0]
        [together] = search(vault, [root], "words")
        assert together.score > 1.2 * apart.score
        assert together.signals["words"] == together.score > together.signals["keyword"]

    def test_each_says_how_much_of_the_question_it_holds(self, vault: Vault) -> None:
        root = kept(vault, decision(), *drawers(3))
        signals = the("decision", search(vault, [root], "words", "ferry harbour")).signals
        assert signals["title"] + signals["summary"] == pytest.approx(1)
        assert "body" not in signals

    def test_a_note_is_never_worse_for_having_a_title(self, vault: Vault) -> None:
        body = "The ferry timetable was moved to the harbour office."
        titles = ("", "Ferry", "A long heading about many other things of which nobody asks " * 3)
        root = kept(vault, *(note(f"n{n}", body, title) for n, title in enumerate(titles)))
        scores = {each.memory.id: each.score for each in search(vault, [root], "words")}
        assert scores["n1"] > scores["n0"] == scores["n2"]

    def test_of_a_long_note_the_best_piece_counts(self, vault: Vault) -> None:
        rest = "Nothing of that is said in this paragraph about lamps and bridges. " * 8
        body = f"{rest}\n\n{rest}\n\nIt was moved to the office by the harbour.\n\n{rest}"
        root = kept(vault, note("long", body, "Ferry timetable"), *drawers(100))
        assert ids(search(vault, [root], "words"))[0] == "long"


class TestLift:
    @BOTH
    def test_a_decision_comes_up_among_many_drawers(self, vault: Vault, preset: str) -> None:
        said = "The ferry timetable hangs in the harbour office: ferry, timetable, harbour."
        root = kept(vault, *drawers(300), *(
            Memory(f"said{n}", f"{said} Line {n}.", "drawer") for n in range(40)
        ), decision())  # fmt: skip
        before = ids(search(vault, [root], preset, without=True, k=100))
        assert before.index("decision") >= 40
        assert ids(search(vault, [root], preset))[0] == "decision"

    @BOTH
    def test_what_was_added_is_a_signal_and_in_the_score(self, vault: Vault, preset: str) -> None:
        root = kept(vault, *drawers(20), note("one", "The ferry timetable was moved."))
        one = the("one", search(vault, [root], preset))
        plain = the("one", search(vault, [root], preset, without=True))
        assert one.signals["note"] > 0
        assert one.score == pytest.approx(plain.score + one.signals["note"])

    def test_the_more_of_the_question_a_note_holds_the_more_it_is_lifted(
        self, vault: Vault
    ) -> None:
        root = kept(vault, *drawers(50), decision())
        asked = ["ferry timetable", "ferry timetable xylophone", "ferry xylophone zeppelin kazoo"]
        shares = []
        for question in asked:
            found = the("decision", search(vault, [root], "words", question))
            shares.append(found.signals["note"] / (1 - found.score + found.signals["note"]))
        assert LIFTS[0] >= shares[0] > shares[1] > shares[2] > 0

    def test_many_notes_do_not_push_the_drawers_out(self, vault: Vault) -> None:
        many = [note(f"n{n}", f"Number {n} on the ferry timetable.") for n in range(60)]
        root = kept(vault, *drawers(300), *many)
        found = search(vault, [root], "words", "ferry timetable", k=400)
        lifted = [each.signals["note"] for each in found if "note" in each.signals]
        assert len(lifted) == len(LIFTS) == 5
        assert lifted == sorted(lifted, reverse=True)

    @BOTH
    def test_notes_alone_are_not_lifted(self, vault: Vault, preset: str) -> None:
        root = kept(vault, decision(), *drawers(50))
        filter = Filter(kinds=("fact",))
        [found] = search(vault, [root], preset, filter=filter)
        assert "note" not in found.signals

    def test_what_was_said_in_a_conversation_is_no_note(self, vault: Vault) -> None:
        diary = [Memory(f"{kind}", "ferry timetable", kind) for kind in ("diary", "conversation")]
        root = kept(vault, *drawers(50), *diary)
        for each in search(vault, [root], "words", k=60):
            assert not each.signals.keys() & {"note", "title", "body"}

    def test_what_a_newer_note_replaces_is_not_lifted(self, vault: Vault) -> None:
        old = replaced = decision()._replace(id="old", superseded_by="decision")
        root = kept(vault, *drawers(50), decision(), old)
        assert "old" not in ids(search(vault, [root], "words", k=60))
        found = {e.memory.id: e for e in search(vault, [root], "words", include_superseded=True)}
        assert "note" in found["decision"].signals
        assert "note" not in found[replaced.id].signals

    @BOTH
    def test_scores_stay_on_0_to_1_and_sorted(self, vault: Vault, preset: str) -> None:
        notes = [note(f"n{n}", QUESTION, QUESTION, QUESTION) for n in range(8)]
        root = kept(vault, *drawers(50), *notes)
        scores = [each.score for each in search(vault, [root], preset, k=60)]
        assert scores == sorted(scores, reverse=True)
        assert 0 <= scores[-1] <= scores[0] <= 1

    def test_notes_of_one_root_come_up_among_the_drawers_of_another(
        self, vault: Vault, home: Path
    ) -> None:
        root = kept(vault, *drawers(300))
        (home / "work" / ".camillo").mkdir()
        with open_vault(overrides={"search.embedder": "hashing"}) as other:
            project = other.root("project")
            project.store.put([decision()._replace(scope="project")])
            project.catch_up()
            assert ids(search(vault, [project, root], "words"))[0] == "decision"


class TestNominating:
    def test_a_note_is_found_however_many_drawers_hold_more_of_its_words(
        self, vault: Vault
    ) -> None:
        loud = [
            Memory(f"d{n}", f"ferry timetable, ferry timetable {n}", "drawer") for n in range(500)
        ]
        quiet = note("quiet", "Of the ferry we keep no record, " + "and so on, " * 60)
        root = kept(vault, *loud, quiet)
        without = search(vault, [root], "words", without=("notes", "limit"))
        assert "quiet" not in ids(without)
        assert "quiet" in ids(search(vault, [root], "words", without=("limit",)))

    def test_so_is_one_that_only_meaning_finds(self, vault: Vault) -> None:
        near_by = [Memory(f"d{n}", f"xylophagousness {n}", "drawer") for n in range(300)]
        lamps = " ".join(f"{n} lamps of {n * n} bridges" for n in range(99))
        far = Memory("far", f"{lamps} unxylophagous", "drawer")
        there = note("near", "A xylophagous beetle.")
        root = kept(vault, *near_by, far, there)
        question = "unxylophagous"
        without = search(vault, [root], "hybrid", question, without=("notes", "limit"))
        assert "near" not in ids(without)
        near = the("near", search(vault, [root], "hybrid", question, without=("limit",)))
        assert near.signals["keyword"] == 0 < near.signals["vector"]

    @BOTH
    def test_filters_hold(self, vault: Vault, preset: str) -> None:
        there = decision()._replace(place=Place("shop"))
        gone = decision()._replace(id="gone", archived=1)
        root = kept(vault, *drawers(300), there, gone, decision()._replace(id="elsewhere"))
        found = search(vault, [root], preset, filter=Filter(wing="shop"))
        assert ids(found) == ["decision"]
        assert "gone" not in ids(search(vault, [root], preset, k=400))
        only = search(vault, [root], preset, filter=Filter(kinds=("drawer",)), k=400)
        assert {each.memory.kind for each in only} == {"drawer"}

    def test_the_first_results_do_not_depend_on_how_many_are_wanted(self, vault: Vault) -> None:
        many = [note(f"n{n}", f"{word} of {n}.", "Ferry") for n, word in enumerate(SUBJECTS * 4)]
        root = kept(vault, *drawers(300), *many)
        longest = ids(search(vault, [root], "words", k=100))
        for k in (1, 5, 20, 50):
            assert ids(search(vault, [root], "words", k=k)) == longest[:k]


def test_no_preset_of_vectors_alone_has_it() -> None:
    assert {name for name, listed in PRESETS.items() if "notes" not in listed} == {"vectors"}
