"""Misses: where an expected memory fell out of a search, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo.model import Edge, Memory, Origin, Place
from camillo.ops.inspect_query import InspectReport, inspect_query
from camillo.ops.search import search
from camillo.retrieval.misses import Fate
from camillo.vault import OpenRoot, Vault, open_vault

HARBOUR = Memory("harbour", "The lamp of the harbour is lit at dusk.")


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault(overrides={"search.embedder": "hashing"}) as opened:
        yield opened


@pytest.fixture
def root(vault: Vault) -> OpenRoot:
    opened = vault.root("user", create=True)
    opened.store.put([HARBOUR])
    return opened


def _drawer(root: OpenRoot, id: str, body: str) -> None:
    root.store.put([Memory(id, body, "drawer", origin=Origin(f"/d/{id}.md"))])


def _fate(vault: Vault, question: str, id: str = "harbour", **options: Any) -> Fate:
    report: InspectReport = inspect_query(vault, question, show_misses=(id,), **options)
    assert report.exit_code == 0
    [fate] = report.results
    assert isinstance(fate, Fate)
    found = id in {each.id for each in search(vault, question, **options).results}
    assert fate.found is found
    return fate


def _crowd(root: OpenRoot, count: int, text: str = "a lamp, number {n}") -> None:
    root.store.put([
        Memory(f"c{n}", text.format(n=n), "drawer", origin=Origin(f"/c/{n}.md"))
        for n in range(count)
    ])  # fmt: skip


def test_a_result_has_its_rank_and_score(vault: Vault, root: OpenRoot) -> None:
    fate = _fate(vault, "lamp at the harbour")
    assert (fate.found, fate.rank, fate.stage, fate.why) == (True, 1, "", "")
    assert fate.score is not None
    assert fate.score > 0
    assert (set(fate.holds), fate.lacks, fate.words_rank) == ({"lamp", "harbour"}, (), 1)


def test_without_words_of_the_question_nothing_nominates_it(vault: Vault, root: OpenRoot) -> None:
    fate = _fate(vault, "brass beacon")
    assert (fate.stage, fate.rank, fate.words_rank) == ("keyword", None, None)
    assert fate.lacks == ("brass", "beacon")
    assert fate.why == "it holds no word of the question; it lacks brass, beacon"


def test_it_says_how_far_down_it_stands_by_words(vault: Vault, root: OpenRoot) -> None:
    _crowd(root, 260, "lamp brass {n}")
    _drawer(root, "low", "The lamp of the harbour.")
    fate = _fate(vault, "brass lamp beacon", id="low")
    assert (fate.stage, fate.holds, fate.lacks) == ("keyword", ("lamp",), ("brass", "beacon"))
    assert fate.words_rank is not None
    assert fate.words_rank > 260
    assert f"number {fate.words_rank}" in fate.why
    assert "lacks brass, beacon" in fate.why


def test_it_says_how_far_away_it_is_in_meaning(vault: Vault, root: OpenRoot) -> None:
    _crowd(root, 260, "brass beacon {n}")
    root.catch_up()
    assert vault.embed(root) == 0
    fate = _fate(vault, "brass beacon", preset="vectors")
    assert (fate.stage, fate.near_rank) == ("vector", 261)
    assert fate.cosine is not None
    assert f"number 261, with a cosine of {fate.cosine}" in fate.why
    both = _fate(vault, "brass beacon", preset="hybrid")
    assert both.stage == "keyword and vector"
    assert "no word" in both.why
    assert "number 261" in both.why


def test_what_stands_too_low_to_be_read(vault: Vault, root: OpenRoot) -> None:
    _crowd(root, 2100, "weather {n}")
    root.store.put([Memory(f"m{n}", f"lamp harbour lamp harbour {n}") for n in range(20)])
    root.store.put([Memory("low", "a lamp " + "and much else besides " * 30)])
    fate = _fate(vault, "lamp harbour", id="low")
    assert fate.stage == "read"
    assert "without reading it" in fate.why
    stands, least = (float(w) for w in fate.why.replace(";", "").split() if w[0] == "0")
    assert stands < least


def test_below_the_limit_it_has_a_rank_and_a_score(vault: Vault, root: OpenRoot) -> None:
    _crowd(root, 30, "lamp {n}")
    _drawer(root, "low", "A lamp among much else that is told here at length, of other things.")
    fate = _fate(vault, "lamp", id="low", k=3)
    assert fate.stage == "limit"
    assert fate.rank is not None
    assert fate.rank > 3
    assert fate.why.startswith(f"it is number {fate.rank} with {fate.score:.4f}; the first 3")


def test_an_equal_text_stands_for_it(vault: Vault, root: OpenRoot) -> None:
    text = "The licence of the lamp says that it may be copied and lit by anybody. " * 3
    root.store.put([
        Memory("0a" * 12, text, "drawer", origin=Origin("/a/LICENSE")),
        Memory("0b" * 12, text, "drawer", origin=Origin("/b/LICENSE")),
    ])  # fmt: skip
    fate = _fate(vault, "licence of the lamp", id="0b" * 12)
    assert (fate.stage, fate.why) == (
        "limit",
        f"its text is that of {'0a' * 12}, which names its source",
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kind": ("drawer",)}, "kinds: it is of kind fact"),
        ({"wing": "shop"}, "wing: its wing is none"),
        ({"room": "x"}, "room: its room is none"),
        ({"session": "s"}, "session: it is of none"),
        ({"since": "2020-01-01"}, "since: it has no date"),
        ({"before": "2020-01-01", "wing": "w"}, "wing: its wing is none; before: it has no date"),
        ({"source": "/a.md"}, "source: it is from no file"),
    ],
)
def test_a_filter_says_what_it_refused(
    vault: Vault, root: OpenRoot, options: dict[str, Any], why: str
) -> None:
    fate = _fate(vault, "lamp", **options)
    assert (fate.stage, fate.why) == ("filter", why)


def test_archived_it_is_refused_until_that_is_asked_for(vault: Vault, root: OpenRoot) -> None:
    root.store.put([HARBOUR._replace(archived=5)])
    assert _fate(vault, "lamp").why == "archived: it is archived"
    assert _fate(vault, "lamp", archived=True).found


def test_superseded_it_names_what_stands_for_it(vault: Vault, root: OpenRoot) -> None:
    root.store.put(
        [Memory("newer", "Lit by a machine now.", edges=(Edge("supersedes", "harbour"),))]
    )
    fate = _fate(vault, "lamp")
    assert (fate.stage, fate.why) == ("superseded", "newer supersedes it")
    assert _fate(vault, "lamp", include_superseded=True).found


def test_a_root_that_is_not_searched(vault: Vault, root: OpenRoot, home: Path) -> None:
    (home / "work" / ".camillo").mkdir()
    with open_vault() as here:
        here.root("project", create=True).store.put([Memory("p", "lamp", scope="project")])
        report = inspect_query(here, "lamp", show_misses=("p", "harbour"), scope="user")
        assert [each.stage for each in report.results] == ["scope", ""]


def test_what_a_name_brings_in_was_not_nominated(vault: Vault, root: OpenRoot) -> None:
    root.store.put([Memory("n", "Unlike it.", aliases=("beacon",))])
    fate = _fate(vault, "beacon", id="n")
    assert (fate.found, fate.words_rank, fate.lacks) == (True, None, ("beacon",))


def test_without_an_id_it_tells_of_all_that_is_found(vault: Vault, root: OpenRoot) -> None:
    root.store.put([Memory("b", "A lamp.", place=Place("w"))])
    report = inspect_query(vault, "lamp at the harbour")
    found = search(vault, "lamp at the harbour").results
    assert [each.id for each in report.results] == [each.id for each in found]
    assert [each.rank for each in report.results] == [1, 2]
    assert report.trace
    assert inspect_query(vault, "xylophone").exit_code == 1
