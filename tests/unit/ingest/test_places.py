"""Wings and rooms."""

from __future__ import annotations

import pytest

from camillo.ingest.places import GENERAL, Placing
from camillo.model import Place


@pytest.mark.parametrize(
    ("relative", "room"),
    [("a.md", GENERAL), ("docs/a.md", "docs"), ("docs/deep/er/a.md", "docs"), ("七/a.md", "七")],
)
def test_the_room_is_the_first_folder_below(relative: str, room: str) -> None:
    assert Placing("/home/x/shop").place(relative) == Place("shop", room)


@pytest.mark.parametrize(("folder", "wing"), [("/home/shop/", "shop"), ("/", "root"), ("a", "a")])
def test_the_wing_is_the_folders_name(folder: str, wing: str) -> None:
    assert Placing(folder).wing == wing


def test_an_option_beats_a_rule_and_a_rule_beats_the_name() -> None:
    wings, rooms = {"/home/*": "ruled"}, {"docs/*": "writing", "*.py": "code"}
    ruled = Placing("/home/shop", wings=wings, rooms=rooms)
    assert ruled.place("docs/a.md") == Place("ruled", "writing")
    assert ruled.place("src/deep/a.py") == Place("ruled", "code")
    assert ruled.place("src/a.c") == Place("ruled", "src")
    chosen = Placing("/home/shop", "mine", "here", wings, rooms)
    assert chosen.place("docs/a.md") == Place("mine", "here")


def test_the_first_rule_that_fits_counts() -> None:
    placing = Placing("/x", rooms={"docs/*": "one", "docs/a*": "two"})
    assert placing.place("docs/a.md").room == "one"


def test_names_are_in_one_normal_form() -> None:
    composed, decomposed = "caf\xe9", "cafe\u0301"
    assert Placing(f"/x/{decomposed}").place(f"{decomposed}/a.md") == Place(composed, composed)
    named = Placing("/x", decomposed, decomposed)
    assert (named.wing, named.place("a.md")) == (composed, Place(composed, composed))
    ruled = Placing("/x", wings={"/x": decomposed}, rooms={"*": decomposed})
    assert ruled.place("a.md") == Place(composed, composed)
