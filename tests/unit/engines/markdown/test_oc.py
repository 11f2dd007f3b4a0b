"""The oc dialect: notes one folder deep, read as oc reads them and edited without loss."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from camillo.engines.markdown.folder import NoteFolder
from camillo.engines.markdown.oc import OcDialect
from camillo.errors import CamilloError, InvalidValue, NoteBroken
from camillo.model import Edge, Memory, Place

DIALECT = OcDialect()

FULL = Memory(
    "facts/jwt",
    "# Tokens\n\nThey expire.\n",
    kind="decision",
    title="About tokens",
    summary="How long: a day",
    place=Place(room="facts"),
    edges=(Edge("supersedes", "facts/old"), Edge("supersedes", "prefs/old")),
    load_when=("login", "401"),
    pinned=True,
    created=1_700_000_000_000,
    updated=1_700_000_500_000,
    superseded_by="facts/jwt2",
    extra={"frontmatter": {"highlight": "a day", "category_desc": "what holds", "weight": 1.5}},
)


def said(*lines: str, body: str = "\ntext\n", path: str = "facts/a.md") -> Memory:
    """What a file of these lines is read as."""
    return DIALECT.parse(path, "\n".join(["---", *lines, "---"]).encode() + b"\n" + body.encode())


class TestWhichFilesAreNotes:
    @pytest.mark.parametrize(
        "path",
        ["facts/a.md", "Ä ö/Ü.md", "facts/README.md", "facts/MEMORY.md", "facts/root.md",
         "facts/x.y.md", "index2/a.md"],
    )  # fmt: skip
    def test_those_one_folder_deep(self, path: str) -> None:
        assert DIALECT.is_note(path)

    @pytest.mark.parametrize(
        "path",
        ["a.md", "ROOT.md", "README.md", "facts/sub/a.md", ".hidden/a.md", "facts/.a.md",
         "facts/index.md", "facts/ROOT.md", "facts/a.txt", "facts/a.MD", "index/a.md",
         "backups/a.md", "facts/a.conflict-20260102T030405Z.md"],
    )  # fmt: skip
    def test_and_no_pages_nor_what_lies_higher_deeper_or_hidden(self, path: str) -> None:
        assert not DIALECT.is_note(path)

    def test_only_the_first_level_is_entered(self) -> None:
        assert [DIALECT.enters(name) for name in ("facts", "Ä", "index2")] == [True] * 3
        others = ("facts/sub", ".git", "index", "backups", "Index")
        assert [DIALECT.enters(name) for name in others] == [False] * 5


class TestReading:
    def test_every_field_is_read_and_written(self) -> None:
        content = DIALECT.render(FULL)
        assert DIALECT.parse("facts/jwt.md", content) == FULL

    def test_a_file_without_frontmatter_is_a_note(self) -> None:
        assert DIALECT.parse("facts/a.md", b"\ntext\n") == Memory(
            "facts/a", "\ntext\n", "fact", "a", place=Place(room="facts")
        )

    def test_its_title_is_said_or_a_heading_of_three_levels_outside_code_or_its_name(self) -> None:
        body = "```\n# no\n```\n#### nor this\n### yes ###\n"
        assert said("title: 2001", body=body).title == "2001"
        assert said('title: ""', body=body).title == "yes"
        assert said("kind: fact", body="~~~\n# no\n").title == "a"
        for code in ("````\n```\n# no\n````", "```\n``` x\n# no\n```\r", "```x```", "~~~ ~\n~~~~"):
            assert said("kind: fact", body=f"{code}\n# yes #\r\n").title == "yes"

    @pytest.mark.parametrize(
        ("line", "title"),
        [("# C#", "C#"), ("# a ## ", "a"), ("# ##", "a"), ("#no", "a"), ("    # no", "a"),
         ("   # yes", "yes"), ("# " + " " * 100_000 + "x", "x")],
    )  # fmt: skip
    def test_a_heading_is_what_a_reader_takes_for_one(self, line: str, title: str) -> None:
        assert said("kind: fact", body=line).title == title

    def test_a_kind_that_is_not_said_follows_from_the_room(self) -> None:
        assert said("title: t").kind == "fact"
        assert said("title: t", path="rules/a.md").kind == "rule"
        assert said("kind: RuLe").kind == "rule"
        assert said("kind: rule-proposal", path="rules/a.md").kind == "rule-proposal"
        assert said("kind: Decision").kind == "Decision"

    @pytest.mark.case("OC07")
    @pytest.mark.parametrize(
        ("line", "wanted"),
        [
            ("load_when: 'one, two，three ,, '", ("one", "two", "three")),
            ('load_when: [1, true, "", x]', ("1", "true", "x")),
            ("loadWhen: [x]", ("x",)),
            ("load_when: null\nloadWhen: y, z", ("y", "z")),
            ("load_when: [a]\nloadWhen: [b]", ("a",)),
            ("load_when: []\nloadWhen: [b]", ()),
            ("load_when: 数据库、缓存", ("数据库、缓存",)),
            ("load_when: ''", ()),
        ],
    )
    def test_load_when_is_a_list_or_a_text_with_commas(
        self, line: str, wanted: tuple[str, ...]
    ) -> None:
        memory = said(line)
        assert (memory.load_when, memory.extra) == (wanted, {})

    def test_only_what_oc_pins_is_pinned(self) -> None:
        assert [said(f"pinned: {value}").pinned for value in ("true", "'true'")] == [True, True]
        assert said("pinned: 'false'").extra == {}
        doubtful = said("kind: fact", "pinned: yes")
        assert not doubtful.pinned
        assert doubtful.extra["problems"] == [
            "line 3: pinned is 'yes', and oc pins for true alone; not pinned"
        ]

    @pytest.mark.case("OC08")
    @pytest.mark.parametrize(
        ("value", "wanted"),
        [
            ("1700000000000", 1_700_000_000_000),
            ("1700000000000.25", 1_700_000_000_000),
            ('"1700000000000"', 1_700_000_000_000),
            ("2026-01-02T03:04:05Z", 1_767_323_045_000),
            ("2026-01-02", 1_767_312_000_000),
            ("20260131", 1_769_817_600_000),
            ('"20260131"', 1_769_817_600_000),
            ('""', 0),
        ],
    )
    def test_times_are_milliseconds_or_dates(self, value: str, wanted: int) -> None:
        memory = said(f"created: {value}", f"updated: {value}")
        assert (memory.created, memory.updated, memory.extra) == (wanted, wanted, {})

    def test_what_supersedes_what_is_said_by_paths(self) -> None:
        memory = said("supersedes: facts/b.md", "superseded_by: prefs/c.md")
        assert memory.edges == (Edge("supersedes", "facts/b"),)
        assert memory.superseded_by == "prefs/c"
        several = said("supersedes: [facts/b.md, facts/b, c.md]")
        assert several.edges == (Edge("supersedes", "facts/b"), Edge("supersedes", "facts/c"))

    def test_a_path_that_leads_out_is_left_out_and_told(self) -> None:
        memory = said(
            "supersedes: [../b.md, facts/x/b.md, 5, facts/a.md, .git/b.md, facts/c.md]",
            "superseded_by: facts/a.md",
        )
        assert memory.edges == (Edge("supersedes", "facts/c"),)
        assert memory.superseded_by == ""
        told = memory.extra["problems"]
        assert len(told) == 6
        assert sum("names this note itself" in each for each in told) == 2

    def test_what_is_wrong_is_told_and_stops_nothing(self) -> None:
        memory = said(
            "title: [x]", "created: soon", "load_when: {a: b}", "pinned: 2", "kind: {a: b}"
        )
        assert (memory.title, memory.created, memory.load_when, memory.pinned, memory.kind) == (
            "a", 0, (), False, "fact"
        )  # fmt: skip
        lines = sorted(each.partition(":")[0] for each in memory.extra["problems"])
        assert lines == ["line 2", "line 3", "line 4", "line 5", "line 6"]

    def test_a_broken_frontmatter_says_where(self) -> None:
        with pytest.raises(NoteBroken, match=r"facts/a\.md.*line 3") as caught:
            said("kind: fact", "title: b: c")
        assert (caught.value.path, caught.value.line) == ("facts/a.md", 3)
        with pytest.raises(NoteBroken, match=r"caf\\xe9/a\.md"):
            DIALECT.parse("caf\udce9/a.md", b"text")

    def test_a_room_is_one_in_either_normal_form(self) -> None:
        for room in ("caf\xe9", "cafe\u0301"):
            memory = DIALECT.parse(f"{room}/a.md", f"---\nsupersedes: {room}/b.md\n---\n".encode())
            assert (memory.id, memory.place.room) == ("caf\xe9/a", "caf\xe9")
            assert memory.edges == (Edge("supersedes", "caf\xe9/b"),)


class TestANewNote:
    @pytest.mark.case("OC24", "OC27")
    def test_has_its_keys_in_order_and_a_blank_line_below(self) -> None:
        assert DIALECT.render(FULL).decode() == (
            "---\n"
            "id: facts/jwt.md\n"
            "kind: decision\n"
            "title: About tokens\n"
            'summary: "How long: a day"\n'
            "highlight: a day\n"
            "created: 1700000000000\n"
            "updated: 1700000500000\n"
            "load_when:\n  - login\n  - \"401\"\n"
            "pinned: true\n"
            "supersedes:\n  - facts/old.md\n  - prefs/old.md\n"
            "superseded_by: facts/jwt2.md\n"
            "category_desc: what holds\n"
            "weight: 1.5\n"
            "---\n"
            "\n"
            "# Tokens\n\nThey expire.\n"
        )  # fmt: skip

    def test_says_only_what_there_is_to_say(self) -> None:
        memory = Memory("facts/a", "# Title\n", title="Title", created=5, updated=5)
        memory = memory._replace(extra={"frontmatter": {"highlight": ""}})
        assert DIALECT.render(memory) == (
            b"---\nid: facts/a.md\nkind: fact\ncreated: 5\nupdated: 5\n---\n\n# Title\n"
        )
        assert b"supersedes: facts/b.md\n" in DIALECT.render(
            memory._replace(edges=(Edge("supersedes", "facts/b"),) * 2)
        )

    @pytest.mark.parametrize(
        ("kind", "room"),
        [("rule", "rules"), ("user", "prefs"), ("feedback", "prefs"), ("fact", "facts"),
         ("reference", "facts"), ("rule-proposal", "facts")],
    )  # fmt: skip
    def test_without_a_room_goes_where_its_kind_belongs(self, kind: str, room: str) -> None:
        memory = Memory("a", "b", kind)
        assert DIALECT.path_of(memory) == f"{room}/a.md"
        assert DIALECT.render(memory).startswith(f"---\nid: {room}/a.md\n".encode())
        assert DIALECT.path_of(memory._replace(place=Place(room="x"))) == "x/a.md"
        assert DIALECT.path_of(memory._replace(id="y/a", place=Place(room="x"))) == "y/a.md"

    def test_is_called_by_its_room_and_name(self) -> None:
        assert DIALECT.id_of("a", "facts") == DIALECT.id_of("facts/a", "x") == "facts/a"
        assert DIALECT.id_of("a", "") == "a"

    @pytest.mark.parametrize(
        ("id_", "named"),
        [("Facts/a", "'Facts'"), ("facts/ä", "'ä'"), ("a/b/c", "'a/b'"), ("../a", "'..'"),
         ("facts/", "''"), ("index/a", "own"), ("facts/index", "page"), ("facts/Root", "page"),
         ("con/a", "device"), ("facts/a.", "'a.'"),
         ("facts/a.conflict-20260102T030405Z", "conflict")],
    )  # fmt: skip
    def test_may_not_have_every_name(self, id_: str, named: str) -> None:
        with pytest.raises(InvalidValue, match=named):
            DIALECT.path_of(Memory(id_, "b"))

    @pytest.mark.parametrize(
        "changes",
        [
            {"edges": (Edge("builds-on", "facts/b"),)},
            {"edges": (Edge("supersedes", "b"),)},
            {"edges": (Edge("supersedes", "facts/a"),)},
            {"superseded_by": "../b"},
        ],
    )
    def test_links_only_as_a_file_can_say_it(self, changes: dict[str, Any]) -> None:
        memory = Memory("facts/a", "b")._replace(**changes)
        with pytest.raises(InvalidValue, match="facts/a"):
            DIALECT.render(memory)
        with pytest.raises(InvalidValue, match="facts/a"):
            DIALECT.render(memory, b"text")


# As oc writes one, with what people added.
BEFORE = (
    b"---\r\n"
    b"# mine\r\n"
    b"category_desc: what holds\r\n"
    b"id: facts/a.md\r\n"
    b"kind: Rule # really\r\n"
    b'summary: ""\r\n'
    b'highlight: ""\r\n'
    b"created: '1700000000000'\r\n"
    b"updated: 2026-01-02T03:04:05Z\r\n"
    b"loadWhen: [x,   y]\r\n"
    b"own: {a: [1]}\r\n"
    b"---\r\n"
    b"\r\n"
    b"text\r\n"
)


class TestEditing:
    def _edited(self, before: bytes = BEFORE, **changes: Any) -> str:
        memory = DIALECT.parse("facts/a.md", before)._replace(**changes)
        after = DIALECT.render(memory, before)
        again = DIALECT.parse("facts/a.md", after)
        assert again._replace(extra={}) == memory._replace(extra={})
        return after.decode()

    def test_nothing_changes_nothing(self) -> None:
        for before in (BEFORE, BEFORE + b"\xff", b"\xef\xbb\xbf" + BEFORE, b"\ntext", b"---\n---"):
            assert DIALECT.render(DIALECT.parse("facts/a.md", before), before) == before

    @pytest.mark.case("OC25", "OC27")
    def test_only_what_differs_is_written(self) -> None:
        after = self._edited(summary="short", updated=5, pinned=True, title="A title", kind="fact")
        assert after == BEFORE.decode().replace('summary: ""', "summary: short").replace(
            "2026-01-02T03:04:05Z", "5"
        ).replace("Rule", "fact").replace(
            "own: {a: [1]}\r\n", "own: {a: [1]}\r\npinned: true\r\ntitle: A title\r\n"
        )

    def test_the_key_that_is_there_is_edited(self) -> None:
        after = self._edited(load_when=("y", "z"))
        assert after == BEFORE.decode().replace("[x,   y]", "\r\n  - y\r\n  - z").replace(
            "loadWhen: \r", "loadWhen:\r"
        )
        assert "\nload_when:\n  - z\n" in self._edited(b"---\nkind: a\n---\n", load_when=("z",))

    @pytest.mark.case("OC25")
    def test_load_when_can_be_cleared_as_pinned_can(self) -> None:
        assert self._edited(load_when=()) == BEFORE.decode().replace("loadWhen: [x,   y]\r\n", "")
        both = b"---\nload_when: [a]\nloadWhen: [b]\npinned: true\nkind: c\n---\n"
        assert self._edited(both, load_when=(), pinned=False) == "---\nkind: c\n---\n"

    def test_an_empty_summary_counts_as_not_said(self) -> None:
        assert DIALECT.parse("facts/a.md", BEFORE).summary == ""
        spoken = BEFORE.replace(b'summary: ""', b"summary: old")
        assert self._edited(spoken, summary="") == spoken.decode().replace("summary: old\r\n", "")

    def test_a_highlight_is_set_and_taken_away(self) -> None:
        memory = DIALECT.parse("facts/a.md", BEFORE)
        frontmatter = {**memory.extra["frontmatter"], "highlight": "this"}
        marked = DIALECT.render(memory._replace(extra={"frontmatter": frontmatter}), BEFORE)
        assert marked == BEFORE.replace(b'highlight: ""', b"highlight: this")
        frontmatter["highlight"] = ""
        plain = DIALECT.render(memory._replace(extra={"frontmatter": frontmatter}), marked)
        assert plain == BEFORE.replace(b'highlight: ""\r\n', b"")
        silent = DIALECT.parse("facts/a.md", marked)._replace(extra={})
        assert DIALECT.render(silent, marked) == marked

    def test_a_title_goes_when_the_heading_says_it(self) -> None:
        before = b"---\ntitle: One\n---\n\n# Two\n"
        assert self._edited(before, title="Two") == "---\n---\n\n# Two\n"
        assert self._edited(before, title="Three") == before.decode().replace("One", "Three")

    def test_a_path_that_could_not_be_read_stays_in_the_list(self) -> None:
        before = b"---\nsupersedes: [facts/b.md, ../c.md, 5]\n---\n"
        linked = (Edge("supersedes", "facts/b"), Edge("supersedes", "facts/d"))
        after = DIALECT.render(DIALECT.parse("facts/a.md", before)._replace(edges=linked), before)
        assert after == (
            b"---\nsupersedes:\n  - facts/b.md\n  - ../c.md\n  - 5\n  - facts/d.md\n---\n"
        )

    def test_one_that_is_replaced_is_a_text_and_several_are_a_list(self) -> None:
        one, two = Edge("supersedes", "facts/b"), Edge("supersedes", "facts/c")
        before = b"---\nkind: a\n---\n"
        first = self._edited(before, edges=(one,))
        assert first == "---\nkind: a\nsupersedes: facts/b.md\n---\n"
        second = self._edited(first.encode(), edges=(one, two))
        assert second == "---\nkind: a\nsupersedes:\n  - facts/b.md\n  - facts/c.md\n---\n"
        assert self._edited(second.encode(), edges=(two,)).endswith(
            "supersedes:\n  - facts/c.md\n---\n"
        )
        assert self._edited(first.encode(), edges=()) == before.decode()

    @pytest.mark.case("OC28")
    def test_a_note_that_was_replaced_says_by_which(self) -> None:
        after = self._edited(superseded_by="facts/b")
        assert after == BEFORE.decode().replace(
            "own: {a: [1]}\r\n", "own: {a: [1]}\r\nsuperseded_by: facts/b.md\r\n"
        )
        assert self._edited(after.encode(), superseded_by="") == BEFORE.decode()

    def test_the_line_above_the_body_stays_as_it_is(self) -> None:
        assert self._edited(body="new\r\n") == BEFORE.decode().replace("text", "new")
        close = b"---\nkind: a\n---\ntext\n"
        assert self._edited(close, body="new\n") == "---\nkind: a\n---\nnew\n"

    def test_a_file_without_frontmatter_gets_one_when_there_is_something_to_say(self) -> None:
        assert self._edited(b"text\n", body="new\n") == "new\n"
        assert self._edited(b"text\n", summary="short") == "---\nsummary: short\n---\ntext\n"

    @example(b"---\n---", "\na", "")
    @example(b"---\n---\nold", "\r\na", "")
    @example(b"\nold", "\na", "s")
    @given(
        st.sampled_from([b"", b"\n\n", b"text", b"---\n---", b"---\n---\n\nold\n", BEFORE]),
        st.text(st.sampled_from("a#-\n\r `")),
        st.sampled_from(["", "s"]),
    )
    def test_any_body_comes_back_as_it_was_given(
        self, before: bytes, body: str, summary: str
    ) -> None:
        for former in (None, before):
            memory = Memory("facts/a", body, summary=summary)
            if former is not None:
                memory = DIALECT.parse("facts/a.md", former)._replace(body=body, summary=summary)
            after = DIALECT.render(memory, former)
            again = DIALECT.parse("facts/a.md", after)
            assert (again.body, again.summary) == (body, summary)
            assert DIALECT.render(again, after) == after

    def test_a_note_without_a_room_does_not_replace_itself(self) -> None:
        memory = Memory("a", "b", place=Place(room="x"), edges=(Edge("supersedes", "x/a"),))
        with pytest.raises(InvalidValue, match="itself"):
            DIALECT.render(memory)

    def test_keys_in_braces_are_not_edited(self) -> None:
        with pytest.raises(NoteBroken):
            DIALECT.render(Memory("facts/a", "b", summary="s"), b"---\n{kind: fact}\n---\nb")


def test_a_tree_is_read_as_a_folder(tmp_path: Any) -> None:
    folder = NoteFolder(str(tmp_path), DIALECT)
    for path in ("facts/a.md", "rules/b.md"):
        folder.write(path, DIALECT.render(Memory(path.removesuffix(".md"), "b")), None)
    for path in ("ROOT.md", "loose.md", "facts/index.md", "facts/sub/c.md", ".x/d.md"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x")
    assert (sorted(folder.scan()[0]), folder.scan()[1]) == (["facts/a.md", "rules/b.md"], [])
    with pytest.raises(CamilloError):
        folder.read("../outside.md")
