"""Pages of Markdown in a tree, and what their frontmatter says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camillo.errors import NotFound
from camillo.ingest.importers._pages import (
    Page,
    day_of,
    heading,
    kind_of,
    millis,
    pages,
    plain,
    read_page,
    room_of,
    text_of,
    texts_of,
)
from camillo.ingest.importers.note import LeftOut


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("2024-02-03T04:05:06Z", 1706933106000),
        ("2024-02-03", 1706918400000),
        ("2024-02-03 04:05:06", 1706933106000),
        ("2021-11-01T01:00:00[Europe/Paris]", 1635724800000),
        ("2021-11-01T01:00:00[No/Zone]", 1635728400000),
        ("3 February 2024", 1706918400000),
        (1706933106000, 1706933106000),
        (1706933106, 1706933106000),
        (True, 0),
        ("soon", 0),
        (None, 0),
    ],
)
def test_dates_of_many_kinds_are_read(said: object, wanted: int) -> None:
    assert millis({"created": said}, "missing", "created") == wanted


def test_the_day_of_a_note_is_said_or_in_its_name() -> None:
    assert day_of("2024-01-05", {}, "date") == "2024-01-05"
    assert day_of("2024-01-05", {"date": "2023-12-31"}, "date") == "2023-12-31"
    assert day_of("A plan", {"date": 12}, "date") == ""


def test_texts_are_lists_or_stand_between_commas() -> None:
    assert texts_of({"tags": "a, b,,a", "tag": ["c", 4, None, ["d"]]}, "tags", "tag") == (
        "a", "b", "c", "4"
    )  # fmt: skip
    assert text_of({"a": "", "b": ["x"], "c": 3.5}, "a", "b", "c") == "3.5"


def test_rooms_are_safe_names() -> None:
    assert room_of("Projects/My Shop") == "projects/my_shop"
    assert room_of("backups/index/CON") == "backups_notes/index_note/con_note"
    assert room_of("") == ""


@pytest.mark.parametrize("said", ["note", "drawer", "Conversation", "source", "", "a\nb"])
def test_a_type_that_no_note_may_have_is_a_fact(said: str) -> None:
    assert kind_of(said) == "fact"


def test_a_title_is_the_heading_that_a_page_begins_with() -> None:
    assert heading("\n## Two words ##\nbody") == "Two words"
    assert heading("words\n# Later") == ""


def test_what_a_store_cannot_hold_is_made_fit() -> None:
    said = {"a\ud800": [float("inf"), "\udcff", 1.5]}
    assert plain(said) == {"a\N{REPLACEMENT CHARACTER}": ["inf", "\N{REPLACEMENT CHARACTER}", 1.5]}


def test_pages_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/y.md", "c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = list(pages(str(tmp_path)))
    assert [each[1] for each in found if not isinstance(each, LeftOut)] == [
        "b.md", "a/y.md", "a/z.md"
    ]  # fmt: skip
    assert [each.reason for each in found if isinstance(each, LeftOut)] == ["no Markdown"]


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        next(pages(str(tmp_path / "none")))


def test_a_page_that_is_too_large_or_no_file_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "large.md").write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    os.mkfifo(tmp_path / "pipe.md")
    large = read_page(str(tmp_path / "large.md"), "large.md")
    assert isinstance(large, LeftOut)
    assert "mine it" in large.reason
    assert isinstance(read_page(str(tmp_path / "pipe.md"), "pipe.md"), LeftOut)


def test_a_broken_frontmatter_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nok: 1\nx: [\n---\n", "utf-8")
    broken = read_page(str(tmp_path / "a.md"), "a.md")
    assert isinstance(broken, LeftOut)
    assert broken.status == "failed"
    assert broken.where.rpartition(":")[2] in ("3", "4")


def test_a_page_keeps_its_body_word_for_word(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("\ufeff---\r\nt: 1\r\n---\r\n\r\n body \r\n".encode())
    page = read_page(str(tmp_path / "a.md"), "x/a.md")
    assert isinstance(page, Page)
    assert (page.body, page.stem, page.folder) == ("\r\n body \r\n", "a", "x")
