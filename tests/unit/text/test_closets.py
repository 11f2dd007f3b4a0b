"""Closets: what a line says, where it points, how lines are packed and read back."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camillo.text.closets import (
    ClosetLine,
    ClosetRules,
    DrawerSpan,
    closet_id,
    closet_lines,
    pack,
    parse_line,
    pointers,
    render_line,
)

PALACE = ClosetRules(window=5_000, definitions=False)
DIALOGUE = "Igor reviewed the diff.\nMilla wrote the spec.\nIgor pushed the fix.\nMilla said yes.\n"


def drawers_of(text: str, size: int = 800) -> list[DrawerSpan]:
    spans = []
    for number, start in enumerate(range(0, max(1, len(text)), size)):
        end = min(len(text), start + size)
        first = text.count("\n", 0, start) + 1
        spans.append(DrawerSpan(f"d{number + 1}", start, end, first, text.count("\n", 0, end) + 1))
    return spans


def lines_of(
    text: str,
    drawers: list[DrawerSpan] | None = None,
    *,
    date: str | None = None,
    rules: ClosetRules = PALACE,
    source_name: str = "notes.md",
) -> list[ClosetLine]:
    return closet_lines(
        text,
        drawers_of(text) if drawers is None else drawers,
        wing="wing",
        room="room",
        stem="notes",
        date=date,
        rules=rules,
        source_name=source_name,
    )


def rendered(text: str, drawers: list[DrawerSpan] | None = None, **rest: str) -> list[str]:
    return [render_line(line) for line in lines_of(text, drawers, **rest)]  # type: ignore[arg-type]


# Lines


@pytest.mark.case("mempalace-1")
def test_each_heading_makes_a_line() -> None:
    text = "# First Header\n\n## Second Header\n"
    assert rendered(text) == ["first header||→d1", "second header||→d1"]


@pytest.mark.case("mempalace-2")
def test_a_text_without_topics_gets_one_line_with_its_place() -> None:
    assert rendered("nothing of note here\n") == ["wing/room/notes||→d1"]


@pytest.mark.case("mempalace-3")
def test_a_line_names_at_most_three_drawers() -> None:
    text = "# First Header\n# Second Header\n"
    drawers = [DrawerSpan(f"drawer_{n}", 0, len(text), 1, 2) for n in range(10)]
    lines = rendered(text, drawers)
    assert len(lines) == 2
    assert all(line.endswith("→drawer_0,drawer_1,drawer_2") for line in lines)


def test_the_fallback_line_names_the_first_three_drawers() -> None:
    assert rendered("plain words " * 300) == ["wing/room/notes||→d1,d2,d3"]


@pytest.mark.case("mempalace-5")
def test_deep_and_tiny_headings_make_no_line() -> None:
    assert rendered("#### Level four\n# Four\n") == ["wing/room/notes||→d1"]


@pytest.mark.case("mempalace-6")
def test_names_and_verb_phrases_of_a_dialogue() -> None:
    lines = lines_of(DIALOGUE)
    assert {line.entities for line in lines} == {("Igor", "Milla")}
    assert [line.topic for line in lines] == [
        "reviewed the diff",
        "wrote the spec",
        "pushed the fix",
    ]
    assert render_line(lines[0]) == "reviewed the diff|Igor;Milla|→d1"


@pytest.mark.case("mempalace-9")
def test_topics_quotes_and_names_have_their_limits() -> None:
    headings = "".join(f"# Heading number {n}\n" for n in range(20))
    assert len(lines_of(headings)) == 12
    quotes = "".join(f'He said "the quotation number {n}".\n' for n in range(6))
    assert len(lines_of(quotes)) == 3
    names = ["Anna", "Boris", "Clara", "Dmitri", "Elena", "Fritz", "Greta"]
    text = " ".join(f"with {name} there," * (9 - n) for n, name in enumerate(names))
    assert lines_of(text)[0].entities == ("Anna", "Boris", "Clara", "Dmitri", "Elena")


@pytest.mark.case("mempalace-10")
def test_a_window_hides_what_comes_after_it() -> None:
    text = "filler words\n" * 500 + "# Late heading\n"
    assert [line.topic for line in lines_of(text)] == ["wing/room/notes"]


def test_without_a_window_the_whole_source_is_read() -> None:
    text = "filler words\n" * 500 + "# Late heading\n"
    (line,) = lines_of(text, rules=ClosetRules(), date="2026-05-21")
    assert render_line(line) == "late heading||2026-05-21:L493-L502|→d9"


@pytest.mark.case("mempalace-11")
def test_date_and_lines_make_the_third_of_four_fields() -> None:
    text = "# First Header\n"
    drawers = [DrawerSpan("d1", 0, len(text), 42, 78)]
    (line,) = rendered(text, drawers, date="2026-05-21T22:30")
    assert line.split("|") == ["first header", "", "2026-05-21:L42-L78", "→d1"]


@pytest.mark.case("mempalace-13")
def test_without_a_date_there_are_three_fields() -> None:
    (line,) = rendered("# First Header\n")
    assert line.split("|") == ["first header", "", "→d1"]


@pytest.mark.case("mempalace-19")
def test_a_bar_in_a_heading_is_escaped() -> None:
    (line,) = rendered("# Left | right\n")
    assert line == "left \\| right||→d1"
    parsed = parse_line(line)
    assert parsed is not None
    assert parsed.topic == "left | right"


def test_a_source_without_drawers_has_no_line() -> None:
    assert lines_of("# First Header\n", []) == []


def test_quotations_follow_the_topics_in_their_own_spelling() -> None:
    text = '# Some Heading\nShe said "We Ship On Friday, no excuses".\n'
    assert [line.topic for line in lines_of(text)] == [
        "some heading",
        '"We Ship On Friday, no excuses"',
    ]


# Where a line points


def test_a_line_points_at_the_drawer_where_its_topic_stands() -> None:
    text = "x\n" * 600 + "# Storage engine\n" + "y\n" * 600 + "# Search engine\n"
    storage, search = lines_of(text, date="2026-05-21")
    assert (storage.ids, storage.line_start, storage.line_end) == (("d2",), 401, 793)
    assert search.ids == ("d4",)


def test_further_drawers_with_the_same_topic_follow_the_first() -> None:
    text = "We fixed the build.\n" + "x\n" * 800 + "We fixed the build.\n"
    (line,) = lines_of(text, date="2026-05-21")
    assert line.ids == ("d1", "d3")
    assert (line.line_start, line.line_end) == (1, 392)


def test_a_drawer_that_mentions_a_heading_comes_after_those_that_carry_it() -> None:
    text = "the storage engine\n" + "x\n" * 800 + "# Storage engine\n" + "x\n" * 800
    text += "a storage engine, not restorage engines\n"
    (line,) = lines_of(text)
    assert line.ids == ("d3", "d5")


def test_a_topic_across_a_border_points_at_both_drawers() -> None:
    text = "# Storage engine\n"
    drawers = [DrawerSpan("d1", 0, 8, 1, 1), DrawerSpan("d2", 8, len(text), 1, 2)]
    (line,) = lines_of(text, drawers)
    assert (line.ids, line.line_start, line.line_end) == (("d1", "d2"), 1, 2)


def test_a_topic_between_drawers_points_at_the_next_one() -> None:
    text = "# Storage engine\n\nwords\n"
    (line,) = lines_of(text, [DrawerSpan("d1", 18, len(text), 3, 3)])
    assert line.ids == ("d1",)


@given(
    st.lists(
        st.sampled_from(
            [
                "# Some heading",
                "We fixed the login",
                'say "fifteen characters or more"',
                "修复了登录",
                "",
            ]
        ),
        max_size=40,
    ),
    st.integers(5, 60),
)
def test_every_line_points_at_drawers_that_exist(parts: list[str], size: int) -> None:
    text = "\n".join(parts)
    drawers = drawers_of(text, size)
    lines = lines_of(text, drawers, rules=ClosetRules())
    assert lines
    by_id = {drawer.id: drawer for drawer in drawers}
    for line in lines:
        assert 1 <= len(line.ids) <= 3
        assert line.line_start == by_id[line.ids[0]].line_start


@settings(max_examples=60)
@given(
    st.text(st.sampled_from('ab A.\n#"“”「」|→;\\`=-~ den を 修复 İß')),
    st.sampled_from(["a.md", "a.py"]),
)
def test_any_text_gives_lines_that_read_back(text: str, source_name: str) -> None:
    for line in lines_of(text, date="2026-05-21", rules=ClosetRules(), source_name=source_name):
        assert parse_line(render_line(line)) == line
        assert "\n" not in render_line(line)


# Reading lines


@pytest.mark.case("mempalace-17")
def test_pointers_keep_their_order_and_come_once() -> None:
    assert pointers("a||→d2,d1\nb||→d1,d3") == ["d2", "d1", "d3"]
    assert pointers("") == []
    assert pointers("no arrows") == []


@pytest.mark.case("mempalace-18")
def test_ids_with_hyphens_dots_and_spaces_are_whole() -> None:
    closet = "topic||→drawer_my-app_r_1,drawer_a.b c_2\nother|Igor|2026-05-21:L1-L2|→x-1"
    assert pointers(closet) == ["drawer_my-app_r_1", "drawer_a.b c_2", "x-1"]


def test_old_lines_without_escapes_are_read() -> None:
    assert parse_line("left | right|Igor;Milla|→d1,d2") == ClosetLine(
        "left | right", ("Igor", "Milla"), None, None, None, ("d1", "d2")
    )
    assert parse_line(r"c:\new|Igor|2026-05-21:L42-L78|→d1") == ClosetLine(
        r"c:\new", ("Igor",), "2026-05-21", 42, 78, ("d1",)
    )
    assert parse_line("a → b||→d1") == ClosetLine("a → b", (), None, None, None, ("d1",))


def test_a_line_without_a_pointer_is_none() -> None:
    assert parse_line("topic|Igor|") is None


@st.composite
def closet_line(draw: st.DrawFn) -> ClosetLine:
    awkward = st.text(st.sampled_from("\\|→;,\n\r␤␍:L-1 a"), max_size=8)
    words = awkward | st.text(max_size=8)
    dated = draw(st.booleans())
    return ClosetLine(
        draw(words),
        tuple(draw(st.lists(words.filter(bool), max_size=3))),
        draw(st.dates()).isoformat() if dated else None,
        draw(st.integers(0, 10**6)) if dated else None,
        draw(st.integers(0, 10**6)) if dated else None,
        tuple(draw(st.lists(words.filter(bool), max_size=3))),
    )


@given(closet_line())
def test_a_rendered_line_reads_back_whole(line: ClosetLine) -> None:
    assert parse_line(render_line(line)) == line


@given(st.lists(closet_line(), max_size=6))
def test_a_closet_gives_back_every_id_of_its_lines(lines: list[ClosetLine]) -> None:
    ids = list(dict.fromkeys(name for line in lines for name in line.ids))
    assert pointers("\n".join(render_line(line) for line in lines)) == ids


# Packing and ids


@pytest.mark.case("mempalace-14")
def test_lines_are_packed_greedily_and_never_cut() -> None:
    lines = [letter * 600 for letter in "abcd"]
    assert pack(lines) == ["\n".join(lines[:2]), "\n".join(lines[2:])]
    assert pack(["x", "y" * 1_600, "z"]) == ["x", "y" * 1_600, "z"]
    base = closet_id("w", "r", "/x/notes.txt", 1)[:-3]
    assert [closet_id("w", "r", "/x/notes.txt", n) for n in (1, 2)] == [f"{base}_01", f"{base}_02"]


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=30), st.integers(1, 40))
def test_packing_keeps_every_line_in_order(lines: list[str], limit: int) -> None:
    closets = pack(lines, limit)
    assert [line for closet in closets for line in closet.split("\n")] == lines
    assert all(len(closet) <= limit or closet in lines for closet in closets)


def test_a_closet_id_names_wing_room_source_and_number() -> None:
    digest = hashlib.sha256(b"/x/notes.txt").hexdigest()[:24]
    assert closet_id("my wing", "r", "/x/notes.txt", 3) == f"closet_my wing_r_{digest}_03"
    assert closet_id("w", "r", "s", 100).endswith("_100")


def test_the_same_source_gives_the_same_lines() -> None:
    rules = ClosetRules()._replace(topics=5)
    assert lines_of(DIALOGUE * 90, rules=rules) == lines_of(DIALOGUE * 90, rules=rules)
