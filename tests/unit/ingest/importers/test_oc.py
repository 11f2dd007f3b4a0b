"""oc's tree: every field of its notes, and what of it is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camillo.errors import NotFound
from camillo.ingest.importers.note import SUPERSEDED, Found, LeftOut, Link
from camillo.ingest.importers.oc import OcImporter
from camillo.model import Memory, Origin, Place

IMPORTER = OcImporter()


def _tree(folder: Path, pages: dict[str, str]) -> str:
    for name, text in {"ROOT.md": "# ROOT\n", **pages}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return str(folder)


def _found(path: str) -> dict[str, Found]:
    return {each.memory.id: each for each in IMPORTER.read(path) if isinstance(each, Found)}


def test_every_field_of_a_note_is_kept(tmp_path: Path) -> None:
    text = (
        "---\nid: facts/jwt.md\nkind: decision\ntitle: Tokens\nsummary: a day\nhighlight: short\n"
        "category_desc: what holds\ncreated: 1700000000000\nupdated: '1700000500000'\n"
        "load_when: login，401, x\npinned: true\nsupersedes: old.md\nsuperseded_by: prefs/new.md\n"
        "weight: 1.5\n---\n\n# T\nSee [[facts/ttl|ttl]] and [p](../prefs/p.md).\n"
    )
    path = _tree(tmp_path / ".memory", {"facts/jwt.md": text})
    (found,) = _found(path).values()
    assert found.memory == Memory(
        "jwt",
        "# T\nSee [[facts/ttl|ttl]] and [p](../prefs/p.md).\n",
        kind="decision",
        title="Tokens",
        summary="a day",
        place=Place(room="facts"),
        origin=Origin(str(tmp_path / ".memory/facts/jwt.md"), line_start=1, line_end=18),
        load_when=("login", "401", "x"),
        pinned=True,
        created=1_700_000_000_000,
        updated=1_700_000_500_000,
        extra={"frontmatter": {"highlight": "short", "category_desc": "what holds", "weight": 1.5}},
    )
    assert found.known_as == ("facts/jwt", "facts/jwt.md", "jwt")
    assert found.links == (
        Link("facts/old", "supersedes"),
        Link("prefs/new", SUPERSEDED),
        Link("facts/ttl"),
        Link("prefs/p"),
    )


def test_what_is_not_said_follows_from_the_file(tmp_path: Path) -> None:
    path = _tree(tmp_path, {"rules/no-push.md": "```\n# no\n```\n### Never push\n"})
    os.utime(tmp_path / "rules" / "no-push.md", ns=(0, 1_600_000_000_000_000_000))
    rule = _found(path)["no-push"].memory
    assert (rule.title, rule.kind, rule.summary) == ("Never push", "rule", "")
    assert (rule.created, rule.updated) == (1_600_000_000_000, 1_600_000_000_000)


def test_pages_and_what_lies_elsewhere_are_counted(tmp_path: Path) -> None:
    path = _tree(
        tmp_path,
        {
            "facts/a.md": "a", "facts/index.md": "compiled", "loose.md": "top", ".x/a.md": "hidden",
            "facts/sub/deep.md": "deep", ".state.json": "{}", "facts/notes.txt": "t",
        },
    )  # fmt: skip
    assert set(_found(path)) == {"a"}
    reasons = [each.reason for each in IMPORTER.read(path) if isinstance(each, LeftOut)]
    assert {reason: reasons.count(reason) for reason in reasons} == {
        "page": 2, "in no room": 1, "hidden": 2, "no room": 1, "no Markdown": 1
    }  # fmt: skip


def test_one_broken_note_is_told_with_its_line(tmp_path: Path) -> None:
    path = _tree(tmp_path, {"facts/a.md": "---\nkind: [\n---\n", "facts/b.md": "b"})
    failed = [
        each
        for each in IMPORTER.read(path)
        if isinstance(each, LeftOut) and each.status == "failed"
    ]
    assert [each.where.rpartition("facts/")[2] for each in failed] == ["a.md:3"]
    assert set(_found(path)) == {"b"}


def test_what_could_not_be_used_of_a_note_is_told(tmp_path: Path) -> None:
    found = _found(_tree(tmp_path, {"facts/a.md": "---\npinned: maybe\n---\na"}))["a"]
    assert "pinned is 'maybe'" in found.problems[0]
    assert "problems" not in found.memory.extra


def test_a_project_is_read_by_its_folder_of_memory(tmp_path: Path) -> None:
    _tree(tmp_path / ".memory", {"facts/a.md": "a"})
    assert set(_found(str(tmp_path))) == {"a"}
    with pytest.raises(NotFound, match=r"no ROOT.md in .*: give oc's folder"):
        list(IMPORTER.read(str(tmp_path / ".memory" / "facts")))
