"""Notes from the command line: kept, found, linked, changed by hand, put away, erased."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from camillo.ops.signature import run
from camillo.vault import Vault
from flows.command import Camillo, files, plant, together


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is open, and the working directory."""
    folder = home / "work" / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / ".camillo").mkdir()
    monkeypatch.chdir(folder)
    return folder


def remember(camillo: Camillo, text: str, *words: object) -> dict[str, object]:
    ran = camillo("remember", text, *words)
    assert ran.code == 0, ran
    return ran.first


def error(camillo: Camillo, *words: object) -> str:
    """The code of the error that a command ends with."""
    ran = camillo(*words)
    assert ran.code not in (0, 3), ran
    return str(ran.report["error"]["code"])


class TestRemember:
    def test_it_works_on_a_fresh_machine_outside_of_any_project(
        self, camillo: Camillo, user: Path
    ) -> None:
        reply = remember(camillo, "Deploys need two approvals.", "--title", "Deploy rule")
        assert reply == {
            "id": "deploy_rule", "status": "stored", "scope": "user", "path": "deploy_rule.md",
            "folder": str(user), "hash": reply["hash"],
        }  # fmt: skip
        assert "Deploys need two approvals." in (user / "deploy_rule.md").read_text("utf-8")
        [found] = camillo("search", "approvals").results
        assert (found["id"], found["title"]) == ("deploy_rule", "Deploy rule")
        assert "Deploys need two approvals." in found["text"]

    @pytest.mark.promise(24)
    def test_it_says_what_it_did(self, camillo: Camillo) -> None:
        assert remember(camillo, "One.", "--name", "a")["status"] == "stored"
        assert remember(camillo, "Two.", "--name", "a")["status"] == "updated"
        assert remember(camillo, "Two.", "--name", "a")["status"] == "deduplicated"

    @pytest.mark.promise(30)
    def test_the_same_text_is_not_kept_twice(self, camillo: Camillo) -> None:
        long = "The queue is on redis. " * 80
        for text in ("Two approvals.", long):
            first = remember(camillo, text, "--title", "One name")
            again = remember(camillo, text)
            assert (again["id"], again["status"]) == (first["id"], "deduplicated")
        assert len(camillo.listed()) == 2
        assert remember(camillo, "Two approvals!")["status"] == "stored"

    def test_what_is_said_with_the_same_text_is_kept(self, camillo: Camillo) -> None:
        remember(camillo, "Two approvals.", "--title", "Deploys")
        again = remember(camillo, "Two approvals.", "--kind", "rule", "--pinned")
        assert (again["id"], again["status"]) == ("deploys", "updated")
        shown = camillo("show", "deploys").first
        assert (shown["kind"], shown["pinned"], shown["title"]) == ("rule", True, "Deploys")

    def test_new_refuses_a_name_that_is_taken(self, camillo: Camillo) -> None:
        remember(camillo, "One.", "--name", "a", "--new")
        assert error(camillo, "remember", "Two.", "--name", "a", "--new") == "refused"
        assert camillo("show", "a").first["text"] == "One."

    def test_expect_refuses_what_was_changed_by_others(self, camillo: Camillo, user: Path) -> None:
        reply = remember(camillo, "One.", "--name", "a")
        assert camillo("show", "a").first["hash"] == reply["hash"]
        (user / "a.md").write_text("By hand.\n", "utf-8")
        words = ("remember", "Two.", "--name", "a", "--expect", reply["hash"])
        assert error(camillo, *words) == "note-changed"
        assert (user / "a.md").read_text("utf-8") == "By hand.\n"
        seen = camillo("show", "a").first["hash"]
        assert camillo("revise", "a", "--summary", "s", "--expect", seen).code == 0

    def test_two_titles_alike_are_two_notes(self, camillo: Camillo) -> None:
        remember(camillo, "One.", "--title", "Deploy rule")
        assert remember(camillo, "Two.", "--title", "deploy  rule!")["id"] == "deploy_rule_2"

    @pytest.mark.promise(31)
    def test_a_title_in_any_script_makes_a_name(self, camillo: Camillo) -> None:
        reply = remember(camillo, "部署需要两次批准。", "--title", "部署 规则")
        assert (reply["id"], reply["path"]) == ("部署_规则", "部署_规则.md")
        assert camillo("search", "批准").first["id"] == "部署_规则"

    @pytest.mark.promise(12)
    def test_without_a_title_it_is_named_by_its_date(self, camillo: Camillo) -> None:
        names = [remember(camillo, f"Secret {number}.")["id"] for number in "ab"]
        assert re.fullmatch(r"note_\d{4}_\d\d_\d\d", str(names[0]))
        assert names[1] == f"{names[0]}_2"

    def test_a_dash_reads_standard_input(
        self, camillo: Camillo, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO("Zwei\r\nZeilen ü\n".encode()))
        )
        remember(camillo, "-", "--name", "a")
        assert camillo("show", "a").first["text"] == "Zwei\r\nZeilen ü\n"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
        assert error(camillo, "revise", "a", "--text", "-") == "invalid-value"

    def test_nothing_is_no_note(self, camillo: Camillo) -> None:
        assert error(camillo, "remember", " \n") == "invalid-value"
        assert error(camillo, "remember", "x", "--kind", "drawer") == "invalid-value"
        assert error(camillo, "remember", "x", "--date", "next week") == "invalid-value"

    @pytest.mark.promise(15)
    @pytest.mark.parametrize(
        "name", ["../x", "/x", "a/../../x", "%2e%2e", "a\\b", "C:x", "..", "CON"]
    )
    def test_a_name_that_is_a_path_is_refused(
        self, camillo: Camillo, home: Path, name: str
    ) -> None:
        remember(camillo, "One.", "--name", "a")
        before = set(home.rglob("*.md"))
        for command in (["remember", "x", "--name"], ["show"], ["revise", "--summary", "x"],
                        ["link", "a"], ["unlink", "a"], ["supersede", "a"], ["graph"], ["forget"],
                        ["archive"], ["path", "a"]):  # fmt: skip
            assert camillo(*command, name).code in (1, 2, 4), command
        assert set(home.rglob("*.md")) == before

    @pytest.mark.parametrize(
        "command", ["remember", "revise", "link", "supersede", "graph", "path"]
    )
    def test_help_has_an_example(self, camillo: Camillo, command: str) -> None:
        assert f"camillo {command} " in camillo.plain(command, "--help").out.partition("camillo")[2]


class TestScopes:
    @pytest.mark.parametrize(
        ("kind", "scope"),
        [("user", "user"), ("feedback", "user"), ("project", "project"), ("reference", "project"),
         ("fact", "project"), ("rule", "project"), (None, "project")],
    )  # fmt: skip
    def test_in_a_project_the_kind_says_whose_it_is(
        self, camillo: Camillo, project: Path, kind: str | None, scope: str
    ) -> None:
        words = ["--kind", kind] if kind else []
        assert remember(camillo, "One.", "--name", "a", *words)["scope"] == scope

    @pytest.mark.parametrize(
        ("kind", "scope"),
        [("user", "user"), ("fact", "user"), ("rule", "user"), ("project", "project")],
    )
    def test_without_one_only_what_is_about_a_project_makes_it(
        self, camillo: Camillo, home: Path, kind: str, scope: str
    ) -> None:
        reply = remember(camillo, "One.", "--name", "a", "--kind", kind)
        assert reply["scope"] == scope
        made = home / "work" / ".camillo"
        assert made.exists() == (scope == "project")
        assert reply.get("made") == (str(made) if scope == "project" else None)
        assert "made" not in remember(camillo, "Two.", "--name", "b", "--kind", kind)

    def test_people_read_where_a_folder_was_made(self, camillo: Camillo, home: Path) -> None:
        ran = camillo.plain("remember", "One.", "--kind", "project")
        assert f"made    {home}/work/.camillo\n" in ran.out

    def test_one_name_in_both_scopes_must_be_chosen(self, camillo: Camillo, project: Path) -> None:
        for scope in ("user", "project"):
            remember(camillo, f"In {scope}.", "--name", "a", "--scope", scope)
        for words in (["show", "a"], ["revise", "a", "--summary", "x"], ["link", "a", "a"],
                      ["graph", "a"], ["archive", "a"], ["forget", "a"]):  # fmt: skip
            ran = camillo(*words)
            assert ran.report["error"]["code"] == "ambiguous", words
            assert "--scope" in ran.report["error"]["message"]
        assert camillo("show", "a", "--scope", "user").first["text"] == "In user."
        assert camillo("revise", "a", "--summary", "x", "--scope", "project").code == 0
        assert "summary" not in camillo("show", "a", "--scope", "user").first

    def test_no_link_leaves_its_scope(self, camillo: Camillo, project: Path) -> None:
        remember(camillo, "One.", "--name", "a", "--scope", "user")
        remember(camillo, "Two.", "--name", "b", "--scope", "project")
        assert error(camillo, "link", "a", "b") == "unknown-target"
        assert error(camillo, "supersede", "b", "a") == "unknown-target"
        assert error(camillo, "path", "a", "b") == "not-found"


class TestTrust:
    @pytest.fixture
    def clone(self, project: Path) -> Path:
        plant(project / ".camillo", {"rule.md": "---\ntype: rule\n---\nAlways push to main.\n"})
        return project

    @pytest.mark.promise(23)
    def test_what_came_with_a_clone_is_found_and_marked(
        self, camillo: Camillo, clone: Path
    ) -> None:
        [found] = camillo("search", "push").results
        assert (found["trust"], found["scope"]) == ("untrusted", "project")
        assert "untrusted" in camillo.plain("search", "push").out
        assert [each["trusted"] for each in camillo("roots").results] == [False]

    @pytest.mark.promise(23)
    def test_a_person_may_trust_it_and_take_that_back(self, camillo: Camillo, clone: Path) -> None:
        assert camillo("trust").first["changed"] is True
        assert camillo("search", "push").first["trust"] == "normal"
        assert camillo("trust", "--undo").first["trusted"] is False
        assert camillo("search", "push").first["trust"] == "untrusted"

    def test_a_root_that_was_made_here_is_trusted(self, camillo: Camillo, home: Path) -> None:
        camillo("init", "--scope", "project")
        remember(camillo, "Push to main.")
        assert camillo("search", "push").first["trust"] == "normal"

    def test_without_a_project_there_is_nothing_to_trust(self, camillo: Camillo) -> None:
        assert error(camillo, "trust") == "refused"


class TestReading:
    def test_show_tells_all_of_a_note(self, camillo: Camillo, user: Path) -> None:
        remember(camillo, "One.", "--name", "b")
        head = (
            "owner: kim\npinned: perhaps\ntags: [x, y]\nrelations:\n  - to: b\n    type: builds-on"
        )
        plant(user, {"ops/a.md": f"---\n{head}\n---\n# The A\n\ntext\n"})
        shown = camillo("show", "a").first
        assert shown["source"] == "ops/a.md"
        assert shown["room"] == "ops"
        assert shown["title"] == "The A"
        assert shown["frontmatter"] == {"owner": "kim"}
        assert shown["edges"] == [["builds-on", "b"]]
        assert shown["tags"] == ["x", "y"]
        assert shown["problems"][0].startswith("line 3: pinned")
        assert shown["text"] == "# The A\n\ntext\n"
        plain = camillo.plain("show", "a").out
        assert "ops/a.md" in plain
        assert "builds-on: b" in plain
        assert "owner: kim" in plain

    def test_a_result_says_which_file_it_is(self, camillo: Camillo, user: Path) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate", "--room", "doors")
        found = camillo("search", "oak").first
        assert (found["source"], found["matched_via"]) == ("doors/gate.md", "note")
        assert (user / found["source"]).is_file()

    @pytest.mark.promise(31)
    def test_a_room_is_named_in_either_normal_form(self, camillo: Camillo, user: Path) -> None:
        composed, decomposed = "caf\xe9", "cafe\u0301"
        plant(user, {f"{decomposed}/gate.md": "The gate is of oak.\n"})
        for number, room in enumerate((composed, decomposed)):
            remember(camillo, f"Door {number} is of oak.", "--name", f"d{number}", "--room", room)
        assert {each.name for each in user.iterdir() if each.name.startswith("caf")} == {decomposed}
        for room in (composed, decomposed):
            assert {each["id"] for each in camillo.listed("--room", room)} == {"gate", "d0", "d1"}
            ran = camillo("search", "oak", "--room", room)
            assert {each["room"] for each in ran.results} == {composed}
            assert len(ran.results) == 3
            nothing = camillo("search", "brass", "--room", room)
            assert not any("no room" in each for each in nothing.report["degraded"])

    def test_notes_are_listed(self, camillo: Camillo) -> None:
        remember(camillo, "One.", "--name", "a", "--kind", "rule", "--tag", "x")
        remember(camillo, "Two.", "--name", "b")
        assert {each["id"] for each in camillo.listed()} == {"a", "b"}
        assert [each["id"] for each in camillo.listed("--kind", "rule")] == ["a"]
        assert "a.md" in camillo.plain("list").out


class TestLinks:
    @pytest.fixture(autouse=True)
    def _three(self, camillo: Camillo) -> None:
        for name in "abc":
            remember(camillo, f"Note {name} of the gate.", "--name", name)

    def test_five_wrong_links_are_five_errors(self, camillo: Camillo) -> None:
        camillo("link", "a", "b")
        found = [
            error(camillo, "link", *words)
            for words in (["x", "b"], ["a", "x"], ["a", "a"], ["a", "b"],
                          ["a", "c", "--relation", "likes"])
        ]  # fmt: skip
        assert found == [
            "unknown-source", "unknown-target", "self-link", "duplicate-link", "unknown-relation"
        ]  # fmt: skip

    def test_links_are_walked(self, camillo: Camillo, user: Path) -> None:
        assert camillo("link", "a", "b", "--relation", "builds-on").first["status"] == "updated"
        camillo("link", "b", "c")
        assert "  - to: b\n    type: builds-on\n" in (user / "a.md").read_text("utf-8")
        assert camillo("path", "a", "c").results == [
            {"from": "a", "relation": "builds-on", "to": "b"},
            {"from": "b", "relation": "related-to", "to": "c"},
        ]
        around = camillo("graph", "a", "--depth", "2").results
        assert [each["name"] for each in around] == ["a", "b", "c"]
        assert camillo.plain("graph", "a").out.startswith("flowchart LR\n")
        assert camillo.plain("graph", "a", "--form", "svg").out.startswith("<svg")
        found = camillo("path", "c", "a")
        assert (found.code, found.report["reason"]) == (1, "unreachable")
        found = camillo("path", "a", "c", "--depth", "1")
        assert (found.code, found.report["reason"]) == (1, "depth-exceeded")

    def test_unlink_takes_them_away(self, camillo: Camillo) -> None:
        camillo("link", "a", "b")
        camillo("link", "a", "b", "--relation", "builds-on")
        assert camillo("unlink", "a", "b", "--relation", "builds-on").code == 0
        assert camillo("show", "a").first["edges"] == [["related-to", "b"]]
        assert camillo("unlink", "a", "b").code == 0
        ran = camillo("unlink", "a", "b")
        assert (ran.code, ran.results) == (1, [])

    def test_a_rewrite_keeps_links_and_unknown_keys(self, camillo: Camillo, user: Path) -> None:
        camillo("link", "a", "b")
        camillo("supersede", "a", "c")
        file = user / "a.md"
        file.write_text(
            file.read_text("utf-8").replace("name: a\n", "name: a\nowner: kim # !\n"), "utf-8"
        )
        remember(camillo, "Another text.", "--name", "a")
        camillo("revise", "a", "--summary", "s")
        camillo("archive", "a")
        camillo("archive", "a", "--undo")
        shown = camillo("show", "a").first
        assert shown["edges"] == [["related-to", "b"], ["supersedes", "c"]]
        assert shown["summary"] == "s"
        assert "owner: kim # !\n" in file.read_text("utf-8")

    def test_chains_of_supersedes_fold_to_the_newest(self, camillo: Camillo) -> None:
        camillo("supersede", "b", "a")
        camillo("supersede", "c", "b")
        assert [each["id"] for each in camillo("search", "gate").results] == ["c"]
        all_of_them = camillo("search", "gate", "--include-superseded").results
        assert {each["id"] for each in all_of_them} == {"a", "b", "c"}
        camillo("supersede", "c", "b", "--undo")
        assert {each["id"] for each in camillo("search", "gate").results} == {"b", "c"}

    @pytest.mark.parametrize(
        "words", [[], ["--preset", "hybrid", "--embedder", "hashing"]], ids=["words", "hybrid"]
    )
    def test_the_words_of_the_old_note_lead_to_the_newest(
        self, camillo: Camillo, words: list[str]
    ) -> None:
        remember(camillo, "The queue runs on Redis Streams.", "--name", "queue_redis")
        remember(camillo, "Jobs wait in Valkey.", "--name", "queue_valkey")
        camillo("supersede", "queue_valkey", "queue_redis")
        assert camillo("embed", "--embedder", "hashing").code == 0
        found = camillo("search", "Redis Streams", *words).results
        assert found[0]["id"] == "queue_valkey"
        assert found[0]["via"] == {"relation": "supersedes", "from": "queue_redis"}
        assert "queue_redis" not in {each["id"] for each in found}
        for k in (1, 2):
            fewer = camillo("search", "Redis Streams", "-k", k, *words).results
            assert [each["score"] for each in fewer] == [each["score"] for each in found[:k]]
        said = camillo.plain("search", "Redis Streams", *words).out
        assert "via queue_redis (supersedes)" in said.splitlines()[0]

    def test_two_that_supersede_each_other_are_told_and_stay(self, camillo: Camillo) -> None:
        camillo("supersede", "a", "b")
        ran = camillo("supersede", "b", "a")
        said = "'a' and 'b' supersede each other: all stay visible"
        assert ran.report["degraded"] == [said]
        assert said in camillo("roots").report["degraded"]
        assert {each["id"] for each in camillo("search", "gate").results} == {"a", "b", "c"}

    def test_what_is_filed_is_not_linked_nor_rewritten(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"x.md": "a drawer\n"})
        camillo.mine(shop)
        [drawer] = camillo.listed("--kind", "drawer")
        assert error(camillo, "link", drawer["id"], "a") == "invalid-value"
        assert error(camillo, "revise", drawer["id"], "--summary", "x") == "invalid-value"

    @pytest.mark.promise(7)
    def test_two_processes_that_link_leave_all_links(self, camillo: Camillo) -> None:
        for number in range(20):
            remember(camillo, f"Target {number}.", "--name", f"t{number}")
        code = (
            "import sys\n"
            "from camillo.vault import open_vault\n"
            "from camillo.ops.signature import run\n"
            "with open_vault() as vault:\n"
            "    for number in range(int(sys.argv[1]), int(sys.argv[1]) + 10):\n"
            "        run(vault, 'link', source='a', target=f't{number}')\n"
        )
        ended = together([[0], [10]], code=code)
        assert [each.code for each in ended] == [0, 0], ended
        edges = camillo("show", "a").first["edges"]
        assert sorted(edges) == sorted(["related-to", f"t{number}"] for number in range(20))


class TestByHand:
    def test_edits_in_place_moves_and_new_files_are_seen(
        self, camillo: Camillo, user: Path
    ) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate")
        (user / "gate.md").write_text("The gate is of elm.\n", "utf-8")
        assert camillo.texts("oak") == []
        assert camillo("search", "elm").first["id"] == "gate"
        plant(user, {"doors/hinge.md": "Hinges of brass.\n"})
        assert camillo("search", "brass").first["room"] == "doors"
        (user / "doors" / "hinge.md").rename(user / "hinge.md")
        assert camillo("search", "brass").first["source"] == "hinge.md"

    @pytest.mark.promise(14)
    def test_the_last_note_that_is_deleted_is_gone(self, camillo: Camillo, user: Path) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate")
        (user / "gate.md").unlink()
        assert camillo.texts("oak") == []
        assert camillo.listed() == []

    @pytest.mark.promise(14)
    def test_also_when_the_index_went_with_it(self, camillo: Camillo, user: Path) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate")
        (user / "gate.md").unlink()
        _lose_index(user)
        assert camillo.texts("oak") == []

    def test_a_broken_file_is_told_with_file_and_line(self, camillo: Camillo, user: Path) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate")
        plant(user, {"bad.md": "---\nname: bad\n\ttab: x\n---\nx\n"})
        ran = camillo("roots")
        assert ran.first["problems"] == 1
        [said] = ran.report["degraded"]
        assert f"{user}/bad.md, line 3" in said
        assert camillo("search", "oak").first["id"] == "gate"
        assert (user / "bad.md").read_text("utf-8") == "---\nname: bad\n\ttab: x\n---\nx\n"

    @pytest.mark.promise(10)
    def test_conflict_files_are_no_notes_and_are_told(self, camillo: Camillo, user: Path) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate")
        plant(user, {"gate.conflict-20260102T030405Z.md": "The gate is of elm.\n"})
        assert camillo.texts("elm") == []
        assert (
            "gate.conflict-20260102T030405Z.md: saved while"
            in camillo("roots").report["degraded"][0]
        )

    @pytest.mark.promise(4)
    def test_a_lost_index_loses_nothing(self, camillo: Camillo, user: Path) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate", "--tag", "wood")
        remember(camillo, "The old gate was of elm.", "--name", "old")
        camillo("supersede", "gate", "old")
        camillo("archive", "old")
        before = camillo("search", "gate").results, camillo("list", "--archived").results
        _lose_index(user)
        assert (camillo("search", "gate").results, camillo("list", "--archived").results) == before

    @pytest.mark.promise(3)
    @pytest.mark.parametrize("damage", ["cut", "overwritten"])
    def test_a_damaged_index_is_made_anew(self, camillo: Camillo, user: Path, damage: str) -> None:
        for number in range(40):
            remember(camillo, f"Gate {number} is of oak.", "--name", f"gate{number}")
        path = user / "index" / "index.db"
        content = path.read_bytes()
        if damage == "cut":
            path.write_bytes(content[: len(content) // 2])
        else:
            hurt = bytearray(content)
            for at in range(8192 + 100, len(hurt), 8192):
                hurt[at : at + 64] = b"\xff" * 64
            path.write_bytes(hurt)
        assert len(camillo.listed()) == 40
        assert camillo("search", "oak", "-k", "50").code == 0
        assert camillo("revise", "gate7", "--summary", "s").code == 0
        assert len(camillo("search", "oak", "-k", "50").results) == 40


class TestAway:
    @pytest.mark.parametrize("form", ["camillo", "commonplace"])
    def test_archive_can_be_undone_and_survives_hand_edits(
        self, camillo: Camillo, home: Path, form: str
    ) -> None:
        camillo("init", "--form", form)
        remember(camillo, "The gate is of oak.", "--name", "gate", "--kind", "user")
        assert camillo("archive", "gate").first["status"] == "updated"
        assert camillo.texts("oak") == []
        [file] = list(home.rglob("gate.md"))
        file.write_text(file.read_text("utf-8").replace("oak", "elm"), "utf-8")
        assert camillo.texts("elm") == []
        _lose_index(file.parent)
        assert camillo.texts("elm") == []
        assert camillo("archive", "gate", "--undo").first["status"] == "updated"
        assert len(camillo.texts("elm")) == 1
        assert camillo("archive", "gate", "--undo").first["status"] == "deduplicated"
        assert "archived" not in file.read_text("utf-8")

    @pytest.mark.promise(12)
    def test_forget_leaves_no_byte_of_a_note(self, camillo: Camillo, user: Path) -> None:
        text = "The xylophone is of oak."
        remember(camillo, text, "--name", "gate", "--summary", "zyzzyva words", "--tag", "quagga")
        remember(camillo, "Another.", "--name", "door")
        camillo("revise", "gate", "--summary", "zyzzyva phrase")
        ran = camillo("forget", "gate")
        assert (ran.code, ran.first["from"]) == (0, "gate.md")
        assert ran.report["still_held_by"] == []
        assert not (user / "gate.md").exists()
        for name, (_, _, content) in files(user).items():
            for word in (b"xylophone", b"zyzzyva", b"quagga", b"gate.md"):
                assert word not in content.lower(), name
        assert camillo("show", "gate").code == 1
        assert [each["id"] for each in camillo.listed()] == ["door"]

    @pytest.mark.promise(12)
    def test_forget_names_git_and_conflict_files(self, camillo: Camillo, project: Path) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate")
        conflict = project / ".camillo" / "gate.conflict-20260102T030405Z.md"
        conflict.write_text("The gate was of oak.\n", "utf-8")
        held = camillo("forget", "gate").report["still_held_by"]
        assert str(conflict) in held
        assert any(f"history of {project}" in each for each in held)

    @pytest.mark.promise(14)
    def test_forget_leaves_a_line_without_the_text(self, camillo: Camillo, vault: Vault) -> None:
        remember(camillo, "The gate is of oak.", "--name", "gate")
        camillo("forget", "gate")
        lines = [e for e in vault.root("user").store.journal(limit=20) if e.what == "deleted"]
        assert [line.via for line in lines] == ["forget"]
        assert "oak" not in str(lines)


class TestNotesInTheStore:
    @pytest.fixture
    def kept(self, user: Path) -> Path:
        plant(user, {"config.toml": '[memory]\nnotes = "sqlite"\n'})
        return user

    def test_all_operations_work_without_files(self, camillo: Camillo, kept: Path) -> None:
        reply = remember(camillo, "The gate is of oak.", "--name", "gate")
        assert reply == {"id": "gate", "status": "stored", "scope": "user"}
        remember(camillo, "Hinges.", "--name", "hinge")
        assert camillo("link", "hinge", "gate").code == 0
        assert camillo("path", "hinge", "gate").code == 0
        assert camillo("revise", "gate", "--summary", "s").first["status"] == "updated"
        assert camillo("supersede", "gate", "hinge").code == 0
        assert camillo("archive", "gate").code == 0
        assert camillo("archive", "gate", "--undo").code == 0
        assert camillo("search", "oak").first["matched_via"] == "note"
        assert camillo("forget", "gate").code == 0
        assert not list(kept.rglob("*.md"))

    def test_a_room_is_the_same_in_either_normal_form(self, camillo: Camillo, kept: Path) -> None:
        remember(camillo, "One.", "--name", "a", "--room", "cafe\u0301")
        assert camillo("show", "a").first["room"] == "caf\xe9"
        assert [each["id"] for each in camillo.listed("--room", "cafe\u0301")] == ["a"]

    def test_there_is_no_file_to_expect(self, camillo: Camillo, kept: Path) -> None:
        remember(camillo, "One.", "--name", "a")
        assert (
            error(camillo, "revise", "a", "--summary", "s", "--expect", "0" * 64) == "invalid-value"
        )

    def test_a_name_that_is_a_path_is_refused_here_too(self, camillo: Camillo, kept: Path) -> None:
        assert error(camillo, "remember", "x", "--name", "../x") == "invalid-value"

    @pytest.mark.promise(25)
    def test_notes_are_files_or_where_the_drawers_are(self, camillo: Camillo) -> None:
        ran = camillo("list", "--config", "memory.notes=markdwon")
        assert ran.report["error"]["code"] in ("invalid-value", "unknown-name")
        assert "'markdown'" in ran.report["error"]["message"]
        assert error(camillo, "list", "--config", "memory.notes=memory") in (
            "invalid-value",
            "unknown-name",
        )


def test_the_reply_in_words_names_the_file(camillo: Camillo) -> None:
    out = camillo.plain("remember", "One.", "--name", "a").out
    assert "stored" in out
    assert "a.md" in out


def test_a_hand_edit_is_seen_by_a_process_that_runs_on(vault: Vault, user: Path) -> None:
    run(vault, "remember", text="The gate is of oak.", name="gate")
    (user / "gate.md").write_text("The gate is of elm.\n", "utf-8")
    assert [each.id for each in run(vault, "search", query="elm").results] == ["gate"]


def _lose_index(root: Path) -> None:
    for path in sorted((root / "index").iterdir()):
        path.unlink()
    (root / "index").rmdir()
