"""Claude Code's memory folders: where they are, and pages that are no YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.ingest.importers.claude_code import ClaudeCodeImporter, sources
from camillo.ingest.importers.note import Found, LeftOut

IMPORTER = ClaudeCodeImporter()


def _folder(top: Path, project: str, **pages: str) -> Path:
    folder = top / project / "memory"
    folder.mkdir(parents=True)
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


def _read(path: Path) -> list[Found | LeftOut]:
    return list(IMPORTER.read(str(path)))


def test_a_memory_folder_is_found_from_above(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "-p", a="one")
    _folder(tmp_path, "-empty")
    (tmp_path / "-link").symlink_to("-p")
    wanted = [(str(folder), 1)]
    for start in (tmp_path, tmp_path / "-p", folder):
        assert [tuple(each) for each in sources(str(start))] == wanted, start


def test_a_project_is_named_for_its_folder_where_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "my-shop").mkdir()
    coded = str(tmp_path / "my-shop").replace("/", "-")
    there = _read(_folder(tmp_path / "projects", coded, a="one"))[0]
    gone = _read(_folder(tmp_path / "projects", "-no-such-shop", a="one"))[0]
    assert isinstance(there, Found)
    assert isinstance(gone, Found)
    assert there.memory.place.wing == "my-shop"
    assert gone.memory.place.wing == "no-such-shop"


@pytest.mark.case("CP47")
def test_what_is_no_yaml_is_read_line_by_line(tmp_path: Path) -> None:
    text = (
        "---\nname: \"style: guide\"\ndescription: tabs: never\nmetadata: \n  type: user\n"
        "  session: '1: 2'\n---\nbody\n"
    )  # fmt: skip
    found = _read(_folder(tmp_path, "-p", a=text))[0]
    assert isinstance(found, Found)
    memory = found.memory
    assert (memory.id, memory.summary, memory.kind) == ("style: guide", "tabs: never", "user")
    assert memory.body == "body\n"


@pytest.mark.parametrize(
    "text", ["---\nname: [a\n\ttype: user\n---\n", "---\nname: never closed\n"]
)
def test_what_cannot_be_read_at_all_is_told(tmp_path: Path, text: str) -> None:
    broken = _read(_folder(tmp_path, "-p", a=text))[0]
    assert isinstance(broken, LeftOut)
    assert broken.status == "failed"
    assert broken.where.rpartition(":")[2].isdigit()


def test_an_unknown_type_is_told(tmp_path: Path) -> None:
    found = _read(_folder(tmp_path, "-p", a="---\nname: a\ntype: plan\n---\n"))[0]
    assert isinstance(found, Found)
    assert found.memory.kind == "plan"
    assert "'plan' is none of user" in found.problems[0]


def test_a_folder_of_commonplace_is_not_taken_for_one(tmp_path: Path) -> None:
    note = "---\nname: a\ndescription: d\ntype: user\nrelations:\n  - to: b\n---\n"
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "a.md").write_text(note, "utf-8")
    assert not IMPORTER.recognises(str(folder))
    (folder / "MEMORY.md").touch()
    assert IMPORTER.recognises(str(folder))
