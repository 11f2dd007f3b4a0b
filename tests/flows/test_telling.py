"""What people and programs are told of notes: what there is, how it stands, what a command did."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from camillo.leases import lock_file
from camillo.model import Memory
from camillo.ops.signature import run
from camillo.vault import Vault
from flows.command import Camillo, Ran, plant

NOTES = {"gate": "rule", "door": "feedback", "hinge": "fact"}


@pytest.fixture
def notes(camillo: Camillo, shop: Path) -> dict[str, str]:
    """Three notes of oak, each of its kind, and a drawer."""
    plant(shop, {"beam.md": "A beam of oak.\n"})
    camillo.mine(shop)
    for name, kind in NOTES.items():
        words = ("--name", name, "--title", name.title(), "--kind", kind)
        assert camillo("remember", f"The {name} is of oak.", *words).code == 0
    return NOTES


def ids(ran: Ran) -> set[str]:
    return {str(each["id"]) for each in ran.results}


def by_id(ran: Ran) -> dict[str, dict[str, object]]:
    return {str(each["id"]): each for each in ran.results}


class TestKinds:
    @pytest.mark.parametrize("words", [["list"], ["search", "oak"]])
    def test_note_means_every_kind_of_note(
        self, camillo: Camillo, notes: dict[str, str], words: list[str]
    ) -> None:
        assert ids(camillo(*words, "--kind", "note")) == set(notes)
        assert ids(camillo(*words, "--kind", "rule")) == {"gate"}
        both = camillo(*words, "--kind", "note", "--kind", "drawer")
        assert len(both.results) == 4

    def test_a_kind_of_that_very_name_is_among_them(
        self, camillo: Camillo, notes: dict[str, str]
    ) -> None:
        camillo("remember", "A lamp of oak.", "--name", "lamp", "--kind", "note")
        assert ids(camillo("list", "--kind", "note")) == {*notes, "lamp"}

    def test_a_diary_is_no_note(
        self, camillo: Camillo, notes: dict[str, str], vault: Vault
    ) -> None:
        store = vault.root("user").store
        store.put([Memory("day", "Saw oak.", "diary"), Memory("talk", "Of oak.", "conversation")])
        assert ids(camillo("list", "--kind", "note")) == set(notes)
        assert ids(camillo("search", "oak", "--kind", "note")) == set(notes)

    def test_a_result_is_shown_with_its_kind(self, camillo: Camillo, notes: dict[str, str]) -> None:
        heads = camillo.plain("search", "oak").out.splitlines()
        for name, kind in notes.items():
            [head] = [line for line in heads if f"id {name}" in line]
            assert f"  {kind}  " in head
        assert any("  drawer  id " in line for line in heads)

    @pytest.mark.parametrize("words", [["list"], ["search", "oak"]])
    def test_an_unknown_kind_is_told_those_that_there_are(
        self, camillo: Camillo, notes: dict[str, str], words: list[str]
    ) -> None:
        ran = camillo(*words, "--kind", "ruel")
        assert ran.code == 1
        said = " ".join(ran.report["degraded"])
        assert "there is no kind 'ruel'; did you mean 'rule'?" in said
        assert "drawer, fact, feedback, rule" in said

    def test_an_unknown_wing_or_room_of_a_list_is_named(
        self, camillo: Camillo, notes: dict[str, str]
    ) -> None:
        assert camillo("list", "--room", "x").report["degraded"] == ["there is no room 'x'"]
        assert camillo("list", "--kind", "rule").report["degraded"] == []

    def test_a_list_of_nothing_at_all_says_how_to_begin(self, camillo: Camillo) -> None:
        [said] = camillo("list").report["degraded"]
        assert "camillo remember" in said
        assert camillo("search", "x").report["degraded"][-1] == said
        assert camillo("stats").report["degraded"] == [said]


class TestStanding:
    @pytest.fixture(autouse=True)
    def _replaced(self, camillo: Camillo, notes: dict[str, str]) -> None:
        """The gate replaces the door, and the hinge is put away."""
        assert camillo("supersede", "gate", "door").code == 0
        assert camillo("archive", "hinge").code == 0

    @pytest.mark.parametrize(
        "words", [["list", "--archived"], ["search", "oak", "--archived", "--include-superseded"]]
    )
    def test_what_is_replaced_or_away_is_marked(self, camillo: Camillo, words: list[str]) -> None:
        found = by_id(camillo(*words))
        assert found["door"]["superseded_by"] == "gate"
        assert found["hinge"]["archived"]
        for name in ("gate", "hinge"):
            assert not found[name].get("superseded_by")
        for name in ("gate", "door"):
            assert not found[name].get("archived")
        lines = camillo.plain(*words).out.splitlines()
        assert any("door" in line and "superseded by gate" in line for line in lines)
        assert any("hinge" in line and "archived" in line for line in lines)
        assert sum("superseded" in line for line in lines) == 1
        assert sum("archived" in line for line in lines) == 1

    def test_show_marks_it_too(self, camillo: Camillo) -> None:
        assert camillo("show", "door").first["superseded_by"] == "gate"
        assert "superseded by gate" in camillo.plain("show", "door").out.splitlines()[0]
        assert camillo("show", "hinge").first["archived"]
        assert "archived" in camillo.plain("show", "hinge").out.splitlines()[0]
        assert "archived" not in camillo("show", "gate").first

    def test_what_is_replaced_and_away_is_both(self, camillo: Camillo) -> None:
        camillo("archive", "door")
        assert "archived, superseded by gate" in camillo.plain("show", "door").out
        assert by_id(camillo("list", "--archived"))["door"]["superseded_by"] == "gate"
        camillo("archive", "gate")
        assert "superseded_by" not in camillo("show", "door").first

    def test_two_that_replace_each_other_are_not_marked(self, camillo: Camillo) -> None:
        camillo("supersede", "door", "gate")
        assert not any("superseded_by" in each for each in camillo.listed())

    def test_the_newest_of_a_chain_is_named(self, camillo: Camillo) -> None:
        camillo("remember", "A portal of oak.", "--name", "portal")
        camillo("supersede", "portal", "gate")
        assert camillo("show", "door").first["superseded_by"] == "portal"
        assert by_id(camillo("list"))["door"]["superseded_by"] == "portal"

    def test_also_of_what_was_written_by_hand_just_now(self, camillo: Camillo, user: Path) -> None:
        plant(user, {"arch.md": "---\nname: arch\nsupersedes: [gate]\n---\nAn arch of oak.\n"})
        assert by_id(camillo("list"))["gate"]["superseded_by"] == "arch"

    def test_what_is_replaced_no_more_is_not_marked(self, camillo: Camillo) -> None:
        camillo("supersede", "gate", "door", "--undo")
        assert "superseded_by" not in camillo("show", "door").first
        assert "superseded" not in camillo.plain("list").out


class TestFiles:
    def test_show_prints_the_file_and_the_hash(
        self, camillo: Camillo, notes: dict[str, str], user: Path
    ) -> None:
        whole = camillo("show", "gate").first
        assert (whole["path"], whole["folder"]) == ("gate.md", str(user))
        plain = camillo.plain("show", "gate").out
        assert plain.splitlines()[0].startswith("1. ~/.camillo/gate.md  ")
        digest = whole["hash"][:12]
        assert f"   hash: {digest}\n" in plain
        assert camillo("revise", "gate", "--summary", "s", "--expect", digest).code == 0

    def test_its_summary_aliases_and_routes_are_shown(self, camillo: Camillo, user: Path) -> None:
        head = "description: Why oak\naliases: [portal]\nload_when: [building]"
        plant(user, {"gate.md": f"---\n{head}\n---\nOf oak.\n"})
        plain = camillo.plain("show", "gate").out
        for said in ("summary: Why oak", "aliases: portal", "load when: building"):
            assert f"   {said}\n" in plain

    def test_an_imported_note_is_headed_by_its_own_file(self, camillo: Camillo, home: Path) -> None:
        plant(home / "vault", {".obsidian/app.json": "{}", "old/Gate.md": "The gate is of oak.\n"})
        assert camillo("import", "obsidian", home / "vault").code == 0
        shown = camillo("show", "gate").first
        assert shown["path"] == "old/gate.md"
        assert shown["source"] == str(home / "vault" / "old" / "Gate.md")
        lines = camillo.plain("show", "gate").out.splitlines()
        assert lines[0].startswith("1. ~/.camillo/old/gate.md  ")
        assert "   from: ~/vault/old/Gate.md:1" in lines
        found = camillo.plain("search", "oak").out.splitlines()
        assert found[0].startswith("1. old/gate.md  ")
        assert "   from: ~/vault/old/Gate.md:1" in found
        assert camillo("search", "oak").first["path"] == "old/gate.md"
        assert " old/gate.md " in camillo.plain("list").out

    def test_nor_where_the_text_begins_with_it(self, camillo: Camillo, user: Path) -> None:
        plant(user, {"a.md": "# The gate\nIt is of oak.\n"})
        lines = camillo.plain("search", "gate").out.splitlines()
        assert lines[1:] == ["   The gate", "   It is of oak."]
        assert camillo.plain("show", "a").out.endswith("   # The gate\n   It is of oak.\n\n")

    def test_a_title_is_not_said_twice(self, camillo: Camillo, notes: dict[str, str]) -> None:
        lines = camillo.plain("search", "gate", "-k", "1").out.splitlines()
        assert lines[1:] == ["   Gate", "   The gate is of oak."]

    def test_markdown_of_a_note_has_its_links(
        self, camillo: Camillo, notes: dict[str, str]
    ) -> None:
        camillo("link", "gate", "door", "--relation", "builds-on")
        assert "\n- builds-on: door\n" in camillo.plain("show", "gate", "--md").out


class TestWriting:
    WRITES = (
        (["remember", "Of oak.", "--name", "gate"], 1),
        (["remember", "Of elm.", "--name", "door"], 1),
        (["revise", "gate", "--summary", "s"], 1),
        (["link", "gate", "door"], 0),  # the text is as it was
        (["supersede", "gate", "door"], 0),
        (["unlink", "gate", "door"], 0),
    )

    def test_vectors_that_are_on_their_way_are_not_worth_a_word(
        self, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started: list[object] = []
        monkeypatch.setattr("camillo.lifecycle.background.start", started.append)
        monkeypatch.setenv("CAMILLO_EMBEDDER", "hashing")
        for words, count in self.WRITES:
            started.clear()
            assert camillo(*words).report["degraded"] == []
            assert started == count * [
                ["embed", "--scope", "user", "--embedder", "hashing", "--quiet"]
            ], words

    def test_where_nothing_makes_them_they_are_counted(
        self, vault: Vault, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        vault.settings = vault.settings._replace(
            search=vault.settings.search._replace(embedder="hashing")
        )
        [said] = run(vault, "remember", text="Of oak.", name="gate").degraded
        assert re.fullmatch(r"vectors [12] behind: they come with `camillo embed`", said)

    def test_a_write_starts_them_without_a_look_at_the_model(self, camillo: Camillo) -> None:
        code = (
            "import sys\n"
            "import camillo.lifecycle.background as background\n"
            "started = []\n"
            "background.start = started.append\n"
            "from camillo.surfaces.cli import main\n"
            "code = main(['remember', 'Of oak.', '--name', 'gate', '--embedder', 'light'])\n"
            "heavy = {'numpy', 'camillo.embed.light'} & set(sys.modules)\n"
            "assert not heavy, heavy\n"
            "assert len(started) == 1\n"
            "sys.exit(code)\n"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (0, "")

    def test_archive_says_what_it_did(self, camillo: Camillo, notes: dict[str, str]) -> None:
        def done(*words: str) -> tuple[str, str]:
            said = camillo.plain("archive", "gate", *words).out
            return camillo("show", "gate").first.get("archived", 0) != 0, said

        assert done() == (True, "id      gate\nstatus  archived\n")
        assert done() == (True, "id      gate\nstatus  was archived already\n")
        assert done("--undo") == (False, "id      gate\nstatus  brought back\n")
        assert done("--undo") == (False, "id      gate\nstatus  is not archived\n")
        assert camillo("archive", "gate").first == {
            "id": "gate", "status": "updated", "archived": True, "done": "archived",
        }  # fmt: skip

    def test_forget_says_what_it_did(self, camillo: Camillo, notes: dict[str, str]) -> None:
        assert camillo("forget", "gate", "--dry-run").first["status"] == "would be erased"
        assert camillo("forget", "gate").first["status"] == "erased"

    @pytest.mark.parametrize("command", ["forget", "archive", "show"])
    def test_a_part_of_a_name_is_no_name(
        self, camillo: Camillo, notes: dict[str, str], command: str
    ) -> None:
        camillo("remember", "The gatehouse.", "--name", "gatehouse")
        assert camillo("forget", "gate").code == 0
        ran = camillo(command, "gate")
        assert ran.code == 1
        assert "did you mean 'gatehouse'?" in ran.report["error"]["message"]
        assert len(camillo.listed("--kind", "note")) == 3

    def test_forget_names_the_file_that_goes(self, camillo: Camillo, home: Path) -> None:
        plant(home / "vault", {".obsidian/app.json": "{}", "Gate.md": "Of oak.\n"})
        camillo("import", "obsidian", home / "vault")
        assert camillo("forget", "gate").first["from"] == "gate.md"

    def test_an_undo_of_what_is_not_there_finds_nothing(
        self, camillo: Camillo, notes: dict[str, str]
    ) -> None:
        ran = camillo("supersede", "gate", "door", "--undo")
        assert (ran.code, ran.results) == (1, [])
        assert ran.report["degraded"] == ["'gate' does not supersede 'door'"]

    def test_a_dry_run_of_an_import_says_would(self, camillo: Camillo, home: Path) -> None:
        plant(home / "vault", {".obsidian/app.json": "{}", "Gate.md": "Of oak.\n"})
        words = ("import", "obsidian", home / "vault")
        for option in ([], ["--md"]):
            said = camillo.plain(*words, "--dry-run", *option).out
            assert "would import" in said
            assert "stored" not in said
            assert camillo(*words, "--dry-run").report["dry_run"] is True
        camillo(*words)
        plant(home / "vault", {"Gate.md": "Of elm.\n"})
        said = camillo.plain(*words, "--dry-run").out
        assert "would update" in said
        assert "would import  0" in said
        assert "would" not in camillo.plain(*words).out

    def test_so_does_a_migration(self, camillo: Camillo, home: Path) -> None:
        note = "---\nname: gate\ndescription: d\ntype: user\n---\nOf oak.\n"
        plant(home / ".claude" / "projects", {"-p/memory/gate.md": note})
        said = camillo.plain("migrate", "--from", "claude-code", "--dry-run").out
        assert "would import" in said
        assert "stored" not in said
        assert "imported" not in said


class TestStats:
    def test_what_has_no_room_is_named(self, camillo: Camillo, notes: dict[str, str]) -> None:
        camillo("remember", "A lamp.", "--room", "light")
        counted = camillo("stats").first
        assert counted["rooms"] == {"general": 1, "light": 1}
        assert (counted["without_room"], counted["without_wing"]) == (3, 4)
        plain = camillo.plain("stats").out
        assert "without room" in plain
        assert all(line.split()[1:] for line in plain.splitlines() if line.startswith("  "))

    def test_vectors_that_are_behind_are_counted(
        self, camillo: Camillo, notes: dict[str, str]
    ) -> None:
        assert "vectors_behind" not in camillo("stats").first
        ran = camillo("stats", "--embedder", "hashing")
        left = ran.first["vectors_behind"]
        assert left > 3
        assert ran.report["degraded"] == [
            f"user: vectors {left} behind: `camillo embed` makes them"
        ]
        camillo("embed", "--embedder", "hashing")
        ran = camillo("stats", "--embedder", "hashing")
        assert (ran.first["vectors_behind"], ran.report["degraded"]) == (0, [])


class TestEmbed:
    def test_beside_a_running_one_it_says_so_and_nothing_is_wrong(
        self, camillo: Camillo, notes: dict[str, str], user: Path
    ) -> None:
        with lock_file(str(user / "index" / "vectors.lock")) as mine:
            assert mine
            ran = camillo("embed", "--embedder", "hashing")
            left = ran.first["behind"]
            assert (ran.code, left > 3) == (0, True)
            said = f"user: another process is embedding: vectors {left} behind"
            assert ran.report["degraded"] == [said]
            assert f"note: {said}" in camillo.plain("embed", "--embedder", "hashing").err
        assert camillo("embed", "--embedder", "hashing").first["behind"] == 0

    def test_help_says_so(self, camillo: Camillo) -> None:
        assert "another process" in camillo.plain("embed", "--help").out


class TestGraph:
    @pytest.fixture(autouse=True)
    def _linked(self, camillo: Camillo, notes: dict[str, str]) -> None:
        for ends in (("gate", "door"), ("door", "hinge")):
            assert camillo("link", *ends).code == 0

    def test_a_fence_is_for_markdown_only(self, camillo: Camillo) -> None:
        plain = camillo.plain("graph", "gate").out
        assert plain.startswith("flowchart LR\n")
        assert "```" not in plain
        assert camillo("graph", "gate").report["drawing"] == plain
        assert camillo.plain("graph", "gate", "--md").out == f"```mermaid\n{plain}```\n"

    @pytest.mark.parametrize(
        ("form", "language", "first"),
        [("dot", "dot", "digraph"), ("json", "json", "{"), ("svg", "svg", "<svg")],
    )
    def test_any_form_has_its_fence(
        self, camillo: Camillo, form: str, language: str, first: str
    ) -> None:
        plain = camillo.plain("graph", "gate", "--form", form).out
        assert plain.startswith(first)
        fenced = camillo.plain("graph", "gate", "--form", form, "--md").out
        assert fenced == f"```{language}\n{plain}```\n"

    def test_a_way_against_the_arrows_is_hinted_at(self, camillo: Camillo) -> None:
        for words in (("hinge", "gate"), ("gate", "hinge", "--direction", "in")):
            ran = camillo("path", *words)
            assert (ran.code, ran.report["reason"]) == (1, "unreachable")
            [said] = ran.report["degraded"]
            assert "--direction both looks against the arrows too" in said
            assert f"note: {said}" in camillo.plain("path", *words).err
            assert camillo("path", *words, "--direction", "both").code == 0

    def test_where_there_is_none_either_way_nothing_is_hinted_at(self, camillo: Camillo) -> None:
        camillo("remember", "Alone.", "--name", "lamp")
        assert camillo("path", "gate", "lamp").report["degraded"] == []
        assert camillo("path", "gate", "lamp", "--direction", "both").report["degraded"] == []

    def test_of_what_is_archived_it_is_said(self, camillo: Camillo) -> None:
        camillo("archive", "gate")
        for words in (["graph", "gate"], ["path", "gate", "door"], ["path", "door", "gate"]):
            ran = camillo(*words)
            assert ran.code == 1
            assert "'gate' is archived" in ran.report["error"]["message"]
        assert "no memory 'x'" in camillo("path", "door", "x").report["error"]["message"]

    def test_a_way_that_is_too_long_says_how_long(self, camillo: Camillo) -> None:
        ran = camillo("path", "gate", "hinge", "--depth", "1")
        assert ran.report["reason"] == "depth-exceeded"
        assert ran.report["degraded"] == ["the shortest way has 2 links: --depth 2 shows it"]
        assert camillo("path", "gate", "hinge", "--depth", "2").code == 0

    def test_from_a_note_to_itself_there_is_nothing_to_walk(self, camillo: Camillo) -> None:
        ran = camillo("path", "gate", "gate")
        assert (ran.code, ran.results) == (0, [])
        assert ran.report["degraded"] == ["'gate' is where it starts: no link is needed"]


class TestMisspelt:
    @pytest.mark.promise(25)
    @pytest.mark.parametrize(
        ("words", "meant"),
        [(["serch", "oak"], "'search'"), (["bench", "spead"], "'bench speed'"),
         (["lsit"], "'list'"), (["imprt", "auto"], "'import'")],
    )  # fmt: skip
    def test_a_command_is_told_the_nearest_and_no_others(
        self, camillo: Camillo, words: list[str], meant: str
    ) -> None:
        ran = camillo.plain(*words)
        assert ran.code == 2
        assert f"did you mean {meant}" in ran.err
        assert f"{meant}? `camillo" in ran.err
        assert "--help` lists them" in ran.err
        assert "supersede" not in ran.err
        assert len(ran.err.splitlines()) == 1

    def test_one_that_is_like_none_is_told_where_they_are(self, camillo: Camillo) -> None:
        ran = camillo.plain("xyzzy")
        assert (ran.code, "did you mean" in ran.err) == (2, False)
        assert "camillo --help" in ran.err
        assert json.loads(camillo("xyzzy").out)["error"]["code"] == "unknown-name"


def test_the_words_of_a_note_are_found_without_loading_more(
    camillo: Camillo, notes: dict[str, str]
) -> None:
    code = (
        "import sys\n"
        "from camillo.surfaces.cli import main\n"
        "code = main(['search', 'oak', '--kind', 'note', '--archived', '--include-superseded'])\n"
        "heavy = {'numpy', 'yaml', 'pathspec'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "sys.exit(code)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
