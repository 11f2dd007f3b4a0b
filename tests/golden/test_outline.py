"""The pages of an oc tree against those that its own store compiled of it.

They are the same, apart from marks, which ours closes. The notes are rebuilt from what the
reference read of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camillo.engines.markdown.oc import OcDialect
from camillo.notes.outline import root_page
from camillo.text.regions import with_region
from unit.lifecycle.outlined import Tree

_DESCRIBED = {"decisions/a-first.md": "决策描述"}


@pytest.fixture(scope="module")
def reference(golden: Path) -> dict[str, Any]:
    path = golden / "oc" / "oc_store.json"
    if not path.is_file():
        pytest.skip(f"no {path.name} in {path.parent.name}")
    read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return read


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Tree]:
    for name in ("memory", "state"):
        (tmp_path / name).mkdir()
    tree = Tree(tmp_path / "memory", tmp_path / "state", OcDialect)
    yield tree
    tree.close()


@pytest.fixture
def tree(empty: Tree, reference: dict[str, Any]) -> Tree:
    for each in reference["scan"]:
        empty.write(each["rel"], _note(each))
    empty.write("hand-cat/index.md", "# my own notes\n")
    return empty


class TestTrees:
    @pytest.mark.case("OC11", "OC16", "OC17")
    def test_every_page_has_the_bytes_that_oc_gives_it(
        self, tree: Tree, reference: dict[str, Any]
    ) -> None:
        done = tree.compile()
        assert tree.pages() == _closed(reference["compile1"]["files"])
        assert tree.read("ROOT.md") == _closed_text(reference["compile1"]["root"])
        written = {path for path, each in done.items() if each.status == "written"}
        assert written == {"ROOT.md", *reference["compile1"]["written"]}

    @pytest.mark.case("OC12")
    def test_a_second_time_writes_nothing(self, tree: Tree, reference: dict[str, Any]) -> None:
        assert reference["idempotent_mtime_unchanged"]
        tree.compile()
        before = tree.times()
        for everything in (False, True):
            done = tree.compile(everything=everything)
            assert {each.status for each in done.values()} == {"unchanged"}
            assert tree.times() == before

    @pytest.mark.case("OC13", "OC20")
    def test_what_people_write_stays_and_what_is_gone_goes(
        self, tree: Tree, reference: dict[str, Any]
    ) -> None:
        tree.compile()
        goal = "<!-- 手写:现在"
        root = tree.read("ROOT.md").replace(goal, f"手写目标 keep me\n\n{goal}")
        tree.write("ROOT.md", f"{root}\n尾部手写\n")
        tree.write("pitfalls/index.md", f"手写头部\n{tree.read('pitfalls/index.md')}手写尾部\n")
        for path in ("pitfalls/pipe.md", "rules/no-force-push.md"):
            (tree.folder / path).unlink()
        done = tree.compile()
        assert tree.pages() == _closed(reference["compile2"]["files"])
        assert done["rules/index.md"].status == "removed"
        assert not reference["compile2"]["rules_index_exists"]
        assert done["decisions/index.md"].status == "unchanged"

    def test_a_tree_that_oc_compiled_only_gets_its_marks_closed(
        self, tree: Tree, reference: dict[str, Any]
    ) -> None:
        for path, text in reference["compile1"]["files"].items():
            tree.write(path, text)
        done = tree.compile()
        assert tree.pages() == _closed(reference["compile1"]["files"])
        assert (done["order/index.md"].added, done["order/index.md"].removed) == (2, 2)

    @pytest.mark.case("OC15")
    def test_a_page_by_hand_in_a_room_with_notes_is_kept(self, tree: Tree) -> None:
        tree.write("order/index.md", "# my own order\n")
        for _ in range(2):
            done = tree.compile()
            assert tree.read("order/index.md") == "# my own order\n"
            assert done["order/index.md"].status == "kept"
            assert "`<!-- auto:begin order -->`" in done["order/index.md"].reason

    @pytest.mark.case("OC28")
    def test_the_row_of_a_note_that_was_replaced_stays(
        self, empty: Tree, reference: dict[str, Any]
    ) -> None:
        replaced = {"summary": "S2", "highlight": "h", "load_when": ["x"],
                    "superseded_by": "facts/w2.md"}  # fmt: skip
        empty.write("facts/w1.md", _text(replaced))
        empty.write("facts/w2.md", _text({"summary": "", "load_when": ["x"]}))
        empty.compile(superseded=("facts/w1",))
        theirs = _closed_text(reference["superseded"]["row_still_in_index"])
        assert empty.read("facts/index.md") == theirs.replace("w2.md | — |", "w2.md | body |")
        assert "| x | facts/w2.md | fact |" in empty.read("ROOT.md")
        assert "facts/w1.md" not in empty.read("ROOT.md")


class TestRoots:
    @pytest.mark.case("OC16")
    def test_a_new_one(self, empty: Tree, reference: dict[str, Any]) -> None:
        empty.compile()
        theirs = _closed_text(reference["compile_empty_new_root"])
        assert empty.read("ROOT.md") == theirs.replace("— empty", "— proj")

    def test_a_new_one_of_the_user(self, reference: dict[str, Any]) -> None:
        page = root_page([], [], None, "zh", "", "user")
        for label in ("registry", "routing"):
            page = with_region(page or "", label, "")
        assert page == _closed_text(reference["ensureRoot"]["root"])

    @pytest.mark.case("OC19")
    def test_one_without_marks(self, tree: Tree, reference: dict[str, Any]) -> None:
        for _ in range(2):
            tree.write("ROOT.md", "mine")
            assert tree.compile()["ROOT.md"].status == "kept"
            assert tree.read("ROOT.md") == reference["compile_root_without_markers"]


@pytest.mark.case("OC21")
def test_regions_are_replaced_as_oc_does_it(reference: dict[str, Any]) -> None:
    for case in reference["replaceAutoRegion"]:
        text, label, generated = case["text"], case["label"], case["generated"]
        wanted = case["result"]
        if "registry2" in text:  # which theirs takes for `registry`
            wanted = text.replace("B\n", generated)
        if wanted != text:
            wanted = _closed_at(wanted, label)
        if "\r\n" in text:
            wanted = wanted.replace("N\n", "N\r\n")
        assert with_region(text, label, generated) == wanted


def _note(theirs: dict[str, Any]) -> str:
    """A note that reads as the reference read it."""
    said = {key: theirs[key] for key in ("title", "summary", "highlight", "kind", "pinned")}
    said["load_when"] = theirs["loadWhen"]
    said["category_desc"] = _DESCRIBED.get(theirs["rel"], "")
    return _text({key: value for key, value in said.items() if value})


def _text(said: dict[str, Any]) -> str:
    lines = (f"{key}: {json.dumps(value)}\n" for key, value in said.items())
    return f"---\n{''.join(lines)}---\n\nbody\n"


def _closed(files: dict[str, str]) -> dict[str, str]:
    return {path: _closed_text(text) for path, text in files.items()}


def _closed_text(text: str) -> str:
    return re.sub(r"^(<!-- auto:(?:begin .+|end))$", r"\1 -->", text, flags=re.MULTILINE)


def _closed_at(text: str, label: str) -> str:
    """With the marks of the first region of a label closed."""
    begin = re.search(rf"<!-- auto:begin {re.escape(label)}(?=\r?\n)", text)
    if begin is None:
        return text
    end = text.index("<!-- auto:end", begin.end()) + len("<!-- auto:end")
    return f"{text[: begin.end()]} -->{text[begin.end() : end]} -->{text[end:]}"
