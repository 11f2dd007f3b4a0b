"""The camillo dialect: which files are notes, what they say, and edits that touch nothing else."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from camillo.engines.markdown.camillo import KEYS, CamilloDialect
from camillo.errors import InvalidValue, NoteBroken, Refused
from camillo.model import Edge, Memory, Origin, Place

DIALECT = CamilloDialect()

FULL = Memory(
    "jwt",
    "# Tokens\n\nThey expire. [[keys]]\n",
    kind="reference",
    title="About tokens",
    summary="How long: a day",
    namespace="agent",
    session="s1",
    place=Place("work", "auth/web", "security"),
    origin=Origin("/notes.txt", 2, 3, 4, 50, 60),
    edges=(Edge("builds-on", "keys"), Edge("supersedes", "jwt_old")),
    load_when=("login", "401"),
    tags=("auth", "2024"),
    aliases=("token",),
    pinned=True,
    trust="untrusted",
    written_by="claude",
    happened_at="2026-01",
    created=1_767_225_600_000,
    updated=1_767_225_600_123,
    expires=1_800_000_000_000,
    archived=1_790_000_000_000,
    superseded_by="jwt2",
    extra={"confidence": 0.5, "frontmatter": {"status": "draft"}},
)


class TestWhichFilesAreNotes:
    @pytest.mark.parametrize("path", ["a.md", "room/a.md", "a/b/c/d.md", "Ä ö.md", "room/x.y.md"])
    def test_markdown_in_any_room_is_a_note(self, path: str) -> None:
        assert DIALECT.is_note(path)

    @pytest.mark.parametrize(
        "path",
        [
            "ROOT.md", "room/index.md", "a/b/README.md", "room/Readme.md", ".hidden.md",
            ".git/a.md", "room/.obsidian/a.md", "index/a.md", "backups/x/a.md", "a.txt", "a.MD",
            "a.md.tmp", "a.conflict-20260102T030405Z.md", "room/a.conflict-20260102T030405Z-2.md",
        ],
    )  # fmt: skip
    def test_pages_hidden_files_and_conflicts_are_none(self, path: str) -> None:
        assert not DIALECT.is_note(path)

    def test_a_room_may_be_called_index_where_none_of_ours_is(self) -> None:
        assert DIALECT.is_note("databases/index/btree.md")


class TestReading:
    def test_a_file_without_frontmatter_is_a_note(self) -> None:
        memory = DIALECT.parse("auth/jwt.md", b"Some text.\n\n## Tokens ##\n")
        assert memory == Memory(
            "jwt", "Some text.\n\n## Tokens ##\n", "fact", "Tokens", place=Place("", "auth", "")
        )

    def test_its_title_is_the_first_heading_outside_code_or_the_name(self) -> None:
        assert DIALECT.parse("jwt.md", b"```\n# no\n```\n### yes\n").title == "yes"
        assert DIALECT.parse("jwt.md", b"#no heading\n").title == "jwt"
        assert DIALECT.parse("jwt.md", b"---\nname: other\n---\ntext").title == "other"

    def test_every_field_is_read(self) -> None:
        content = DIALECT.render(FULL)
        assert DIALECT.parse("auth/web/jwt.md", content) == FULL
        for key in KEYS:
            assert f"\n{key}:" in content.decode()

    def test_what_people_write_is_understood(self) -> None:
        said = (
            "---\n"
            "tags: auth, web，2024\n"
            "aliases: Token\n"
            "load_when: [login, 401, null]\n"
            "created: 2026-01-02\n"
            "updated: 2026-01-02T03:04:05+02:00\n"
            "expires: 20260131\n"
            "archived: 1767323045000\n"
            "happened_at: 2024\n"
            "title: 2001\n"
            "origin: notes.txt\n"
            "---\n"
        )
        memory = DIALECT.parse("a.md", said.encode())
        assert memory.tags == ("auth", "web", "2024")
        assert memory.aliases == ("Token",)
        assert memory.load_when == ("login", "401")
        assert memory.created == 1_767_312_000_000
        assert memory.updated == 1_767_315_845_000
        assert memory.expires == 1_769_817_600_000
        assert memory.archived == 1_767_323_045_000
        assert (memory.happened_at, memory.title) == ("2024", "2001")
        assert memory.origin == Origin("notes.txt")
        assert memory.extra == {}

    def test_what_is_wrong_is_left_out_and_told_with_its_line(self) -> None:
        said = (
            "---\n"
            "name: a\n"
            "relations:\n"
            "  - to: b\n"
            "    type: builds-on\n"
            "  - to: c\n"
            "    type: mentions\n"
            "  - d\n"
            "  - {to: a, type: builds-on}\n"
            "supersedes: e\n"
            "pinned: yes\n"
            "created: soon\n"
            "tags: {a: b}\n"
            "trust: high\n"
            "description: [x]\n"
            "---\n"
            "text\n"
        )
        memory = DIALECT.parse("a.md", said.encode())
        assert (memory.body, memory.edges) == ("text\n", (Edge("builds-on", "b"),))
        assert (memory.pinned, memory.created, memory.tags) == (True, 0, ())
        assert (memory.trust, memory.summary) == ("untrusted", "")
        told = memory.extra["problems"]
        assert sorted(int(each.split()[1].strip(":")) for each in told) == [
            6, 8, 9, 10, 11, 12, 13, 14, 15
        ]  # fmt: skip
        assert any("type 'mentions' is none of related-to, builds-on" in each for each in told)

    def test_unknown_keys_are_kept_as_read(self) -> None:
        memory = DIALECT.parse("a.md", b"---\nstatus: draft\nweight: 1.5\nlist: [1, {a: b}]\n---\n")
        assert memory.extra["frontmatter"] == {
            "status": "draft", "weight": 1.5, "list": [1, {"a": "b"}]
        }  # fmt: skip

    def test_what_json_cannot_hold_is_text(self) -> None:
        memory = DIALECT.parse("a.md", b'---\nx: .nan\ny: "\\ud800"\n---\n')
        assert memory.extra["frontmatter"] == {"x": "nan", "y": "\ufffd"}

    def test_a_broken_frontmatter_says_where(self) -> None:
        with pytest.raises(NoteBroken, match=r"a\.md.*line 3") as caught:
            DIALECT.parse("a.md", b"---\nname: a\ntitle: b: c\n---\n")
        assert (caught.value.path, caught.value.line) == ("a.md", 3)

    def test_a_file_name_that_is_no_text_is_told(self) -> None:
        with pytest.raises(NoteBroken, match=r"caf\\xe9\.md"):
            DIALECT.parse("caf\udce9.md", b"text")


class TestEditing:
    def test_nothing_changes_nothing(self) -> None:
        content = b"\xef\xbb\xbf---\r\n# mine\r\nname: a # b\r\npinned: yes\r\n---\r\nx \xff\r\n"
        assert DIALECT.render(DIALECT.parse("a.md", content), content) == content

    def test_only_what_differs_is_written(self) -> None:
        before = (
            b"---\r\n# mine\r\nstatus: draft\r\ncreated: 2026-01-02 # a Friday\r\n"
            b"tags: [a,   b]\r\n---\r\nbody\r\n"
        )
        memory = DIALECT.parse("a.md", before)
        after = DIALECT.render(memory._replace(summary="short", tags=("a", "c")), before)
        assert after.decode() == (
            "---\r\n# mine\r\nstatus: draft\r\ncreated: 2026-01-02 # a Friday\r\n"
            "tags:\r\n  - a\r\n  - c\r\ndescription: short\r\n---\r\nbody\r\n"
        )
        assert DIALECT.parse("a.md", after) == memory._replace(summary="short", tags=("a", "c"))

    def test_a_relation_that_could_not_be_read_stays_in_the_file(self) -> None:
        before = (
            b"---\nrelations:\n  - to: b\n    type: builds-on\n  - half # later\n"
            b"  - to: c\n    type: mentions\n---\n"
        )
        memory = DIALECT.parse("a.md", before)
        linked = memory._replace(edges=(*memory.edges, Edge("related-to", "d")))
        after = DIALECT.render(linked, before)
        added = b"  - to: d\n    type: related-to\n---\n"
        assert after == before.removesuffix(b"---\n") + added
        unlinked = DIALECT.render(memory._replace(edges=()), before)
        assert (
            unlinked == b"---\nrelations:\n  - half # later\n  - to: c\n    type: mentions\n---\n"
        )

    def test_a_list_that_is_none_is_not_overwritten(self) -> None:
        before = b"---\nrelations: jwt\n---\n"
        memory = DIALECT.parse("a.md", before)
        with pytest.raises(NoteBroken, match="no list"):
            DIALECT.render(memory._replace(edges=(Edge("builds-on", "b"),)), before)

    def test_the_last_relation_takes_its_key_with_it(self) -> None:
        before = b"---\nname: a\nrelations:\n  - to: b\n    type: builds-on\npinned: true\n---\nx"
        memory = DIALECT.parse("a.md", before)._replace(edges=(), pinned=False)
        assert DIALECT.render(memory, before) == b"---\nname: a\n---\nx"

    def test_bytes_that_are_no_text_stay_in_lines_that_stay(self) -> None:
        before = b"---\nname: a\n---\nfirst \xff\nsecond\nlast \xfe\n"
        memory = DIALECT.parse("a.md", before)
        after = DIALECT.render(memory._replace(body=memory.body.replace("second", "2nd")), before)
        assert after == before.replace(b"second", b"2nd")

    def test_a_file_without_frontmatter_stays_one(self) -> None:
        memory = DIALECT.parse("a.md", b"one\n")
        assert DIALECT.render(memory._replace(body="two\n"), b"one\n") == b"two\n"

    @pytest.mark.parametrize("body", ["---\nx: y\n---\n", "\ufefftext"])
    def test_no_body_is_taken_for_a_frontmatter(self, body: str) -> None:
        memory = DIALECT.parse("a.md", b"one\n")._replace(body=body, title="a")
        assert DIALECT.parse("a.md", DIALECT.render(memory, b"one\n")).body == body

    def test_a_body_under_a_closing_without_line_end_starts_a_line(self) -> None:
        before = b"---\nname: a\n---"
        memory = DIALECT.parse("a.md", before)._replace(body="text")
        assert DIALECT.render(memory, before) == b"---\nname: a\n---\ntext"

    def test_a_title_is_written_where_the_heading_does_not_say_it(self) -> None:
        before = b"# Old\n"
        memory = DIALECT.parse("a.md", before)
        assert DIALECT.render(memory._replace(body="# New\n"), before) == b"# New\n"
        titled = DIALECT.render(memory._replace(title="Mine"), before)
        assert titled == b"---\ntitle: Mine\n---\n# Old\n"
        assert DIALECT.render(memory, titled) == b"---\n---\n# Old\n"

    def test_a_note_without_a_name_is_not_given_one(self) -> None:
        before = b"---\npinned: true\n---\n"
        memory = DIALECT.parse("a.md", before)._replace(summary="s")
        assert b"name" not in DIALECT.render(memory, before)

    def test_what_its_row_says_of_its_file_stays_out(self) -> None:
        memory = Memory("a", "x", extra={"file": "a.md", "problems": ["line 1: x"]})
        assert DIALECT.render(memory) == b"---\nname: a\ntype: fact\n---\nx"

    @pytest.mark.case("CP07")
    @pytest.mark.parametrize(
        "edge", [Edge("mentions", "b"), Edge("likes", "b"), Edge("builds-on", "a"),
                 Edge("builds-on", " ")]
    )  # fmt: skip
    def test_an_edge_that_no_note_can_have_is_refused(self, edge: Edge) -> None:
        with pytest.raises(InvalidValue):
            DIALECT.render(Memory("a", "x", edges=(edge,)))


@pytest.mark.promise(15)
class TestNames:
    @pytest.mark.parametrize(
        "slug", ["jwt", "日本語", "नमस्ते", "été", "a-b_c", "x" * 100, "con1", "nullable", "_"]
    )
    def test_letters_of_any_script_make_a_name(self, slug: str) -> None:
        slug = unicodedata.normalize("NFC", slug)
        assert DIALECT.path_of(Memory(slug, "")) == f"{slug}.md"

    @pytest.mark.parametrize(
        "slug",
        [
            "", ".", "..", "../x", "/x", "a/b", "a\\b", "C:x", "C:", "\\\\host\\share", "a\0b",
            "a\nb", "a b", "a.", ".a", "a.b", "con", "NUL", "Com1", "lpt¹", "aux", "%2e%2e", "%2E",
            "e\u0301", "\u0301a", "a\u202eb", "a\u200bb", "．．", "a／b", "~", "-\u2028", "ROOT",
            "Index", "readme", "x" * 101, "字" * 67, "a\ud800", "a:b", "*", "a|b",
        ],
    )  # fmt: skip
    def test_no_name_leads_elsewhere_or_is_another_on_some_system(self, slug: str) -> None:
        with pytest.raises((InvalidValue, Refused)):
            DIALECT.path_of(Memory(slug, ""))

    @pytest.mark.parametrize(
        "room",
        [
            "..", "a/..", "/a", "a/", "a//b", "a\\b", "C:", ".git", "a/.b", "con", "a/NUL.txt",
            "a.", "a ", " a", "a\0", "%2e%2e/a", "a%2Fb", "．．", "index", "Backups/a", "a/b\n",
            "a?", "ａ／ｂ", "x" * 101, "\u0301a", "a/\u0301", "a\u200bb",
        ],
    )  # fmt: skip
    def test_no_room_leads_elsewhere(self, room: str) -> None:
        with pytest.raises((InvalidValue, Refused)):
            DIALECT.path_of(Memory("a", "", place=Place("", room, "")))

    @pytest.mark.parametrize("room", ["auth", "a/b/c", "My Room", "node.js", "日本語"])
    def test_rooms_are_folders(self, room: str) -> None:
        assert DIALECT.path_of(Memory("a", "", place=Place("", room, ""))) == f"{room}/a.md"

    def test_a_room_is_the_same_in_either_normal_form(self) -> None:
        for room in ("caf\xe9/\u1ed9", "cafe\u0301/o\u0323\u0302", "cafe\u0301/\xf4\u0323"):
            path = DIALECT.path_of(Memory("a", "", place=Place("", room, "")))
            assert path == "caf\xe9/\u1ed9/a.md"
            head = f"---\nwing: {room}\n---\n".encode()
            place = DIALECT.parse(f"{room}/a.md", head).place
            assert place == Place("caf\xe9/\u1ed9", "caf\xe9/\u1ed9", "")

    @given(st.text(max_size=8))
    @settings(max_examples=200)
    def test_a_name_is_refused_or_one_file_in_the_folder(self, slug: str) -> None:
        try:
            path = DIALECT.path_of(Memory(slug, ""))
        except (InvalidValue, Refused):
            return
        assert path == f"{slug}.md"
        assert all(unicodedata.category(char)[0] in "LMN" or char in "-_" for char in slug)


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
WORDS = st.lists(TEXT.map(str.strip).filter(bool), max_size=3, unique=True).map(tuple)
TIMES = st.integers(-62_135_596_800_000, 253_402_300_799_999)
EDGES = st.lists(
    st.builds(Edge, st.sampled_from(["builds-on", "supersedes", "child-of"]), st.just("b")),
    max_size=3, unique=True,
)  # fmt: skip
MEMORIES = st.fixed_dictionaries({
    "body": st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    "kind": TEXT.filter(bool),
    "title": TEXT.filter(bool),
    "summary": TEXT,
    "session": TEXT,
    "tags": WORDS,
    "load_when": WORDS,
    "pinned": st.booleans(),
    "created": TIMES,
    "expires": TIMES,
    "happened_at": TEXT,
    "edges": EDGES.map(lambda edges: tuple(sorted(edges, key=lambda e: e[0] == "supersedes"))),
})  # fmt: skip


@given(MEMORIES)
@settings(max_examples=150)
@example({"body": "---\n", "title": "x", "kind": "fact"})
def test_what_is_written_reads_back(fields: dict[str, Any]) -> None:
    memory = Memory("a", place=Place("", "room", ""), **fields)
    assert DIALECT.parse("room/a.md", DIALECT.render(memory)) == memory


@given(MEMORIES, MEMORIES)
@settings(max_examples=100)
def test_an_edit_says_the_new_and_keeps_the_rest(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    noted = {"frontmatter": {"status": "kept"}}
    before = DIALECT.render(Memory("a", extra=noted, **first))
    memory = Memory("a", **second)
    after = DIALECT.parse("a.md", DIALECT.render(memory, before))
    assert set(after.edges) == set(memory.edges)
    assert after._replace(edges=memory.edges) == memory._replace(extra=noted)
