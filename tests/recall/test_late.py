"""Late interaction finds what words and whole vectors leave behind: with the real model, on parts
of the development sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from camillo.bench.haystack import Haystack
from camillo.bench.records import read_corpus, read_questions
from camillo.vault import Vault, open_vault

Measure = Callable[[str, int], float]


@pytest.fixture
def vault(models: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vault]:
    if not (models / "e5").is_dir():
        pytest.skip("e5 is not set up on this machine")
    monkeypatch.setenv("CAMILLO_MODELS", str(models))
    with open_vault(overrides={"search.embedder": "e5"}) as opened:
        yield opened


@pytest.fixture
def measured(vault: Vault, data: Path, tmp_path: Path) -> Callable[[str, str, int], Measure]:
    """One haystack of a set: by preset and k, for what share of so many of its questions there is
    a right text among the first k."""

    def part(name: str, conv: str, most: int) -> Measure:
        corpus = read_corpus(str(data / name / "corpus.jsonl"))
        questions = read_questions(str(data / name / "queries.jsonl"), corpus)
        asked = [each for each in questions if each.conv == conv and each.relevant][:most]
        root = vault.scratch(str(tmp_path))
        haystack = Haystack(root, corpus.haystack(conv), vault.settings.search, vault.embedder)
        assert vault.embed(root) == 0
        found = {
            preset: [haystack.rank(vault.plan(preset).stages, each.text, 10) for each in asked]
            for preset in ("hybrid", "default")
        }
        assert not haystack.degraded
        return lambda preset, k: (
            sum(
                not each.relevant.isdisjoint(ids[:k])
                for each, ids in zip(asked, found[preset], strict=True)
            )
            / len(asked)
        )

    return part


@pytest.mark.slow
def test_what_was_said_is_found(measured: Callable[[str, str, int], Measure]) -> None:
    any_at = measured("locomo", "conv-26", 100)
    assert any_at("default", 1) >= any_at("hybrid", 1) + 0.05
    assert any_at("default", 10) >= any_at("hybrid", 10) + 0.05


@pytest.mark.slow
def test_a_question_finds_the_text_in_another_language(
    measured: Callable[[str, str, int], Measure],
) -> None:
    any_at = measured("cross_zh_en", "zh->en", 120)
    assert any_at("default", 1) >= any_at("hybrid", 1) + 0.05
    assert any_at("default", 5) >= max(0.93, any_at("hybrid", 5))
