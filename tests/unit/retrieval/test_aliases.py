"""Stage `aliases`: what a question calls by its name is found, and nothing else is taken for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo import registry
from camillo.config import SearchSettings
from camillo.model import Edge, Filter, Memory, Place, replace
from camillo.retrieval.aliases import LIFT, SLIP
from camillo.retrieval.candidate import Candidate, Context, Query
from camillo.retrieval.pipeline import run
from camillo.retrieval.presets import PRESETS
from camillo.vault import OpenRoot, open_vault

KUBE = Memory("n1", "Services run on EKS, with Helm charts.", title="kubernetes",
              aliases=("k8s", "kube", "container platform"))  # fmt: skip
TYPES = Memory("n2", "Strict mode, no implicit any.", aliases=("TypeScript", "TS"))
ERRORS = Memory("n3", "Return values, never throw.", aliases=("error handling", "exceptions"))


@pytest.fixture
def root(home: Path) -> Iterator[OpenRoot]:
    with open_vault() as vault:
        opened = vault.root("user", create=True)
        opened.store.put([KUBE, TYPES, ERRORS])
        yield opened


def _search(
    root: OpenRoot, text: str, k: int = 10, filter: Filter = Filter(), **options: bool
) -> list[Candidate]:
    root.catch_up()
    context = Context([root], SearchSettings())
    context.superseded = root.superseded(root.store.get)
    stages = [(name, registry.load("stage", name)) for name in PRESETS["words"]]
    return run(Query(text, k, filter, **options), stages, context)


def _named(root: OpenRoot, text: str) -> set[str]:
    """What is named."""
    found = [each for each in _search(root, text) if "alias" in each.signals]
    assert all(each.confident and each.signals["alias"] > 0 for each in found)
    return {each.memory.id for each in found}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("how does kube schedule pods?", {"n1"}),
        ("K8S?", {"n1"}),
        ("which container platform do we use", {"n1"}),
        ("which platform container do we use", set()),
        ("any container", set()),
        ("typescript or TS", {"n2"}),
        ("is it a type script thing", {"n2"}),
        ("an exception was thrown", {"n3"}),
        ("errors and their handling", set()),
        ("kube: error handling in TypeScript", {"n1", "n2", "n3"}),
        ("", set()),
        ("…", set()),
    ],
)
def test_a_whole_name_counts_and_a_part_does_not(
    root: OpenRoot, question: str, named: set[str]
) -> None:
    assert _named(root, question) == named


def test_a_part_of_an_identifier_is_no_name(root: OpenRoot) -> None:
    assert _named(root, "our TSLint rules") == set()
    assert _named(root, "the KubeConfig file") == set()


def test_an_identifier_is_named_by_its_words(root: OpenRoot) -> None:
    root.store.put([Memory("n4", "CI", aliases=("GitHub Actions",))])
    assert _named(root, "GithubActions") == {"n4"}
    assert _named(root, "github_actions and error_handling") == {"n4", "n3"}


def test_one_slip_is_forgiven(root: OpenRoot) -> None:
    assert _named(root, "how do I configure typscript") == {"n2"}
    assert _named(root, "eror handling") == {"n3"}
    assert _named(root, "kubernets and k8s") == {"n1"}
    assert _named(root, "tipescript, kubernutis") == set()


def test_a_slip_lifts_less(root: OpenRoot) -> None:
    [whole], [slip] = _search(root, "kubernetes runs"), _search(root, "kuberntes runs")
    assert whole.memory.id == slip.memory.id == "n1"
    before = slip.score - slip.signals["alias"]
    assert slip.signals["alias"] == pytest.approx(SLIP * (1 - before))
    assert whole.score > slip.score


def test_a_word_that_the_store_knows_is_no_slip(root: OpenRoot) -> None:
    root.store.put([Memory("n4", "Frontend.", aliases=("react",))])
    assert _named(root, "reach the customers") == {"n4"}
    root.store.put([Memory("n5", "We reach them by mail.")])
    assert _named(root, "reach the customers") == set()


def test_grammar_is_a_name_in_capitals_only(root: OpenRoot) -> None:
    root.store.put([Memory("n4", "The office in Boston.", aliases=("US", "IT"))])
    assert _named(root, "tell us about it") == set()
    assert _named(root, "when does the US office open") == {"n4"}
    assert _named(root, "TELL US ABOUT IT") == set()


def test_chinese_names_stand_inside_a_sentence(root: OpenRoot) -> None:
    root.store.put([Memory("n4", "用 MongoDB。", aliases=("数据库",))])
    assert _named(root, "我们的数据库怎么备份?") == {"n4"}
    assert _named(root, "数据怎么备份?") == set()


def test_a_title_of_one_word_that_stands_everywhere_names_nothing(root: OpenRoot) -> None:
    root.store.put([Memory("n4", "What the team is called.", title="Harbour")])
    root.store.put([Memory(f"d{n}", f"harbour log {n}", kind="diary") for n in range(8)])
    assert "n4" in _named(root, "harbour")
    root.store.put([Memory(f"d{n}", f"harbour log {n}", kind="diary") for n in range(8, 20)])
    assert _named(root, "harbour") == set()
    root.store.put([Memory("n5", "Called so on purpose.", aliases=("harbour",))])
    assert _search(root, "harbour")[0].memory.id == "n5"


def test_what_nothing_nominated_becomes_a_result(root: OpenRoot) -> None:
    [found] = _search(root, "kube")
    assert found.memory.id == "n1"
    assert found.signals == {"keyword": 0.0, "alias": found.score}
    assert found.score > LIFT


def test_it_comes_before_what_merely_holds_a_word(root: OpenRoot) -> None:
    root.store.put([Memory(f"m{n}", f"how pods are scheduled {n}") for n in range(30)])
    found = _search(root, "how does kube schedule pods", k=3)
    assert "n1" in {each.memory.id for each in found}


def test_a_filter_holds_for_what_is_named(root: OpenRoot) -> None:
    root.store.put([replace(KUBE, place=Place("shop"))])
    assert _search(root, "kube", filter=Filter(wing="other")) == []
    assert _search(root, "kube", filter=Filter(kinds=("question",))) == []
    assert len(_search(root, "kube", filter=Filter(wing="shop"))) == 1


def test_archived_it_has_no_name(root: OpenRoot) -> None:
    root.store.put([replace(KUBE, archived=5)])
    assert _search(root, "kube") == []


@pytest.mark.parametrize("written_at", ["old", "new"])
def test_who_asks_by_the_old_name_is_told_the_new(root: OpenRoot, written_at: str) -> None:
    newer = Memory("n9", "We moved to Nomad.", title="Nomad")
    if written_at == "old":
        root.store.put([replace(KUBE, superseded_by="n9"), newer])
    else:
        root.store.put([replace(newer, edges=(Edge("supersedes", "n1"),))])
    [found] = _search(root, "kube")
    assert (found.memory.id, found.confident) == ("n9", True)
    assert found.via is not None
    assert (found.via.relation, found.via.hit.id) == ("supersedes", "n1")
    both = {each.memory.id for each in _search(root, "kube", include_superseded=True)}
    assert both == {"n1"}


def test_a_new_alias_counts_at_once(root: OpenRoot) -> None:
    assert _named(root, "borg") == set()
    root.store.put([replace(KUBE, aliases=(*KUBE.aliases, "borg"))])
    assert _named(root, "borg") == {"n1"}


def test_of_a_long_prompt_only_the_question_names_something(root: OpenRoot) -> None:
    pasted = "kube log line, nothing of note here. " * 80
    assert _named(root, f"{pasted}\n\nWhat about error handling?") == {"n3"}
