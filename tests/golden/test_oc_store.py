"""Trees of oc, read and written in its dialect, against what its own store made of them.

The inputs are rebuilt from what the reference read. How it writes a frontmatter is not known; what
is compared is what it reads back, and the text below. Where it loses something, ours keeps it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from camillo.engines.markdown.folder import NoteFolder
from camillo.engines.markdown.oc import OcDialect
from camillo.errors import CamilloError, InvalidValue
from camillo.model import Edge, Memory, Place
from camillo.notes.merge import merge
from camillo.ports import Usage
from camillo.text.frontmatter import read
from camillo.text.rules import is_rule
from camillo.text.summary import derived

DIALECT = OcDialect()
MTIME = 1_700_000_000_000  # milliseconds; of every file of the tree
NOW = 1_710_000_000_000
TREE = {
    "decisions/a-first.md": "---\n"
    "summary: first summary that is definitely longer than forty characters in total\n"
    "category_desc: 决策描述\n---\nbody\n",
    "decisions/kind-rule.md": "---\nsummary: labelled rule elsewhere\nkind: Rule\n"
    'pinned: "true"\ncreated: 2026-01-02T03:04:05Z\n---\nbody\n',
    **{
        f"order/{slug}.md": "---\nsummary: s\n---\n"
        for slug in ("10", "9", "A", "B", "_x", "a-b", "a", "a_b", "ab", "b", "é")
    },
    "pitfalls/empty.md": "",
    "pitfalls/long.md": "word " * 60 + "\n",
    "pitfalls/no-fm.md": "```\ncode line kept\n```\n\n## First Heading\n\nFirst paragraph line.\n"
    "second line   with spaces\n\n#### deeper\n\nthird\n",
    "pitfalls/num-load.md": '---\nsummary: nums\nload_when: [1, true, "", x]\npinned: true\n---\n',
    "pitfalls/only-heads.md": "# A\n\n## B\n",
    "pitfalls/pipe.md": '---\nsummary: "a | b\\nsecond line"\nhighlight: x|y\n'
    "loadWhen: 'one, two，three ,, '\n---\nbody\n",
    "pitfalls/sqlite-cjk.md": "---\nid: pitfalls/sqlite-cjk.md\nkind: fact\ntitle: CJK 分词\n"
    "summary: FTS5 默认分词器不切中文\nhighlight: 用 trigram\ncreated: 1700000000000\n"
    "updated: 1700000500000\nload_when:\n  - sqlite 搜索\n  - 中文检索\n---\n\nbody\n",
    "rules/no-force-push.md": "---\nsummary: 不许 force push\n---\nbody\n",
}
NO_NOTES = (
    "ROOT.md", "loose.md", "pitfalls/index.md", "pitfalls/ROOT.md", "pitfalls/notes.txt",
    "pitfalls/sub/deep.md", ".hidden/x.md", "hand-cat/index.md",
)  # fmt: skip


@pytest.fixture(scope="module")
def reference(golden: Path) -> dict[str, Any]:
    path = golden / "oc" / "oc_store.json"
    if not path.is_file():
        pytest.skip(f"no {path.name} in {path.parent.name}")
    read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return read


@pytest.fixture
def folder(tmp_path: Path) -> NoteFolder:
    for path, text in [*TREE.items(), *((path, "x") for path in NO_NOTES)]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
        os.utime(tmp_path / path, ns=(MTIME * 1_000_000, MTIME * 1_000_000))
    return NoteFolder(str(tmp_path), DIALECT)


class TestScanning:
    @pytest.mark.case("OC03")
    def test_the_notes_are_those_that_oc_sees(
        self, folder: NoteFolder, reference: dict[str, Any]
    ) -> None:
        notes, unreadable = folder.scan()
        assert sorted(notes) == sorted(each["rel"] for each in reference["scan"])
        assert unreadable == []
        assert folder.pages() == ["ROOT.md", "hand-cat/index.md", "pitfalls/ROOT.md",
                                  "pitfalls/index.md"]  # fmt: skip

    @pytest.mark.case("OC04", "OC05", "OC07", "OC08", "OC09")
    def test_they_are_read_as_oc_reads_them(
        self, folder: NoteFolder, reference: dict[str, Any]
    ) -> None:
        scanned = [_as_scanned(folder, each["rel"]) for each in reference["scan"]]
        wanted = [_mended(each) for each in reference["scan"]]
        assert {each["rel"]: each for each in scanned} == {each["rel"]: each for each in wanted}

    @pytest.mark.case("OC05")
    def test_code_is_no_summary(self, folder: NoteFolder, reference: dict[str, Any]) -> None:
        theirs = next(each for each in reference["scan"] if each["slug"] == "no-fm")["summary"]
        memory = _parsed(folder, "pitfalls/no-fm.md")
        assert theirs == f"code line kept {derived(memory.body, 'no-fm')}"

    def test_a_missing_tree_has_no_notes(self, tmp_path: Path, reference: dict[str, Any]) -> None:
        notes, _ = NoteFolder(str(tmp_path / "none"), DIALECT).scan()
        assert list(notes) == reference["scan_missing"]

    def test_unknown_keys_of_a_note_are_kept_as_read(self, folder: NoteFolder) -> None:
        memory = _parsed(folder, "decisions/a-first.md")
        assert memory.extra == {"frontmatter": {"category_desc": "决策描述"}}


class TestNames:
    @pytest.mark.case("OC01")
    def test_of_rooms(self, reference: dict[str, Any]) -> None:
        for room, wrong in reference["validateCategory"]:
            memory = Memory(f"{room}/a", "b")
            _held_to(memory, f"{room}/a.md", room, wrong)

    def test_of_notes(self, reference: dict[str, Any]) -> None:
        for slug, wrong in reference["validateSlug"]:
            room, _, last = f"facts/{slug}".rpartition("/")
            named = last if room == "facts" else room
            _held_to(Memory(f"facts/{slug}", "b"), f"facts/{slug}.md", named, wrong)


class TestWriting:
    @pytest.mark.case("OC24", "OC25")
    def test_one_note_over_and_over(self, folder: NoteFolder, reference: dict[str, Any]) -> None:
        steps: list[tuple[str, dict[str, Any]]] = [
            ("facts/w1.md", {"body": "Body text\n"}),
            ("facts/w1.md", {"summary": "S2", "load_when": ("x",), "pinned": True}),
            ("facts/w1.md", {"body": "new body\n", "extra": {"frontmatter": {"highlight": "h"}}}),
            ("facts/w1.md", {"body": "b\n", "pinned": False}),
            ("rules/r1.md", {"body": "b\n", "kind": "rule"}),
            ("rules/r1.md", {"kind": "rule-proposal"}),
            ("rules/r1.md", {"kind": "rule"}),  # oc says so by itself, see below
            ("facts/w2.md", {"body": "b\n", "edges": (Edge("supersedes", "facts/w1"),)}),
        ]
        for (path, given), theirs in zip(steps, reference["write"], strict=True):
            content = _write(folder, path, given, theirs["updated"])
            assert _as_written(path, content) == _kept(theirs)
            assert content.decode().endswith(f"---\n{theirs['body']}")

    def test_a_proposed_rule_stays_one_when_it_is_rewritten(self, folder: NoteFolder) -> None:
        _write(folder, "rules/r1.md", {"body": "b", "kind": "rule-proposal"}, NOW)
        content = _write(folder, "rules/r1.md", {"summary": "s"}, NOW + 1)
        assert DIALECT.parse("rules/r1.md", content).kind == "rule-proposal"

    @pytest.mark.case("OC25")
    def test_load_when_can_be_cleared(self, folder: NoteFolder) -> None:
        _write(folder, "facts/w.md", {"body": "b", "load_when": ("x",), "pinned": True}, NOW)
        content = _write(folder, "facts/w.md", {"load_when": (), "pinned": False}, NOW)
        assert b"load_when" not in content
        assert b"pinned" not in content

    @pytest.mark.case("OC27")
    def test_a_title_is_kept_and_so_is_what_oc_loses(self, folder: NoteFolder) -> None:
        path = "decisions/a-first.md"
        given = {"title": "A title of its own", "superseded_by": "decisions/b"}
        before = folder.read(path).decode()
        after = _write(folder, path, given, NOW).decode()
        assert _parsed(folder, path).title == "A title of its own"
        head = before.partition("---\nbody")[0]
        assert after.startswith(head)
        assert "category_desc: 决策描述\n" in after
        again = _write(folder, path, {"summary": "short"}, NOW + 1)
        memory = DIALECT.parse(path, again)
        assert (memory.title, memory.superseded_by) == ("A title of its own", "decisions/b")
        made = _write(folder, "facts/new.md", {"body": "b", "title": "Another"}, NOW)
        assert b"\ntitle: Another\n" in made

    def test_nothing_to_say_is_not_said(self, folder: NoteFolder) -> None:
        content = _write(folder, "facts/w.md", {"body": "The text says it.\n"}, NOW)
        assert b"summary" not in content
        assert b"highlight" not in content

    @pytest.mark.case("OC28")
    def test_a_note_that_was_replaced_says_so_and_stays(
        self, folder: NoteFolder, reference: dict[str, Any]
    ) -> None:
        theirs = reference["superseded"]["fm"]
        given = {"body": "b\n", "summary": "S2", "load_when": ("x",)}
        given["extra"] = {"frontmatter": {"highlight": "h"}}
        _write(folder, "facts/w1.md", given, NOW)
        content = _write(folder, "facts/w1.md", {"superseded_by": "facts/w2"}, theirs["updated"])
        assert _as_written("facts/w1.md", content)["fm"] == theirs
        assert ("facts/w1.md" in folder.scan()[0]) == reference["superseded"]["still_in_scan"]

    @pytest.mark.case("OC28")
    @pytest.mark.parametrize("path", ["../w.md", "facts/../../w.md", "ROOT.txt", "/etc/w.md"])
    def test_but_nothing_outside_the_tree_does(self, folder: NoteFolder, path: str) -> None:
        outside = Path(folder.folder).parent / "w.md"
        outside.write_text("theirs")
        for call in (folder.read, lambda path: folder.write(path, b"x", b"theirs")):
            with pytest.raises(CamilloError):
                call(path)
        assert outside.read_text() == "theirs"


class TestUsage:
    @pytest.mark.case("OC29")
    def test_the_file_has_the_bytes_that_oc_gives_it(
        self, folder: NoteFolder, reference: dict[str, Any]
    ) -> None:
        assert folder.usage() == reference["state_missing"]
        folder.used(["a/b.md"], 3)
        folder.used(["a/b.md"], 5)
        state = Path(folder.folder, ".state.json")
        assert state.read_text("utf-8") == reference["state_text"]
        assert folder.usage() == {"a/b.md": Usage(2, 5)}
        assert not [name for name in os.listdir(folder.folder) if name.endswith(".tmp")]

    @pytest.mark.case("OC29")
    @pytest.mark.parametrize(
        ("said", "name"),
        [("{nope", "state_corrupt"), ("null", "state_null"), ("[1]", "state_array")],
    )
    def test_a_damaged_one_says_nothing(
        self, folder: NoteFolder, reference: dict[str, Any], said: str, name: str
    ) -> None:
        Path(folder.folder, ".state.json").write_text(said, "utf-8")
        assert folder.usage() == {}
        assert reference[name] in ({}, [1]), "a list is no state, which the reference does not see"


def _parsed(folder: NoteFolder, path: str) -> Memory:
    return DIALECT.parse(path, folder.read(path))


def _as_scanned(folder: NoteFolder, path: str) -> dict[str, Any]:
    """What a caller has of a note, as the reference calls it."""
    memory = _parsed(folder, path)
    at = folder.scan()[0][path].mtime_ns // 1_000_000
    room, slug = memory.id.split("/")
    assert "problems" not in memory.extra
    assert memory.place == Place(room=room)
    return {
        "rel": f"{memory.id}.md",
        "category": memory.place.room,
        "slug": slug,
        "title": memory.title,
        "summary": memory.summary or derived(memory.body, slug),
        "highlight": memory.extra.get("frontmatter", {}).get("highlight", ""),
        "kind": memory.kind,
        "loadWhen": list(memory.load_when),
        "pinned": memory.pinned,
        "created": memory.created or at,
        "updated": memory.updated or at,
        "isHardRule": is_rule(memory.place.room, memory.kind),
    }


def _mended(theirs: dict[str, Any]) -> dict[str, Any]:
    """A kind is always said, and code is no summary."""
    kind = theirs["kind"] or ("rule" if theirs["category"] == "rules" else "fact")
    kind = "rule" if kind == "Rule" else kind
    return {
        **theirs, "kind": kind, "summary": theirs["summary"].removeprefix("code line kept ")
    }  # fmt: skip


def _held_to(memory: Memory, path: str, named: str, wrong: str | None) -> None:
    if wrong is None:
        assert DIALECT.path_of(memory) == path
    else:
        with pytest.raises(InvalidValue) as caught:
            DIALECT.path_of(memory)
        assert str(caught.value).startswith(repr(named))
        assert "starts with a letter or a digit" in str(caught.value)


def _write(folder: NoteFolder, path: str, given: dict[str, Any], at: int) -> bytes:
    """As a write command does it: what is given over what the file says."""
    if not Path(folder.folder, path).exists():
        former = None
        bare = {"id": path.removesuffix(".md"), "place": Place(room=path.partition("/")[0])}
        memory = merge(None, {**bare, **given}, at).memory
        assert folder.free_path(DIALECT.path_of(memory)) == path
    else:
        former = folder.read(path)
        memory = merge(DIALECT.parse(path, former), given, at).memory
    content = DIALECT.render(memory, former)
    folder.write(path, content, former)
    written = DIALECT.parse(path, content)
    memory = memory._replace(title=memory.title or written.title)
    assert written._replace(extra={}) == memory._replace(extra={})
    return content


def _as_written(path: str, content: bytes) -> dict[str, Any]:
    """What is compared of a written file: its keys, and what they mean."""
    note = read(content)
    memory = DIALECT.parse(path, content)
    return {
        "rel": path,
        "fm": note.fields,
        "body": note.body,
        "title": memory.title,
        "summary": memory.summary,
        "kind": memory.kind,
        "pinned": memory.pinned,
        "created": memory.created,
        "updated": memory.updated,
        "loadWhen": list(memory.load_when),
    }


def _kept(theirs: dict[str, Any]) -> dict[str, Any]:
    """What says nothing is not written."""
    return {**theirs, "fm": {key: value for key, value in theirs["fm"].items() if value != ""}}
