"""`import` of agents' memories: oc, OpenClaw and NullClaw, and of what is open in place already."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from camillo import registry
from camillo.model import Memory
from camillo.ops._lookup import find_memory
from camillo.vault import open_vault
from flows.command import Camillo, Ran, files, plant, together
from flows.databases import held_open, make_database

AT = "1767323045"
OC = {
    "ROOT.md": "# ROOT\n",
    "rules/no-push.md": "---\nkind: rule\nsummary: never\nload_when: git，push\nhighlight: stop\n"
    "superseded_by: rules/ask-first.md\n---\n\nNever push.\n",
    "rules/ask-first.md": "---\npinned: true\ncreated: 1700000000000\n---\n# Ask first\nyes\n",
    "facts/tea.md": "---\nsupersedes: coffee.md\n---\noolong\n",
    "facts/coffee.md": "espresso\n",
    "facts/index.md": "compiled\n",
}
CLAW = {
    "MEMORY.md": "# Long-Term Memory\n- **favourite tea**: oolong\n\n## Ada\nlives in Torino\n",
    "memory/2026-01-02.md": "## Heartbeat ~00:04 UTC\nthe heron came\n## Light Sleep\n"
    "<!-- openclaw:dreaming:light:start -->\n- the zebra kept surfacing\n"
    "<!-- openclaw:dreaming:light:end -->\n",
    "memory/.dreams/events.jsonl": "{}\n",
    "SOUL.md": "be kind\n",
    "USER.md": "# Ada\n",
}
ROWS = [
    ("mood", "fine", "daily", "tg:1", AT, AT),
    ("autosave_user_1767323045000000000", "where is the kettle", "conversation", "tg:1", AT, AT),
    ("last_hygiene_at", AT, "core", None, AT, AT),
]


@pytest.fixture
def tree(home: Path) -> Path:
    return plant(home / "app" / ".memory", OC)


@pytest.fixture
def workspace(home: Path) -> Path:
    plant(home / "claw", CLAW)
    make_database(home / "claw" / "memory.db", ROWS)
    return home / "claw"


def note(name: str) -> Memory:
    with open_vault() as vault:
        return find_memory(vault, name)[1]


def statuses(ran: Ran) -> set[str]:
    return {each["status"] for each in ran.results}


class TestOc:
    def test_comes_in_with_its_links_and_routes(self, camillo: Camillo, tree: Path) -> None:
        before = files(tree)
        ran = camillo("import", "oc", tree)
        assert (ran.code, ran.report["stored"], ran.report["loose"]) == (0, 4, 0), ran
        older = note("no_push")
        assert (older.superseded_by, older.load_when) == ("ask_first", ("git", "push"))
        assert (older.kind, older.place.room, older.body) == ("rule", "rules", "Never push.\n")
        assert older.extra["frontmatter"] == {"highlight": "stop"}
        assert (note("ask_first").pinned, note("ask_first").created) == (True, 1_700_000_000_000)
        assert [tuple(edge) for edge in note("tea").edges] == [("supersedes", "coffee")]
        assert files(tree) == before
        assert camillo("show", "no_push").first["superseded_by"] == "ask_first"

    @pytest.mark.promise(24)
    def test_twice_changes_nothing_and_an_edited_note_updates(
        self, camillo: Camillo, tree: Path, user: Path
    ) -> None:
        camillo("import", "oc", tree)
        before = {path: path.read_bytes() for path in user.rglob("*.md")}
        assert statuses(camillo("import", "oc", tree)) == {"deduplicated"}
        assert {path: path.read_bytes() for path in user.rglob("*.md")} == before
        page = tree / "rules" / "no-push.md"
        page.write_text(page.read_text("utf-8").replace("highlight: stop", "highlight: halt"))
        assert camillo("import", "oc", tree).report["changed"] == 1
        assert note("no_push").extra["frontmatter"]["highlight"] == "halt"

    @pytest.mark.promise(12)
    def test_what_was_forgotten_stays_away(self, camillo: Camillo, tree: Path) -> None:
        camillo("import", "oc", tree)
        camillo("forget", "coffee")
        assert camillo("import", "oc", tree).report["forgotten"] == 1


class TestOpenclaw:
    def test_a_workspace_comes_in_with_its_database(
        self, camillo: Camillo, workspace: Path
    ) -> None:
        before = files(workspace)
        ran = camillo("import", "auto", workspace)
        assert (ran.code, ran.report["format"]) == (0, "openclaw"), ran
        assert {each["id"] for each in ran.results} >= {
            "favourite_tea", "ada", "2026_01_02", "user", "mood"
        }  # fmt: skip
        assert ran.report["not_notes"] == {
            "bookkeeping": 1, "dreaming": 1, "instructions": 1, "machine state": 1
        }  # fmt: skip
        assert files(workspace) == before
        assert camillo("search", "heron").first["id"] == "2026_01_02"
        assert camillo("search", "zebra").code == 1
        assert note("favourite_tea").body == "oolong"
        assert note("2026_01_02").happened_at == "2026-01-02"
        told = next(each for each in ran.results if each["id"] == "2026_01_02")
        assert (told["status"], told["reason"]) == ("stored", "1 block of dreaming left out")

    def test_a_message_is_a_row_of_its_session(
        self, camillo: Camillo, workspace: Path, user: Path
    ) -> None:
        camillo("import", "openclaw", workspace)
        (row,) = camillo.listed("--kind", "conversation")
        assert (row["session"], row["text"]) == ("tg:1", "where is the kettle")
        assert row["happened_at"] == "2026-01-02T03:04:05Z"
        assert camillo.texts("kettle", "--session", "tg:1") == ["where is the kettle"]
        assert camillo("search", "kettle", "--session", "tg:2").code == 1
        assert not [path for path in user.rglob("*.md") if b"kettle" in path.read_bytes()]
        assert note("mood").session == "tg:1"

    @pytest.mark.promise(24)
    def test_twice_changes_nothing_and_an_edited_source_updates(
        self, camillo: Camillo, workspace: Path
    ) -> None:
        camillo("import", "openclaw", workspace)
        listed = camillo.listed()
        assert statuses(camillo("import", "openclaw", workspace)) == {"deduplicated"}
        assert camillo.listed() == listed
        memory = workspace / "MEMORY.md"
        memory.write_text(memory.read_text("utf-8").replace("oolong", "matcha") + "## New\nx\n")
        ran = camillo("import", "openclaw", workspace)
        assert (ran.report["changed"], ran.report["stored"]) == (1, 1), ran
        assert note("favourite_tea").body == "matcha"

    @pytest.mark.promise(12)
    def test_what_was_forgotten_stays_away(self, camillo: Camillo, workspace: Path) -> None:
        camillo("import", "openclaw", workspace)
        camillo("forget", *(each["id"] for each in camillo.listed()))
        again = camillo("import", "openclaw", workspace)
        assert statuses(again) == {"forgotten"}
        assert camillo.listed() == []

    def test_a_dry_run_writes_nothing(self, camillo: Camillo, workspace: Path, user: Path) -> None:
        assert statuses(camillo("import", "openclaw", workspace, "--dry-run")) == {"stored"}
        assert not user.exists()


class TestNullclaw:
    def test_a_database_in_use_is_read_and_left_alone(self, camillo: Camillo, home: Path) -> None:
        with held_open(home / "ws" / "memory.db", ROWS) as path:
            before = files(home / "ws")
            assert camillo("import", "auto", path).report["stored"] == 2
            assert statuses(camillo("import", "nullclaw", home / "ws")) == {"deduplicated"}
            assert files(home / "ws") == before

    def test_a_snapshot_and_an_export_say_it_once(self, camillo: Camillo, home: Path) -> None:
        said = {"key": "Tea Time", "content": "at five", "category": "core", "timestamp": AT}
        plant(
            home / "out",
            {
                "MEMORY_SNAPSHOT.json": json.dumps([said, 7]),
                "export.jsonl": json.dumps({"schema_version": 1, "session_id": None, **said}),
            },
        )
        first = camillo("import", "nullclaw", home / "out")
        assert (first.code, first.report["stored"], first.report["failed"]) == (3, 1, 1)
        second = camillo("import", "auto", home / "out" / "export.jsonl")
        assert statuses(second) == {"deduplicated"}
        tea = note("tea_time")
        assert (tea.title, tea.aliases, tea.body) == ("Tea Time", ("Tea Time",), "at five")

    def test_a_file_of_something_else_is_refused(self, camillo: Camillo, home: Path) -> None:
        plant(home, {"a.json": '{"a": 1}'})
        ran = camillo("import", "nullclaw", home / "a.json")
        assert ran.code == 2
        assert "give memory.db, MEMORY_SNAPSHOT.json" in ran.report["error"]["message"]

    @pytest.mark.promise(7)
    def test_two_imports_at_once_leave_each_memory_once(self, camillo: Camillo, home: Path) -> None:
        rows = [(f"autosave_user_17673230{n:02}", f"m{n}", "conversation", "s", AT, AT)
                for n in range(60)]  # fmt: skip
        path = make_database(home / "memory.db", rows)
        camillo("init")
        together([["import", "--json", "nullclaw", path]] * 2)
        assert len(camillo.listed()) == 60

    def test_messages_come_into_any_store(self, camillo: Camillo, workspace: Path) -> None:
        notes = ("--config", "memory.notes=sqlite")
        assert camillo("import", "openclaw", workspace, *notes).report["stored"] == 6
        assert camillo("import", "openclaw", workspace, *notes).report["deduplicated"] == 6


SAMPLES = {
    "basic-memory": {"a.md": "---\ntitle: A\npermalink: a\n---\n", "memory/b.md": "b"},
    "claude-code": {"memory/MEMORY.md": "- [A](a.md)\n", "memory/a.md": "---\ntype: user\n---\n"},
    "commonplace": {
        "a.md": "---\nname: a\ndescription: d\ntype: user\nsupersedes:\n  - b\n---\n",
        "b.md": "---\nname: b\ndescription: d\ntype: user\n---\n",
    },
    "mcp-memory": {"memory.jsonl": '{"type": "entity", "name": "A", "observations": ["x"]}\n'},
    "nullclaw": {"MEMORY_SNAPSHOT.json": '[{"key": "k", "content": "c"}]', "MEMORY.md": "x\n"},
    "obsidian": {".obsidian/app.json": "{}", "a.md": "a", "Daily/2026-01-02.md": "a"},
    "oc": OC,
    "openclaw": CLAW,
}


@pytest.mark.parametrize("wanted", SAMPLES)
def test_each_format_is_recognised_by_itself_alone(home: Path, wanted: str) -> None:
    folder = plant(home / "sample", SAMPLES[wanted])
    importers = {name: registry.load("importer", name)() for name in registry.names("importer")}
    assert set(importers) == set(SAMPLES)
    found = {name for name, each in importers.items() if each.recognises(str(folder))}
    assert found == {wanted}


@pytest.mark.parametrize(
    ("tree", "wanted"),
    [
        ({"MEMORY.md": "x\n", "SOUL.md": "x\n", "USER.md": "x\n"}, "openclaw"),
        ({"MEMORY.md": "x\n", "memory/2026-01-02-1304.md": "x\n"}, "openclaw"),
        ({"MEMORY.md": "- [A](a.md)\n", "a.md": "a\n"}, "claude-code"),
    ],
)
def test_what_looks_alike_is_told_apart(
    camillo: Camillo, home: Path, tree: dict[str, str], wanted: str
) -> None:
    folder = plant(home / "sample", tree)
    ran = camillo("import", "auto", folder, "--dry-run")
    assert ran.report["format"] == wanted, ran


class TestInPlace:
    @pytest.fixture
    def claude(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Claude's memory of the project that the test is in, and of another."""
        project = home / "work" / "shop"
        (project / ".git").mkdir(parents=True)
        monkeypatch.chdir(project)
        projects = home / ".claude" / "projects"
        name = re.sub("[^A-Za-z0-9]", "-", str(project.resolve()))
        plant(
            projects,
            {
                f"{name}/memory/MEMORY.md": "- [A](here.md)\n",
                f"{name}/memory/here.md": "---\ntype: user\n---\nthe heron\n",
                f"{name}/memory/broken.md": "---\nnever closed\n",
                "-other/memory/there.md": "---\ntype: user\n---\nthe otter\n",
            },
        )
        return projects / name / "memory"

    def test_notes_of_an_open_folder_do_not_come_in(self, camillo: Camillo, claude: Path) -> None:
        ran = camillo("import", "claude-code")
        assert (ran.code, [each["id"] for each in ran.results]) == (0, ["there"]), ran
        assert ran.report["not_notes"] == {"index": 1}
        assert ran.report["open_in_place"] == {"project-claude": 2}
        out = camillo.plain("import", "claude-code").out
        assert re.search(r"^open in place:\n +project-claude +2$", out, re.MULTILINE)
        assert len(camillo("search", "heron").results) == 1

    def test_where_all_of_them_are_open_nothing_needs_importing(
        self, camillo: Camillo, claude: Path
    ) -> None:
        (claude.parent.parent / "-other" / "memory" / "there.md").unlink()
        ran = camillo("import", "claude-code")
        assert (ran.code, ran.results) == (0, [])
        assert ran.report["note"] == "nothing needs importing: open in place as project-claude"

    def test_they_go_to_a_root_that_may_be_written(self, camillo: Camillo, claude: Path) -> None:
        ran = camillo("import", "claude-code", "--scope", "project")
        assert (ran.code, ran.report["stored"]) == (0, 1), ran

    def test_a_closed_folder_comes_in(self, camillo: Camillo, claude: Path) -> None:
        ran = camillo("import", "claude-code", "--config", "memory.foreign=commonplace")
        assert {each["status"] for each in ran.results} == {"stored", "failed"}
        assert ran.report["stored"] == 2

    def test_commonplaces_own_folder_needs_no_import(self, camillo: Camillo, home: Path) -> None:
        note = "---\nname: a\ndescription: d\ntype: user\n---\nthe walrus\n"
        plant(home / ".commonplace" / "memory", {"a.md": note})
        ran = camillo("import", "commonplace")
        assert (ran.code, ran.results) == (0, [])
        assert ran.report["note"] == "nothing needs importing: open in place as user-commonplace"
        assert "nothing needs importing" in camillo.plain("import", "commonplace").out
        assert camillo("import", "commonplace", home / ".commonplace" / "memory").code == 4
        closed = camillo("import", "commonplace", "--config", "memory.foreign=claude")
        assert closed.report["stored"] == 1

    def test_the_database_of_an_open_workspace_comes_in(
        self, camillo: Camillo, workspace: Path
    ) -> None:
        camillo("open", workspace, "--form", "nullclaw", "--name", "claw")
        ran = camillo("import", "openclaw", workspace)
        assert {each["source"].rpartition("/")[2] for each in ran.results} == {
            "memory.db:1", "memory.db:2"
        }  # fmt: skip
        assert ran.report["open_in_place"] == {"claw": 4}
        assert len(camillo("search", "heron").results) == 1
        assert camillo("import", "nullclaw", workspace / "memory.db").code == 0
