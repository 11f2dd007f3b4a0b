"""Stores of commonplace, opened in place: read as it left them, written as it writes, in turn.

The classes of defects are those that its version 0.7 was seen to have. Two of the thirteen are of
its tools for agents (no project from the client's roots; a description that says otherwise than the
tool does): those are tested with ours.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from camillo.engines.markdown.commonplace import CommonplaceDialect
from camillo.engines.markdown.folder import LARGEST
from camillo.ops.signature import run
from camillo.vault import open_vault
from flows.command import Camillo, plant, start, together


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("COMMONPLACE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def store(home: Path) -> Path:
    """An empty user store of commonplace."""
    folder = home / ".commonplace" / "memory"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "work" / "shop"
    (folder / ".commonplace" / "memory").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder / ".commonplace" / "memory"


class Commonplace:
    """What commonplace does to a store, told briefly: whole files, under its lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.md"))

    def body(self, name: str) -> str:
        return self._read(name)[1]

    def keys(self, name: str) -> list[str]:
        lines = self._read(name)[0].splitlines()
        return [line.partition(":")[0] for line in lines if line[:1].isalpha()]

    def save(self, name: str, body: str, description: str = "d", kind: str = "user") -> None:
        text = f"---\nname: {name}\ndescription: {description}\ntype: {kind}\n---\n{body}"
        with self.lock(name):
            beside = self.folder / f"{name}.md.0123456789abcdef.tmp"
            beside.write_text(text, "utf-8", newline="")
            beside.replace(self.folder / f"{name}.md")
            (self.folder / f"{name}.embedding").write_bytes(b"CMEM\x02")

    def delete(self, name: str) -> None:
        (self.folder / f"{name}.md").unlink()
        (self.folder / f"{name}.embedding").unlink(missing_ok=True)

    @contextmanager
    def lock(self, name: str) -> Iterator[None]:
        held = self.folder / f"{name}.md.lock"
        while True:
            try:
                held.mkdir()
                break
            except FileExistsError:
                time.sleep(0.01)
        try:
            yield
        finally:
            held.rmdir()

    def _read(self, name: str) -> tuple[str, str]:
        text = (self.folder / f"{name}.md").read_bytes().decode()
        head, _, body = text.removeprefix("---\n").partition("\n---\n")
        return head, body


def note(body: str, kind: str = "user", **fields: str) -> str:
    given = {"name": "k", "description": "d", "type": kind, **fields}
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in given.items()) + f"---\n{body}"


class TestGolden:
    """Stores that commonplace 0.7 itself wrote."""

    @pytest.fixture
    def both(self, golden: Path, store: Path, project: Path) -> tuple[Path, Path]:
        for name, folder in (("store_user", store), ("store_project", project)):
            shutil.copytree(golden / name, folder, dirs_exist_ok=True)
        return store, project

    def test_every_note_is_read(self, camillo: Camillo, both: tuple[Path, Path]) -> None:
        listed = {(each["scope"], each["id"]): each for each in camillo.listed()}
        user, project = both
        expected = {("user", path.stem) for path in user.glob("*.md")} - {("user", "broken")}
        expected |= {("project", path.stem) for path in project.glob("*.md")}
        assert listed.keys() == expected
        assert listed["user", "pkg_manager"]["pinned"] is True
        assert listed["user", "unicode_note"]["summary"] == "中文: 描述 # 带冒号"
        assert listed["user", "child_one"]["edges"] == [["child-of", "parent_board"]]

    def test_what_it_skips_is_told(self, camillo: Camillo, both: tuple[Path, Path]) -> None:
        told = camillo("roots").report["degraded"]
        assert [line for line in told if "broken.md, line 1" in line]

    def test_search_hides_what_is_superseded_and_finds_chinese(
        self, camillo: Camillo, both: tuple[Path, Path]
    ) -> None:
        found = [each["id"] for each in camillo("search", "scope").results]
        assert "scope_new" in found
        assert "scope_old" not in found
        assert camillo("search", "描述").first["id"] == "unicode_note"

    def test_the_graph_is_the_same(self, camillo: Camillo, both: tuple[Path, Path]) -> None:
        around = camillo("graph", "release_steps", "--scope", "user").report
        assert {each["name"] for each in around["results"]} == {"release_steps", "pkg_manager"}
        way = camillo("path", "child_two", "parent_board", "--scope", "user").results
        assert way == [{"from": "child_two", "relation": "child-of", "to": "parent_board"}]

    def test_a_name_in_both_scopes_must_be_chosen(
        self, camillo: Camillo, both: tuple[Path, Path]
    ) -> None:
        assert camillo("show", "handshake").report["error"]["code"] == "ambiguous"
        assert (
            camillo("show", "handshake", "--scope", "project").first["text"].startswith("Same name")
        )

    @pytest.mark.case("CP41")
    def test_what_is_to_be_erased_must_be_chosen_and_be_there(
        self, camillo: Camillo, both: tuple[Path, Path]
    ) -> None:
        ran = camillo("forget", "handshake")
        assert (ran.code, ran.report["error"]["code"]) == (2, "ambiguous")
        assert "--scope project" in ran.report["error"]["message"]
        assert all((folder / "handshake.md").exists() for folder in both)
        ran = camillo("forget", "nobody")
        assert (ran.code, ran.report["error"]["code"]) == (1, "not-found")
        assert camillo("forget", "handshake", "--scope", "project").code == 0
        assert [(folder / "handshake.md").exists() for folder in both] == [True, False]

    @pytest.mark.promise(29)
    def test_reading_changes_no_file_of_its_own(
        self, camillo: Camillo, both: tuple[Path, Path]
    ) -> None:
        before = [_own(folder) for folder in both]
        camillo.listed()
        camillo("search", "scope")
        camillo("roots")
        assert [_own(folder) for folder in both] == before

    def test_a_rewrite_has_its_bytes(
        self, camillo: Camillo, both: tuple[Path, Path], golden: Path
    ) -> None:
        user, _ = both
        camillo("link", "scope_old", "release_steps", "--scope", "user")
        assert (user / "scope_old.md").read_text("utf-8") == (
            "---\nname: scope_old\ndescription: Old scope rule\ntype: feedback\nrelations:\n"
            "  - to: release_steps\n    type: related-to\n---\nShrink scope when in doubt.\n"
        )
        camillo("unlink", "scope_old", "release_steps", "--scope", "user")
        former = golden / "store_user" / "scope_old.md"
        assert (user / "scope_old.md").read_bytes() == former.read_bytes()

    @pytest.mark.parametrize("stage", ["before", "after_scan"])
    def test_before_and_after_its_scan_the_notes_are_the_same(
        self, camillo: Camillo, golden: Path, store: Path, stage: str
    ) -> None:
        held = json.loads((golden / f"store_{stage}.json").read_text("utf-8"))["user"]
        for name, content in held.items():
            raw = bytes.fromhex(content["hex"]) if isinstance(content, dict) else content.encode()
            (store / name).write_bytes(raw)
        assert len(camillo.listed()) == sum(
            name.endswith(".md") and name != "broken.md" for name in held
        )

    def test_after_its_writes_all_is_read(
        self, camillo: Camillo, golden: Path, store: Path
    ) -> None:
        held = json.loads((golden / "store_after_write.json").read_text("utf-8"))["user"]
        for name, content in held.items():
            raw = bytes.fromhex(content["hex"]) if isinstance(content, dict) else content.encode()
            (store / name).write_bytes(raw)
        assert camillo("show", "crlf").first["text"] == "a\r\nb"
        assert camillo("roots").first["problems"] == 0

    def test_what_others_write_is_seen_at_once(
        self, camillo: Camillo, golden: Path, store: Path
    ) -> None:
        """The steps of external_writer.json; at the second commonplace still has the old text."""
        seen = json.loads((golden / "external_writer.json").read_text("utf-8"))
        plant(store, {"a.md": note("body a", name="a")})
        found = [["initial", _bodies(camillo)]]
        plant(store, {"a.md": note("edited in place", name="a")})
        found.append([seen[1][0], _bodies(camillo)])
        plant(store, {"b.md": note("body b", name="b")})
        found.append([seen[2][0], _bodies(camillo)])
        (store / "b.md").unlink()
        found.append([seen[3][0], _bodies(camillo)])
        assert found == [seen[0], [seen[1][0], ["a:edited in place"]], *seen[2:]]


class TestInTurn:
    def test_both_write_one_store_in_turn(self, camillo: Camillo, store: Path) -> None:
        theirs = Commonplace(store)
        theirs.save("alpha", "first of theirs\n")
        assert camillo("show", "alpha").first["text"] == "first of theirs\n"
        camillo("remember", "first of ours\n", "--name", "beta", "--kind", "user")
        assert theirs.body("beta") == "first of ours\n"
        assert theirs.keys("beta") == ["name", "description", "type"]
        theirs.save("beta", "second of theirs\n")
        camillo("link", "beta", "alpha")
        assert theirs.keys("beta") == ["name", "description", "type", "relations"]
        assert theirs.body("beta") == "second of theirs\n"
        camillo("archive", "alpha")
        assert theirs.names() == ["alpha", "beta"]
        theirs.save("alpha", "third of theirs\n")
        assert camillo("show", "alpha").first["archived"]
        theirs.delete("alpha")
        assert [each["id"] for each in camillo("list", "--archived").results] == ["beta"]
        camillo("forget", "beta")
        assert theirs.names() == []
        theirs.save("beta", "and again\n")
        assert camillo("show", "beta").first["text"] == "and again\n"

    @pytest.mark.promise(7)
    def test_both_at_once_leave_all_that_each_made(self, camillo: Camillo, store: Path) -> None:
        theirs = Commonplace(store)
        theirs.save("busy", "x\n")
        writer = threading.Thread(
            target=lambda: [theirs.save(f"t{number}", f"theirs {number}\n") for number in range(20)]
        )
        writer.start()
        with open_vault() as vault:
            for number in range(20):
                run(vault, "remember", text=f"ours {number}", name=f"o{number}", kind="user")
        writer.join()
        expected = {"busy", *(f"{who}{number}" for who in "to" for number in range(20))}
        assert {each["id"] for each in camillo.listed()} == expected
        assert not list(store.glob("*.lock"))

    def test_its_lock_keeps_us_out(self, camillo: Camillo, store: Path) -> None:
        theirs = Commonplace(store)
        theirs.save("busy", "x\n")
        with theirs.lock("busy"), start("revise", "busy", "--summary", "s", "--json") as process:
            os.utime(store / "busy.md.lock", (time.time() + 60,) * 2)
            out, _ = process.communicate(timeout=60)
        assert json.loads(out)["error"]["code"] == "store-busy"
        assert camillo("revise", "busy", "--summary", "s").code == 0

    def test_a_lock_that_is_abandoned_is_taken(self, camillo: Camillo, store: Path) -> None:
        Commonplace(store).save("busy", "x\n")
        (store / "busy.md.lock").mkdir()
        os.utime(store / "busy.md.lock", (time.time() - 10,) * 2)
        assert camillo("revise", "busy", "--summary", "s").code == 0
        assert not (store / "busy.md.lock").exists()


class TestDefects:
    """Numbered as they were found."""

    def test_1_a_link_keeps_pinned(self, camillo: Camillo, store: Path) -> None:
        plant(store, {"p.md": note("b p\n", name="p", pinned="true"), "q.md": note("q", name="q")})
        camillo("link", "p", "q")
        camillo("unlink", "p", "q")
        assert (store / "p.md").read_text("utf-8") == note("b p\n", name="p", pinned="true")

    def test_2_a_rewrite_keeps_relations_and_supersedes(
        self, camillo: Camillo, store: Path
    ) -> None:
        plant(store, {f"{name}.md": note(f"b {name}\n", name=name) for name in "pqr"})
        camillo("link", "p", "q")
        camillo("supersede", "p", "r")
        camillo("remember", "b p2\n", "--name", "p", "--summary", "d p2")
        text = (store / "p.md").read_text("utf-8")
        assert (
            "relations:\n  - to: q\n    type: related-to\nsupersedes:\n  - r\n---\nb p2\n" in text
        )

    def test_3_unknown_keys_comments_and_order_stay(self, camillo: Camillo, store: Path) -> None:
        text = "---\ntype: user\n# mine\nowner: kim  # who\nname: k\ndescription: d\n---\nbody\n"
        plant(store, {"k.md": text, "l.md": note("l", name="l")})
        camillo("link", "k", "l")
        relations = "relations:\n  - to: l\n    type: related-to\n"
        written = (store / "k.md").read_text("utf-8")
        assert relations in written
        assert written.replace(relations, "") == text

    def test_4_an_edit_in_place_is_seen_and_kept(self, camillo: Camillo, store: Path) -> None:
        plant(store, {"k.md": note("old\n"), "l.md": note("l", name="l")})
        with open_vault() as vault:
            run(vault, "link", source="k", target="l")
            text = (store / "k.md").read_text("utf-8").replace("old", "edited")
            plant(store, {"k.md": text})
            run(vault, "link", source="k", target="l", relation="builds-on")
            assert run(vault, "show", ids=["k"]).results[0]["text"] == "edited\n"
        assert (store / "k.md").read_text("utf-8").endswith("---\nedited\n")

    @pytest.mark.promise(7)
    def test_5_two_processes_that_link_ten_each_leave_twenty(
        self, camillo: Camillo, store: Path
    ) -> None:
        names = [f"t{number}" for number in range(20)]
        plant(store, {f"{name}.md": note("x", name=name) for name in ["k", *names]})
        code = (
            "import sys\n"
            "from camillo.ops.signature import run\n"
            "from camillo.vault import open_vault\n"
            "with open_vault() as vault:\n"
            "    for name in sys.argv[1:]:\n"
            "        run(vault, 'link', source='k', target=name)\n"
        )
        assert [each.code for each in together([names[:10], names[10:]], code=code)] == [0, 0]
        assert {edge[1] for edge in camillo("show", "k").first["edges"]} == set(names)

    def test_7_opening_again_writes_no_sidecar(
        self, camillo: Camillo, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of a model whose dimension commonplace does not know. One that is stale is written."""
        monkeypatch.setenv("CAMILLO_EMBEDDER", "hashing")
        plant(store, {f"{name}.md": note(f"gate {name}\n", name=name) for name in "ab"})
        assert camillo("migrate", store).first["embedded"] == 2
        before = _own(store)
        assert {"a.embedding", "b.embedding"} < before.keys()
        for _ in range(2):
            camillo("embed")
            camillo("search", "gate", "--preset", "vectors")
            camillo("watch", "--times", "1")
        assert _own(store) == before
        plant(store, {"a.md": note("lamp\n", name="a")})
        camillo("embed")
        changed = {name for name, held in _own(store).items() if held != before[name]}
        assert changed == {"a.md", "a.embedding"}

    def test_8_forget_erases_a_file_of_another_name(self, camillo: Camillo, store: Path) -> None:
        plant(store, {"file_one.md": note("x\n", name="other_name")})
        assert camillo("forget", "other_name").first["from"] == "file_one.md"
        assert not (store / "file_one.md").exists()
        assert camillo.listed() == []

    def test_9_chains_fold_and_circles_stay_visible(self, camillo: Camillo, store: Path) -> None:
        plant(store, {f"{name}.md": note(f"gate {name}\n", name=name) for name in "abcde"})
        for newer, older in ("ba", "cb", "de", "ed"):
            camillo("supersede", newer, older)
        found = {each["id"] for each in camillo("search", "gate").results}
        assert found == {"c", "d", "e"}

    def test_10_after_a_write_nothing_else_is_read_again(
        self, camillo: Camillo, store: Path
    ) -> None:
        def plant_old(body: str) -> None:
            for number in range(5):
                path = plant(store, {f"n{number}.md": note(body, name=f"n{number}")})
                os.utime(path / f"n{number}.md", (1e9, 1e9))

        plant_old("as it was read\n")
        camillo.listed()
        plant_old("this is unseen\n")  # what only reading would tell
        camillo("remember", "x", "--name", "k", "--kind", "user")
        assert "this is unseen\n" not in {each["text"] for each in camillo.listed()}

    def test_11_a_bom_and_a_bad_relation_hide_no_note(self, camillo: Camillo, store: Path) -> None:
        plant(store, {
            "bom.md": b"\xef\xbb\xbf" + note("with a mark\n", name="bom").encode(),
            "bad.md": note("bad one\n", name="bad", relations="[{to: k, type: likes}]"),
        })  # fmt: skip
        assert {each["id"] for each in camillo.listed()} == {"bom", "bad"}
        assert "'likes'" in camillo("roots").report["degraded"][0]
        camillo("revise", "bom", "--summary", "s")
        assert (store / "bom.md").read_bytes().startswith(b"\xef\xbb\xbf---\n")

    def test_13_a_body_has_a_largest_size(self, camillo: Camillo, store: Path) -> None:
        with open_vault() as vault, pytest.raises(Exception, match="at most"):
            run(vault, "remember", text="x" * (LARGEST + 1), name="k", kind="user")
        assert not (store / "k.md").exists()


class TestRoots:
    def test_init_makes_one(self, camillo: Camillo, home: Path) -> None:
        made = camillo("init", "--form", "commonplace").first
        assert (made["status"], made["form"]) == ("made", "commonplace")
        assert made["folder"] == str(home / ".commonplace" / "memory")
        assert camillo("init", "--form", "commonplace").first["status"] == "already there"

    def test_init_makes_a_projects(self, camillo: Camillo, home: Path) -> None:
        (home / "work" / ".git").mkdir()
        made = camillo("init", "--form", "commonplace", "--scope", "project").first
        assert made["folder"] == str(home / "work" / ".commonplace" / "memory")
        reply = camillo("remember", "x", "--name", "k", "--kind", "project").first
        assert (reply["scope"], reply["path"]) == ("project", "k.md")
        assert (home / "work" / ".commonplace" / "memory" / "k.md").exists()
        assert camillo("search", "x").first["trust"] == "normal"

    def test_it_has_no_rooms(self, camillo: Camillo) -> None:
        ran = camillo("init", "--form", "commonplace", "--rooms", "a")
        assert ran.code == 2
        ran = camillo("init", "--form", "oc2")
        assert ran.code == 2

    def test_a_kind_and_a_name_that_it_does_not_have_are_refused(
        self, camillo: Camillo, store: Path
    ) -> None:
        assert camillo("remember", "x", "--name", "k", "--kind", "rule").code == 2
        assert camillo("remember", "x", "--name", "K-1").code == 2
        assert camillo("remember", "x", "--title", "部署").first["id"] == "note"
        assert camillo("show", "note").first["kind"] == "reference"

    def test_camillos_own_root_is_written_where_both_are(
        self, camillo: Camillo, store: Path, user: Path
    ) -> None:
        plant(store, {"k.md": note("x\n")})
        camillo("init")
        assert camillo("remember", "y", "--name", "new").code == 0
        assert (user / "new.md").exists()
        camillo("remember", "z\n", "--name", "k", "--scope", "user")
        assert (store / "k.md").read_text("utf-8").endswith("z\n")
        assert not (user / "k.md").exists()

    def test_its_variables_name_the_folders(
        self, camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("mine", "ours"):
            plant(home / name, {f"{name}.md": note("x\n", name=name)})
        monkeypatch.setenv("COMMONPLACE_USER_DIR", str(home / "mine"))
        monkeypatch.setenv("COMMONPLACE_PROJECT_DIR", str(home / "ours"))
        assert {(each["scope"], each["id"]) for each in camillo.listed()} == {
            ("user", "mine"), ("project", "ours")
        }  # fmt: skip

    def test_ours_win(self, camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        plant(home / "theirs", {"theirs.md": note("x\n", name="theirs")})
        plant(home / "p" / ".commonplace" / "memory", {"own.md": note("x\n", name="own")})
        monkeypatch.setenv("COMMONPLACE_PROJECT_DIR", str(home / "theirs"))
        monkeypatch.setenv("CAMILLO_PROJECT_DIR", str(home / "p"))
        assert [each["id"] for each in camillo.listed()] == ["own"]

    def test_a_model_that_is_not_here_is_told(
        self, camillo: Camillo, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant(store, {"k.md": note("x\n")})
        monkeypatch.setenv("COMMONPLACE_MODEL", "Xenova/bge-base-en-v1.5")
        assert camillo("search", "x").report["degraded"] == []  # CAMILLO_EMBEDDER wins
        monkeypatch.delenv("CAMILLO_EMBEDDER")
        [told] = camillo("search", "x").report["degraded"]
        assert "Xenova/bge-base-en-v1.5" in told

    @pytest.mark.parametrize("name", ["COMMONPLACE_MODEL", "COMMONPLACE_MODEL_ID"])
    def test_a_model_that_is_here_is_used(
        self, store: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.delenv("CAMILLO_EMBEDDER")
        monkeypatch.setenv(name, "hashing")
        with open_vault() as vault:
            assert vault.settings.search.embedder == "hashing"
        with open_vault(overrides={"search.embedder": "none"}) as vault:
            assert vault.settings.search.embedder == "none"

    def test_without_its_store_its_model_means_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("CAMILLO_EMBEDDER")
        monkeypatch.setenv("COMMONPLACE_MODEL", "hashing")
        with open_vault() as vault:
            assert vault.settings.search.embedder == "auto"

    def test_mentions_may_be_switched_off(
        self, camillo: Camillo, store: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plant(store, {"a.md": note("see [[b]]\n", name="a"), "b.md": note("x\n", name="b")})
        assert camillo("path", "a", "b").code == 0
        monkeypatch.setenv("COMMONPLACE_EXTRACT_MENTIONS", "false")
        assert camillo("path", "a", "b").code == 1


def test_the_dialect_holds_what_its_files_can() -> None:
    assert CommonplaceDialect().fields == {
        "id", "body", "kind", "summary", "edges", "pinned", "extra"
    }  # fmt: skip


def _own(folder: Path) -> dict[str, tuple[int, bytes]]:
    """What is commonplace's in a folder: time of change and bytes of each file."""
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.iterdir()
        if path.suffix in (".md", ".embedding", ".txt")
    }


def _bodies(camillo: Camillo) -> list[str]:
    found: list[dict[str, Any]] = camillo.listed("--order", "id")
    return [f"{each['id']}:{each['text']}" for each in found]
