"""Links to notes that are not there, taken out of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo import registry
from camillo.ingest.prune import prune

HEAD = "---\nname: a\ndescription: d\ntype: user\n"


@pytest.mark.case("CP46")
def test_only_the_lines_of_the_links_go(tmp_path: Path) -> None:
    text = (
        f"{HEAD}# a comment\nrelations:\n  - {{to: gone, type: related-to}}\n"
        "  - to: a2\n    type: builds-on\npinned: true\nown: 1\n---\r\nbody\r\n"
    )
    (tmp_path / "a.md").write_bytes(text.encode())
    (tmp_path / "a2.md").write_text(HEAD.replace("name: a", "name: a2") + "---\n", "utf-8")
    folder = registry.open_note_folder("commonplace", str(tmp_path), True)
    assert prune(folder, dry_run=True).files == {"a": 1}
    assert (tmp_path / "a.md").read_bytes() == text.encode()
    assert prune(folder).files == {"a": 1}
    assert (tmp_path / "a.md").read_bytes() == text.replace(
        "  - {to: gone, type: related-to}\n", ""
    ).encode()
    assert prune(folder).files == {}


def test_entries_that_say_nothing_stay(tmp_path: Path) -> None:
    text = f"{HEAD}relations:\n  - to: gone\n    type: likes\nsupersedes:\n  - gone\n---\n"
    (tmp_path / "a.md").write_text(text, "utf-8")
    folder = registry.open_note_folder("commonplace", str(tmp_path), True)
    assert prune(folder).files == {"a": 1}
    assert (tmp_path / "a.md").read_text("utf-8") == text.replace("supersedes:\n  - gone\n", "")


def test_a_file_that_cannot_be_edited_is_told(tmp_path: Path) -> None:
    text = "---\n{name: a, description: d, type: user, supersedes: [gone]}\n---\n"
    (tmp_path / "a.md").write_text(text, "utf-8")
    folder = registry.open_note_folder("commonplace", str(tmp_path), True)
    pruned = prune(folder)
    assert pruned.files == {}
    assert "braces" in pruned.failed["a.md"]
    assert (tmp_path / "a.md").read_text("utf-8") == text
