"""`migrate` does what commonplace's own command does, and loses nothing of a note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flows.command import Camillo, files, plant

HASHING = ("--embedder", "hashing")
PINNED = (
    "---\nname: a # its name\ndescription: d\ntype: user\nowner: ada\nrelations:\n"
    "  - to: ghost\n    type: related-to\n  - to: b\n    type: builds-on # firmly\n"
    "supersedes:\n  - phantom\npinned: true\n---\nbody [[ghost]]\n"
)


@pytest.fixture
def folder(home: Path) -> Path:
    return plant(
        home / "mig",
        {
            "a.md": PINNED,
            "b.md": "---\nname: b\ndescription: d\ntype: user\n---\nb\n",
            "bad.md": "no frontmatter\n",
            "gone.embedding": b"CMEM",
        },
    )


def golden_case(golden: Path, label: str) -> dict[str, Any]:
    cases = json.loads((golden / "cli.json").read_text("utf-8"))
    return next(case for case in cases if case["label"] == label)


@pytest.mark.case("CP46")
@pytest.mark.parametrize("label", ["scan_dry_prune", "scan_prune"])
def test_a_folder_is_rebuilt_and_pruned(
    camillo: Camillo, golden: Path, folder: Path, label: str
) -> None:
    wanted, dry = golden_case(golden, label), label == "scan_dry_prune"
    before = files(folder)
    ran = camillo("migrate", folder, "--prune-dangling", *HASHING, *(["--dry-run"] if dry else []))
    assert ran.code == wanted["exit"]
    counts = ran.first
    assert f"loaded:       {counts['loaded']} unchanged" in wanted["stdout"]
    assert f"embedded:     {counts['embedded']} new sidecars" in wanted["stdout"]
    assert f"re-embedded:  {counts['re_embedded']} stale sidecars" in wanted["stdout"]
    assert f"orphaned:     {counts['orphaned']} sidecar" in wanted["stdout"]
    assert f"skipped:      {len(ran.report['skipped'])} file" in wanted["stdout"]
    assert f"pruned:       {counts['pruned']} dangling edges" in wanted["stdout"]
    assert ran.report["pruned"] == [{"id": "a", "links": 2}]
    assert (files(folder) == before) is dry


@pytest.mark.case("CP46")
def test_pruning_keeps_everything_else_of_a_note(camillo: Camillo, folder: Path) -> None:
    camillo("migrate", folder, "--prune-dangling", *HASHING)
    text = (folder / "a.md").read_text("utf-8")
    assert text == (
        "---\nname: a # its name\ndescription: d\ntype: user\nowner: ada\nrelations:\n"
        "  - to: b\n    type: builds-on # firmly\npinned: true\n---\nbody [[ghost]]\n"
    )
    assert sorted(path.name for path in folder.iterdir()) == [
        "a.embedding", "a.md", "b.embedding", "b.md", "bad.md"
    ]  # fmt: skip


def test_again_everything_is_fresh(camillo: Camillo, golden: Path, folder: Path) -> None:
    camillo("migrate", folder, "--prune-dangling", *HASHING)
    before = files(folder)
    ran = camillo("migrate", folder, *HASHING)
    wanted = golden_case(golden, "scan_again")["stdout"]
    assert f"loaded:       {ran.first['loaded']} unchanged" in wanted
    assert (ran.first["embedded"], ran.first["re_embedded"], ran.first["orphaned"]) == (0, 0, 0)
    assert files(folder) == before


def test_a_link_to_a_broken_note_is_not_dangling(camillo: Camillo, home: Path) -> None:
    folder = plant(
        home / "mig",
        {"a.md": PINNED.replace("ghost", "bad"), "bad.md": "---\nname: [\n---\n"},
    )
    report = camillo("migrate", folder, "--prune-dangling", "--dry-run", *HASHING).report
    assert report["pruned"] == [{"id": "a", "links": 2}]  # b and phantom


def test_without_an_embedder_it_prunes_and_says_so(camillo: Camillo, folder: Path) -> None:
    ran = camillo("migrate", folder, "--prune-dangling")
    assert ran.code == 3
    assert "no embedder" in ran.report["degraded"][0]
    assert "ghost\n    type" not in (folder / "a.md").read_text("utf-8")


class TestFolders:
    """It writes sidecars and takes out links: only where commonplace itself would."""

    PLAIN = "---\nname: a\ndescription: d\ntype: user\nsupersedes:\n  - gone\n---\nx\n"

    def refused(self, camillo: Camillo, folder: Path, *words: str) -> str:
        """The error; nothing is written."""
        before = files(folder)
        for more in ([], ["--prune-dangling"], ["--prune-dangling", "--dry-run"]):
            ran = camillo("migrate", folder, *more, *words, *HASHING)
            assert (ran.code, ran.report["error"]["code"]) == (4, "refused")
        assert files(folder) == before
        message: str = ran.report["error"]["message"]
        return message

    def test_a_root_that_is_only_read_is_refused(self, camillo: Camillo, home: Path) -> None:
        folder = plant(home / "theirs", {"a.md": self.PLAIN})
        assert camillo("open", folder).first["form"] == "commonplace"
        assert f"camillo open {folder} --write" in self.refused(camillo, folder)
        assert camillo("open", folder, "--write").code == 0
        assert camillo("migrate", folder, "--prune-dangling", *HASHING).first["pruned"] == 1

    def test_one_that_is_open_in_another_project_is_refused(
        self, camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = plant(home / "theirs", {"a.md": self.PLAIN})
        (home / "p" / ".git").mkdir(parents=True)
        monkeypatch.chdir(home / "p")
        camillo("open", folder, "--scope", "project")
        monkeypatch.chdir(home / "work")
        self.refused(camillo, folder)

    def test_a_folder_in_a_root_is_refused(self, camillo: Camillo, user: Path) -> None:
        plant(user, {"facts/a.md": self.PLAIN})
        self.refused(camillo, user / "facts")

    def test_what_claude_code_remembers_is_refused(self, camillo: Camillo, home: Path) -> None:
        folder = plant(home / ".claude" / "projects" / "-p" / "memory", {"a.md": self.PLAIN})
        assert "--from claude-code" in self.refused(camillo, folder)

    @pytest.mark.parametrize(
        "tree",
        [
            {"ROOT.md": "# Plan\n", "facts/w.md": "---\nid: facts/w.md\n---\nx\n"},
            {"MEMORY.md": "- [A](a.md) — d\n", "a.md": PLAIN},
            {"SOUL.md": "s", "MEMORY.md": "m", "memory/2026-05-02.md": "x"},
            {".obsidian/app.json": "{}", "a.md": PLAIN},
            {"a.md": "# Plain\n", "b.md": "words\n"},
            {"a.md": PLAIN, "b.md": "---\ntags: [x]\n---\nwords\n"},
            {"a.md": PLAIN.replace("---\nx", "created: 2026-01-02\n---\nx")},
            {"a.md": PLAIN, "room/b.md": PLAIN},
        ],
        ids=["oc", "claude", "nullclaw", "obsidian", "plain", "other keys", "camillo", "rooms"],
    )
    def test_a_folder_of_another_form_is_refused_with_the_way_out(
        self, camillo: Camillo, home: Path, tree: dict[str, str]
    ) -> None:
        message = self.refused(camillo, plant(home / "other", tree))
        assert "camillo open" in message
        assert "--form commonplace" in message

    @pytest.mark.parametrize(
        "tree",
        [{}, {"a.md": PLAIN.replace("name: a", "name: other")}, {"a.md": PLAIN, "b.md": "---\n"}],
        ids=["empty", "another name", "a broken one"],
    )
    def test_commonplaces_own_are_taken(
        self, camillo: Camillo, home: Path, tree: dict[str, str]
    ) -> None:
        folder = home / "mig"
        folder.mkdir()
        plant(folder, tree)
        ran = camillo("migrate", folder, *HASHING)
        assert (ran.code, ran.first["embedded"]) == (0, min(len(tree), 1))


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("scan_missing", ["nope"]),
        ("bad_flag", ["--frob"]),
        ("from_no_value", ["--from"]),
        ("from_plus_dir", ["--from", "claude-code", "x"]),
        ("from_prune", ["--from", "claude-code", "--prune-dangling"]),
        ("detect_empty", []),
    ],
)
def test_it_ends_as_commonplace_does(
    camillo: Camillo, golden: Path, label: str, words: list[str]
) -> None:
    ran = camillo.plain("migrate", *words)
    assert ran.code == golden_case(golden, label)["exit"], ran


def claude(home: Path) -> None:
    plant(
        home / ".claude" / "projects",
        {
            "-p1/memory/MEMORY.md": "",
            "-p1/memory/style.md": "---\nname: style\ndescription: d\ntype: user\n---\none\n",
            "-p1/memory/exists.md": "---\nname: exists\ndescription: d\ntype: user\n---\ntheirs\n",
            "-p2/memory/style.md": "---\nname: style\ndescription: d\ntype: user\n---\ntwo\n",
        },
    )


def test_without_words_it_says_what_could_be_imported(camillo: Camillo, home: Path) -> None:
    claude(home)
    ran = camillo("migrate")
    assert ran.code == 0
    assert [(each["source"], each["files"]) for each in ran.results] == [
        ("claude-code", 2), ("claude-code", 1)
    ]  # fmt: skip
    assert "--from claude-code" in ran.report["next"]


@pytest.mark.case("CP47")
def test_a_name_that_is_taken_is_skipped_with_its_reason(camillo: Camillo, home: Path) -> None:
    claude(home)
    camillo("remember", "ours", "--name", "exists")
    ran = camillo("migrate", "--from", "claude-code", "--auto")
    assert ran.code == 0
    assert ran.report["counts"]["imported"] == 1
    assert [each["reason"] for each in ran.report["skipped"]] == [
        "another note has the name 'exists'", "another note has the name 'style'"
    ]  # fmt: skip
    again = camillo("migrate", "--from", "claude-code").report["counts"]
    assert (again["imported"], again["deduplicated"]) == (0, 1)


@pytest.mark.case("CP47")
def test_a_person_with_only_commonplace_keeps_it(camillo: Camillo, home: Path) -> None:
    claude(home)
    store = home / ".commonplace" / "memory"
    store.mkdir(parents=True)
    assert camillo("migrate", "--from", "claude-code").report["counts"]["imported"] == 2
    assert (store / "style.md").read_text("utf-8") == (
        "---\nname: style\ndescription: d\ntype: user\n---\none\n"
    )
    assert camillo("migrate", "--from", "claude-code").report["counts"]["deduplicated"] == 2
