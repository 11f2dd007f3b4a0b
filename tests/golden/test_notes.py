"""Note files of commonplace, read and edited in its dialect.

Where commonplace refuses a file, ours keeps the note and says what is wrong; it refuses only what
has no readable frontmatter. A byte order mark is no fault here, anchors are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.engines.markdown.folder import NoteFolder
from camillo.errors import NoteBroken, NoteChanged
from camillo.model import Edge, Memory
from camillo.text.sidecar import content_sha

FILES = ("parse.json",)

DIALECT = CommonplaceDialect()
# What no patience can read: no frontmatter, none that closes, no mapping, no YAML.
UNREADABLE = (
    "memory file is missing opening `---`",
    "memory file is missing closing `---`",
    "memory file frontmatter is not valid YAML",
    "memory file frontmatter must be a YAML mapping",
)
REFUSED_ANCHORS = ("anchor", "merge_key")


@pytest.mark.case("CP09", "CP10", "CP11", "CP13", "CP14", "CP15", "CP17")
def test_a_note_is_read_as_commonplace_reads_it(case: dict[str, Any]) -> None:
    raw = _raw(case)
    if case["id"] == "bom":
        assert DIALECT.parse("a.md", raw).extra == {}
    elif _is_unreadable(case):
        with pytest.raises(NoteBroken) as caught:
            DIALECT.parse("a.md", raw)
        assert caught.value.path == "a.md"
        assert caught.value.line >= 1
    elif "error" in case:
        memory = DIALECT.parse("a.md", raw)
        assert memory.extra["problems"], "what commonplace refuses is told"
        assert all(each.startswith("line ") for each in memory.extra["problems"])
        assert memory.body == "b"
    else:
        wanted = case["parsed"]
        memory = DIALECT.parse("a.md", raw)
        assert _as_parsed(memory) == wanted
        said = memory.extra.get("problems", [])
        # commonplace says nothing of bytes that it cannot read
        assert [each for each in said if "no UTF-8" not in each] == []
        assert bool(said) == (case["id"] == "bad_utf8_bytes")
        assert content_sha(memory.kind, memory.id, memory.summary, memory.body) == case["sha"]


def test_a_note_that_did_not_change_keeps_its_bytes(case: dict[str, Any]) -> None:
    raw = _raw(case)
    try:
        memory = DIALECT.parse("a.md", raw)
    except NoteBroken:
        with pytest.raises(NoteBroken):
            DIALECT.render(Memory("a", "b", "user", summary="d"), raw)
    else:
        assert DIALECT.render(memory, raw) == raw


@pytest.mark.case("CP25")
def test_the_files_of_a_store_are_its_notes(golden: Path) -> None:
    folder = NoteFolder(str(golden / "store_user"), DIALECT, writable=False)
    notes, unreadable = folder.scan()
    before = json.loads((golden / "store_before.json").read_text("utf-8"))["user"]
    assert set(notes) == {name for name in before if name.endswith(".md")}
    assert unreadable == []
    assert {name: folder.read(name).decode() for name in notes} == {
        name: text for name, text in before.items() if name in notes
    }


def test_every_write_of_an_editor_is_seen(golden: Path, tmp_path: Path) -> None:
    steps = json.loads((golden / "external_writer.json").read_text("utf-8"))
    folder = NoteFolder(str(tmp_path), DIALECT)
    first, second = _note("a", "body a"), _note("b", "body b")
    folder.write("a.md", first, None)
    assert _bodies(folder) == steps[0][1]
    before = folder.scan()[0]
    (tmp_path / "a.md").write_bytes(_note("a", "edited in place"))
    assert folder.scan()[0] != before, "commonplace does not see this one"
    (tmp_path / "b.md").write_bytes(second)
    assert _bodies(folder) == steps[2][1]
    (tmp_path / "b.md").unlink()
    assert _bodies(folder) == steps[3][1]


@pytest.mark.promise(10)
def test_an_edit_loses_neither_unknown_keys_nor_what_was_edited_by_hand(
    golden: Path, tmp_path: Path
) -> None:
    lost = json.loads((golden / "quirks.json").read_text("utf-8"))
    assert "extra" not in lost["unknown_keys_after_link"]
    folder = NoteFolder(str(tmp_path), DIALECT)
    before = b"---\nname: k\nextra: kept # why\ndescription: d\ntype: user\n---\nbody\n"
    folder.write("k.md", before, None)
    linked = DIALECT.parse("k.md", before)._replace(edges=(Edge("related-to", "l"),))
    by_hand = before.replace(b"body", b"a line of mine")
    (tmp_path / "k.md").write_bytes(by_hand)
    with pytest.raises(NoteChanged):
        folder.write("k.md", DIALECT.render(linked, before), before)
    now = DIALECT.parse("k.md", by_hand)._replace(edges=linked.edges)
    folder.write("k.md", DIALECT.render(now, by_hand), by_hand)
    assert folder.read("k.md") == (
        b"---\nname: k\nextra: kept # why\ndescription: d\ntype: user\n"
        b"relations:\n  - to: l\n    type: related-to\n---\na line of mine\n"
    )


def test_a_link_keeps_pinned_and_a_save_keeps_relations(golden: Path) -> None:
    lost = json.loads((golden / "quirk_link_pinned_save_relations.json").read_text("utf-8"))
    assert "pinned" not in lost["after_link_on_pinned"]
    before = b"---\nname: p\ndescription: d p\ntype: user\npinned: true\n---\nb p\n"
    memory = DIALECT.parse("p.md", before)._replace(edges=(Edge("related-to", "q"),))
    linked = DIALECT.render(memory, before)
    assert linked == (
        b"---\nname: p\ndescription: d p\ntype: user\n"
        b"relations:\n  - to: q\n    type: related-to\npinned: true\n---\nb p\n"
    )
    saved = DIALECT.parse("p.md", linked)._replace(summary="d p2")
    assert DIALECT.render(saved, linked) == linked.replace(b"d p", b"d p2")


def test_a_note_whose_file_has_another_name_is_removed_by_its_file(tmp_path: Path) -> None:
    folder = NoteFolder(str(tmp_path), DIALECT)
    content = _note("other_name", "b")
    folder.write("file_one.md", content, None)
    assert DIALECT.parse("file_one.md", content).id == "other_name"
    folder.remove("file_one.md", content)
    assert folder.scan() == ({}, [])


def _raw(case: dict[str, Any]) -> bytes:
    if "raw_hex" in case:
        return bytes.fromhex(case["raw_hex"])
    return str(case.get("raw", "")).encode()


def _is_unreadable(case: dict[str, Any]) -> bool:
    return case["id"] in REFUSED_ANCHORS or case.get("error", "").startswith(UNREADABLE)


def _as_parsed(memory: Memory) -> dict[str, Any]:
    return {
        "name": memory.id,
        "description": memory.summary,
        "type": memory.kind,
        "body": memory.body,
        "relations": [
            {"to": target, "type": name} for name, target in memory.edges if name != "supersedes"
        ],
        "supersedes": [target for name, target in memory.edges if name == "supersedes"],
        "pinned": memory.pinned,
    }


def _note(name: str, body: str) -> bytes:
    return DIALECT.render(Memory(name, body, "user", name, "d"))


def _bodies(folder: NoteFolder) -> list[str]:
    notes, _ = folder.scan()
    read = [folder.dialect.parse(path, folder.read(path)) for path in sorted(notes)]
    return [f"{memory.id}:{memory.body}" for memory in read]
