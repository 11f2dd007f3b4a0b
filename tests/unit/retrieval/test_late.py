"""Stage `late`: the first candidates are judged token by token, with what stands beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from camillo import registry
from camillo.embed.hashing import HashingEmbedder
from camillo.model import Filter, Key, Memory, Place
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.late import CONSIDERED, LONG, MESSAGE, TEXT
from camillo.retrieval.pipeline import run
from camillo.retrieval.presets import stages
from camillo.vault import OpenRoot, Vault, open_vault

LATE = ("late", "late_window", "late_session")


class Another(HashingEmbedder):
    """A model of another name."""

    id = "hashing/2/f32/256"


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    (home / "work" / ".camillo").mkdir()
    with open_vault(overrides={"search.embedder": "hashing"}) as opened:
        yield opened


@pytest.fixture
def root(vault: Vault) -> OpenRoot:
    return vault.root("user", create=True)


def _kept(vault: Vault, root: OpenRoot, *memories: Memory) -> None:
    root.store.put(memories)
    root.catch_up()
    assert vault.embed(root) == 0


def _context(vault: Vault, *roots: OpenRoot) -> Context:
    context = Context(roots, vault.settings.search, vault.embedder)
    context.explain = True
    return context


def _search(
    context: Context, text: str, k: int = 10, preset: str = "default", upto: str = "",
    filter: Filter = Filter(),
) -> list[Candidate]:  # fmt: skip
    chosen = [(name, registry.load("stage", name)) for name in stages(preset)]
    if upto:
        chosen = chosen[: [name for name, _ in chosen].index(upto) + 1]
    return run(Query(text, k, filter), chosen, context)


def _ids(found: Sequence[Candidate]) -> list[str]:
    return [each.memory.id for each in found]


def _the(id: str, found: Sequence[Candidate]) -> Candidate:
    return next(each for each in found if each.memory.id == id)


def said(id: str, body: str, session: str = "s") -> Memory:
    return Memory(id, body, "conversation", session=session)


def talk(session: str = "s", count: int = 9) -> list[Memory]:
    return [said(f"{session}{n}", f"small talk {session} {n}", session) for n in range(count)]


def test_the_weights_are_shares() -> None:
    for weights in (MESSAGE, TEXT):
        assert sum(weights.values()) == pytest.approx(1)
        assert set(weights) <= {"keyword", "window", "session", "words", "vector", *LATE}


class TestSignals:
    def test_a_message_has_three_and_a_note_one(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, said("m", "seven painted gates"), Memory("n", "painted gates", "note"))
        found = _search(_context(vault, root), "painted gates")
        assert set(LATE) <= _the("m", found).signals.keys()
        assert set(LATE) & _the("n", found).signals.keys() == {"late"}
        assert _the("n", found).signals["late"] == pytest.approx(1, abs=0.08)

    def test_they_do_not_depend_on_the_other_candidates(self, vault: Vault, root: OpenRoot) -> None:
        """Up to the weights of the tokens, which the texts that are kept decide."""
        question = "painted gates"
        _kept(vault, root, said("m", "seven painted gates", "t"))
        [alone] = _search(_context(vault, root), question)
        _kept(vault, root, *talk(), said("o", "gates painted white"))
        among = _the("m", _search(_context(vault, root), question))
        for name in LATE:
            assert among.signals[name] == pytest.approx(alone.signals[name], abs=0.02)

    def test_the_best_window_of_a_session_is_that_of_all_its_messages(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        _kept(vault, root, said("a", "painted gates"), *talk(), said("o", "gates", "t"))
        found = _search(_context(vault, root), "painted gates")
        here = [each for each in found if each.memory.session == "s"]
        windows = [each.signals["late_window"] for each in here]
        assert {each.signals["late_session"] for each in here} == {max(windows)}
        other = _the("o", found).signals
        assert other["late_session"] == other["late_window"] < max(windows)

    def test_a_neighbour_lends_its_closeness_less_for_each_step(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        _kept(vault, root, *talk(count=3), said("a", "xylophagous"), *talk("s", 9)[3:])
        found = _search(_context(vault, root), "xylophagous small", 20)
        windows = {each.memory.id: each.signals["late_window"] for each in found}
        assert windows["a"] > windows["s3"] > windows["s4"] > windows["s5"]
        assert windows["s5"] == pytest.approx(windows["s6"], abs=0.02)


class TestScores:
    def test_they_are_the_sum_of_their_parts_on_0_to_1(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, *talk(), *talk("t"), said("a", "gates of oak"),
              Memory("n", "gates of oak and elm", "note", "Gates"),
              Memory("f", "gates in a file", "drawer"))  # fmt: skip
        for question in ("gates of oak", "gates of oak " + "and what else was said " * 9):
            for each in _search(_context(vault, root), question, 50, upto="late"):
                assert 0 <= each.score <= 1
                assert sum(each.parts.values()) == pytest.approx(each.score, abs=1e-6)

    def test_a_store_of_drawers_answers_as_if_it_were_not_there(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        files = [Memory(f"f{n}", f"gate {n} of wall {n % 5}", "drawer") for n in range(60)]
        _kept(vault, root, *files)
        for question in ("gate 3 of wall 3", "wall", "gates"):
            by_preset = [
                [(each.memory.id, each.score) for each in _search(_context(vault, root), question,
                                                                  60, preset)]
                for preset in ("hybrid", "default")
            ]  # fmt: skip
            assert by_preset[0] == by_preset[1]

    def test_what_holds_all_tokens_comes_before_what_holds_one_often(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        _kept(vault, root, *talk(), said("often", "gate gate gate gate gate gate"),
              said("all", "an old gate of red oak with a brass lock and two bolts"))  # fmt: skip
        assert _ids(_search(_context(vault, root), "red oak gate brass lock"))[0] == "all"

    def test_the_longer_a_question_the_more_fuse_says(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, *talk(), said("a", "painted gates"))
        question = "painted gates " + " ".join(f"word{n}" for n in range(10 * LONG))
        fused = _the("a", _search(_context(vault, root), question, upto="fuse")).score
        judged = _the("a", _search(_context(vault, root), question, upto="late"))
        assert abs(judged.score - fused) < 0.1
        assert judged.signals["late"] < 0.3

    def test_the_best_of_nothing_does_not_score_1(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, *talk(), Memory("n", "about the weather", "note"))
        for each in _search(_context(vault, root), "zirconium xylophones"):
            assert each.score < 0.5

    def test_what_comes_after_the_first_candidates_stays_below_them(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        count = CONSIDERED + 60
        notes = [Memory(f"n{n}", f"gate {n} " + "oak " * (n % 7), "note") for n in range(count)]
        _kept(vault, root, *notes)
        found = _search(_context(vault, root), "gate oak", 70, upto="late")
        judged = [each for each in found if "late" in each.signals]
        rest = [each for each in found if "late" not in each.signals]
        assert (len(judged), len(rest)) == (CONSIDERED, 60)
        assert min(each.score for each in judged) >= max(each.score for each in rest)
        fused = _ids(_search(_context(vault, root), "gate oak", 70, upto="fuse"))[CONSIDERED:]
        assert _ids(rest) == fused

    def test_all_that_are_wanted_are_judged(self, vault: Vault, root: OpenRoot) -> None:
        count = CONSIDERED + 60
        notes = [Memory(f"n{n}", f"gate {n} " + "oak " * (n % 7), "note") for n in range(count)]
        _kept(vault, root, *notes)
        found = _search(_context(vault, root), "gate oak", count, upto="late")
        assert all("late" in each.signals for each in found)


class TestBeside:
    def test_a_message_that_nothing_nominates_is_found_beside_what_is(
        self, vault: Vault, root: OpenRoot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("camillo.retrieval.vector.NOMINATED", 20)
        many = [memory for n in range(40) for memory in talk(f"t{n}", 12)]
        _kept(vault, root, *many, said("q", "where did the xylophagous beetle go"),
              said("a", "he hid it"), said("o", "he hid that", "u"))  # fmt: skip
        nominated = _search(_context(vault, root), "xylophagous beetle", 5, upto="fuse")
        assert "a" not in _ids(nominated)
        found = _search(_context(vault, root), "xylophagous beetle", 5)
        assert _ids(found)[:2] == ["q", "a"]
        assert _the("a", found).signals.keys() >= {"keyword", "vector", "window", "session", *LATE}

    def test_each_memory_is_a_candidate_once(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, *talk("s", 30), said("q", "gates"), *talk("t", 30))
        found = _ids(_search(_context(vault, root), "gates talk", 100))
        assert sorted(found) == sorted(set(found))

    def test_filters_hold_for_it(self, vault: Vault, root: OpenRoot) -> None:
        many = [memory for n in range(60) for memory in talk(f"t{n}", 12)]
        _kept(vault, root, *many, said("q", "the xylophagous beetle")._replace(place=Place("w")),
              said("a", "he hid it"))  # fmt: skip
        found = _search(_context(vault, root), "xylophagous", filter=Filter(wing="w"))
        assert _ids(found) == ["q"]

    def test_what_is_superseded_stays_out(self, vault: Vault, root: OpenRoot) -> None:
        many = [memory for n in range(60) for memory in talk(f"t{n}", 12)]
        _kept(vault, root, *many, said("q", "the xylophagous beetle"), said("a", "he hid it"))
        context = _context(vault, root)
        context.superseded = {Key("", "user", "s", "a"): Key("", "user", "s", "q")}
        assert "a" not in _ids(_search(context, "xylophagous beetle", 5))

    def test_messages_of_another_session_are_not_beside(
        self, vault: Vault, root: OpenRoot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also where something else of that session is found."""
        monkeypatch.setattr("camillo.retrieval.vector.NOMINATED", 20)
        many = [memory for n in range(40) for memory in talk(f"t{n}", 12)]
        _kept(vault, root, *many, said("q", "the xylophagous beetle"), said("o", "he hid it", "u"),
              *talk("v"), said("p", "a beetle", "u"))  # fmt: skip
        found = _ids(_search(_context(vault, root), "xylophagous beetle", 5, upto="late"))
        assert {"q", "p"} <= set(found)
        assert "o" not in found


class TestRoots:
    def test_each_is_asked_by_the_tokens_of_its_own_model(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        project = vault.root("project")
        _kept(vault, root, said("a", "painted gates"))
        project.store.put([Memory("b", "painted walls", "note", scope="project")])
        project.catch_up()
        assert project.meaning.fill(project.store, Another(), "another") == 0
        context = _context(vault, project, root)
        context.reopen = lambda name: Another() if name == "another" else None
        found = _search(context, "painted gates")
        assert _ids(found) == ["a", "b"]
        assert all("late" in each.signals for each in found)


class TestDegraded:
    @pytest.mark.promise(26)
    def test_token_vectors_that_are_behind(self, vault: Vault, root: OpenRoot) -> None:
        with open_vault(overrides={"search.tokens_mb": "0", "search.embedder": "hashing"}) as off:
            _kept(off, off.root("user"), said("a", "gate"), said("b", "wall"))
        context = _context(vault, root)
        found = _search(context, "gate")
        assert _ids(found)[0] == "a"
        assert not set(LATE) & found[0].signals.keys()
        assert context.degraded == ["token vectors 2 behind: `camillo embed` takes them in"]

    def test_without_a_budget_it_does_nothing(self, home: Path) -> None:
        with open_vault(overrides={"search.tokens_mb": "0", "search.embedder": "hashing"}) as off:
            root = off.root("user", create=True)
            _kept(off, root, *talk(), said("a", "gate"))
            context = _context(off, root)
            assert not any(set(LATE) & each.signals.keys() for each in _search(context, "gate"))
            assert context.degraded == []

    def test_a_question_of_signs_is_left_to_words(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, said("a", "gate"))
        for question in ("?!", "", "\ud800", "…"):
            _search(_context(vault, root), question)
