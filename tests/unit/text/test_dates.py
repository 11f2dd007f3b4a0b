"""Content dates: the day a source speaks of, and where that was read."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.text.dates import content_date


def day(text: str) -> str | None:
    return content_date("notes.md", text)[0]


@pytest.mark.case("mempalace-29")
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("2024-11-08-notes.md", "2024-11-08"),
        ("April-6th-2011-notes.md", "2011-04-06"),
        ("Nov-8-2024.md", "2024-11-08"),
        ("tmp_random_file_5", None),
        ("notes.2024", None),
    ],
)
def test_a_name_may_hold_a_date(name: str, found: str | None) -> None:
    assert content_date(name, "") == ((found, "filename") if found else (None, "none"))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("dir/2024/20241108_standup.md", "2024-11-08"),
        ("C:\\notes\\2024_11_08.md", "2024-11-08"),
        ("会议2024年11月8日.md", "2024-11-08"),
        ("2024년 11월 8일.md", "2024-11-08"),
        ("8-août-2024.md", "2024-08-08"),
        ("8-aou\u0302t-2024.md", "2024-08-08"),
        ("8. März 2024.txt", "2024-03-08"),
        ("8 de noviembre de 2024.md", "2024-11-08"),
        ("8 novembre 2024.md", "2024-11-08"),
        ("8 de março de 2024.md", "2024-03-08"),
        ("8 mei 2024.md", "2024-05-08"),
        ("6 апреля 2011.md", "2011-04-06"),
        ("08.11.2024.md", "2024-11-08"),
        ("2024-02-31.md", None),
        ("12345678.md", None),
        ("1899-01-01.md", None),
        ("2101-01-01.md", None),
    ],
)
def test_names_speak_many_languages(name: str, found: str | None) -> None:
    assert content_date(name, "")[0] == found


FRONT = "---\ntitle: x\ncreated: 2024-05-06T10:00:00Z\n---\n\n2023-01-01\n"


@pytest.mark.case("mempalace-30")
def test_the_name_wins_over_front_matter_and_that_over_the_body() -> None:
    assert content_date("2022-02-02.md", FRONT) == ("2022-02-02", "filename")
    assert content_date("x.md", FRONT) == ("2024-05-06", "frontmatter")
    assert content_date("x.md", FRONT.replace("created", "edited")) == ("2023-01-01", "body")


def test_front_matter_has_three_keys_in_order() -> None:
    text = "---\npublished: 2024-01-03\ncreated: 2024-01-02\ndate: {}\n---\n"
    assert day(text.format("2024-01-01")) == "2024-01-01"
    assert day(text.format("'May 4, 2024'")) == "2024-05-04"
    assert day(text.format("2024")) == "2024-01-02"


@pytest.mark.case("mempalace-31")
def test_slashes_are_day_first_once_one_number_says_so() -> None:
    assert day("13/02/2024 and then 03/04/2024") == "2024-02-13"
    assert day("03/04/2024 and then 13/02/2024") == "2024-04-03"
    assert day("03/04/2024") == "2024-03-04"


@pytest.mark.case("mempalace-31")
def test_two_figures_of_a_year_turn_at_seventy() -> None:
    assert day("3/4/69") == "2069-03-04"
    assert day("3/4/70") == "1970-03-04"


@pytest.mark.case("mempalace-31")
def test_versions_and_numbers_are_no_dates() -> None:
    assert content_date("x.md", "Version 3.3.6 issue 1000") == (None, "none")


@pytest.mark.parametrize(
    "text",
    [
        "May 5, 2021",
        "on the 5th of May 2021 we",
        "5. Mai 2021",
        "2021 May 5",
        "05.05.2021",
        "2021/5/5",
    ],
)
def test_a_body_may_say_the_date_in_words_or_figures(text: str) -> None:
    assert content_date("x.md", text) == ("2021-05-05", "body")


@pytest.mark.parametrize(
    "text", ["May 2021", "2021", "2021-05", "31/02/2024", "2024-02-31", "5 Foo 2021"]
)
def test_what_is_not_a_whole_day_is_none(text: str) -> None:
    assert day(text) is None


def test_an_invalid_date_lets_the_next_one_count() -> None:
    assert day("2024-02-31, then 2024-03-01") == "2024-03-01"


def test_only_the_first_ten_lines_count() -> None:
    assert day("a\n" * 9 + "2024-01-01") == "2024-01-01"
    assert day("a\n" * 10 + "2024-01-01") is None


def test_the_time_of_the_file_is_a_marked_last_resort() -> None:
    assert content_date("x.md", "", 1_700_000_000.0) == ("2023-11-14", "mtime")
    assert content_date("x.md", "2024-01-01", 1_700_000_000.0) == ("2024-01-01", "body")


@pytest.mark.parametrize("stamp", [1e30, float("nan"), float("inf"), -1e18])
def test_an_impossible_file_time_is_none(stamp: float) -> None:
    assert content_date("x.md", "", stamp) == (None, "none")


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)))
def test_every_iso_date_is_read_from_a_name(date: datetime.date) -> None:
    assert content_date(f"{date}.md", "") == (str(date), "filename")


@given(st.text(), st.text())
def test_any_name_and_text_are_read(name: str, text: str) -> None:
    found, origin = content_date(name, text)
    assert (found is None) == (origin == "none")
