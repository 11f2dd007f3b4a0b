"""Stage `connected`: what others lead to comes a little further up."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.config import SearchSettings
from camillo.model import Key
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.connected import ALPHA, connected
from camillo.vault import open_vault
from unit.graph.specimens import key, memory
from unit.retrieval.by_hand import candidate
from unit.retrieval.linked import LinkedRoot


class Counted:
    """A root of which only the number of links is known."""

    def __init__(self, **counts: int) -> None:
        self._counts = {key(id): count for id, count in counts.items()}
        self.edges = self

    def empty(self) -> bool:
        return not self._counts

    def inbound_counts(self, keys: list[Key]) -> dict[Key, int]:
        assert self._counts, "a root without links is not asked"
        return self._counts


@pytest.fixture
def root(home: Path) -> Iterator[LinkedRoot]:
    with open_vault() as vault:
        linked = LinkedRoot(vault.root("user", create=True))
        yield linked
        linked.close()


def _lifted(root: object, *candidates: Candidate) -> dict[str, float]:
    context = Context([root], SearchSettings())  # type: ignore[list-item]
    return {each.memory.id: each.score for each in connected(Query("q"), [*candidates], context)}


@pytest.mark.parametrize("links", [1, 3, 20])
def test_the_boost_is_alpha_times_the_logarithm_of_the_links(links: int) -> None:
    lifted = _lifted(Counted(a=links), candidate("a", 0.6))
    assert lifted["a"] == pytest.approx(0.6 + ALPHA * math.log(1 + links) * 0.4)


def test_what_it_added_is_a_signal() -> None:
    found = candidate("a", 0.6)
    lifted = _lifted(Counted(a=3), found)
    assert lifted["a"] == pytest.approx(0.6 + found.signals["connected"])


def test_a_whole_score_stays_1() -> None:
    assert _lifted(Counted(a=1), candidate("a", 1.0)) == {"a": 1.0}


@given(st.floats(0, 1), st.integers(0, 10**9))
def test_scores_stay_on_0_to_1_and_only_rise(score: float, links: int) -> None:
    lifted = _lifted(Counted(a=links), candidate("a", score))["a"]
    assert score <= lifted <= 1
    assert lifted <= score * 1.25 + 1e-9


def test_links_decide_between_equals() -> None:
    lifted = _lifted(Counted(b=2), candidate("a", 0.5), candidate("b", 0.5))
    assert lifted["b"] > lifted["a"] == 0.5


def test_what_has_no_links_is_left_as_it_is() -> None:
    found = candidate("a", 0.5)
    assert _lifted(Counted(b=2), found) == {"a": 0.5}
    assert "connected" not in found.signals


def test_a_root_without_links_costs_no_question() -> None:
    assert _lifted(Counted(), candidate("a", 0.5)) == {"a": 0.5}


@pytest.mark.case("CP29")
def test_mentions_and_supersedes_do_not_count(root: LinkedRoot) -> None:
    root.put(memory("a ~x", body=""), memory("b =x"), memory("c", body="[[x]]"), memory("x"))
    lifted = _lifted(root, candidate("x", 0.5))
    assert lifted["x"] == pytest.approx(0.5 + ALPHA * math.log(2) * 0.5)


def test_each_root_is_asked_for_its_own() -> None:
    context = Context([Counted(a=1), Counted()], SearchSettings())  # type: ignore[list-item]
    candidates = [candidate("a", 0.5), candidate("a", 0.5, root=1)]
    scores = [each.score for each in connected(Query("q"), candidates, context)]
    assert scores[0] > scores[1] == 0.5
