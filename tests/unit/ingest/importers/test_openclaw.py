"""An agent's workspace: what of it is a memory, and that its texts stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camillo.errors import NotFound
from camillo.ingest.importers._pieces import awake, lines_of, pieces
from camillo.ingest.importers.note import Found, LeftOut, Link
from camillo.ingest.importers.openclaw import OpenclawImporter
from camillo.model import Memory, Place

IMPORTER = OpenclawImporter()
START, END = "<!-- openclaw:dreaming:light:start -->", "<!-- openclaw:dreaming:light:end -->"


def _workspace(folder: Path, **pages: str) -> str:
    """Of pages by name; `__` stands for a slash."""
    for name, text in pages.items():
        path = folder / (name.replace("__", "/") + ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return str(folder)


def _read(path: str) -> list[Found | LeftOut]:
    return list(IMPORTER.read(path))


def _memories(path: str) -> dict[str, Memory]:
    return {each.memory.id: each.memory for each in _read(path) if isinstance(each, Found)}


def _counted(path: str) -> dict[str, int]:
    left = [each.reason for each in _read(path) if isinstance(each, LeftOut)]
    return {reason: left.count(reason) for reason in left}


class TestCurated:
    def test_an_entry_is_a_memory_under_its_key(self, tmp_path: Path) -> None:
        text = "# Long-term\n\n- **tea**: oolong: hot\n- **Deploy Rule**: two\n  approvals\n"
        found = _memories(_workspace(tmp_path, MEMORY=text))
        assert set(found) == {"tea", "Deploy Rule"}
        assert found["tea"].body == "oolong: hot"
        rule = found["Deploy Rule"]
        assert (rule.body, rule.title, rule.kind) == ("two\n  approvals", "Deploy Rule", "core")
        assert rule.aliases == ("Deploy Rule",)
        assert found["tea"].aliases == ()
        assert rule.origin is not None
        assert (rule.origin.line_start, rule.origin.line_end) == (4, 5)

    def test_everything_else_stays_together_under_its_heading(self, tmp_path: Path) -> None:
        text = (
            "intro\n\n# M\nwords\n\n## Ada\n- **Name:** Ada\n- likes tea\n### Deep\nx\n\n## B #\ny"
        )
        found = _memories(_workspace(tmp_path, MEMORY=text))
        assert {name: memory.body for name, memory in found.items()} == {
            "MEMORY": "intro\n",
            "M": "# M\nwords\n",
            "Ada": "## Ada\n- **Name:** Ada\n- likes tea\n### Deep\nx\n",
            "B": "## B #\ny\n",
        }

    def test_an_entry_below_a_heading_says_which(self, tmp_path: Path) -> None:
        text = "## Shop\n- **Status**: live\n- plain\n## Till\n- **Status**: paused\n"
        found = _memories(_workspace(tmp_path, MEMORY=text))
        assert set(found) == {"Shop: Status", "Shop", "Till: Status"}
        status = found["Till: Status"]
        assert (status.title, status.summary, status.body) == ("Status", "Till", "paused")
        assert found["Shop"].body == "## Shop\n- plain\n"

    def test_keys_that_come_again_are_kept_apart(self, tmp_path: Path) -> None:
        path = _workspace(tmp_path, MEMORY="- **a**: 1\n- **a**: 2\n## S\nx\n## S\ny\n")
        items = [each.item for each in _read(path) if isinstance(each, Found)]
        assert items == ["a", "a (2)", "# S", "# S (2)"]

    def test_code_holds_neither_entries_nor_headings(self, tmp_path: Path) -> None:
        text = f"## A\n```\n- **k**: v\n## no\n{START}\n```\n- **b**: c\n"
        found = _memories(_workspace(tmp_path, MEMORY=text))
        assert set(found) == {"A", "A: b"}
        assert START in found["A"].body

    def test_line_ends_stay_as_they_are(self, tmp_path: Path) -> None:
        found = _memories(_workspace(tmp_path, MEMORY="## A\r\nx\r\ny\r\n- **k**: v\r\n"))
        assert found["A"].body == "## A\r\nx\r\ny\r\n"
        assert found["A: k"].body == "v"

    def test_the_books_of_a_machine_are_counted(self, tmp_path: Path) -> None:
        path = _workspace(tmp_path, MEMORY="- **last_hygiene_at**: 17\n- **x**: y\n")
        assert _counted(path) == {"bookkeeping": 1}
        assert set(_memories(path)) == {"x"}

    @given(
        st.lists(
            st.sampled_from(["## a", "# b", "- **a**: b", "- **b**:", "  a", "a", "", "```", "- a"])
        )
    )
    def test_no_letter_is_lost_but_of_a_heading_of_nothing(self, said: list[str]) -> None:
        lines = lines_of("\n".join(said))
        kept = "".join(piece.key + piece.text for piece in pieces(lines))
        for letter in "ab":
            outside = sum(line.text.count(letter) for line in lines if not line.heading[0])
            assert kept.count(letter) >= outside


class TestDays:
    @pytest.mark.parametrize(
        ("name", "when"),
        [
            ("2026-01-02", "2026-01-02"),
            ("2026-01-02-1345", "2026-01-02T13:45"),
            ("2026-01-02-134501", "2026-01-02T13:45"),
            ("2026-01-02-1990", "2026-01-02"),
            ("2026-01-02-vendor-pitch", "2026-01-02"),
        ],
    )
    def test_the_name_says_when_it_was(self, tmp_path: Path, name: str, when: str) -> None:
        text = "## Heartbeat ~00:04 UTC\nquiet\n"
        day = _memories(_workspace(tmp_path, **{f"memory__{name}": text}))[name]
        assert (day.happened_at, day.kind, day.place) == (when, "daily", Place(room="daily"))
        assert (day.body, day.title) == (text, name)

    def test_a_page_without_a_day_is_about_something(self, tmp_path: Path) -> None:
        pages = {
            "memory__people__ada": "# Ada L.\n[[2026-01-02]] and [log](../2026-01-02.md)",
            "memory__2026-02-31": "no day",
        }
        found = [each for each in _read(_workspace(tmp_path, **pages)) if isinstance(each, Found)]
        by_name = {each.memory.id: each for each in found}
        ada, no_day = by_name["ada"], by_name["2026-02-31"].memory
        assert (no_day.kind, no_day.happened_at, no_day.place.room) == ("core", "", "core")
        assert (ada.memory.title, ada.memory.kind) == ("Ada L.", "core")
        assert ada.memory.place.room == "people"
        assert ada.links == (Link("2026-01-02"), Link("memory/2026-01-02"))

    def test_a_line_of_dashes_at_the_start_is_no_frontmatter(self, tmp_path: Path) -> None:
        text = "---\n\n# Day\nnot: [yaml\nwords\n"
        found = _memories(_workspace(tmp_path, **{"memory__2026-01-02": text}))
        assert found["2026-01-02"].body == text

    def test_what_cannot_be_read_is_told_with_its_place(self, tmp_path: Path) -> None:
        path = tmp_path / "memory" / "2026-01-02.md"
        path.parent.mkdir()
        path.write_bytes(b"\xff\xfe\x00")
        (told,) = _read(str(tmp_path))
        assert isinstance(told, LeftOut)
        assert (told.where, told.status) == (f"{path}:1", "failed")


class TestDreaming:
    def test_its_blocks_are_refused_and_told(self, tmp_path: Path) -> None:
        text = f"a\n\n## Light Sleep\n{START}\n- junk\n## in it\n{END}\n## B\nb\n"
        path = _workspace(tmp_path, **{"memory__2026-01-02": text})
        day = next(each for each in _read(path) if isinstance(each, Found))
        assert day.memory.body == "a\n\n## B\nb\n"
        assert day.problems == ("1 block of dreaming left out",)
        assert _counted(path) == {"dreaming": 1}

    def test_a_block_without_an_end_goes_to_the_next_heading(self) -> None:
        text = f"a\n{START}\njunk\n\n## B\nb\n{START}\njunk\n{END}\nc\n"
        kept, starts = awake(lines_of(text))
        assert ([line.text for line in kept], starts) == (["a", "## B", "b", "c"], [2, 7])

    def test_an_end_without_a_start_ends_nothing(self) -> None:
        kept, starts = awake(lines_of(f"a\n{END}\nb\n"))
        assert ([line.text for line in kept], starts) == (["a", "b"], [])

    def test_a_page_of_nothing_else_is_counted(self, tmp_path: Path) -> None:
        text = f"# 2026-01-02\n\n{START}\n- junk\n{END}\n"
        path = _workspace(tmp_path, **{"memory__2026-01-02": text})
        assert _memories(path) == {}
        assert _counted(path) == {"dreaming": 1, "nothing but dreaming": 1}

    def test_of_curated_memory_they_are_refused_too(self, tmp_path: Path) -> None:
        path = _workspace(tmp_path, MEMORY=f"## A\nx\n{START}\n- **k**: junk\n{END}\n- **l**: m\n")
        found = _memories(path)
        assert {name: memory.body for name, memory in found.items()} == {
            "A": "## A\nx\n", "A: l": "m"
        }  # fmt: skip
        origin = found["A: l"].origin
        assert origin is not None
        assert origin.line_start == 6

    def test_its_diary_and_its_machine_state_are_no_memories(self, tmp_path: Path) -> None:
        path = _workspace(
            tmp_path,
            DREAMS="# Dream Diary\n",
            **{"memory__dreaming__light__2026-01-02": "junk", "memory__.dreams__x": "junk",
               "memory__a": "kept"},
        )  # fmt: skip
        assert set(_memories(path)) == {"a"}
        assert _counted(path) == {"dreaming": 2, "machine state": 1}


def test_what_tells_the_agent_what_to_do_is_counted(tmp_path: Path) -> None:
    names = ("SOUL", "IDENTITY", "TOOLS", "AGENTS", "HEARTBEAT", "README", "skills__x")
    path = _workspace(tmp_path, USER="# Ada\nlikes tea\n", **dict.fromkeys(names, "do this"))
    user = _memories(path)["USER"]
    assert (user.kind, user.title, user.body) == ("user", "Ada", "# Ada\nlikes tea\n")
    assert len(_memories(path)) == 1
    assert _counted(path) == {"instructions": 5, "no memory": 1, "folder of the workspace": 1}


def test_a_page_of_open_knowledge_has_its_fields(tmp_path: Path) -> None:
    text = (
        "---\ntype: okf:howto\ntitle: Brewing\ndescription: tea\ntags: [a, b]\n"
        "timestamp: 2026-01-02T03:04:05Z\nlevel: 2\n---\nboil\n"
    )
    brew = _memories(_workspace(tmp_path, okf__kitchen__brew=text))["brew"]
    assert (brew.kind, brew.title, brew.summary) == ("howto", "Brewing", "tea")
    assert (brew.tags, brew.body, brew.created) == (("a", "b"), "boil\n", 1767323045000)
    assert (brew.place.room, brew.happened_at) == ("okf/kitchen", "2026-01-02")
    assert brew.extra == {"frontmatter": {"level": 2}}


def test_a_folder_that_is_no_workspace_is_refused_with_the_way_out(tmp_path: Path) -> None:
    _workspace(tmp_path / "a", README="x")
    with pytest.raises(NotFound, match=r"no MEMORY\.md, no memory/ and no memory\.db"):
        _read(str(tmp_path / "a"))
    with pytest.raises(NotFound, match="give the agent's workspace"):
        _read(str(tmp_path / "none"))
