"""Stage `vector`: what is near in meaning is nominated; what words found is told its nearness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from camillo import registry
from camillo.config import SearchSettings
from camillo.embed.hashing import HashingEmbedder
from camillo.model import Filter, Memory, Origin, Place
from camillo.ports import Role
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.pipeline import run
from camillo.retrieval.presets import stages
from camillo.text.passages import passage
from camillo.vault import OpenRoot, Vault, open_vault


class Another(HashingEmbedder):
    """A model of another name."""

    id = "another/1/f32/256"


class Counting(HashingEmbedder):
    asked = 0

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        self.asked += role == "query"
        return super().embed(texts, role)


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


def _context(embedder: HashingEmbedder | None, *roots: OpenRoot) -> Context:
    return Context(roots, SearchSettings(), embedder)


def _run(
    preset: str, context: Context, text: str, k: int = 10, filter: Filter = Filter()
) -> list[Candidate]:
    chosen = [(name, registry.load("stage", name)) for name in stages(preset)]
    return run(Query(text, k, filter), chosen, context)


def _ids(found: list[Candidate]) -> list[str]:
    return [each.memory.id for each in found]


LONG = "\n\n".join(f"Paragraph {n} is about door {n}. " + f"filler{n} " * 60 for n in range(9))


class TestNominating:
    def test_what_shares_no_word_is_nominated(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, Memory("a", "xylophagous"), Memory("b", "gate"))
        found = _run("hybrid", _context(vault.embedder, root), "unxylophagous")
        assert _ids(found)[0] == "a"
        assert found[0].signals["keyword"] == 0
        assert found[0].signals["vector"] > 0.3

    def test_what_words_found_gets_its_nearness(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, Memory("a", "seven gates"), Memory("b", "gates of wood"))
        for each in _run("hybrid", _context(vault.embedder, root), "gates"):
            assert set(each.signals) >= {"keyword", "vector"}

    def test_each_memory_is_a_candidate_once(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, Memory("n", LONG, "note", "Doors"), Memory("b", "a door"))
        for preset in ("vectors", "hybrid"):
            found = _run(preset, _context(vault.embedder, root), "door paragraph filler4")
            assert sorted(_ids(found)) == ["b", "n"]

    def test_no_piece_of_a_long_note_is_cut_and_the_best_one_answers(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        _kept(vault, root, Memory("n", LONG, "note", "Doors"))
        assert root.meaning.count(vault.embedder) == root.words.size()[0] > 9
        for n in range(9):
            [found] = _run("vectors", _context(vault.embedder, root), f"filler{n} " * 9)
            assert f"filler{n} " in passage(found.memory, found.passage).body

    def test_filters_hold(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, *(Memory(f"a{n}", f"gate {n}", place=Place("a")) for n in range(30)),
              Memory("b", "wall", place=Place("b"), origin=Origin("/b")))  # fmt: skip
        for preset in ("vectors", "hybrid"):
            context = _context(vault.embedder, root)
            assert _ids(_run(preset, context, "gate", 1, Filter(wing="b"))) == ["b"]

    @pytest.mark.case("mempalace-55")
    @pytest.mark.parametrize("text", ["", "  ", "?!", "\n", "\u3000"])
    @pytest.mark.parametrize("preset", ["vectors", "hybrid"])
    def test_nothing_asked_is_nothing_found(
        self, vault: Vault, root: OpenRoot, text: str, preset: str
    ) -> None:
        _kept(vault, root, Memory("a", "gate"))
        assert _run(preset, _context(vault.embedder, root), text) == []

    @pytest.mark.promise(22)
    @pytest.mark.parametrize("text", ["\ud800", "\0", "🎉", "a" * 20_000, "\u202e門", "e\u0301"])
    def test_any_string_is_a_question(self, vault: Vault, root: OpenRoot, text: str) -> None:
        _kept(vault, root, Memory("a", "gate"))
        assert len(_run("hybrid", _context(vault.embedder, root), text)) <= 1

    def test_scores_are_on_0_to_1_and_sorted(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, *(Memory(f"m{n}", f"gate {n * 37} of wall {n}") for n in range(60)))
        for preset in ("vectors", "hybrid"):
            found = _run(preset, _context(vault.embedder, root), "gate 37 lamp", 60)
            scores = [each.score for each in found]
            assert scores == sorted(scores, reverse=True)
            assert 0 <= scores[-1] <= scores[0] <= 1


class TestRoots:
    def test_a_question_is_embedded_once_for_all_of_them(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        project = vault.root("project")
        for each in (root, project):
            _kept(vault, each, Memory("a", "gate", scope=each.scope))
        model = Counting()
        found = _run("hybrid", _context(model, project, root), "gate")
        assert (len(found), model.asked) == (2, 1)


class TestDegraded:
    @pytest.mark.promise(26)
    def test_no_embedder(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, Memory("a", "gate"))
        context = _context(None, root)
        assert _ids(_run("hybrid", context, "gate")) == ["a"]
        assert context.degraded == ["words only: no embedder"]

    @pytest.mark.promise(26)
    def test_vectors_that_are_behind(self, vault: Vault, root: OpenRoot) -> None:
        _kept(vault, root, Memory("a", "gate"))
        root.store.put([Memory("b", "wall"), Memory("c", "lamp")])
        root.catch_up()
        context = _context(vault.embedder, root)
        assert _ids(_run("hybrid", context, "wall")) == ["b", "a"]
        assert context.degraded == ["vectors 2 behind: `camillo embed` takes them in"]

    @pytest.mark.promise(26, 27)
    def test_the_former_model_answers_until_the_new_one_is_complete(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        _kept(vault, root, Memory("a", "gate"), Memory("b", "wall"))
        new = Another()
        context = _context(new, root)
        context.reopen = vault.reopen_embedder
        assert _ids(_run("vectors", context, "gate")) == ["a", "b"]
        assert context.degraded == [f"{new.id} is not complete here yet: hashing/1/f32/256 answers"]
        root.meaning.fill(root.store, new, "another")
        context = _context(new, root)
        assert _ids(_run("vectors", context, "gate")) == ["a", "b"]
        assert context.degraded == []

    @pytest.mark.promise(26, 27)
    def test_a_former_model_that_is_gone_does_not_answer(
        self, vault: Vault, root: OpenRoot
    ) -> None:
        _kept(vault, root, Memory("a", "gate"))
        context = _context(Another(), root)
        assert _run("vectors", context, "gate") == []
        assert context.degraded == ["vectors 1 behind: `camillo embed` takes them in"]
