"""Regions of a page: found by their exact label, filled, and nothing around them touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.regions import block, label_of, regions, with_region

PAGE = "above\n<!-- auto:begin a -->\nold\n<!-- auto:end -->\nbelow\n"
OPEN = "above\n<!-- auto:begin a\nold\n<!-- auto:end\nbelow\n"


def _labels(text: str) -> list[str]:
    return [region.label for region in regions(text)]


class TestFinding:
    def test_closed_and_open_marks_are_read(self) -> None:
        assert _labels(PAGE) == _labels(OPEN) == ["a"]
        (region,) = regions(OPEN)
        assert OPEN[region.inner : region.outer] == "old\n"

    def test_several_stand_in_their_order(self) -> None:
        text = block("b", "1\n") + "between\n" + block("a", "2\n")
        assert _labels(text) == ["b", "a"]

    @pytest.mark.parametrize(
        "text",
        [
            "no marks",
            "<!-- auto:begin a -->\nno end\n",
            "no begin\n<!-- auto:end -->\n",
            "<!-- auto:begin a --><!-- auto:end -->\n",
            "<!--auto:begin a -->\nx\n<!-- auto:end -->\n",
            "<!-- auto:begin -->\nx\n<!-- auto:end -->\n",
            "in a line <!-- auto:begin a -->\nx\n<!-- auto:end -->\n",
            "<!-- auto:begin a -->\nx\n<!-- auto:ending -->\n",
            "```\n<!-- auto:begin a -->\nx\n<!-- auto:end -->\n```\n",
            "```\n``` more\n<!-- auto:begin a -->\nx\n<!-- auto:end -->\n```\n",
            "~~~ md\n<!-- auto:begin a -->\nx\n<!-- auto:end -->\n",
        ],
    )
    def test_what_is_no_region(self, text: str) -> None:
        assert regions(text) == []
        assert with_region(text, "a", "new\n") == text

    def test_a_region_that_is_begun_again_before_its_end_is_none(self) -> None:
        text = f"<!-- auto:begin a -->\nhand\n{block('b', 'old')}hand\n"
        assert _labels(text) == ["b"]
        assert with_region(text, "a", "new\n") == text
        assert "hand\n<!-- auto:begin b -->\nnew\n" in with_region(text, "b", "new\n")

    def test_nor_may_one_without_a_label_come_between(self) -> None:
        text = "<!-- auto:begin a -->\nhand\n<!-- auto:begin\nx\n<!-- auto:end -->\n"
        assert with_region(text, "a", "new\n") == text

    def test_an_end_inside_of_a_line_counts_where_no_other_does(self) -> None:
        text = "<!-- auto:begin a -->\n| x | <!-- auto:end --> |\n| y |\n"
        assert with_region(text + "<!-- auto:end -->\nz\n", "a", "new\n") == (
            "<!-- auto:begin a -->\nnew\n<!-- auto:end -->\nz\n"
        )
        assert _labels(text + "<!-- auto:end -->\nz\n") == ["a"]
        assert with_region(text, "a", "new\n") == (
            "<!-- auto:begin a -->\nnew\n<!-- auto:end --> |\n| y |\n"
        )

    def test_of_several_inside_of_lines_the_first_does(self) -> None:
        text = "<!-- auto:begin a -->\n| <!-- auto:end --> mine <!-- auto:end -->\n"
        assert with_region(text, "a", "new\n") == text.replace("| ", "new\n")

    def test_code_is_an_example_and_the_region_after_it_is_one(self) -> None:
        text = f"````\n```\n{block('a', 'x')}````\n" + block("a", "old\n")
        assert with_region(text, "a", "new\n") == text.replace("old", "new")


class TestFilling:
    def test_marks_are_closed(self) -> None:
        assert with_region(OPEN, "a", "new\n") == PAGE.replace("old", "new")

    def test_what_follows_the_marks_stays(self) -> None:
        text = "<!-- auto:begin a --> mine\nold\n <!-- auto:end mine --> too\n"
        assert with_region(text, "a", "new\n") == text.replace("old", "new")
        text = "<!-- auto:begin a\nold\n<!-- auto:end mine\n"
        assert with_region(text, "a", "new\n").endswith("new\n<!-- auto:end --> mine\n")

    def test_lines_end_as_the_begin_does(self) -> None:
        text = OPEN.replace("\n", "\r\n")
        assert with_region(text, "a", "x\ny\n") == (
            "above\r\n<!-- auto:begin a -->\r\nx\r\ny\r\n<!-- auto:end -->\r\nbelow\r\n"
        )

    def test_a_byte_order_mark_stays(self) -> None:
        text = "\ufeff" + block("a", "old\n")
        assert with_region(text, "a", "new\n") == text.replace("old", "new")

    @pytest.mark.parametrize("label", ["a.b", "a", "a b", "目录", "$&", "(a", "a--b", "-->", "%41"])
    @pytest.mark.parametrize("generated", ["$1 $& \\1 \\n\n", "", "\n| a |\n"])
    def test_labels_and_texts_are_literal(self, label: str, generated: str) -> None:
        label = label_of(label)
        text = "x\n" + block("a.bc", "") + block(label, "old\n") + block("axb", "")
        assert with_region(text, label, generated) == text.replace("old\n", generated)


class TestLabels:
    @pytest.mark.parametrize("name", ["facts", "a/b", "a--b", "my notes", "目录", "100%"])
    def test_a_usual_name_is_its_own_label(self, name: str) -> None:
        assert label_of(name) == name

    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
    def test_every_name_has_a_label_that_is_read_back(self, name: str) -> None:
        assert _labels(block(label_of(name), "x\n")) == [label_of(name)]

    @given(st.text(st.sampled_from("%3Ea<> "), max_size=6), st.text(st.sampled_from("%3Ea<> ")))
    def test_two_names_have_two_labels(self, one: str, other: str) -> None:
        assert (label_of(one) == label_of(other)) == (one == other)


PIECES = st.sampled_from(
    ["<!-- auto:begin a -->\n", "<!-- auto:begin a\n", "<!-- auto:begin b -->\n", "<!-- auto:end\n",
     "<!-- auto:end -->\n", "```\n", "hand\n", "x <!-- auto:end -->", "\r\n", "-->", "\ufeff", " "]
)  # fmt: skip


@given(st.lists(PIECES).map("".join), st.sampled_from(["a", "b"]))
def test_only_what_is_in_the_region_ever_changes(text: str, label: str) -> None:
    page = with_region(text, label, "new\n")
    found = [region for region in regions(text) if region.label == label]
    if not found:
        assert page == text
        return
    region = found[0]
    assert page.startswith(text[: region.named])
    assert page.endswith(text[region.end :])
    inside = page[: len(page) - len(text[region.end :])][region.named :]
    assert "hand" not in inside.splitlines()[1:-1]
    assert with_region(page, label, "new\n") == page
