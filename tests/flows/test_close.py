"""`camillo close`: a folder is no root any more, and nothing of it stays behind."""

from __future__ import annotations

import fcntl
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from camillo.errors import Refused
from camillo.ops import close as closing
from camillo.ops.report import Report
from camillo.ops.signature import run
from camillo.vault import open_vault
from flows.command import Camillo, files, plant

NOTE = "---\nname: {0}\ndescription: d\nmetadata:\n  type: project\n---\nthe {0}\n"


@pytest.fixture
def claw(home: Path, camillo: Camillo) -> Path:
    """An agent's pages, open to be written; links and tags of theirs have no key there."""
    folder = plant(home / "claw", {"okf/heron.md": "the heron\n", "okf/otter.md": "the otter\n"})
    assert camillo("open", folder, "--write").code == 0
    return folder


@pytest.fixture
def roots(home: Path) -> Path:
    return home / ".camillo" / ".roots"


def holders(folder: Path, text: bytes) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def gone(path: Path) -> None:
    """Returns once there is no such file."""
    until = time.monotonic() + 30
    while path.exists():
        assert time.monotonic() < until


def test_nothing_of_its_texts_stays(camillo: Camillo, claw: Path, home: Path) -> None:
    before = files(claw)
    assert camillo("search", "heron", "--embedder", "hashing", "--preset", "hybrid").code == 0
    assert holders(home / ".camillo", b"heron")
    assert camillo("close", "claw").first["status"] == "closed"
    assert holders(home / ".camillo", b"heron") == []
    assert not (home / ".camillo" / ".roots" / "claw").exists()
    assert files(claw) == before


class TestWhatOnlyCamilloHolds:
    @pytest.mark.parametrize(
        "words",
        [
            ["link", "okf/heron", "okf/otter"],
            ["archive", "okf/heron"],
            ["supersede", "okf/heron", "okf/otter"],
            ["revise", "okf/heron", "--pinned"],
            ["revise", "okf/heron", "--load-when", "fishing"],
            ["supersede", "okf/otter", "okf/heron"],
        ],
    )
    def test_is_not_lost_unasked(
        self, camillo: Camillo, claw: Path, home: Path, words: list[str]
    ) -> None:
        assert camillo(*words).code == 0
        before = files(home / ".camillo" / ".roots")
        ran = camillo("close", "claw")
        assert ran.code == 4
        assert ran.report["error"]["message"] == (
            "1 note has links or marks that only camillo holds: --drop lets them go"
        )
        assert files(home / ".camillo" / ".roots").keys() == before.keys()
        assert camillo("close", "claw", "--drop").code == 0
        assert camillo("close", "claw").code == 1

    def test_is_counted_by_the_note(self, camillo: Camillo, claw: Path) -> None:
        camillo("link", "okf/heron", "okf/otter")
        camillo("archive", "okf/otter")
        assert "2 notes have links or marks" in camillo("close", "claw").err

    def test_is_nothing_where_the_file_says_it(self, camillo: Camillo, claw: Path) -> None:
        said = ["--tag", "bird", "--summary", "grey", "--kind", "fact"]
        assert camillo("revise", "okf/heron", *said).code == 0
        assert camillo("close", "claw").code == 0

    def test_is_nothing_in_a_form_that_holds_all(self, camillo: Camillo, home: Path) -> None:
        vault = plant(home / "vault", {"a.md": "one\n", "b.md": "two\n"})
        camillo("open", vault, "--write")
        camillo("link", "a", "b")
        camillo("archive", "a")
        assert camillo("close", "vault").code == 0

    def test_is_not_asked_about_where_the_folder_is_gone(
        self, camillo: Camillo, claw: Path, home: Path
    ) -> None:
        claw.rename(home / "away")
        assert camillo("close", "claw").code == 0
        assert camillo("close", "claw").code == 1


class TestProcessesThatAreAtIt:
    def test_cannot_bring_it_back(self, camillo: Camillo, claw: Path, roots: Path) -> None:
        with open_vault() as vault:
            root = vault.root("claw")
            root.catch_up()
            assert camillo("close", "claw").code == 0
            for work in (root.catch_up, root.look_through_notes):
                with pytest.raises(Refused, match="not open as 'claw' any more"):
                    work()
            with pytest.raises(Refused), root.lease("vectors"):
                pass
            assert [each.name for each in vault.roots()] == ["user"]
        with open_vault() as vault, pytest.raises(Refused):
            vault.root("claw")
        assert [path.name for path in roots.iterdir()] == [".lock"]

    def test_stop_embedding_it(self, camillo: Camillo, claw: Path, roots: Path, home: Path) -> None:
        plant(claw, {f"okf/n{n}.md": f"the heron, number {n}\n" for n in range(200)})
        done: list[int] = []
        with (
            open_vault(overrides={"search.embedder": "hashing"}) as vault,
            open_vault() as other,
            ThreadPoolExecutor(1) as beside,
        ):
            root = vault.root("claw")
            root.look_through_notes()
            root.catch_up()
            ended: list[Future[Report]] = []

            def told(count: int) -> None:  # after a batch
                done.append(count)
                ended.append(beside.submit(run, other, "close", name="claw"))
                gone(roots / "claw" / "config.toml")

            with pytest.raises(Refused, match="any more"):
                vault.embed(root, told)
            assert ended[0].result().results[0]["status"] == "closed"
        assert len(done) == 1
        assert not (roots / "claw").exists()
        assert holders(home / ".camillo", b"heron") == []

    def test_that_embed_are_waited_for(self, camillo: Camillo, claw: Path, roots: Path) -> None:
        camillo("search", "heron")
        held = os.open(roots / "claw" / "index" / "vectors.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(held, fcntl.LOCK_EX)

        def let_go() -> None:
            gone(roots / "claw" / "config.toml")
            os.close(held)

        with ThreadPoolExecutor(1) as beside:
            beside.submit(let_go)
            ran = camillo("close", "claw")
        assert (ran.code, ran.report["degraded"]) == (0, [])
        assert not (roots / "claw").exists()

    def test_that_embed_too_long_leave_it_to_a_later_command(
        self, camillo: Camillo, claw: Path, roots: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("camillo.elsewhere._PATIENCE", 0.05)
        camillo("search", "heron")
        held = os.open(roots / "claw" / "index" / "vectors.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(held, fcntl.LOCK_EX)
        ran = camillo("close", "claw")
        assert "another process embeds claw yet" in ran.report["degraded"][0]
        assert camillo("search", "heron").code == 1
        assert (roots / "claw").exists()
        os.close(held)
        camillo("roots")
        assert not (roots / "claw").exists()


class TestWhatIsLeftOver:
    def test_goes_with_the_next_command(self, camillo: Camillo, claw: Path, roots: Path) -> None:
        (roots / "claw" / "config.toml").unlink()
        assert camillo("search", "heron").code == 1
        assert not (roots / "claw").exists()

    def test_is_not_what_somebody_wrote_a_wrong_line_into(
        self, camillo: Camillo, claw: Path, roots: Path
    ) -> None:
        (roots / "claw" / "config.toml").write_text("[root\n")
        camillo("search", "heron")
        assert (roots / "claw" / "store.db").exists()


class TestWhatIsOpenByItself:
    @pytest.fixture
    def claude(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        project = home / "work" / "shop"
        (project / ".git").mkdir(parents=True)
        monkeypatch.chdir(project)
        name = "".join(c if c.isalnum() else "-" for c in str(project.resolve()))
        notes = {f"{name}.md": NOTE.format(name) for name in ("heron", "otter")}
        return plant(home / ".claude" / "projects" / name / "memory", notes)

    def test_stays_so_with_its_links(self, camillo: Camillo, claude: Path, home: Path) -> None:
        camillo("open", claude, "--write")
        camillo("link", "heron", "otter")
        ran = camillo("close", "project-claude")
        assert ran.code == 0
        assert "open by itself all the same" in ran.report["degraded"][0]
        assert camillo("show", "heron").first["edges"] == [["related-to", "otter"]]
        assert camillo("revise", "heron", "--summary", "x").code == 4
        assert camillo("close", "project-claude").code == 1

    def test_is_not_left_over(self, camillo: Camillo, claude: Path, roots: Path) -> None:
        camillo("search", "heron")
        [state] = (each for each in roots.iterdir() if each.is_dir())
        os.chdir(claude.parent)
        camillo("search", "heron")
        assert (state / "store.db").exists()

    def test_goes_where_a_setting_keeps_it_closed(
        self, camillo: Camillo, claude: Path, home: Path
    ) -> None:
        camillo("open", claude, "--write")
        camillo("link", "heron", "otter")
        closed = ["--config", "memory.foreign=oc"]
        assert camillo("close", "project-claude", *closed).code == 4
        assert camillo("close", "project-claude", "--drop", *closed).code == 0
        assert holders(home / ".camillo", b"heron") == []


def test_a_name_cannot_lead_out_of_the_users_root(camillo: Camillo, claw: Path, home: Path) -> None:
    plant(home / "precious", {"config.toml": f'[root]\nfolder = "{home}"\n', "a.md": "x\n"})
    assert camillo("close", "../../precious").code == 2
    assert (home / "precious" / "a.md").exists()


def test_the_help_says_what_goes() -> None:
    assert "--drop" in str(closing.__doc__) + str(closing.close.__doc__)
