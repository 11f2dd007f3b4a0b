"""Stage `superseded`: what something newer replaces is not shown, unless asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo.config import SearchSettings
from camillo.embed.hashing import HashingEmbedder
from camillo.model import Key, Memory, replace
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.superseded import superseded
from camillo.vault import open_vault
from unit.graph.specimens import key, memory
from unit.retrieval.by_hand import candidate
from unit.retrieval.linked import HYBRID, VECTORS, WORDS, LinkedRoot, search


@pytest.fixture
def root(home: Path) -> Iterator[LinkedRoot]:
    with open_vault(overrides={"search.embedder": "hashing"}) as vault:
        linked = LinkedRoot(vault.root("user", create=True), vault)
        yield linked
        linked.close()


def _gate(spelled: str, **fields: Any) -> Memory:
    return memory(spelled, body="the gate of " + spelled.split()[0], **fields)


def _found(root: LinkedRoot, **how: Any) -> list[str]:
    return sorted(each.memory.id for each in search(root, "gate", **how))


@pytest.mark.case("OC28")
@pytest.mark.parametrize("said", ["by the newer", "by the older"])
def test_what_is_superseded_is_hidden(root: LinkedRoot, said: str) -> None:
    if said == "by the newer":
        root.put(_gate("new =old"), _gate("old"))
    else:
        root.put(_gate("new"), _gate("old", superseded_by="new"))
    assert _found(root) == ["new"]


def test_it_is_shown_when_asked_for(root: LinkedRoot) -> None:
    root.put(_gate("new =old"), _gate("old"))
    assert _found(root, include_superseded=True) == ["new", "old"]


def test_of_a_chain_the_newest_is_left(root: LinkedRoot) -> None:
    root.put(_gate("c =b"), _gate("b =a"), _gate("a"), _gate("x"))
    assert _found(root) == ["c", "x"]


def test_two_that_supersede_each_other_both_stay(root: LinkedRoot) -> None:
    root.put(_gate("a =b"), _gate("b =a"))
    assert _found(root) == ["a", "b"]


@pytest.mark.parametrize("how", ["deleted", "archived"])
def test_what_is_gone_supersedes_nothing(root: LinkedRoot, how: str) -> None:
    root.put(_gate("new =old"), _gate("old"))
    if how == "deleted":
        root.store.delete([key("new")])
        root.catch_up()
    else:
        root.put(replace(_gate("new =old"), archived=5))
    assert _found(root) == ["old"]


def test_it_is_hidden_also_when_the_newer_one_says_nothing_of_it(root: LinkedRoot) -> None:
    root.put(memory("new =old", body="a wall"), _gate("old"))
    assert _found(root, stages=tuple(each for each in WORDS if each != "newest")) == []
    assert _found(root) == ["new"]


def test_it_takes_no_place_among_the_first(root: LinkedRoot) -> None:
    root.put(_gate("new =old1 =old2"), _gate("old1"), _gate("old2"), memory("x", body="gate"))
    first = search(root, "gate of old1 old2", 1)
    assert first
    assert first[0].memory.id == search(root, "gate of old1 old2", 10)[0].memory.id


def test_it_has_no_part_in_the_scale_of_the_others(root: LinkedRoot) -> None:
    root.put(_gate("new =old"), memory("other", body="a gate in a wall"))
    alone = {each.memory.id: each.score for each in _hybrid(root)}
    root.put(memory("old", body="gate gate gate"))
    scores = {each.memory.id: each.score for each in _hybrid(root)}
    assert scores.keys() == alone.keys()
    assert scores["other"] == pytest.approx(alone["other"], abs=0.1)


@pytest.mark.parametrize("stages", [HYBRID, VECTORS])
def test_what_meaning_nominates_is_hidden_too(root: LinkedRoot, stages: tuple[str, ...]) -> None:
    root.put(_gate("new =old"), _gate("old"))
    found = search(root, "gate", stages=stages, embedder=HashingEmbedder())
    assert [each.memory.id for each in found] == ["new"]


def test_without_anything_superseded_nothing_is_asked() -> None:
    context = Context([None], SearchSettings())  # type: ignore[list-item]  # any question fails
    candidates = [candidate("a", 0.5)]
    assert superseded(Query("q"), candidates, context) is candidates


def test_candidates_that_are_there_already_are_dropped() -> None:
    context = Context([None], SearchSettings())  # type: ignore[list-item]
    context.superseded = {Key("", "user", "", "a"): key("b")}
    left = superseded(Query("q"), [candidate("a", 0.5), candidate("b", 0.4)], context)
    assert [each.memory.id for each in left] == ["b"]


def _hybrid(root: LinkedRoot) -> list[Candidate]:
    return search(root, "gate", stages=HYBRID, embedder=HashingEmbedder())
