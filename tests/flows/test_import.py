"""`import`: notes of other tools come in whole, once, and stay as they were in their source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camillo.model import Memory
from camillo.ops._lookup import find_memory
from camillo.vault import open_vault
from flows.command import Camillo, Ran, files, plant, together

VAULT = {
    ".obsidian/app.json": "{}",
    ".obsidian/templates.json": '{"folder": "Meta/Blanks"}',
    "Meta/Blanks/Meeting.md": "---\ndate: {{date}}\n---\n",
    "Templates/T.md": "a template",
    "Theatre.md": "---\naliases: [The Wooden One]\ntags: [memory]\nup: '[[Camillo]]'\n---\n"
    "Seven gates, see [[Gate Keeper|him]].\n",
    "People/Camillo.md": "Built the [[The Wooden One#Gates]], not `[[Nobody]]`. #person\n",
    "People/Gate Keeper.md": "Guards ![[plan.png]] and [[Lost Page]].\n",
    "plan.png": b"\x89PNG",
    "board.canvas": "{}",
}  # fmt: skip


@pytest.fixture
def obsidian(home: Path) -> Path:
    return plant(home / "vault", VAULT)


def statuses(ran: Ran) -> dict[str, str]:
    return {Path(each["source"]).stem: each["status"] for each in ran.results}


def note(name: str) -> Memory:
    with open_vault() as vault:
        return find_memory(vault, name)[1]


def edges(name: str) -> set[tuple[str, ...]]:
    return {tuple(edge) for edge in note(name).edges}


def test_an_obsidian_vault_comes_in_with_its_links(camillo: Camillo, obsidian: Path) -> None:
    ran = camillo("import", "obsidian", obsidian)
    assert ran.code == 0, ran
    assert (ran.report["stored"], ran.report["failed"]) == (3, 0)
    assert edges("theatre") == {("child-of", "camillo"), ("related-to", "gate_keeper")}
    assert edges("camillo") == {("related-to", "theatre")}
    theatre = note("theatre")
    assert (theatre.aliases, theatre.tags) == (("The Wooden One",), ("memory",))
    assert theatre.body == "Seven gates, see [[Gate Keeper|him]].\n"
    assert note("camillo").place.room == "people"
    assert note("camillo").tags == ("person",)


def test_what_is_no_note_is_counted(camillo: Camillo, obsidian: Path) -> None:
    report = camillo("import", "obsidian", obsidian).report
    assert report["not_notes"] == {"attachment": 2, "hidden": 1, "templates": 2}
    assert report["loose"] == 1
    assert report["loose_links"][0].endswith("Gate Keeper.md: Lost Page")


@pytest.mark.promise(24)
def test_twice_changes_nothing(camillo: Camillo, obsidian: Path, user: Path) -> None:
    camillo("import", "obsidian", obsidian)
    notes = {path: path.read_bytes() for path in user.rglob("*.md")}
    ran = camillo("import", "obsidian", obsidian)
    assert set(statuses(ran).values()) == {"deduplicated"}
    assert {path: path.read_bytes() for path in user.rglob("*.md")} == notes
    assert len(camillo.listed()) == 3


def test_nothing_of_the_source_is_changed(camillo: Camillo, obsidian: Path) -> None:
    before = files(obsidian)
    camillo("import", "obsidian", obsidian)
    assert files(obsidian) == before


def test_a_dry_run_writes_nothing(camillo: Camillo, obsidian: Path, user: Path) -> None:
    ran = camillo("import", "obsidian", obsidian, "--dry-run")
    assert set(statuses(ran).values()) == {"stored"}
    assert not user.exists()
    camillo("import", "obsidian", obsidian)
    again = camillo("import", "obsidian", obsidian, "--dry-run")
    assert set(statuses(again).values()) == {"deduplicated"}


def test_a_changed_source_updates_its_note(camillo: Camillo, obsidian: Path) -> None:
    camillo("import", "obsidian", obsidian)
    (obsidian / "Theatre.md").write_text("Eight gates.\n", "utf-8")
    ran = camillo("import", "obsidian", obsidian)
    assert statuses(ran)["Theatre"] == "updated"
    assert note("theatre").body == "Eight gates.\n"
    assert edges("theatre") == set()


def test_what_was_changed_here_is_not_overwritten(
    camillo: Camillo, obsidian: Path, user: Path
) -> None:
    camillo("import", "obsidian", obsidian)
    kept = user / "theatre.md"
    kept.write_text(kept.read_text("utf-8") + "And a stage.\n", "utf-8")
    assert statuses(camillo("import", "obsidian", obsidian))["Theatre"] == "deduplicated"
    (obsidian / "Theatre.md").write_text("Eight gates.\n", "utf-8")
    ran = camillo("import", "obsidian", obsidian)
    assert statuses(ran)["Theatre"] == "skipped"
    assert "changed here" in next(each["reason"] for each in ran.results if each["reason"])
    assert "And a stage." in note("theatre").body


@pytest.mark.promise(12)
def test_what_was_forgotten_does_not_come_back(camillo: Camillo, obsidian: Path) -> None:
    camillo("import", "obsidian", obsidian)
    camillo("forget", "theatre")
    ran = camillo("import", "obsidian", obsidian)
    assert ran.report["forgotten"] == 1
    assert statuses(ran)["Theatre"] == "forgotten"
    assert {each["id"] for each in camillo.listed()} == {"camillo", "gate_keeper"}


def test_a_page_that_holds_a_forgotten_drawer_stays_away(camillo: Camillo, obsidian: Path) -> None:
    camillo.mine(obsidian / "People")
    secret = next(each["id"] for each in camillo.listed() if "Guards" in each["text"])
    camillo("forget", secret)
    assert statuses(camillo("import", "obsidian", obsidian))["Gate Keeper"] == "forgotten"


def test_a_name_that_is_taken_gets_a_number(camillo: Camillo, home: Path) -> None:
    camillo("remember", "mine", "--name", "theatre")
    plant(home / "vault", {"Theatre.md": "one", "b/Theatre.md": "two", "c.md": "[[b/Theatre]]"})
    assert camillo("import", "obsidian", home / "vault").report["stored"] == 3
    assert note("theatre").body == "mine"
    assert edges("c") == {("related-to", "theatre_3")}
    assert note("theatre_3").body == "two"


def test_one_broken_page_does_not_stop_the_others(camillo: Camillo, home: Path) -> None:
    pages = {
        "a.md": "---\ntags: [one\n---\nbody\n",
        "b.md": "---\nnever closed\n",
        "c.md": b"caf\xe9\n",
        "d.md": "---\r\ntitle: Dee\r\n---\r\nline\r\n",
        "e.md": b"\xff\xfe\x00",
    }
    ran = camillo("import", "obsidian", plant(home / "vault", pages))
    assert ran.code == 3
    by_status = {"stored": set(), "failed": set()}  # type: dict[str, set[str]]
    for each in ran.results:
        by_status[each["status"]].add(Path(each["source"]).name)
    assert by_status["stored"] == {"c.md", "d.md"}
    assert by_status["failed"] == {"a.md:3", "b.md:1", "e.md:1"}
    assert note("d").body == "line\r\n"
    assert note("c").body == "caf\N{REPLACEMENT CHARACTER}\n"


def test_links_and_hidden_folders_are_not_followed(camillo: Camillo, home: Path) -> None:
    plant(home / "secret", {"key.md": "the key"})
    vault = plant(home / "vault", {"a.md": "a", ".trash/b.md": "b"})
    (vault / "away").symlink_to(home / "secret")
    (vault / "key.md").symlink_to(home / "secret" / "key.md")
    assert camillo("import", "obsidian", vault).report["stored"] == 1
    assert not camillo.texts("key")


def test_names_of_any_script_and_length_are_safe(camillo: Camillo, home: Path) -> None:
    pages = {
        "模型 笔记.md": "[[CON]] links",
        "CON.md": "a device",
        "index/ROOT.md": "a page's name",
        "backups/x.md": "a folder of ours",
        f"{'very long ' * 20}.md": "long",
        "..hidden dots.md": "hidden",
    }
    ran = camillo("import", "obsidian", plant(home / "vault", pages))
    assert ran.report["stored"] == 5, ran
    assert ran.report["not_notes"] == {"hidden": 1}
    assert edges("模型_笔记") == {("related-to", "con_note")}
    again = camillo("import", "obsidian", home / "vault")
    assert again.report["deduplicated"] == 5


def test_basic_memory_relations_are_typed(camillo: Camillo, home: Path) -> None:
    pages = {
        "specs/Search.md": "---\ntitle: Search Spec\ntype: decision\npermalink: specs/search\n"
        "tags: [one, two]\n---\n# Search\n- [idea] find #fast (soon)\n- [x] done\n"
        "- [24:33.098 - 24:41.260] hi\n- implements [[Index]]\n- part_of [[Everything]] (all)\n"
        "- Added [[Index]] to the roster and [[Search Spec]]\n- supersedes [[specs/old]]\n",
        "Index.md": "---\ntitle: Index\ntype: note\npermalink: index\n---\n"
        "- relates_to [[Search Spec]]",
        "old.md": "---\ntitle: Old\npermalink: specs/old\n"
        "created: 2024-02-03T04:05:06+00:00\n---\n",
    }  # fmt: skip
    ran = camillo("import", "basic-memory", plant(home / "base", pages))
    assert ran.report["stored"] == 3
    spec = note("search_spec")
    assert edges("search_spec") == {
        ("related-to", "index_note"), ("supersedes", "old")
    }  # fmt: skip
    assert spec.extra["relations"] == [{"to": "index_note", "type": "implements"}]
    assert spec.kind == "decision"
    assert spec.tags == ("one", "two", "fast")
    assert spec.aliases == ("specs/search",)
    assert note("old").created == 1706933106000
    assert edges("index_note") == {("related-to", "search_spec")}
    assert [link.rpartition(": ")[2] for link in ran.report["loose_links"]] == ["Everything"]


def test_the_graph_of_the_mcp_memory_server_comes_in(camillo: Camillo, home: Path) -> None:
    lines = [
        _entity("Ada", "person", "writes", "two\nlines"),
        _entity("Engine", "machine"),
        {"name": "Ada", "entityType": "author", "observations": [{"text": "counts"}, "writes"]},
        {"type": "relation", "from": "Ada", "to": "Engine", "relationType": "programs"},
        {"from": "Engine", "to": "Ada", "relationType": "part_of"},
        {"type": "relation", "from": "Nobody", "to": "Ada", "relationType": "knows"},
        {"type": "relation", "from": "Ada", "to": "Gone", "relationType": "knows"},
        {"type": "weather"},
    ]  # fmt: skip
    text = "\n".join([*map(json.dumps, lines), "{broken", "[]"])
    file = plant(home / "mcp", {"memory.jsonl": text}) / "memory.jsonl"
    ran = camillo("import", "mcp-memory", file)
    assert ran.code == 3
    assert (ran.report["stored"], ran.report["skipped"], ran.report["failed"]) == (2, 1, 3)
    failed = [each["source"] for each in ran.results if each["status"] == "failed"]
    assert [source.rpartition(":")[2] for source in failed] == ["8", "9", "10"]
    ada = note("ada")
    assert ada.body == "- writes\n- two\n  lines\n- counts\n"
    assert (ada.title, ada.tags) == ("Ada", ("person", "author"))
    assert edges("ada") == {("related-to", "engine")}
    assert ada.extra["relations"] == [{"to": "engine", "type": "programs"}]
    assert edges("engine") == {("child-of", "ada")}
    assert ran.report["loose_links"] == [f"{file}:7: Gone"]
    assert set(statuses(camillo("import", "mcp-memory", file)).values()) >= {"deduplicated"}
    with file.open("a") as more:
        more.write('\n{"type":"entity","name":"Ada","entityType":"person","observations":["new"]}')
    again = camillo("import", "mcp-memory", file)
    assert again.report["changed"] == 1
    assert note("ada").body.endswith("- new\n")


def _entity(name: str, sort: str, *observations: str) -> dict[str, object]:
    return {"type": "entity", "name": name, "entityType": sort, "observations": observations}


def test_one_json_object_of_both_lists_is_read_too(camillo: Camillo, home: Path) -> None:
    both = {
        "entities": [{"name": "A", "observations": ["x"]}, {"name": "B", "observations": ["y"]}],
        "relations": [{"from": "A", "to": "B", "relationType": "extends"}],
    }
    folder = plant(home / "mcp", {"memory.json": json.dumps(both, indent=1)})
    assert camillo("import", "auto", folder).report["stored"] == 2
    assert edges("a") == {("builds-on", "b")}


@pytest.mark.case("CP47")
def test_claude_codes_memories_come_in(camillo: Camillo, home: Path) -> None:
    plant(
        home / ".claude" / "projects",
        {
            "-home-ada-shop/memory/MEMORY.md": "- [Plain words](plain.md) — read at release\n",
            "-home-ada-shop/memory/style.md": "---\nname: style\ndescription: d\ntype: user\n---\n"
            "See [[plain]] and [old](old.md).\n",
            "-home-ada-shop/memory/nested.md": "---\nname: nested\ndescription: a: b\nmetadata: \n"
            "  node_type: memory\n  type: feedback\n  originSessionId: 12\n---\n**Why:** so\n",
            "-home-ada-shop/memory/plain.md": "no frontmatter\n",
            "-home-ada-shop/memory/old.md": "---\nname: 'Old-Name'\ntype: project\n---\nold\n",
            "-home-ada-shop/1.jsonl": "{}\n",
            "-home-ada-till/memory/memory.MD": "index",
            "-home-ada-till/memory/style.md": "---\nname: style\ntype: user\n---\nother\n",
        },
    )
    (home / ".claude/projects/-home-ada-twin").symlink_to("-home-ada-shop")
    ran = camillo("import", "claude-code")
    assert ran.code == 0, ran
    assert ran.report["stored"] == 5
    nested = note("nested")
    assert (nested.kind, nested.summary) == ("feedback", "a: b")
    assert nested.extra["frontmatter"]["originSessionId"] in ("12", 12)
    plain = note("plain")
    assert (plain.title, plain.summary) == ("Plain words", "read at release")
    assert plain.kind == "reference"
    assert edges("style") == {("related-to", "old_name")}
    assert note("style_2").body == "other\n"
    assert note("style").place.wing == "home-ada-shop"
    assert set(statuses(camillo("import", "claude-code")).values()) == {"deduplicated"}


def test_commonplace_notes_come_in_with_relations(
    camillo: Camillo, golden: Path, home: Path
) -> None:
    ran = camillo("import", "commonplace", golden / "store_user")
    assert ran.code == 3  # one of them is broken
    assert ran.report["stored"] == 9, ran
    assert edges("scope_new") >= {
        ("contradicts", "pkg_manager"), ("supersedes", "scope_old")
    }  # fmt: skip
    assert camillo("import", "auto", golden / "store_user").report["deduplicated"] == 9


def test_auto_tells_formats_apart(camillo: Camillo, home: Path, obsidian: Path) -> None:
    assert camillo("import", "auto", obsidian).report["format"] == "obsidian"
    base = plant(home / "base", {"a.md": "---\ntitle: A\npermalink: a\n---\n"})
    assert camillo("import", "auto", base).report["format"] == "basic-memory"
    claude = plant(home / "p" / "memory", {"MEMORY.md": "", "a.md": "---\ntype: user\n---\n"})
    assert camillo("import", "auto", claude).report["format"] == "claude-code"
    plain = plant(home / "plain", {"a.md": "a"})
    ran = camillo("import", "auto", plain)
    assert ran.code == 2
    assert "none of the formats" in ran.report["error"]["message"]


def test_what_is_missing_is_told(camillo: Camillo, home: Path) -> None:
    assert camillo("import", "obsidian", home / "none").code == 1
    assert camillo("import", "mcp-memory").code == 2
    assert camillo("import", "obsidian").code == 2
    (home / "empty").mkdir()
    assert camillo("import", "obsidian", home / "empty").code == 1


def test_a_root_is_not_imported_into_itself(camillo: Camillo, user: Path) -> None:
    camillo("remember", "something")
    ran = camillo("import", "obsidian", user)
    assert ran.code == 4
    assert "already" in ran.report["error"]["message"]


@pytest.mark.promise(7)
def test_two_imports_at_once_leave_each_note_once(camillo: Camillo, obsidian: Path) -> None:
    camillo("init")
    together([["import", "--json", "obsidian", obsidian]] * 2)
    assert len(camillo.listed()) == 3
    assert set(statuses(camillo("import", "obsidian", obsidian)).values()) == {"deduplicated"}


def test_notes_in_the_store_come_in_as_well(camillo: Camillo, obsidian: Path) -> None:
    notes = ("--config", "memory.notes=sqlite")
    assert camillo("import", "obsidian", obsidian, *notes).report["stored"] == 3
    assert camillo("import", "obsidian", obsidian, *notes).report["deduplicated"] == 3


@pytest.mark.slow
def test_two_thousand_notes_come_in(camillo: Camillo, home: Path) -> None:
    pages = {f"{n % 40}/n{n}.md": f"# N {n}\n[[n{n + 1}]] words {n}\n" for n in range(2000)}
    ran = camillo("import", "obsidian", plant(home / "vault", pages))
    assert (ran.report["stored"], ran.report["loose"]) == (2000, 1)
    assert camillo("import", "obsidian", home / "vault").report["deduplicated"] == 2000
