"""Compiling pages: only what differs is written, and nothing that people wrote is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camillo.engines.markdown.camillo import CamilloDialect
from camillo.text.regions import regions
from unit.lifecycle.outlined import Meddler, Tree


def note(summary: str, **said: str) -> str:
    head = "".join(f"{key}: {value}\n" for key, value in said.items())
    return f"---\ndescription: {summary}\n{head}---\nbody\n"


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    for name in ("notes", "state"):
        (tmp_path / name).mkdir()
    tree = Tree(tmp_path / "notes", tmp_path / "state", CamilloDialect)
    tree.write("a/one.md", note("first", load_when="[x]"))
    tree.write("a/b/two.md", note("second"))
    tree.write("top.md", note("third", pinned="true"))
    yield tree
    tree.close()


class TestPages:
    def test_each_folder_with_notes_has_one_and_the_top_is_in_the_registry(
        self, tree: Tree
    ) -> None:
        assert tree.statuses() == dict.fromkeys(
            ("ROOT.md", "a/index.md", "a/b/index.md"), "written"
        )
        root = tree.read("ROOT.md")
        assert "| ./ | third | 1 (1 pinned) |\n| a/ | first | 1 |\n| a/b/ | second | 1 |" in root
        assert "| x | a/one.md | fact |" in root
        assert "| two.md | second | — |" in tree.read("a/b/index.md")

    def test_only_pages_that_change_are_written(self, tree: Tree) -> None:
        tree.compile()
        before = tree.times()
        tree.write("a/b/two.md", note("changed"))
        assert tree.statuses() == {
            "ROOT.md": "written", "a/index.md": "unchanged", "a/b/index.md": "written",
        }  # fmt: skip
        page = str(tree.folder / "a/index.md")
        assert tree.times()[page] == before[page]

    def test_a_body_alone_changes_no_page(self, tree: Tree) -> None:
        tree.compile()
        before = tree.pages()
        tree.write("a/one.md", note("first", load_when="[x]") + "more\n")
        assert set(tree.statuses().values()) == {"unchanged"}
        assert tree.pages() == before

    @pytest.mark.parametrize("page", ["ROOT.md", "a/index.md"])
    def test_what_somebody_changed_in_a_region_comes_right(self, tree: Tree, page: str) -> None:
        tree.compile()
        right = tree.read(page)
        tree.write(page, right.replace("first", "wrong"))
        assert tree.statuses()[page] == "written"
        assert tree.read(page) == right

    @pytest.mark.parametrize("page", ["ROOT.md", "a/index.md"])
    def test_a_page_that_somebody_deleted_is_made_again(self, tree: Tree, page: str) -> None:
        tree.compile()
        right = tree.read(page)
        (tree.folder / page).unlink()
        assert tree.statuses()[page] == "written"
        assert tree.read(page) == right

    def test_without_the_index_the_pages_are_the_same(self, tree: Tree) -> None:
        tree.compile()
        before = tree.times()
        tree.lose_index()
        assert set(tree.statuses().values()) == {"unchanged"}
        assert tree.times() == before

    def test_a_dry_run_says_what_and_writes_nothing(self, tree: Tree) -> None:
        for _ in range(2):
            done = tree.compile(dry_run=True)
            assert {each.status for each in done.values()} == {"written"}
            assert tree.pages() == {}
        tree.compile()
        (tree.folder / "a/one.md").unlink()
        assert tree.compile(dry_run=True)["a/index.md"].status == "removed"
        assert "a/index.md" in tree.pages()
        done = tree.compile()
        assert done["a/index.md"].status == "removed"
        assert (done["ROOT.md"].added, done["ROOT.md"].removed) == (1, 4)

    @pytest.mark.parametrize("head", ["", "\ufeff"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_byte_order_marks_line_ends_and_bytes_that_are_no_text_stay(
        self, tree: Tree, head: str, end: str
    ) -> None:
        tree.compile()
        page = tree.folder / "a/index.md"
        mine = f"{head}{tree.read('a/index.md')}mine\n".replace("\n", end).encode() + b"\xff\0"
        page.write_bytes(mine)
        assert tree.statuses()["a/index.md"] == "unchanged"
        tree.write("a/one.md", note("new"))
        assert tree.statuses()["a/index.md"] == "written"
        assert page.read_bytes() == mine.replace(b"first", b"new")

    def test_a_page_in_another_encoding_is_kept(self, tree: Tree) -> None:
        (tree.folder / "a/index.md").write_bytes("# mine".encode("utf-16"))
        assert tree.compile()["a/index.md"].status == "kept"

    def test_a_page_that_cannot_be_read_fails_alone_and_is_tried_again(self, tree: Tree) -> None:
        target = tree.folder.parent / "elsewhere.md"
        target.write_text("theirs")
        (tree.folder / "a/index.md").symlink_to(target)
        for _ in range(2):
            done = tree.compile()
            assert done["a/index.md"].status == "failed"
            assert "is a link" in done["a/index.md"].reason
        assert done["a/b/index.md"].status == "unchanged"
        assert target.read_text() == "theirs"
        (tree.folder / "a/index.md").unlink()
        assert tree.statuses()["a/index.md"] == "written"


class TestLanguages:
    def test_one_that_is_asked_for_stays_without_being_asked(self, tree: Tree) -> None:
        tree.compile()
        assert set(tree.statuses(language="zh").values()) == {"written"}
        before = tree.pages()
        assert "# a 索引" in before["a/index.md"]
        for language in (None, "zh", None):
            assert set(tree.statuses(language=language).values()) == {"unchanged"}
        assert tree.pages() == before

    def test_a_new_page_has_that_of_the_root(self, tree: Tree) -> None:
        tree.compile(language="zh")
        tree.write("new/n.md", note("n"))
        tree.compile()
        assert tree.read("new/index.md").startswith("# new 索引\n")


class TestRooms:
    def test_the_page_of_an_emptied_room_goes(self, tree: Tree) -> None:
        tree.compile()
        (tree.folder / "a/b/two.md").unlink()
        assert tree.statuses()["a/b/index.md"] == "removed"
        assert "a/b" not in tree.read("ROOT.md")
        assert "a/b/index.md" not in tree.statuses()

    def test_but_not_what_people_wrote_in_it(self, tree: Tree) -> None:
        tree.compile()
        page = tree.read("a/b/index.md")
        tree.write("a/b/index.md", f"{page}mine\n")
        (tree.folder / "a/b/two.md").unlink()
        assert tree.statuses()["a/b/index.md"] == "written"
        assert tree.read("a/b/index.md") == f"{page}mine\n".replace("| two.md | second | — |", "")
        tree.write("a/b/three.md", note("third"))
        tree.compile()
        assert tree.read("a/b/index.md") == f"{page}mine\n".replace(
            "| two.md | second | — |", "| three.md | third | — |"
        )

    def test_nor_a_page_by_hand(self, tree: Tree) -> None:
        tree.write("a/b/index.md", "# mine\n")
        tree.compile()
        (tree.folder / "a/b/two.md").unlink()
        assert "a/b/index.md" not in tree.statuses(everything=True)
        assert tree.read("a/b/index.md") == "# mine\n"

    def test_a_page_of_a_room_that_emptied_long_ago_is_found(self, tree: Tree) -> None:
        tree.compile()
        tree.write("gone/index.md", tree.read("a/index.md").replace("# a ", "# gone ").replace(
            "auto:begin a ", "auto:begin gone "))  # fmt: skip
        assert "gone/index.md" not in tree.statuses()
        assert tree.statuses(everything=True)["gone/index.md"] == "removed"

    def test_a_room_that_was_renamed_takes_its_page_along(self, tree: Tree) -> None:
        tree.compile()
        tree.write("a/b/index.md", tree.read("a/b/index.md") + "mine\n")
        before = tree.read("a/b/index.md")
        (tree.folder / "a/b").rename(tree.folder / "c")
        assert tree.statuses() == {
            "ROOT.md": "written", "a/index.md": "unchanged", "c/index.md": "written",
        }  # fmt: skip
        assert tree.read("c/index.md") == before.replace("a/b", "c")

    def test_a_room_that_is_there_has_its_page_whatever_it_is_called(self, tree: Tree) -> None:
        tree.write("what?/n.md", note("n"))
        assert tree.statuses()["what?/index.md"] == "written"
        assert "| what?/ | n | 1 |" in tree.read("ROOT.md")

    def test_pages_that_are_not_there_are_made_only_where_new_ones_may_be(self, tree: Tree) -> None:
        tree.compile()
        tree.write("c/n.md", note("n"))
        (tree.folder / "ROOT.md").unlink()
        (tree.folder / "a/b/index.md").rename(tree.folder / "c/index.md")
        before = tree.pages()
        assert tree.statuses(new=False, everything=True)["c/index.md"] == "written"
        assert tree.pages().keys() == before.keys()
        assert "ROOT.md" in tree.statuses()
        assert tree.pages().keys() == {*before, "ROOT.md", "a/b/index.md"}


class TestOthers:
    def test_what_an_editor_saves_meanwhile_is_kept(self, tree: Tree) -> None:
        tree.compile()
        tree.write("a/one.md", note("new"))
        page, saved = tree.read("a/index.md"), []

        def save(path: str) -> None:
            if path == "a/index.md" and not saved:
                saved.append(path)
                tree.write(path, f"{page}mine\n")

        assert tree.statuses(folder=Meddler(tree.notes, save))["a/index.md"] == "written"
        assert tree.read("a/index.md") == f"{page}mine\n".replace("first", "new")

    @pytest.mark.parametrize("page", ["a/index.md", "ROOT.md"])
    def test_one_who_never_stops_makes_one_page_fail_until_the_next_time(
        self, tree: Tree, page: str
    ) -> None:
        tree.compile()
        tree.write("a/one.md", note("new"))

        def save(path: str) -> None:
            if path == page:
                tree.write(path, tree.read(path) + "x")

        done = tree.compile(folder=Meddler(tree.notes, save))
        failed = {path for path, each in done.items() if each.status == "failed"}
        assert failed == {page}
        assert "first" in tree.read(page)
        tree.write(page, tree.read(page).rstrip("x"))
        assert tree.statuses()[page] == "written"
        assert "first" not in tree.read(page)
        assert set(tree.statuses().values()) == {"unchanged"}

    def test_the_page_of_an_emptied_room_that_could_not_go_goes_later(self, tree: Tree) -> None:
        tree.compile()
        page = tree.read("a/b/index.md")
        (tree.folder / "a/b/two.md").unlink()

        def save(path: str) -> None:
            if path == "a/b/index.md":
                tree.write(path, tree.read(path) + "x")

        assert tree.statuses(folder=Meddler(tree.notes, save))["a/b/index.md"] == "failed"
        tree.write("a/b/index.md", page)
        assert tree.statuses()["a/b/index.md"] == "removed"

    def test_a_note_that_comes_into_an_emptied_room_meanwhile_is_listed(self, tree: Tree) -> None:
        tree.compile()
        (tree.folder / "a/b/two.md").unlink()

        def come(path: str) -> None:
            if path == "a/b/index.md" and not (tree.folder / "a/b/new.md").exists():
                tree.write("a/b/new.md", note("new"))
                tree.compile()

        tree.compile(folder=Meddler(tree.notes, come))
        assert "| new.md | new | — |" in tree.read("a/b/index.md")

    @pytest.mark.parametrize("writes", range(4))
    def test_one_that_dies_on_the_way_leaves_the_rest_to_the_next(
        self, tree: Tree, writes: int
    ) -> None:
        tree.compile()
        for path in ("a/one.md", "a/b/two.md", "top.md"):
            tree.write(path, note("new"))
        former, left = tree.pages(), writes

        def die(path: str) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt

        if writes < 3:
            with pytest.raises(KeyboardInterrupt):
                tree.compile(folder=Meddler(tree.notes, die))
        else:
            tree.compile(folder=Meddler(tree.notes, die))
        between = tree.pages()
        tree.compile()
        after = tree.pages()
        assert sum(between[path] != former[path] for path in former) == writes
        assert all(between[path] in (former[path], after[path]) for path in former)
        assert "first" not in "".join(after.values())
        assert set(tree.statuses().values()) == {"unchanged"}


# --- any tree -----------------------------------------------------------------------------------

ROOMS = st.sampled_from(["", "a", "a/b", "rules", "目录", "x --> y"])
WORDS = st.text(st.sampled_from("ab|\r #`中é👍<!->:"), max_size=12)
HAND = st.sampled_from(["mine\n", "# mine\n", "\n", "```\ncode\n```\n", "<!-- mine -->\n", "x\r\n"])
STEP = st.one_of(
    st.tuples(st.just("write"), ROOMS, st.sampled_from("pqrs"), WORDS),
    st.tuples(st.just("remove"), ROOMS, st.sampled_from("pqrs"), WORDS),
    st.tuples(st.just("edit"), ROOMS, HAND, st.sampled_from(["above", "below"])),
    st.tuples(st.just("rename"), ROOMS, ROOMS, WORDS),
    st.tuples(st.just("compile"), ROOMS, st.just(""), WORDS),
)


def _do(tree: Tree, what: str, room: str, other: str, text: str) -> None:
    path = f"{room}/{other}.md".lstrip("/")
    if what == "write":
        said = " ".join(text.split()).replace('"', "")
        tree.write(path, f'---\ndescription: "{said}"\nload_when: ["{said}"]\n---\n# H\n{text}\n')
    elif what == "remove":
        (tree.folder / path).unlink(missing_ok=True)
    elif what == "edit":
        page = f"{room}/index.md" if room else "ROOT.md"
        if (tree.folder / page).exists():
            former = tree.read(page)
            tree.write(page, other + former if text == "above" else former + other)
    elif what == "rename":
        _rename(tree.folder / room, tree.folder / other)
    elif what == "compile":
        tree.compile()


def _rename(room: Path, other: Path) -> None:
    if room.exists() and not other.exists() and room not in other.parents:
        other.parent.mkdir(exist_ok=True)
        room.rename(other)


def _by_hand(page: str) -> list[str]:
    """What stands around the regions, apart from headings that we write and marks."""
    pieces, at = [], 0
    for region in regions(page):
        begin = page.rfind("\n", 0, region.named) + 1
        pieces.append(page[at:begin])
        at = region.end
    text = "".join([*pieces, page[at:]])
    return [line for line in text.splitlines() if not re.fullmatch(r"# .+ index|( -->)?", line)]


@settings(max_examples=25)
@given(st.lists(STEP, max_size=14))
def test_any_tree_is_compiled_once_and_for_all(steps: list[tuple[str, str, str, str]]) -> None:
    with TemporaryDirectory() as above:
        for name in ("notes", "state"):
            (Path(above) / name).mkdir()
        tree = Tree(Path(above, "notes"), Path(above, "state"), CamilloDialect)
        try:
            for step in steps:
                _do(tree, *step)
            former = tree.pages()
            done = tree.compile()
            after, times = tree.pages(), tree.times()
            for path, page in former.items():
                if done.get(path) and done[path].status == "kept":
                    assert after[path] == page
                assert _by_hand(after.get(path, "")) == _by_hand(page)
            for everything in (False, True):
                again = tree.statuses(everything=everything)
                assert set(again.values()) <= {"unchanged", "kept", "failed"}
                assert (tree.pages(), tree.times()) == (after, times)
        finally:
            tree.close()
