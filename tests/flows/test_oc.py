"""A tree of oc's memory plugin, opened in place: notes by their paths, pages in step with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.command import Camillo, plant

RULE = "---\nid: rules/push.md\nkind: rule\nsummary: \nhighlight: ''\n---\n\nNever force push.\n"


@pytest.fixture
def tree(home: Path, monkeypatch: pytest.MonkeyPatch, camillo: Camillo) -> Path:
    """A project's tree, with pages in English."""
    project = home / "work" / "shop"
    (project / ".git").mkdir(parents=True)
    monkeypatch.chdir(project)
    made = camillo(
        "init", "--scope", "project", "--form", "oc", "--rooms", "rules", "--language", "en"
    )
    assert made.code == 0
    return project / ".memory"


def test_init_makes_what_oc_looks_for(tree: Path) -> None:
    assert (tree / "rules").is_dir()
    root = (tree / "ROOT.md").read_text()
    assert root.count("<!-- auto:begin ") == root.count("<!-- auto:end -->") == 2


def test_a_note_is_found_by_its_name_where_one_room_has_it(tree: Path, camillo: Camillo) -> None:
    plant(tree, {"rules/push.md": RULE, "facts/push.md": "A push takes a minute.\n"})
    both = camillo("show", "push")
    assert both.code == 2
    assert "facts/push" in both.err
    assert "rules/push" in both.err
    assert camillo("show", "rules/push").first["kind"] == "rule"
    (tree / "facts" / "push.md").unlink()
    assert camillo("show", "push").first["id"] == "rules/push"


def test_remember_goes_to_the_room_that_its_kind_says(tree: Path, camillo: Camillo) -> None:
    made = [
        camillo("remember", f"a {kind}", "--name", kind, "--kind", kind, "--scope", "project")
        for kind in ("rule", "feedback", "fact")
    ]
    assert [each.first["id"] for each in made] == ["rules/rule", "prefs/feedback", "facts/fact"]
    again = camillo("remember", "New.", "--name", "rules/rule", "--scope", "project")
    assert again.first["status"] == "updated"
    assert sorted(path.name for path in (tree / "rules").iterdir()) == ["index.md", "rule.md"]


def test_pages_follow_each_write(tree: Path, camillo: Camillo) -> None:
    camillo("remember", "We use SQLite.", "--name", "db", "--room", "decisions", "--scope",
            "project", "--summary", "SQLite it is", "--load-when", "storage")  # fmt: skip
    index = tree / "decisions" / "index.md"
    assert "| db.md | SQLite it is | — |" in index.read_text()
    root = (tree / "ROOT.md").read_text()
    assert "| decisions/ | SQLite it is | 1 |" in root
    assert "| storage | decisions/db.md | fact |" in root
    camillo("revise", "db", "--summary", "SQLite stays")
    assert "| db.md | SQLite stays | — |" in index.read_text()
    assert camillo("forget", "db").code == 0
    assert not index.exists()
    assert "SQLite" not in (tree / "ROOT.md").read_text()


@pytest.mark.case("OC28")
def test_a_note_that_was_replaced_says_so_itself(tree: Path, camillo: Camillo) -> None:
    for name in ("old", "new"):
        camillo("remember", f"{name} way", "--name", name, "--room", "facts", "--scope", "project",
                "--load-when", "asked")  # fmt: skip
    camillo("supersede", "new", "old")
    assert "superseded_by: facts/new.md\n" in (tree / "facts" / "old.md").read_text()
    assert "supersedes: facts/old.md\n" in (tree / "facts" / "new.md").read_text()
    assert "| old.md |" in (tree / "facts" / "index.md").read_text()  # the row stays, for audit
    assert "facts/old.md" not in (tree / "ROOT.md").read_text()
    camillo("supersede", "new", "old", "--undo")
    assert "supersede" not in (tree / "facts" / "old.md").read_text()
    assert "supersede" not in (tree / "facts" / "new.md").read_text()


def test_a_tree_without_a_plan_is_not_ours(
    home: Path, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(home / "work" / "x", {".memory/facts/a.md": "walrus\n"})
    monkeypatch.chdir(home / "work" / "x")
    assert camillo("search", "walrus").code == 1


def test_hand_edits_stay_and_pages_can_be_switched_off(tree: Path, camillo: Camillo) -> None:
    root = tree / "ROOT.md"
    root.write_text(root.read_text() + "\nmine, at the end\n")
    camillo("remember", "x", "--name", "a", "--scope", "project",
            "--config", "outline.compile=off")  # fmt: skip
    assert "facts/" not in root.read_text()
    camillo("remember", "y", "--name", "b", "--scope", "project")
    assert "| facts/ | x | 2 |" in root.read_text()
    assert root.read_text().endswith("\nmine, at the end\n")


def test_shown_notes_are_counted_where_oc_counts(tree: Path, camillo: Camillo) -> None:
    plant(tree, {"facts/a.md": "walrus\n"})
    camillo("show", "a")
    camillo("show", "a")
    shown = camillo("show", "a").first
    assert shown["hits"] == 2
    assert '"facts/a.md"' in (tree / ".state.json").read_text()


def test_of_equal_hits_the_projects_comes_first(
    home: Path, tree: Path, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(home / "oc"))
    own = home / "oc" / "memory"
    for project, user in (("aaa", "bbb"), ("bbb", "aaa")):
        plant(tree, {f"facts/{project}.md": "the walrus sleeps\n"})
        plant(own, {"ROOT.md": "# plan\n", f"facts/{user}.md": "the walrus sleeps\n"})
        found = camillo("search", "walrus", "--json").results
        assert found[0]["score"] == found[-1]["score"]
        assert found[0]["scope"] == "project"
        for folder, name in ((tree, project), (own, user)):
            (folder / "facts" / f"{name}.md").unlink()


def test_the_text_of_a_note_is_never_cut(tree: Path, camillo: Camillo) -> None:
    body = "".join(f"Line {n} about the walrus and its friends.\n" for n in range(200))
    plant(tree, {"facts/long.md": body})
    assert camillo("search", "walrus", "--json").results[0]["text"] == body
    assert camillo("search", "walrus", "--full").out.count("Line ") == 200
