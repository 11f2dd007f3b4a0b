"""Which program laid a folder out: by what lies in it, never by its name alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.layouts import form_of, template_folders
from flows.command import plant

NOTE = "---\nname: {}\ndescription: d\ntype: user\n---\nx\n"
OC = "---\nid: facts/a.md\nsummary: s\n---\n\nx\n"
CLAUDE = "---\nname: A\ndescription: d\nmetadata:\n  node_type: memory\n  type: user\n---\nx\n"
PLAN = "# Plan\n<!-- auto:begin registry\n<!-- auto:end\n"

TREES: list[tuple[str, dict[str, str]]] = [
    ("oc", {"ROOT.md": PLAN, "facts/a.md": "x\n"}),
    ("oc", {"facts/a.md": OC}),
    ("oc", {"facts/b.md": "x\n", "facts/a.md": OC, "ROOT.md": "# by hand\n"}),
    ("camillo", {"ROOT.md": PLAN, "facts/a.md": NOTE.format("a")}),
    ("camillo", {"ROOT.md": PLAN, "a.md": "x\n", "facts/b.md": "x\n"}),
    ("camillo", {"ROOT.md": "# by hand\n", "facts/a.md": "x\n"}),
    ("commonplace", {"a.md": NOTE.format("a"), "b_2.md": NOTE.format("b_2")}),
    ("commonplace", {"a.md": "x\n", "a.embedding": ""}),
    ("camillo", {"a.md": NOTE.format("a"), "b.md": "x\n"}),
    ("camillo", {"a.md": NOTE.format("a"), "facts/b.md": NOTE.format("b")}),
    ("camillo", {"a.md": NOTE.format("a").replace("type", "created: 2026-01-02\ntype")}),
    ("camillo", {"a.md": NOTE.format("Another name")}),
    ("claude", {"MEMORY.md": "# Memory\n\n- [A](a.md) — hook\n", "a.md": "x\n"}),
    ("claude", {"MEMORY.md": "- [A](a.md)\n", "notes/a.md": "x\n"}),
    ("claude", {"MEMORY.md": "by hand\n", "a.md": "x\n"}),
    ("claude", {"a.md": CLAUDE}),
    ("camillo", {"MEMORY.md": "by hand\n", "notes/a.md": "x\n"}),
    ("nullclaw", {"MEMORY.md": "- **tea**: oolong\n"}),
    ("nullclaw", {"MEMORY.md": "x\n", "memory/vendors.md": "x\n"}),
    ("nullclaw", {"MEMORY.md": "x\n", "SOUL.md": "x\n", "skills/a.md": "x\n"}),
    ("nullclaw", {"okf/a.md": "x\n"}),
    ("nullclaw", {"okf/net/a.md": "x\n"}),
    ("nullclaw", {"memory/2026-01-02.md": "x\n"}),
    ("camillo", {"memory/2026-01-02.md": "x\n", "people/ada.md": "x\n"}),
    ("camillo", {"okf/a.md": "x\n", "people/ada.md": "x\n"}),
    ("camillo", {".obsidian/app.json": "{}", "MEMORY.md": "- [A](a.md)\n", "a.md": "x\n"}),
    ("camillo", {"README.md": "x\n"}),
    ("camillo", {}),
]


@pytest.mark.parametrize(("form", "tree"), TREES)
def test_the_form_is_told_by_what_is_there(tmp_path: Path, form: str, tree: dict[str, str]) -> None:
    (tmp_path / "place").mkdir()
    assert form_of(str(plant(tmp_path / "place", tree))) == form


def test_a_plan_where_oc_keeps_it_needs_no_marks(tmp_path: Path) -> None:
    assert form_of(str(plant(tmp_path / ".memory", {"ROOT.md": "# Plan\n"}))) == "oc"


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"facts/a.md": b"\xff\xfe-\0", "facts/b.md": "---\nnever: closed\n"})
    (tmp_path / "facts" / "c.md").symlink_to("nowhere.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert form_of(str(tmp_path)) == "camillo"


def test_templates_are_those_that_the_vault_names(tmp_path: Path) -> None:
    assert template_folders(str(tmp_path)) == frozenset()
    plant(tmp_path, {".obsidian/templates.json": '{"folder": "Extra/Forms/"}'})
    assert template_folders(str(tmp_path)) == {"templates", "template", "extra/forms"}
    plant(tmp_path, {".obsidian/templates.json": "["})
    assert template_folders(str(tmp_path)) == {"templates", "template"}
