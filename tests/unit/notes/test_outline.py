"""Pages of an outline: tables in their regions, in either language, around what people wrote."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.model import Key
from camillo.notes.outline import emptied_page, language_of, room_page, root_page
from camillo.ports import Entry, Room
from camillo.text.regions import regions, with_region

LANGUAGES: tuple[Literal["en", "zh"], ...] = ("en", "zh")
# What people write, without marks and code of their own.
WORDS = st.text().map(lambda text: re.sub(r"<!-- auto:|```|~~~|\| a/", "", text))


def entry(path: str, summary: str = "s", **more: Any) -> Entry:
    room = path.rpartition("/")[0]
    said = {
        "title": "", "highlight": "", "description": "", "kind": "fact", "load_when": (),
        "pinned": False, "rule": False, "superseded_by": "", "created": 0, "updated": 0,
    }  # fmt: skip
    return Entry(Key("", "user", "", path), path, room, summary=summary, **{**said, **more})


def room(name: str, notes: int = 1, **more: Any) -> Room:
    said = {"pinned": 0, "rules": 0, "description": "", "first": "s"}
    return Room(name, notes, **{**said, **more})


def page_of(name: str, *entries: Entry, existing: str | None = None) -> str:
    made = room_page(name, entries, existing, "en")
    assert made is not None
    return made


def root_of(*rooms: Room, existing: str | None = None, **more: Any) -> str:
    routes = [(when, each) for each in more.pop("entries", ()) for when in each.load_when]
    made = root_page(rooms, routes, existing, "en", more.get("label", ""), "user")
    assert made is not None
    return made


def rows(page: str) -> list[str]:
    return [line for line in page.splitlines() if line.startswith("| ")]


class TestRoomPages:
    def test_a_new_one_is_whole(self) -> None:
        assert page_of("facts", entry("facts/a.md", "one", highlight="H")) == (
            "# facts index\n\n<!-- auto:begin facts -->\n\n| File | Summary | Highlight |\n"
            "|---|---|---|\n| a.md | one | H |\n<!-- auto:end -->\n"
        )

    @pytest.mark.parametrize(
        ("text", "cell"),
        [
            ("a | b", "a \\| b"),
            ("a\nb\r\nc\rd", "a b c d"),
            (" \n ", "—"),
            ("", "—"),
            ("see <!-- auto:end --> there", "see &lt;!-- auto:end --> there"),
        ],
    )
    def test_a_cell_is_one_line_and_ends_nothing(self, text: str, cell: str) -> None:
        page = page_of("r", entry("r/a.md", text, highlight=text))
        assert f"| a.md | {cell} | {cell} |\n" in page
        assert [region.label for region in regions(page)] == ["r"]

    def test_what_people_wrote_around_it_stays(self) -> None:
        page = "mine\n" + page_of("r", entry("r/a.md")) + "mine too"
        changed = page_of("r", entry("r/b.md"), existing=page)
        assert changed == page.replace("a.md", "b.md")

    @pytest.mark.case("OC15")
    @pytest.mark.parametrize("page", ["# my own\n", "", "<!-- auto:begin r -->\nno end\n"])
    def test_one_without_our_region_is_left(self, page: str) -> None:
        assert room_page("r", [entry("r/a.md")], page, "en") is None

    def test_a_region_of_something_else_is_no_table_of_ours(self) -> None:
        page = "<!-- auto:begin toc -->\n- [a](a.md)\n<!-- auto:end -->\n"
        assert room_page("r", [entry("r/a.md")], page, "en") is None

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_a_page_that_moved_with_its_folder_gets_the_new_name(
        self, language: Literal["en", "zh"]
    ) -> None:
        former = room_page("old", [entry("old/a.md")], None, language)
        assert former is not None
        moved = room_page("new", [entry("new/a.md")], f"mine\n{former}mine\n", language)
        assert moved == f"mine\n{former}mine\n".replace("old", "new")

    def test_but_a_heading_of_ones_own_stays(self) -> None:
        former = page_of("old", entry("old/a.md")).replace("# old index", "# The old index")
        moved = page_of("new", entry("new/a.md"), existing=former)
        assert moved == former.replace("begin old", "begin new")

    def test_another_language_is_another_head_and_heading(self) -> None:
        former = page_of("r", entry("r/a.md"))
        page = room_page("r", [entry("r/a.md")], former, "zh")
        assert page == room_page("r", [entry("r/a.md")], None, "zh")

    def test_a_room_in_a_room_has_its_own(self) -> None:
        page = page_of("a/b", entry("a/b/c.md"))
        assert page.startswith("# a/b index\n\n<!-- auto:begin a/b -->\n")
        assert "| c.md |" in page

    @pytest.mark.parametrize("name", ["a -->", "--> b <!--", " a", "%3E"])
    def test_no_name_of_a_room_ends_a_mark(self, name: str) -> None:
        page = page_of(name, entry(f"{name}/a.md"))
        assert page_of(name, entry(f"{name}/b.md"), existing=page) == page.replace("a.md", "b.md")


class TestEmptiedPages:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_one_with_nothing_but_ours_goes(self, language: Literal["en", "zh"]) -> None:
        page = room_page("r", [entry("r/a.md")], None, language)
        assert page is not None
        assert emptied_page("r", page, language) == ""
        opened = page.replace(" -->", "")
        assert emptied_page("r", opened, language) == ""
        assert emptied_page("renamed", page, language) == ""

    @pytest.mark.parametrize("page", ["x\n{}", "{}x", "{}\nx -->\n"])
    def test_one_with_words_of_people_gets_an_empty_table(self, page: str) -> None:
        page = page.format(page_of("r", entry("r/a.md")))
        emptied = emptied_page("r", page, "en")
        assert emptied == page.replace("| a.md | s | — |\n", "\n")

    @pytest.mark.parametrize("mark", ["<!-- auto:begin r --> mine", "<!-- auto:begin r -->\tx -->"])
    def test_words_on_the_line_of_its_mark_are_kept(self, mark: str) -> None:
        page = page_of("r", entry("r/a.md")).replace("<!-- auto:begin r -->", mark)
        emptied = emptied_page("r", page, "en")
        assert emptied == page.replace("| a.md | s | — |\n", "\n")
        assert emptied_page("r", emptied, "en") == emptied

    def test_one_by_hand_is_left(self) -> None:
        assert emptied_page("r", "# r index\n", "en") is None


class TestRootPages:
    def test_a_new_one_says_what_there_is(self) -> None:
        page = root_of(room("facts", 2, pinned=1, first="one"), room(""))
        assert page.startswith("# Memory of all projects\n")
        assert rows(page) == [
            "| Folder | Summary | Entries |", "| facts/ | one | 2 (1 pinned) |", "| ./ | s | 1 |",
        ]  # fmt: skip
        assert "_No note says when to read it." in page

    def test_it_is_called_by_its_project(self) -> None:
        made = root_page([], [], None, "en", "my\nshop", "project")
        assert made is not None
        assert made.startswith("# Memory of my shop\n\n> What this project remembers")
        made = root_page([], [], None, "zh", "", "project")
        assert made is not None
        assert made.startswith("# 记忆总纲 — 项目\n> 本项目专属记忆")

    def test_a_room_is_described_by_its_notes(self) -> None:
        described = [
            room("a", description="said", first="x"),
            room("b", first="y" * 39 + "👍" + "z"),
            room("rules", rules=1, description="said"),
            room("rules/git", rules=1),
            room("c", rules=1, first="a note of kind rule"),
        ]
        cells = [row.split(" | ")[1] for row in rows(root_of(*described))[1:]]
        fixed = "Hard rules: always present, never broken"
        assert cells == ["said", "y" * 39, fixed, fixed, "a note of kind rule"]

    def test_routes_stand_in_the_order_of_their_rows(self) -> None:
        entries = [
            entry("b/2.md", load_when=("Zoo", "a | b")),
            entry("a/1.md", load_when=("zoo", "_x"), kind="rule"),
        ]
        assert rows(root_of(entries=entries)) == [
            "| Folder | Summary | Entries |",
            "| When | Read | Kind |",
            "| _x | a/1.md | rule |",
            "| a \\| b | b/2.md | fact |",
            "| zoo | a/1.md | rule |",
            "| Zoo | b/2.md | fact |",
        ]

    @pytest.mark.case("OC19")
    @pytest.mark.parametrize("page", ["mine", "", "<!-- auto:begin other -->\n<!-- auto:end -->\n"])
    def test_one_without_our_regions_is_left(self, page: str) -> None:
        assert root_page([room("a")], [], page, "en", "", "user") is None

    def test_one_region_is_enough(self) -> None:
        page = root_of(room("a"), existing="x\n<!-- auto:begin registry\n<!-- auto:end\ny")
        assert page.startswith("x\n<!-- auto:begin registry -->\n\n| Folder |")
        assert page.endswith("| a/ | s | 1 |\n<!-- auto:end -->\ny")

    @pytest.mark.case("OC20")
    @given(WORDS, WORDS, WORDS)
    def test_no_word_of_people_changes(self, above: str, between: str, below: str) -> None:
        first, last = root_of(room("a")).split("## When")
        existing = f"{above}\n{first}{between}\n## When{last}{below}"
        page = root_of(room("b"), existing=existing)
        assert page == existing.replace("| a/ | s |", "| b/ | s |")


class TestLanguages:
    @pytest.mark.parametrize("language", LANGUAGES)
    def test_a_page_tells_its_own(self, language: Literal["en", "zh"]) -> None:
        for rooms, entries in (([], []), ([room("a")], [entry("a/1.md", load_when=("x",))])):
            routes = [("x", each) for each in entries]
            page = root_page(rooms, routes, None, language, "", "user")
            assert page is not None
            assert language_of(page) == language
            for label in ("registry", "routing"):
                page = with_region(page, label, "")
            assert language_of(page) == language
        page = room_page("a", [], None, language)
        assert page is not None
        assert language_of(page) == language

    def test_others_tell_nothing(self) -> None:
        assert language_of("# File\n文件\n") is None

    def test_one_without_a_table_has_the_language_of_its_prose(self) -> None:
        empty = "<!-- auto:begin registry\n{}\n<!-- auto:end\n"
        english = f"# Shop\n\nWe ship on Fridays, and 小王 signs.\n{empty.format('')}"
        chinese = f"# shop\n\n周五用 kubectl 部署 staging,小王签字。\n{empty.format('')}"
        assert language_of(english) == "en"
        assert language_of(chinese) == "zh"
        generated = empty.format("| some | rows | of | another | program |")
        assert language_of(f"# Shop\n{generated}") is None
        assert language_of("# 店\n```sh\nrun this and that now\n```\n") is None
        assert language_of("<!-- written by hand below this line -->\n") is None
