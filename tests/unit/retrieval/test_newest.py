"""Stage `newest`: what replaces a hit is found in its place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo.embed.hashing import HashingEmbedder
from camillo.model import Filter, Memory, Place, replace
from camillo.retrieval.candidate import Candidate, Via
from camillo.retrieval.newest import DECAY
from camillo.vault import open_vault
from unit.graph.specimens import key, memory
from unit.retrieval.linked import HYBRID, VECTORS, WORDS, LinkedRoot, search

REDIS = "The queue runs on Redis Streams."
VALKEY = "Jobs wait in Valkey."


@pytest.fixture
def root(home: Path) -> Iterator[LinkedRoot]:
    with open_vault(overrides={"search.embedder": "hashing"}) as vault:
        linked = LinkedRoot(vault.root("user", create=True), vault)
        yield linked
        linked.close()


def _put(root: LinkedRoot, *more: Memory) -> None:
    root.put(memory("new =old", body=VALKEY), memory("old", body=REDIS), *more)


def _found(root: LinkedRoot, text: str = "Redis Streams", **how: Any) -> dict[str, Candidate]:
    return {each.memory.id: each for each in search(root, text, **how)}


def test_the_newest_has_the_hidden_ones_score_times_the_decay(root: LinkedRoot) -> None:
    root.put(memory("new", body=VALKEY), memory("old", body=REDIS))
    alone = _found(root)["old"].score
    _put(root)
    found = _found(root)
    assert list(found) == ["new"]
    assert found["new"].score == pytest.approx(DECAY * alone)
    assert found["new"].via == Via("supersedes", key("old"))
    assert found["new"].signals["superseded"] == found["new"].score


@pytest.mark.parametrize("stages", [WORDS, HYBRID, VECTORS])
def test_words_and_meaning_lead_to_it(root: LinkedRoot, stages: tuple[str, ...]) -> None:
    _put(root, *(memory(f"x{n}", body=f"A wall of {n} stones.") for n in range(5)))
    found = _found(root, stages=stages, embedder=HashingEmbedder())
    assert next(iter(found)) == "new"
    assert found["new"].via == Via("supersedes", key("old"))
    assert "old" not in found


def test_its_own_score_counts_where_it_is_more(root: LinkedRoot) -> None:
    root.put(memory("new =old", body="Redis Streams."), memory("old", body=REDIS))
    plain = _found(root, stages=tuple(each for each in WORDS if each != "newest"))
    found = _found(root)
    assert found["new"].score == plain["new"].score
    assert found["new"].via is None


def test_of_a_chain_it_is_the_newest(root: LinkedRoot) -> None:
    _put(root, memory("newer =new", body="Jobs wait in a table."))
    assert list(_found(root)) == ["newer"]
    assert _found(root)["newer"].via == Via("supersedes", key("old"))


def test_of_several_hidden_ones_the_best_leads_to_it(root: LinkedRoot) -> None:
    stones = "and of stones, " * 40
    root.put(memory("new =weak =old", body=VALKEY), memory("old", body=REDIS),
             memory("weak", body=f"{stones} and Redis Streams"))  # fmt: skip
    assert _found(root)["new"].via == Via("supersedes", key("old"))


def test_nothing_depends_on_how_many_are_wanted(root: LinkedRoot) -> None:
    _put(root, *(memory(f"x{n}", body=f"{n} streams of redis " * (n + 1)) for n in range(12)))
    for stages in (WORDS, HYBRID):
        how: dict[str, Any] = {"stages": stages, "embedder": HashingEmbedder()}
        whole = [(each.memory.id, each.score) for each in search(root, "Redis Streams", 20, **how)]
        assert "new" in dict(whole)
        for k in (1, 3, 10):
            found = search(root, "Redis Streams", k, **how)
            assert [(each.memory.id, each.score) for each in found] == whole[:k]


def test_who_asks_for_all_has_them_as_they_are(root: LinkedRoot) -> None:
    _put(root)
    found = _found(root, include_superseded=True)
    assert list(found) == ["old"]
    assert found["old"].via is None


def test_a_filter_holds_for_it(root: LinkedRoot) -> None:
    root.put(replace(memory("new =old", body=VALKEY), place=Place(room="b")),
             replace(memory("old", body=REDIS), place=Place(room="a")))  # fmt: skip
    assert _found(root, filter=Filter(room="a")) == {}
    assert list(_found(root)) == ["new"]


def test_what_says_nothing_of_the_question_leads_nowhere(root: LinkedRoot) -> None:
    _put(root)
    assert _found(root, "walrus") == {}


def test_one_to_be_confident_of_leads_to_one(root: LinkedRoot) -> None:
    _put(root)
    assert _found(root, stages=(*WORDS, "cutoff"))["new"].confident
