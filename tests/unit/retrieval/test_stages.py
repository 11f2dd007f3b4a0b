"""Stages over a real root: expand, keyword, limit, the pipeline and its presets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo import registry
from camillo.config import SearchSettings
from camillo.errors import UnknownName
from camillo.model import Key, Memory, Origin
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.keyword import nominating_terms
from camillo.retrieval.pipeline import run
from camillo.retrieval.presets import PRESETS, stages
from camillo.text.tokens import Term
from camillo.vault import OpenRoot, open_vault


@pytest.fixture
def root(home: Path) -> Iterator[OpenRoot]:
    with open_vault() as vault:
        yield vault.root("user", create=True)


def _context(*roots: OpenRoot) -> Context:
    return Context(roots, SearchSettings())


def _run(root: OpenRoot, text: str, *names: str, k: int = 10) -> list[Candidate]:
    root.catch_up()
    chosen = [(name, registry.load("stage", name)) for name in names]
    return run(Query(text, k), chosen, _context(root))


class TestExpand:
    def test_a_question_becomes_terms(self, root: OpenRoot) -> None:
        context = _context(root)
        registry.load("stage", "expand")(Query("painted gates"), [], context)
        assert [(term.word, term.weight) for term in context.terms] == [
            ("painted", 1),
            ("gates", 1),
        ]

    def test_words_of_a_preamble_count_a_third_and_none_is_dropped(self, root: OpenRoot) -> None:
        context = _context(root)
        prompt = "Consider the zeppelin hangar first of all.\n" * 8 + "Where are the painted gates?"
        registry.load("stage", "expand")(Query(prompt), [], context)
        weights = {term.word: term.weight for term in context.terms}
        assert weights["painted"] == weights["gates"] == 1
        assert weights["zeppelin"] == pytest.approx(1 / 3)


class TestKeyword:
    def test_it_finds_and_scores(self, root: OpenRoot) -> None:
        root.store.put(
            [Memory("a", "seven painted gates"), Memory("b", "one gate"), Memory("c", "x")]
        )
        found = _run(root, "painted gates", "expand", "keyword", "read")
        assert [each.memory.id for each in found] == ["a", "b"]
        assert found[0].signals["keyword"] == found[0].score > found[1].score > 0

    @pytest.mark.case("mempalace-55")
    @pytest.mark.parametrize("text", ["", " ", "?!", "zeppelin"])
    def test_nothing_asked_or_nothing_there_is_nothing_found(
        self, root: OpenRoot, text: str
    ) -> None:
        assert _run(root, text, "expand", "keyword", "read") == []
        root.store.put([Memory("a", "seven gates")])
        assert _run(root, text, "expand", "keyword", "read") == []

    def test_a_memory_is_found_once_through_its_best_passage(self, root: OpenRoot) -> None:
        body = "Ordinary words. " * 100 + "\n\nThe painted gates are here, gates of wood.\n"
        root.store.put([Memory("n", body, "note", "Of gates")])
        [found] = _run(root, "painted gates wood", "expand", "keyword", "read")
        assert found.passage > 0

    def test_a_hit_whose_memory_is_gone_is_dropped(self, root: OpenRoot) -> None:
        root.store.put([Memory("a", "gate"), Memory("b", "gate")])
        root.catch_up()
        root.store.delete([Key("", "user", "", "a")])
        chosen = [(name, registry.load("stage", name)) for name in ("expand", "keyword", "read")]
        found = run(Query("gate"), chosen, _context(root))
        assert [each.memory.id for each in found] == ["b"]

    def test_in_a_large_store_common_words_nominate_nothing(self) -> None:
        terms = [Term(word, (word,), 1.0) for word in ("the", "queue", "redis", "latency")]
        df = {"the": 90_000, "queue": 9_000, "redis": 40, "latency": 900}
        assert nominating_terms(terms, df, 100_000) == ["redis", "latency"]

    def test_two_words_always_nominate(self) -> None:
        terms = [Term(word, (word,), 1.0) for word in ("the", "queue")]
        df = {"the": 90_000, "queue": 50_000}
        assert nominating_terms(terms, df, 100_000) == ["queue", "the"]

    def test_in_a_small_store_all_that_occur_nominate(self) -> None:
        terms = [Term(word, (word, word[:-1]), 1.0) for word in ("gates", "walls", "lamps")]
        df = {"gates": 9, "gate": 8, "walls": 1, "wall": 0, "lamps": 0, "lamp": 0}
        assert nominating_terms(terms, df, 10) == ["walls", "gates", "gate"]


class TestLimit:
    TEXT = "A licence that lies in every folder of the project and says the same. " * 3

    def _copies(self, *texts: str) -> list[Candidate]:
        return [
            Candidate(Memory(f"m{n}", text, "drawer", origin=Origin(f"/{n}")), 0, score=1.0)
            for n, text in enumerate(texts)
        ]

    def _limited(self, candidates: list[Candidate], k: int = 10) -> list[Candidate]:
        kept: list[Candidate] = registry.load("stage", "limit")(
            Query("q", k), candidates, _context()
        )
        return kept

    def test_the_first_k_are_kept(self) -> None:
        candidates = self._copies("a", "b", "c")
        assert self._limited(candidates, 2) == candidates[:2]

    @pytest.mark.promise(13, 30)
    def test_of_equal_texts_one_is_kept_and_names_the_others(self) -> None:
        kept = self._limited(
            self._copies(self.TEXT, "other", self.TEXT.replace(" ", "\n"), self.TEXT)
        )
        assert [each.memory.id for each in kept] == ["m0", "m1"]
        assert kept[0].also_in == ["/2", "/3"]

    @pytest.mark.promise(30)
    def test_similar_texts_are_all_kept(self) -> None:
        kept = self._limited(self._copies(self.TEXT, self.TEXT + "!", self.TEXT.upper()))
        assert len(kept) == 3

    def test_short_equal_texts_are_all_kept(self) -> None:
        assert len(self._limited(self._copies("gate", "gate"))) == 2

    def test_copies_do_not_use_up_the_limit(self) -> None:
        kept = self._limited(self._copies(self.TEXT, self.TEXT, "other"), 2)
        assert [each.memory.id for each in kept] == ["m0", "m2"]


class TestPipeline:
    def test_every_stage_is_followed_by_a_sort_and_a_line_in_the_trace(self) -> None:
        def first(query: Query, found: list[Candidate], context: Context) -> list[Candidate]:
            return [
                Candidate(Memory(id, id), 0, score=score) for id, score in (("a", 0.1), ("b", 0.9))
            ]

        def second(query: Query, found: list[Candidate], context: Context) -> list[Candidate]:
            assert [each.memory.id for each in found] == ["b", "a"]
            return found[:1]

        context = _context()
        [left] = run(Query("q"), [("first", first), ("second", second)], context)
        assert left.memory.id == "b"
        assert [step[:3] for step in context.trace] == [("first", 0, 2), ("second", 2, 1)]

    def test_equal_scores_are_in_a_settled_order(self) -> None:
        memories = [
            Memory("z", "", origin=Origin("/b", 1)), Memory("y", "", origin=Origin("/b", 0)),
            Memory("x", "", origin=Origin("/a", 5)), Memory("n", ""),
        ]  # fmt: skip
        for order in (memories, memories[::-1]):
            stage = [("s", lambda q, c, x, o=order: [Candidate(memory, 0) for memory in o])]
            found = run(Query("q"), stage, _context())
            assert [each.memory.id for each in found] == ["n", "x", "y", "z"]


class TestPresets:
    def test_each_names_stages_that_exist(self) -> None:
        for names in PRESETS.values():
            assert set(names) <= set(registry.names("stage"))

    @pytest.mark.parametrize(
        ("embedder", "tokens_mb", "preset"),
        [
            ("hashing", 256, "default"),
            ("hashing", 0, "hybrid"),
            ("light", 256, "hybrid"),  # has no token vectors
            ("none", 256, "words"),
        ],
    )
    def test_the_default_is_what_the_embedder_can_do(
        self, embedder: str, tokens_mb: int, preset: str
    ) -> None:
        overrides = {
            "search.preset": "default",
            "search.embedder": embedder,
            "search.tokens_mb": str(tokens_mb),
        }
        with open_vault(overrides=overrides) as vault:
            assert vault.plan().preset == preset
            assert vault.plan("words").preset == "words"

    def test_a_process_that_holds_no_model_answers_by_words_and_says_so(self) -> None:
        overrides = {"search.preset": "default", "search.embedder": "auto"}
        with open_vault(overrides=overrides) as vault:
            vault.warm = False
            plan = vault.plan()
            assert plan.preset == "words"
            assert plan.embedder is None
            assert "words only" in plan.notes[0]

    @pytest.mark.promise(25)
    def test_an_unknown_one_is_told_the_nearest(self) -> None:
        with pytest.raises(UnknownName, match="did you mean 'words'"):
            stages("wrods")
