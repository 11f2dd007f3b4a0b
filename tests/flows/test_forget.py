"""Forgetting: no byte stays, and nothing brings the text back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from camillo.model import Memory
from camillo.ops.signature import run
from camillo.vault import Vault, open_vault
from flows.command import Camillo, plant, reading

SECRET = (
    "# Xylophagous plan\n\nThe quokka Bartholomew hides zirconium under the Vltava bridge; "
    'he said "nobody will look below the third arch" to Wilhelmina and to Wilhelmina alone.\n'
)
WORDS = ["xylophagous", "quokka", "bartholomew", "zirconium", "vltava", "wilhelmina"]
LINES = [line for line in SECRET.split("\n") if line]
KEPT = "# Gates\n\nThe theatre has seven gates and a bridge.\n"


@pytest.fixture
def told(camillo: Camillo, shop: Path) -> str:
    """The id of the drawer with the secret."""
    plant(shop, {"secret.md": SECRET, "gates.md": KEPT})
    camillo.mine(shop)
    return str(camillo("search", "zirconium quokka").first["id"])


@pytest.mark.promise(12)
class TestNoByteStays:
    def test_in_any_file_of_the_root(self, camillo: Camillo, told: str, user: Path) -> None:
        assert _traces(user) != []  # it was in there
        ran = camillo("forget", told)
        assert (ran.code, ran.report["pending"], ran.report["still_held_by"]) == (0, False, [])
        assert ran.first["id"] == told
        assert _traces(user) == []
        assert camillo.texts("zirconium") == []
        assert camillo.texts("gates bridge") == [KEPT]

    def test_of_a_text_that_was_changed_before(
        self, camillo: Camillo, told: str, shop: Path, user: Path
    ) -> None:
        """Its former versions are gone too."""
        plant(shop, {"secret.md": SECRET.replace("zirconium", "platinum")})
        camillo.mine(shop)
        camillo("forget", told)
        assert _traces(user) == []

    def test_of_a_whole_source(self, camillo: Camillo, told: str, shop: Path, user: Path) -> None:
        plant(shop, {"secret.md": SECRET * 12})
        camillo.mine(shop)
        ran = camillo("forget", "--source", shop / "secret.md")
        assert len(ran.results) > 1
        assert _traces(user) == []

    @pytest.mark.parametrize("kept", ["markdown", "sqlite"])
    def test_of_the_room_and_kind_that_no_other_note_has(
        self, camillo: Camillo, user: Path, kept: str
    ) -> None:
        plant(user, {"config.toml": f'[memory]\nnotes = "{kept}"\n'})
        for name, room, kind in (("a", "vltava", "quokka"), ("b", "vltava", "fact"),
                                 ("c", "bridges", "zirconium")):  # fmt: skip
            camillo("remember", f"{name} text", "--name", name, "--room", room, "--kind", kind)
        assert camillo("forget", "a").code == 0
        left = {trace.partition(": ")[2] for trace in _traces(user)}
        assert left == {"vltava", "zirconium"}
        assert camillo("forget", "b", "c").code == 0
        assert _traces(user) == []
        camillo("remember", "d text", "--name", "d", "--room", "vltava", "--kind", "quokka")
        assert camillo.texts("text", "--room", "vltava", "--kind", "quokka") == ["d text"]

    def test_of_an_archived_one(self, camillo: Camillo, told: str, user: Path) -> None:
        camillo("archive", told)
        assert camillo("forget", told).code == 0
        assert _traces(user) == []

    def test_of_many_among_many(self, camillo: Camillo, shop: Path, user: Path) -> None:
        """Index segments are merged and pages reused in between."""
        plant(shop, {f"d/{n}.md": f"Door {n} is painted and number {n * 7}.\n" for n in range(300)})
        plant(shop, {f"s/{n}.md": f"{SECRET}\nCopy number {n}.\n" for n in range(40)})
        camillo.mine(shop)
        ids = [entry["id"] for entry in camillo.listed("--room", "s")]
        assert len(ids) == 40
        assert camillo("forget", *ids).code == 0
        assert _traces(user) == []
        assert len(camillo.listed()) == 300

    def test_what_mining_replaces_stays_no_longer_than_the_mine(
        self, camillo: Camillo, told: str, shop: Path, user: Path
    ) -> None:
        plant(shop, {"secret.md": "Nothing to see here.\n"})
        camillo.mine(shop)
        assert _traces(user) == []

    def test_what_vanished_is_kept_by_sync(
        self, camillo: Camillo, told: str, shop: Path, user: Path
    ) -> None:
        (shop / "secret.md").unlink()
        camillo("sync")
        assert _traces(user) != []
        assert camillo("forget", told).code == 0
        assert _traces(user) == []


@pytest.mark.promise(12)
class TestNothingBringsItBack:
    def test_another_mine(self, camillo: Camillo, told: str, shop: Path, user: Path) -> None:
        camillo("forget", told)
        camillo.mine(shop)
        assert camillo.texts("zirconium") == []
        assert _traces(user) == []

    def test_a_mine_after_the_file_was_touched(
        self, camillo: Camillo, told: str, shop: Path, user: Path
    ) -> None:
        camillo("forget", told)
        os.utime(shop / "secret.md", (1_700_000_000, 1_700_000_000))
        camillo.mine(shop)
        assert _traces(user) == []

    def test_a_mine_that_counts_it(self, camillo: Camillo, told: str, shop: Path) -> None:
        camillo("forget", told)
        assert camillo.mine(shop, "--wing", "other")["forgotten"] == 1
        assert camillo.texts("zirconium") == []

    @pytest.mark.parametrize("size", [40, 100, 400, 2000])
    def test_a_mine_by_other_rules(
        self, camillo: Camillo, told: str, shop: Path, user: Path, size: int
    ) -> None:
        camillo("forget", told)
        mined = camillo.mine(shop, "--config", f"mine.chunk_chars={size}")
        assert mined["forgotten"] >= 1
        assert _traces(user) == []

    def test_a_mine_by_other_rules_of_a_longer_file(
        self, camillo: Camillo, shop: Path, user: Path
    ) -> None:
        """Only what was erased stays away; what stood around it is kept."""
        around = "Ordinary words about gates and doors fill this paragraph. " * 30
        plant(shop, {"long.md": f"{around}\n\n{SECRET}\n\n{around}"})
        camillo.mine(shop)
        ids = [hit["id"] for hit in camillo("search", " ".join(WORDS)).results]
        held = [hit["id"] for hit in camillo("search", "zirconium").results]
        camillo("forget", *dict.fromkeys([*held, *ids[:1]]))
        for size in (300, 500, 1000):
            camillo.mine(shop, "--config", f"mine.chunk_chars={size}")
            assert _traces(user) == []
        assert camillo.texts("ordinary paragraph") != []

    @pytest.mark.parametrize("before", ["A new first line.\n\n", "Words that are new here. " * 90])
    def test_an_edit_that_moves_it_in_its_file(
        self, camillo: Camillo, told: str, shop: Path, user: Path, before: str
    ) -> None:
        camillo("forget", told)
        plant(shop, {"secret.md": before + SECRET + "\nAnd new words after it.\n"})
        assert camillo.mine(shop)["forgotten"] >= 1
        assert _traces(user) == []

    @pytest.mark.promise(30)
    def test_the_same_text_in_another_file(
        self, camillo: Camillo, told: str, shop: Path, user: Path
    ) -> None:
        """Equal up to white space and normal form, as among duplicates."""
        camillo("forget", told)
        plant(shop, {"copy.md": SECRET, "dos.md": SECRET.replace("\n", "\r\n") + "\r\n  "})
        assert camillo.mine(shop)["forgotten"] >= 2
        assert camillo.texts("zirconium") == []
        assert _traces(user) == []

    @pytest.mark.promise(30)
    def test_a_similar_text_is_no_copy(self, camillo: Camillo, told: str, shop: Path) -> None:
        camillo("forget", told)
        plant(shop, {"other.md": SECRET.replace("third", "fourth")})
        camillo.mine(shop)
        assert len(camillo.texts("zirconium")) == 1

    def test_a_file_that_went_and_came_back(
        self, camillo: Camillo, told: str, shop: Path, user: Path
    ) -> None:
        camillo("forget", told)
        (shop / "secret.md").unlink()
        camillo("sync")
        plant(shop, {"secret.md": SECRET})
        camillo.mine(shop)
        assert _traces(user) == []

    def test_a_rebuilt_index(self, camillo: Camillo, told: str, user: Path) -> None:
        camillo("forget", told)
        for path in (user / "index").iterdir():
            path.unlink()
        assert camillo.texts("zirconium") == []
        assert _traces(user) == []

    def test_an_undone_archive(self, camillo: Camillo, told: str) -> None:
        camillo("archive", told)
        camillo("forget", told)
        assert camillo("archive", told, "--undo").code == 1


class TestReply:
    def test_a_dry_run_erases_nothing(self, camillo: Camillo, told: str) -> None:
        ran = camillo("forget", told, "--dry-run")
        assert (ran.code, ran.first["id"], ran.report["dry_run"]) == (0, told, True)
        assert camillo.texts("zirconium") == [SECRET]

    @pytest.mark.promise(12)
    def test_it_names_backups_that_hold_the_text(
        self, camillo: Camillo, told: str, user: Path
    ) -> None:
        backup = plant(user / "backups", {"store.v0.db": SECRET}) / "store.v0.db"
        ran = camillo("forget", told)
        assert ran.report["still_held_by"] == [str(backup)]

    def test_an_unknown_id_is_nothing_found(self, camillo: Camillo, told: str) -> None:
        ran = camillo("forget", "0" * 24)
        assert ran.code == 1
        assert "camillo list --ids" in ran.err

    def test_one_unknown_id_erases_none_of_the_others(self, camillo: Camillo, told: str) -> None:
        assert camillo("forget", told, "0" * 24).code == 1
        assert camillo.texts("zirconium") == [SECRET]

    @pytest.mark.parametrize("words", [[], ["abcd", "--source", "x"]])
    def test_ids_or_a_source_and_not_both(self, camillo: Camillo, words: list[str]) -> None:
        assert camillo("forget", *words).code == 2

    def test_a_source_that_was_never_mined_is_nothing_found(
        self, camillo: Camillo, told: str, shop: Path
    ) -> None:
        assert camillo("forget", "--source", shop / "other.md").code == 1

    @pytest.mark.promise(14)
    def test_it_leaves_a_line_in_the_journal_without_the_text(
        self, camillo: Camillo, told: str, vault: Vault
    ) -> None:
        camillo("forget", told)
        lines = vault.root("user").store.journal(limit=1000)
        [line] = [line for line in lines if line.what == "deleted"]
        assert told in line.key
        assert line.via == "forget"
        assert not any(word in repr(lines).lower() for word in WORDS)


@pytest.mark.promise(14)
def test_a_mine_that_removes_leaves_lines_in_the_journal(
    camillo: Camillo, told: str, shop: Path, vault: Vault
) -> None:
    plant(shop, {"secret.md": b"\0\1\2"})
    camillo.mine(shop)
    lines = vault.root("user").store.journal(limit=1000)
    assert [told in line.key for line in lines if line.what == "deleted"] == [True]


@pytest.mark.promise(12)
@pytest.mark.parametrize("command", [["search", "gates"], ["mine", "."], ["list"], ["stats"]])
def test_a_reader_in_another_process_is_reported_and_the_next_command_finishes(
    camillo: Camillo, told: str, user: Path, shop: Path, command: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It keeps the log alive: the last bytes cannot go before it ends."""
    monkeypatch.chdir(shop)
    with reading(user / "store.db"):
        ran = camillo("forget", told)
        assert (ran.code, ran.report["pending"]) == (3, True)
        assert "another process" in ran.report["degraded"][0]
        assert camillo.texts("zirconium") == []
    assert camillo(*command).code == 0
    assert _traces(user) == []


def test_notes_are_forgotten_too(vault: Vault, user: Path) -> None:
    root = vault.root("user", create=True)
    root.store.put([Memory("plan", SECRET, "note", "Bartholomew", summary="Vltava")])
    assert run(vault, "search", query="zirconium").results != []
    assert run(vault, "forget", ids=["plan"]).exit_code == 0
    vault.close()
    assert _traces(user) == []


@pytest.mark.promise(12)
def test_of_several_notes_all_are_forgotten_or_none(camillo: Camillo, user: Path) -> None:
    camillo("remember", SECRET, "--name", "a")
    camillo("remember", "The bridge.", "--name", "b")
    with (user / "b.md").open("ab") as file:
        file.write(b"x" * 5_000_000)
    assert camillo("forget", "a", "b").code == 2
    assert (user / "a.md").exists()
    assert camillo("forget", "a").code == 0
    assert _traces(user) == []


@pytest.mark.promise(4, 12)
def test_an_index_that_was_deleted_while_it_was_open(vault: Vault, user: Path) -> None:
    """Another process has made a new one meanwhile, with the text in it."""
    run(vault, "remember", text=SECRET, name="plan")
    shutil.rmtree(user / "index")
    with open_vault() as other:
        assert run(other, "search", query="zirconium").results != []
    report = run(vault, "forget", ids=["plan"])
    assert (report.exit_code, report.pending) == (0, False)
    assert _traces(user) == []
    run(vault, "remember", text="A gate of oak.", name="gate")
    for each in (vault, open_vault()):
        assert [found.id for found in run(each, "search", query="oak").results] == ["gate"]


@pytest.mark.promise(12)
def test_a_process_that_runs_on_files_again_where_another_forgot(vault: Vault, user: Path) -> None:
    """It had seen the room that is no name of anything any more."""
    for name in ("one", "two"):
        run(vault, "remember", text=f"{name} of oak", name=name, room="vltava", kind="quokka")
        with open_vault() as other:
            assert run(other, "forget", ids=[name]).exit_code == 0
        assert _traces(user) == []
    run(vault, "remember", text="the last of oak", name="three", room="vltava", kind="quokka")
    for each in (vault, open_vault()):
        found = run(each, "search", query="oak", room="vltava", kind=["quokka"]).results
        assert [result.id for result in found] == ["three"]
        assert run(each, "search", query="oak", room="bridges").results == []


def _traces(root: Path) -> list[str]:
    """Where in the files of a root the text, or a word of its own, can still be read."""
    found = []
    for path in sorted(root.rglob("*")):
        if not path.is_file() or path.parent.name == "backups":
            continue
        data = path.read_bytes()
        low = data.lower()
        found += [f"{path.name}: {word}" for word in WORDS if _is_in(low, word)]
        found += [f"{path.name}: {line}" for line in LINES if line.encode() in data]
    return found


def _is_in(data: bytes, word: str) -> bool:
    return any(word.encode(code) in data for code in ("utf-8", "utf-16-le", "utf-16-be"))
