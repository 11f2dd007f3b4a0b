"""What people see of memories of several roots, and of long lists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camillo.ops.signature import run
from camillo.vault import Vault, open_vault
from flows.command import Camillo, plant


@pytest.fixture
def project(camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project and its user, each with a gate of oak."""
    shop = home / "work" / "shop"
    shop.mkdir()
    monkeypatch.chdir(shop)
    assert camillo("init", "--scope", "project").code == 0
    for scope in ("user", "project"):
        text = f"The gate of the {scope} is of oak."
        assert camillo("remember", text, "--name", f"gate_{scope}", "--scope", scope).code == 0
    return shop


def at(vault: Vault, when: int) -> None:
    vault.clock = lambda: when


class TestRoots:
    @pytest.mark.parametrize("words", [("search", "oak"), ("list",)])
    def test_each_result_says_its_root_where_several_answer(
        self, camillo: Camillo, project: Path, words: tuple[str, ...]
    ) -> None:
        found = {each["id"]: each["root"] for each in camillo(*words).results}
        assert found == {"gate_user": "user", "gate_project": "project"}
        for option in ([], ["--md"]):
            lines = camillo.plain(*words, *option).out.splitlines()
            for scope in ("user", "project"):
                of_it = [line for line in lines if re.search(rf"gate_{scope}\b", line)]
                assert any(re.search(rf"(?:^|[ ,]){scope}(?:[ ,]|$)", line) for line in of_it)

    @pytest.mark.parametrize("words", [("search", "oak"), ("list",)])
    def test_one_alone_is_not_named(
        self, camillo: Camillo, project: Path, words: tuple[str, ...]
    ) -> None:
        ran = camillo.plain(*words, "--scope", "user")
        assert "user" not in ran.out.replace("gate_user", "").replace("of the user", "")
        assert camillo(*words, "--scope", "user").first["root"] == "user"

    def test_show_takes_several_and_says_of_each_where_it_is(
        self, camillo: Camillo, project: Path
    ) -> None:
        ran = camillo("show", "gate_user", "gate_project")
        assert [each["id"] for each in ran.results] == ["gate_user", "gate_project"]
        assert [each["root"] for each in ran.results] == ["user", "project"]
        plain = camillo.plain("show", "gate_user", "gate_project").out
        assert "1. ~/.camillo/gate_user.md  " in plain
        assert "2. .camillo/gate_project.md  " in plain
        assert camillo("show", "gate_user", "nothing").code == 1
        assert len(camillo("show", "gate_user", "gate_user").results) == 1

    def test_remember_names_the_file_as_show_does(self, camillo: Camillo, home: Path) -> None:
        reply = camillo("remember", "Of elm.", "--name", "door", "--room", "doors").first
        assert (reply["path"], reply["folder"]) == ("doors/door.md", str(home / ".camillo"))
        for words in (("remember", "Of ash.", "--name", "door"), ("revise", "door", "--title", "D"),
                      ("link", "door", "door2")):  # fmt: skip
            camillo("remember", "Another.", "--name", "door2")
            plain = camillo.plain(*words).out
            assert "path      ~/.camillo/doors/door.md\n" in plain.replace(
                "path    ~", "path      ~"
            )
            assert "folder" not in plain


class TestPages:
    @pytest.fixture
    def many(self, home: Path) -> list[str]:
        """Notes of two roots, made by turns; the newest first."""
        (home / "work" / ".camillo").mkdir()
        with open_vault() as vault:
            for number in range(10):
                at(vault, 1_000_000 + number)
                scope = ("user", "project")[number % 2]
                run(vault, "remember", text=f"Note {number}.", name=f"n{number}", scope=scope)
        return [f"n{number}" for number in reversed(range(10))]

    def test_the_newest_come_first_whichever_root_they_are_in(
        self, camillo: Camillo, many: list[str]
    ) -> None:
        assert [each["id"] for each in camillo("list").results] == many
        oldest = [each["id"] for each in camillo("list", "--order", "oldest").results]
        assert oldest == many[::-1]
        assert [each["id"] for each in camillo("list", "--order", "id").results] == sorted(many)

    def test_pages_of_several_roots_follow_each_other(
        self, camillo: Camillo, many: list[str]
    ) -> None:
        pages = [camillo("list", "-k", 4, "--offset", first) for first in (0, 4, 8)]
        assert [each["id"] for page in pages for each in page.results] == many
        assert [page.report["total"] for page in pages] == [10, 10, 10]

    def test_a_page_says_which_it_is_and_what_goes_on(
        self, camillo: Camillo, many: list[str]
    ) -> None:
        def last(*words: object) -> str:
            return camillo.plain("list", *words).out.splitlines()[-1]

        assert last("-k", 4) == "showing 4 of 10; --offset 4 goes on"
        assert last("-k", 4, "--offset", 4) == "showing 5 to 8 of 10; --offset 8 goes on"
        assert last("-k", 4, "--offset", 8) == "showing 9 to 10 of 10"
        assert last() == "total  10"

    def test_notes_under_drawers_are_hinted_at_once(
        self, camillo: Camillo, many: list[str], shop: Path
    ) -> None:
        plant(shop, {f"{number}.md": f"A drawer, {number}.\n" for number in range(60)})
        camillo.mine(shop)
        ran = camillo("list")
        assert {each["kind"] for each in ran.results} == {"drawer"}
        assert ran.report["degraded"] == ["10 notes come after these; --kind note lists them"]
        assert camillo("list", "--kind", "drawer").report["degraded"] == []
        assert camillo("list", "--kind", "note").report["degraded"] == []
        assert camillo("list", "--limit", 100).report["degraded"] == []
