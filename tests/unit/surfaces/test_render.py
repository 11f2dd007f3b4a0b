"""Reports as text, Markdown and ids."""

from __future__ import annotations

import re
from typing import Any

import pytest

from camillo.ops.report import Report
from camillo.surfaces import render
from camillo.surfaces.terminal import Style, width_of
from camillo.surfaces.view import View
from unit.ops.toys import Hit, Tally

ID = "1a2b3c4d5e6f7a8b9c0d1e2f"
JWT = Hit(ID, "We chose JWT.\nIt expires.", "/home/g/shop/src/auth.py", 12, 34, "api", "auth", 0.62)
VIEW = View(arguments={"query": "why jwt"}, cwd="/home/g/shop", home="/home/g")


def shown(results: list[Any], view: View = VIEW) -> str:
    return render.text("search", Report(results).as_dict(), view)


def test_a_hit_is_a_numbered_block() -> None:
    assert shown([JWT]) == (
        "1. src/auth.py:12-34  (api/auth)  0.62  drawer  id 1a2b3c4d\n"
        "   We chose JWT.\n"
        "   It expires.\n"
    )


def test_a_path_outside_the_working_directory_begins_at_home() -> None:
    assert "1. ~/notes/a.md:1 " in shown([Hit("a", "x", "/home/g/notes/a.md", 1, 1)])
    assert "1. /etc/hosts " in shown([Hit("a", "x", "/etc/hosts")])
    assert "1. /home/gg/a " in shown([Hit("a", "x", "/home/gg/a")])


def test_from_the_top_of_all_folders_a_path_keeps_its_slash() -> None:
    top = VIEW._replace(cwd="/")
    assert top.path("/home/g/notes/a.md") == "~/notes/a.md"
    assert top.path("/etc/hosts") == "/etc/hosts"


def test_what_is_not_trusted_is_said() -> None:
    for name in ("trust", "roots"):
        report = Report([{"root": "/home/g/shop/.camillo", "trusted": False}]).as_dict()
        assert re.search(r"^trusted +no$", render.text(name, report, VIEW), re.MULTILINE)
        assert report["results"][0]["trusted"] is False


def test_long_texts_are_cut_to_the_lines_that_match() -> None:
    text = "\n".join([*(f"line {n}" for n in range(40)), "here is jwt", *map(str, range(40))])
    block = shown([JWT._replace(text=text)]).splitlines()
    assert len(block) <= 9
    assert "   here is jwt" in block
    assert block[1] == block[-1] == "   …"
    assert len(shown([JWT._replace(text=text)], VIEW._replace(full=True)).splitlines()) == 82


def test_lines_fit_the_terminal_in_any_script() -> None:
    block = shown([JWT._replace(text="部署方案" * 60)], VIEW._replace(width=40))
    assert all(width_of(line) <= 40 for line in block.splitlines()[1:])


def test_the_query_s_words_are_marked_in_color_only() -> None:
    colored = shown([JWT], VIEW._replace(style=Style(color=True)))
    assert "\x1b[1;33mJWT\x1b[0m" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == shown([JWT])


def test_stored_escapes_never_reach_the_terminal() -> None:
    evil = "a\x1b]0;title\x07\x9b2J\u202e"
    hit = Hit(evil, evil, evil, 1, 2, evil, evil, 0.5, evil)
    report = Report([hit, {"name": evil}], [evil]).as_dict() | {evil: {evil: evil}}
    for text in (
        render.text("search", report, VIEW),
        shown([hit]),
        render.markdown("search", report, VIEW),
        render.markdown("search", Report([hit]).as_dict(), VIEW),
        render.ids(report),
    ):
        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert "\\x1b" in text


def test_explain_shows_the_signals() -> None:
    hit = JWT._asdict() | {"signals": {"keyword": 8.3125, "vector": 0.5}, "closet_preview": "JWT →"}
    view = VIEW._replace(arguments={"query": "jwt", "explain": True})
    assert "   keyword 8.31  vector 0.5\n   closet: JWT →\n" in shown([hit], view)
    assert "keyword" not in shown([hit])


def test_a_note_is_headed_by_its_title() -> None:
    note = {"id": "why-jwt", "title": "Why JWT", "body": "Because.", "kind": "fact"}
    assert shown([note]) == "1. Why JWT  fact  id why-jwt\n   Because.\n"


def test_a_title_above_an_excerpt_is_not_said_again_and_whole_texts_stay_whole() -> None:
    hit = {"id": "a", "title": "Why JWT", "text": "Why JWT\nBecause.", "path": "a.md"}
    assert shown([hit]) == "1. a.md  id a\n   Why JWT\n   Because.\n"
    assert shown([hit], VIEW._replace(full=True)) == shown([hit])
    longer = {**hit, "text": "Why JWTs are used\nBecause."}
    assert shown([longer]) == "1. a.md  id a\n   Why JWT\n   Why JWTs are used\n   Because.\n"
    headed = {**hit, "text": "# Why JWT\nBecause."}
    whole = render.text("show", Report([headed]).as_dict(), VIEW)
    assert whole == "1. a.md  id a\n   # Why JWT\n   Because.\n"


def test_a_hash_is_cut_for_people() -> None:
    report = Report([{"id": "a", "hash": "0123456789abcdef" * 4}]).as_dict()
    assert render.text("remember", report, VIEW) == "id    a\nhash  0123456789ab\n"
    assert "0123456789abcdef" in render.json_text(report)


def test_a_fence_in_a_text_does_not_end_the_fence_around_it() -> None:
    text = "before\n````\n```\nafter"
    page = render.markdown("search", Report([JWT._replace(text=text)]).as_dict(), VIEW)
    assert f"`````text\n{text}\n`````\n" in page
    assert page.startswith("## 1. `src/auth.py:12-34`\n")


def test_markup_in_names_is_escaped_in_markdown() -> None:
    hit = JWT._replace(source="a`b", wing="*w*", room="[r](x)")
    page = render.markdown("search", Report([hit]).as_dict(), VIEW)
    assert "`` a`b:12-34 ``" in page
    assert "(\\*w\\*/\\[r\\](x))" in page
    table = render.markdown("search", Report([{"a|b": "x|y"}]).as_dict(), VIEW)
    assert table == "| a\\|b |\n|---|\n| x\\|y |\n"


def test_ids_are_full_and_one_a_line() -> None:
    assert render.ids(Report([JWT, {"name": "no id"}, {"id": "b"}]).as_dict()) == f"{ID}\nb\n"


def test_records_become_a_table_aligned_by_columns() -> None:
    records = [{"room": "部署", "count": 12, "x": None}, {"room": "api", "count": 1500, "x": ""}]
    assert shown(records) == "room  count\n部署     12\napi   1,500\n"


def test_a_table_shrinks_to_the_terminal() -> None:
    records = [{"id": ID, "title": "t" * 200, "created": 1_700_000_000_000}] * 2
    lines = shown(records, VIEW._replace(width=60)).splitlines()
    assert all(width_of(line) <= 60 for line in lines)
    assert lines[1].startswith("1a2b3c4d  ttt")
    assert lines[1].endswith("…  2023-11-14 22:13Z")


def test_counts_are_pairs_and_lists_have_headings() -> None:
    report = Tally(
        [], total=1234, rooms={"api": 7, "部署": 12}, skipped=[{"path": "/home/g/shop/a.log"}]
    )
    assert render.text("tally", report.as_dict(), VIEW) == (
        "total  1,234\n\nrooms:\n  api   7\n  部署  12\n\nskipped:\n  path\n  a.log\n"
    )


@pytest.mark.parametrize("report", [Report(), Tally(total=0)])
def test_an_empty_report_renders_in_every_format(report: Report) -> None:
    plain = report.as_dict()
    assert "schema" not in render.text("x", plain, VIEW) + render.markdown("x", plain, VIEW)
    assert render.ids(plain) == ""


def test_show_gives_the_whole_text() -> None:
    text = "\n".join(f"line {n}" for n in range(60))
    report = Report([JWT._replace(text=text)]).as_dict()
    assert len(render.text("show", report, VIEW).splitlines()) == 61


def test_list_gives_a_line_for_each_memory() -> None:
    report = Report([JWT, JWT._replace(text="\n\n部署 " + "word " * 99)]).as_dict() | {"total": 2}
    lines = render.text("list", report, VIEW).splitlines()
    assert lines[0].split() == ["id", "room", "from", "text"]
    assert lines[1] == "1a2b3c4d  api/auth  src/auth.py:12-34  We chose JWT. It expires."
    assert "部署 word word" in lines[2]
    assert lines[-1] == "total  2"


def test_one_record_is_shown_as_pairs() -> None:
    report = Report(
        [{"folder": "/home/g/shop/docs", "files_new": 3, "dry_run": False, "kinds": {"drawer": 4}}]
    )
    assert render.text("mine", report.as_dict(), VIEW) == (
        "folder     docs\nfiles new  3\n\nkinds:\n  drawer  4\n"
    )


def test_a_long_list_beside_the_results_is_cut_unless_all_is_asked_for() -> None:
    report = Report().as_dict() | {"skipped": [{"path": f"{n}.log"} for n in range(50)]}
    assert "… and 30 more (--full shows them)" in render.text("mine", report, VIEW)
    assert "49.log" in render.text("mine", report, VIEW._replace(full=True))


def test_the_trace_of_a_search_is_shown_when_asked_for() -> None:
    report = Report([JWT]).as_dict() | {"preset": "default", "trace": [{"stage": "fuse", "in": 9}]}
    assert "fuse" not in render.text("search", report, VIEW)
    explained = VIEW._replace(arguments={"query": "jwt", "explain": True})
    assert "stage  in\n  fuse    9\n" in render.text("search", report, explained)


def test_other_places_of_the_same_text_are_named() -> None:
    hit = JWT._asdict() | {"also_in": ["/home/g/b.md", "/c.md"]}
    assert "   also in ~/b.md, /c.md\n" in shown([hit])
