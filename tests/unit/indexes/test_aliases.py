"""The aliases index: what living memories are called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo import registry
from camillo.engines.memory import MemoryStore
from camillo.indexes._file import IndexFile
from camillo.indexes.aliases import AliasIndex
from camillo.model import Memory, Origin, replace
from camillo.projection import BATCH, catch_up
from unit.graph.specimens import key


class Unfed(MemoryStore):
    """Tells what changed, not what it was."""

    capabilities = frozenset({"manifest", "keeps"})


class Named:
    """A store with its names, caught up before each question."""

    def __init__(self, store: Any, file: IndexFile) -> None:
        self.store = store
        self.file = file
        self._index = AliasIndex(file)

    def put(self, *memories: Memory) -> None:
        self.store.put(memories)

    @property
    def index(self) -> AliasIndex:
        index = self._index
        if "feed" in self.store.capabilities:
            catch_up(self.store, [index])
        else:
            index.update(self.store.changes(index.cursor(), BATCH), self.store)
        return index

    def called(self, *heads: str) -> list[tuple[str, str]]:
        """(phrase, id) of the names that begin so."""
        return sorted((name.phrase, name.key.id) for name in self.index.begun(heads))


def _file(tmp_path: Path, store: Any) -> IndexFile:
    made: IndexFile = registry.open_index_file(str(tmp_path / "index.db"), store.identity())
    return made


@pytest.fixture
def named(tmp_path: Path) -> Iterator[Named]:
    store = MemoryStore("")
    file = _file(tmp_path, store)
    yield Named(store, file)
    file.close()


KUBE = Memory("n1", "a cluster", title="kubernetes", aliases=("k8s", "container platform"))


class TestTakingIn:
    def test_titles_and_aliases_are_names(self, named: Named) -> None:
        named.put(KUBE)
        assert named.called("k8s") == [("k8s", "n1")]
        assert named.called("kubernetes") == [("kubernetes", "n1")]
        assert named.called("container platform") == [("container platform", "n1")]

    def test_a_part_of_a_name_is_none(self, named: Named) -> None:
        named.put(KUBE)
        assert named.called("container", "platform") == []

    def test_it_says_what_is_only_a_title(self, named: Named) -> None:
        named.put(KUBE, Memory("n2", "", title="Redis", aliases=("redis",)))
        assert {name.phrase: name.titled for name in named.index.begun(["k8s", "kubernetes"])} == {
            "k8s": False, "kubernetes": True,
        }  # fmt: skip
        assert not any(name.titled for name in named.index.begun(["redis"]))

    def test_a_note_without_a_title_is_called_what_its_file_is(self, named: Named) -> None:
        named.put(Memory("deploy_rules", "…"), Memory("0123456789abcdef01234567", "made by us"))
        assert named.called("deploy rules") == [("deploy rules", "deploy_rules")]
        assert len(named.index._rows("SELECT DISTINCT id FROM aliases")) == 1

    @pytest.mark.parametrize("kind", ["drawer", "conversation", "diary", "source"])
    def test_what_is_no_note_has_none(self, named: Named, kind: str) -> None:
        origin = Origin("/a", 0)
        named.put(Memory("d", "text", kind, title="kubernetes", origin=origin))
        assert named.index.empty()

    def test_a_new_version_replaces_the_names(self, named: Named) -> None:
        named.put(KUBE)
        assert named.called("k8s")
        named.put(replace(KUBE, aliases=("kube",)))
        assert named.called("k8s") == []
        assert named.called("kube") == [("kube", "n1")]
        assert named.index.near("containr") == []

    def test_what_is_gone_or_put_away_has_none(self, named: Named) -> None:
        other = Memory("n2", "", title="pods")
        named.put(KUBE, other)
        assert not named.index.empty()
        named.store.delete([KUBE.key])
        named.put(replace(other, archived=5))
        assert named.index.empty()
        assert named.index.near("kubernets") == []
        named.put(other)
        assert named.called("pods", "pod") == [("pod", "n2"), ("pods", "n2")]

    def test_a_store_without_a_feed_is_followed_by_key(self, tmp_path: Path) -> None:
        store = Unfed("")
        named = Named(store, _file(tmp_path, store))
        named.put(KUBE, Memory("n2", "", title="pods"))
        assert len(named.called("k8s", "pods")) == 2
        named.put(replace(KUBE, aliases=("kube",)))
        store.delete([key("n2")])
        assert named.called("k8s", "pods", "kube") == [("kube", "n1")]
        assert named.index.near("containr") == []
        named.file.close()

    def test_two_processes_may_take_in_the_same(self, named: Named) -> None:
        named.put(KUBE)
        for index in (AliasIndex(named.file), AliasIndex(named.file)):
            index.update(named.store.changes(0), named.store)
        assert named.called("k8s") == [("k8s", "n1")]

    def test_a_file_from_before_there_were_names_gets_them(self, named: Named) -> None:
        for table in ("aliases", "alias_words"):
            named.file.database.connection.execute(f"DROP TABLE {table}").fetchall()
        old = AliasIndex(named.file)
        assert (old.cursor(), old.empty(), old.begun(["k8s"]), old.near("kubernets")) == (
            0, True, [], [],
        )  # fmt: skip
        assert old.check().problems == ()
        named.put(KUBE)
        assert named.called("k8s") == [("k8s", "n1")]

    @pytest.mark.promise(4)
    def test_emptied_it_comes_back_the_same(self, named: Named) -> None:
        named.put(KUBE)
        before = named.called("k8s", "kubernetes", "container platform")
        assert len(before) == 3
        named.index.reset()
        assert named.called("k8s", "kubernetes", "container platform") == before


class TestSlips:
    def test_words_of_names_are_near_what_is_misspelled(self, named: Named) -> None:
        named.put(KUBE)
        assert named.index.near("kubernets") == ["kubernetes"]
        assert named.index.near("contianer") == ["container"]
        assert named.index.near("kube") == named.index.near("") == []


class TestCare:
    def test_it_says_how_many_there_are(self, named: Named) -> None:
        named.put(Memory("n1", "", title="redis", aliases=("cache",)))
        health = named.index.check()
        assert (health.problems, health.facts) == ((), (("names", "4"),))

    def test_no_byte_of_an_erased_note_is_left(self, named: Named) -> None:
        secret = "correcthorse"
        named.put(Memory("n1", "", title=f"the {secret}", aliases=(f"{secret} battery",)))
        assert named.called(f"{secret} battery")
        named.store.delete([key("n1")])
        assert named.index.empty()
        named.file.compact()
        named.file.database.empty_log()
        for path in Path(named.file.path).parent.iterdir():
            assert secret.encode() not in path.read_bytes()
