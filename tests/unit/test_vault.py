"""The vault: what it opens, when, and how it keeps indexes current."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo.errors import Refused, UnknownName
from camillo.model import Filter, Key, Memory
from camillo.vault import OpenRoot, Vault, open_vault


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault() as opened:
        yield opened


def _found(root: OpenRoot, token: str, filter: Filter) -> list[str]:
    return [hit.key.id for hit in root.words.hits(root.words.keyword([token], 9, filter))]


def test_opening_one_touches_nothing(home: Path, vault: Vault) -> None:
    assert [path.name for path in home.iterdir()] == ["work"]
    assert list(vault.roots()) == []


def test_a_root_that_is_not_there_says_how_to_make_it(vault: Vault) -> None:
    with pytest.raises(Refused, match="camillo init"):
        vault.root("user")
    with pytest.raises(Refused, match="no project"):
        vault.root("project")


def test_the_projects_root_comes_first(home: Path) -> None:
    (home / "work" / ".camillo").mkdir()
    (home / ".camillo").mkdir()
    with open_vault() as vault:
        assert [root.scope for root in vault.roots()] == ["project", "user"]
        assert [root.scope for root in vault.roots("user")] == ["user"]


@pytest.mark.promise(25)
def test_a_wrong_setting_is_an_error_and_a_server_starts_without_it(home: Path) -> None:
    with pytest.raises(UnknownName):
        open_vault(overrides={"search.kk": "3"})
    with open_vault(overrides={"search.kk": "3"}, lenient=True) as vault:
        assert vault.settings.search.k == 10


def test_an_unknown_engine_is_named(home: Path) -> None:
    with open_vault(overrides={"memory.backend": "sqllite"}) as vault:
        root = vault.root("user", create=True)
        with pytest.raises(UnknownName, match="did you mean 'sqlite'"):
            root.store.count()


def test_a_scratch_root_in_memory_needs_no_folder(vault: Vault, home: Path) -> None:
    root = vault.scratch()
    root.store.put([Memory("m", "text")])
    assert root.store.count() == 1
    assert [path.name for path in home.iterdir()] == ["work"]


class TestIndexes:
    def test_they_are_behind_until_they_catch_up(self, vault: Vault) -> None:
        root = vault.root("user", create=True)
        root.store.put([Memory("m", "seven gates")])
        assert root.behind() == 1
        assert root.catch_up() == 0
        assert _found(root, "gates", Filter()) == ["m"]

    def test_a_refresh_takes_in_what_changed(self, vault: Vault) -> None:
        root = vault.root("user", create=True)
        root.store.put([Memory("m", "seven gates")])
        assert root.refresh() == 0
        assert root.words.df(["gates"]) == {"gates": 1}

    @pytest.mark.promise(4)
    def test_rebuilt_they_are_as_before(self, vault: Vault) -> None:
        root = vault.root("user", create=True)
        root.store.put([Memory(f"m{n}", f"gate number {n}", "drawer") for n in range(20)])
        root.catch_up()
        before = root.words.keyword(["gate"], 50, Filter()), root.words.size()
        root.rebuild()
        assert root.words.size() == (0, 0)
        root.catch_up()
        assert (root.words.keyword(["gate"], 50, Filter()), root.words.size()) == before

    def test_rows_of_another_kind_can_follow_a_rebuild(self, vault: Vault) -> None:
        """What the old file had numbered means nothing in the new one."""
        root = vault.root("user", create=True)
        for n in range(5):
            root.store.put([Memory(f"m{n}", "gate", f"kind{n}")])
            root.catch_up()
        root.rebuild()
        root.store.put([Memory("last", "gate", "kind4")])
        root.catch_up()
        found = _found(root, "gate", Filter(kinds=("kind4",)))
        assert sorted(found) == ["last", "m4"]

    @pytest.mark.promise(12)
    def test_a_scrub_leaves_no_former_version(self, vault: Vault, home: Path) -> None:
        root = vault.root("user", create=True)
        root.store.put([Memory("m", "xylophagous")])
        root.catch_up()
        root.store.delete([Key("", "user", "", "m")])
        root.catch_up()
        assert root.scrub()
        files = [path for path in (home / ".camillo").rglob("*") if path.is_file()]
        assert not [path for path in files if b"xylophagous" in path.read_bytes()]
        assert not root.store.unclean()

    def test_an_error_that_is_not_theirs_is_not_mended(self, vault: Vault) -> None:
        root = vault.root("user", create=True)
        root.store.put([Memory("m", "gate")])
        root.catch_up()
        assert not root.mend(ValueError("somewhere else"))
        assert root.words.size()[0] == 1


def test_an_engine_on_a_server_has_an_index_of_its_own(home: Path) -> None:
    """Trying one costs the other no vectors."""
    paths = []
    for backend in ("sqlite", "postgres"):
        with open_vault(
            overrides={"memory.backend": backend, "memory.dsn": "host=nowhere"}
        ) as each:
            paths.append(Path(each.root("user", create=True).index_path).name)
    assert paths == ["index.db", "postgres.db"]
