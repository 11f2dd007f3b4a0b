"""Archive, show and list: ids, pages, putting away and bringing back."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.model import Memory
from camillo.ops.signature import run
from camillo.vault import Vault
from flows.command import Camillo, plant


@pytest.fixture
def gates(camillo: Camillo, shop: Path) -> str:
    """The id of the drawer about gates."""
    plant(shop, {"a.md": "gates\n", "b.md": "doors\nof oak\nand of elm\n"})
    camillo.mine(shop)
    return str(camillo("search", "gates").first["id"])


class TestArchive:
    @pytest.mark.promise(24)
    def test_it_is_kept_but_neither_found_nor_listed(self, camillo: Camillo, gates: str) -> None:
        ran = camillo("archive", gates)
        assert (ran.code, ran.first["status"], ran.first["id"]) == (0, "updated", gates)
        assert camillo.texts("gates") == []
        assert gates not in [entry["id"] for entry in camillo.listed()]
        assert camillo.texts("gates", "--archived") == ["gates\n"]
        assert gates in [entry["id"] for entry in camillo.listed("--archived")]
        assert camillo("show", gates).first["text"] == "gates\n"

    @pytest.mark.promise(24)
    def test_undo_brings_it_back_as_it_was(self, camillo: Camillo, gates: str) -> None:
        before = camillo("search", "gates").results
        camillo("archive", gates)
        assert camillo("archive", gates, "--undo").first["status"] == "updated"
        assert camillo("search", "gates").results == before

    @pytest.mark.promise(24)
    def test_doing_it_twice_changes_nothing(self, camillo: Camillo, gates: str) -> None:
        camillo("archive", gates)
        assert camillo("archive", gates).first["status"] == "deduplicated"
        camillo("archive", gates, "--undo")
        assert camillo("archive", gates, "--undo").first["status"] == "deduplicated"

    def test_several_at_once(self, camillo: Camillo, gates: str) -> None:
        ids = [entry["id"] for entry in camillo.listed()]
        assert len(camillo("archive", *ids).results) == 2
        assert camillo.listed() == []

    def test_one_unknown_id_puts_none_of_the_others_away(
        self, camillo: Camillo, gates: str
    ) -> None:
        assert camillo("archive", gates, "0" * 24).code == 1
        assert camillo.texts("gates") == ["gates\n"]

    def test_closets_of_a_source_that_is_put_away_lead_nowhere(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {"c.md": "# Zeppelin hangar\n\nlarge\n"})
        camillo.mine(shop)
        camillo("archive", camillo("search", "zeppelin").first["id"])
        assert camillo.texts("zeppelin hangar") == []


class TestIds:
    @pytest.mark.parametrize("length", [24, 12, 8, 4])
    @pytest.mark.parametrize("command", ["show", "archive", "forget"])
    def test_the_first_characters_are_enough(
        self, camillo: Camillo, gates: str, command: str, length: int
    ) -> None:
        ran = camillo(command, gates[:length])
        assert (ran.code, ran.first["id"]) == (0, gates)

    def test_what_people_are_shown_is_accepted(self, camillo: Camillo, gates: str) -> None:
        shown = camillo.plain("search", "gates").out
        assert f"id {gates[:8]}\n" in shown
        assert camillo("show", gates[:8]).code == 0

    @pytest.mark.parametrize("command", ["show", "archive", "forget"])
    def test_an_ambiguous_one_is_refused_and_the_candidates_named(
        self, vault: Vault, camillo: Camillo, command: str
    ) -> None:
        ids = ["abcdef0123456789abcdef01", "abcdef01ffffffffffffffff"]
        vault.root("user", create=True).store.put([Memory(id, f"text {id}") for id in ids])
        ran = camillo(command, "abcdef01")
        assert (ran.code, ran.report["error"]["code"]) == (2, "ambiguous")
        assert all(id in ran.err for id in ids)
        assert len(camillo.listed()) == 2
        assert camillo(command, "abcdef01f").code == 0

    def test_an_exact_id_wins_over_longer_ones(self, vault: Vault) -> None:
        store = vault.root("user", create=True).store
        store.put([Memory("queue", "one", "note"), Memory("queue-on-redis", "two", "note")])
        assert run(vault, "show", ids=["queue"]).results[0]["text"] == "one"

    @pytest.mark.parametrize("id", ["", "\0", "abc", "zzzzzzzz", "../../etc/passwd", "%", "_" * 8])
    @pytest.mark.parametrize("command", ["show", "archive", "forget"])
    @pytest.mark.promise(15)
    def test_what_is_no_id_is_told_where_to_find_one(
        self, camillo: Camillo, gates: str, command: str, id: str
    ) -> None:
        ran = camillo(command, id)
        assert ran.code in (1, 2)
        assert ran.report["error"]["code"] in ("not-found", "invalid-value")
        assert len(camillo.listed()) == 2

    def test_bookkeeping_has_no_id(self, camillo: Camillo, gates: str, vault: Vault) -> None:
        """Records of sources and marks of what was erased can be neither shown nor erased."""
        from camillo.model import Filter

        store = vault.root("user").store
        for memory in store.scan(Filter(None, kinds=("source",), internal=True)):
            assert camillo("show", memory.id).code == 1
            assert camillo("forget", memory.id).code == 1


class TestShow:
    def test_lines_are_numbered(self, camillo: Camillo, gates: str) -> None:
        doors = camillo("search", "doors").first["id"]
        assert (
            camillo("show", doors, "--lines", "2-3").first["text"] == "[2] of oak\n[3] and of elm"
        )
        assert camillo("show", doors, "--lines", "2").first["text"] == "[2] of oak"
        assert camillo("show", doors, "--lines", "9-12").first["text"] == ""

    @pytest.mark.parametrize("lines", ["x", "2-x", "-3", "2-3-4", "²"])
    def test_what_is_no_range_is_a_usage_error(
        self, camillo: Camillo, gates: str, lines: str
    ) -> None:
        ran = camillo("show", gates, f"--lines={lines}")
        assert ran.code == 2
        assert "2-5" in ran.err

    def test_it_says_where_the_text_came_from(
        self, camillo: Camillo, gates: str, shop: Path
    ) -> None:
        record = camillo("show", gates).first
        assert record["source"] == str(shop / "a.md")
        names = ("part", "line_start", "line_end", "byte_start", "byte_end")
        assert [record[name] for name in names] == [0, 1, 1, 0, 6]


class TestList:
    def test_pages_neither_overlap_nor_leave_any_out(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {f"{n:02}.md": f"door {n}\n" for n in range(25)})
        camillo.mine(shop)
        for order in ("newest", "oldest", "id"):
            pages = [
                camillo("list", "--order", order, "--limit", "10", "--offset", at).report
                for at in (0, 10, 20, 30)
            ]
            assert [len(page["results"]) for page in pages] == [10, 10, 5, 0]
            assert {page["total"] for page in pages} == {25}
            ids = [entry["id"] for page in pages for entry in page["results"]]
            assert len(set(ids)) == 25

    def test_pages_go_on_into_the_other_root(
        self, camillo: Camillo, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (shop / ".git").mkdir()
        monkeypatch.chdir(shop)
        plant(shop, {f"{n}.md": f"door {n}\n" for n in range(3)})
        camillo("init", "--scope", "project")
        camillo.mine(shop, "--scope", "project")
        camillo.mine(shop)
        seen = [camillo("list", "--limit", "2", "--offset", at).results for at in (0, 2, 4)]
        assert [len(page) for page in seen] == [2, 2, 2]
        assert {(e["scope"], e["id"]) for page in seen for e in page} == {
            (e["scope"], e["id"]) for e in camillo.listed()
        }

    def test_nothing_listed_is_code_one(self, camillo: Camillo, gates: str) -> None:
        assert camillo("list", "--wing", "nowhere").code == 1

    def test_bookkeeping_is_not_listed(self, camillo: Camillo, gates: str) -> None:
        camillo("forget", gates)
        assert [entry["kind"] for entry in camillo.listed("--archived")] == ["drawer"]
        assert camillo("list", "--kind", "source").code == 1
        assert camillo("list", "--kind", "forgotten").code == 1
