"""Meaning, as people use it: mine, embed, search, forget, and what is said when it is not there."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from camillo.leases import lock_file
from camillo.lifecycle import background
from camillo.model import Memory
from camillo.ops import _new_vectors
from camillo.ops._new_vectors import FEW
from camillo.ops.signature import run
from camillo.text.passages import passage, text_hash
from camillo.vault import open_vault
from flows.command import Camillo, plant, start, together

HASHING = "hashing/1/f32/256"
GATES = "The theatre has seven gates of painted wood.\n"
SECRET = "The quokka Bartholomew hides zirconium under the bridge.\n"
ANSWERS = {
    "cat.md": "Our kitten sleeps on the sofa all afternoon.\n",
    "car.md": "The mechanic replaced the brakes of the lorry.\n",
    "tax.md": "The invoice must be paid before the end of March.\n",
}


@pytest.fixture(autouse=True)
def _hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheapest embedder, and the preset that people have."""
    _embedder(monkeypatch, "hashing")
    monkeypatch.setenv("CAMILLO_PRESET", "default")


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be started in the background; it is only written down."""
    started: list[list[str]] = []
    monkeypatch.setattr("camillo.lifecycle.background.start", started.append)
    return started


@pytest.fixture
def filed(camillo: Camillo, shop: Path, later: list[list[str]]) -> Path:
    """A folder that was mined and embedded."""
    plant(shop, {"gates.md": GATES, "secret.md": SECRET})
    camillo.mine(shop)
    assert camillo("embed").code == 0
    return shop


def _embedder(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CAMILLO_EMBEDDER", name)


def _rows(user: Path, sql: str) -> list[Any]:
    connection = apsw.Connection(str(user / "index" / "index.db"))
    connection.set_busy_timeout(5000)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _vectors(user: Path) -> dict[bytes, int]:
    """The row of each embedded text; a text that has two vectors fails."""
    rows = _rows(user, "SELECT hash, rowid FROM vectors")
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def _degraded(camillo: Camillo, *words: str) -> list[str]:
    ran = camillo("search", *(words or ("gates",)))
    notes: list[str] = ran.report["degraded"]
    return notes


def _soon(holds: Callable[[], bool]) -> None:
    """Wait for another process, at most a minute."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        os.sched_yield()


class TestMining:
    def test_off_a_terminal_vectors_follow_in_the_background(
        self, camillo: Camillo, shop: Path, later: list[list[str]]
    ) -> None:
        plant(shop, {f"{n}.md": f"Gate {n} and door {n * 7}.\n" for n in range(60)})
        ran = camillo("mine", shop)
        assert ran.code == 0
        assert ran.report["degraded"] == ["vectors 60 behind: they follow in the background"]
        assert later == [["embed", "--scope", "user", "--embedder", "hashing", "--quiet"]]
        assert camillo(*later[0]).first == {"scope": "user", "model": HASHING, "behind": 0}
        assert _degraded(camillo) == []

    def test_a_few_that_are_on_their_way_are_not_worth_a_word(
        self, camillo: Camillo, shop: Path, later: list[list[str]]
    ) -> None:
        plant(shop, {"gates.md": GATES})
        assert camillo("mine", shop).report["degraded"] == []
        assert len(later) == 1

    def test_at_a_terminal_it_is_done_at_once_and_seen(
        self, camillo: Camillo, shop: Path, user: Path, later: list[list[str]]
    ) -> None:
        plant(shop, {f"{n}.md": f"Gate {n} and door {n * 7}.\n" for n in range(300)})
        seen: list[tuple[int, int | None]] = []
        with open_vault() as vault:
            vault.attended = True
            vault.progress = lambda done, total, what: (
                seen.append((done, total)) if what == "vectors" else None
            )
            assert run(vault, "mine", path=str(shop)).degraded == []
        assert seen[-1] == (300, 300)
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        assert (len(_vectors(user)), later) == (300, [])

    def test_a_library_that_starts_nothing_says_how_they_come(self, shop: Path) -> None:
        plant(shop, {"gates.md": GATES})
        with open_vault() as vault:
            report = run(vault, "mine", path=str(shop))
        assert report.degraded == ["vectors 1 behind: they come with `camillo embed`"]

    def test_the_embedder_that_was_named_is_the_one_that_follows(
        self, camillo: Camillo, shop: Path, later: list[list[str]]
    ) -> None:
        plant(shop, {"gates.md": GATES})
        camillo.mine(shop, "--embedder", "light")
        assert later[0][3:5] == ["--embedder", "light"]

    def test_mined_again_only_what_is_new_is_embedded(
        self, camillo: Camillo, filed: Path, user: Path, later: list[list[str]]
    ) -> None:
        before = _vectors(user)
        later.clear()
        camillo.mine(filed)
        assert later == []
        plant(filed, {"new.md": "A lamp over the stage.\n"})
        os.utime(filed / "gates.md", (1_700_000_000, 1_700_000_000))
        camillo.mine(filed)
        assert len(later) == 1
        camillo("embed")
        after = _vectors(user)
        assert len(after) == len(before) + 1
        assert before.items() <= after.items()

    def test_a_text_that_came_back_or_moved_is_not_embedded_again(
        self, camillo: Camillo, filed: Path, user: Path, later: list[list[str]]
    ) -> None:
        before = _vectors(user)
        later.clear()
        (filed / "gates.md").rename(filed / "doors.md")
        camillo("sync")
        camillo.mine(filed)
        assert later == []
        assert _vectors(user) == before

    def test_a_dry_run_embeds_nothing(
        self, camillo: Camillo, shop: Path, later: list[list[str]]
    ) -> None:
        plant(shop, {"gates.md": GATES})
        camillo("mine", shop, "--dry-run")
        assert later == []

    @pytest.mark.promise(26)
    def test_an_embedder_that_is_missing_does_not_keep_words_out(
        self, camillo: Camillo, shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CAMILLO_MODELS", str(home / "none"))
        _embedder(monkeypatch, "e5")
        plant(shop, {"gates.md": GATES})
        ran = camillo("mine", shop)
        assert ran.code == 0
        assert "camillo setup e5" in ran.report["degraded"][0]
        assert camillo.texts("gates") == [GATES]


class TestInTheBackground:
    def test_vectors_appear_by_themselves(self, camillo: Camillo, shop: Path, user: Path) -> None:
        plant(shop, {"gates.md": GATES})
        camillo.mine(shop)
        _soon(lambda: len(_vectors(user)) == 1)
        with open_vault() as vault:
            lock = os.path.dirname(vault.root("user").root.index_path)
        _soon(lambda: _is_free(os.path.join(lock, "vectors.lock")))
        assert _degraded(camillo) == []

    def test_what_is_started_is_nobodys_child_and_has_the_environment(
        self, camillo: Camillo, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """No zombie is left of it, and nothing has to wait for it."""
        monkeypatch.setenv("CAMILLO_USER_DIR", str(home / "elsewhere"))
        before = _children()
        background.start(["init"])
        assert _children() <= before
        _soon((home / "elsewhere" / "store.db").exists)


def _children() -> set[str]:
    """Our processes, also those that have ended and that nobody waited for."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    if not listed.exists():
        pytest.skip("this system does not list children")
    return set(listed.read_text().split())


QUESTIONS = {
    "where does the little feline nap": "cat.md",
    "vehicle repair in a garage": "car.md",
    "when is the bill due": "tax.md",
    "小猫在哪里睡觉": "cat.md",
    "谁修理了卡车的刹车": "car.md",
    "¿Cuándo hay que pagar la factura?": "tax.md",
}


@pytest.mark.parametrize("preset", ["hybrid", "vectors", "default"])
def test_a_question_that_shares_no_word_finds_its_text(
    shop: Path, monkeypatch: pytest.MonkeyPatch, preset: str
) -> None:
    _embedder(monkeypatch, "light")
    plant(shop, ANSWERS)
    with open_vault() as vault:
        vault.attended = True
        run(vault, "mine", path=str(shop))
        for question, name in QUESTIONS.items():
            report = run(vault, "search", query=question, preset=preset)
            assert report.degraded == []
            assert os.path.basename(report.results[0].source) == name
            scores = [result.score for result in report.results]
            assert scores == sorted(scores, reverse=True)
            assert 0 <= scores[-1] <= scores[0] <= 1
        assert run(vault, "search", query="lorry").results[0].text == ANSWERS["car.md"]


def test_e5_finds_across_languages(
    camillo: Camillo,
    shop: Path,
    models: Path,
    later: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not (models / "e5").is_dir():
        pytest.skip("e5 is not set up on this machine")
    monkeypatch.setenv("CAMILLO_MODELS", str(models))
    _embedder(monkeypatch, "e5")
    plant(shop, ANSWERS)
    camillo.mine(shop)
    assert camillo("embed").code == 0
    assert camillo.sources("小猫在哪里睡觉")[0] == "cat.md"
    assert camillo.sources("謝金はいつまでに払いますか")[0] == "tax.md"


class TestNotes:
    def test_all_of_a_long_note_can_be_found(self, camillo: Camillo) -> None:
        body = "\n\n".join(f"About topic{n}. " + f"filler{n} " * 70 for n in range(6))
        with open_vault() as vault:
            root = vault.root("user", create=True)
            memory = Memory("n", body, "note", "Topics")
            root.store.put([memory])
            root.catch_up()
            assert vault.embed(root) == 0
            assert root.meaning.count(vault.embedder) > 6
            for n in range(6):
                report = run(vault, "search", query=f"filler{n} " * 5, preset="vectors")
                assert report.results[0].text == body


class TestForgetting:
    @pytest.mark.promise(12)
    def test_neither_vector_nor_hash_stays(self, camillo: Camillo, filed: Path, user: Path) -> None:
        digest = text_hash(SECRET)
        assert _holding(user, digest) == ["index.db"]
        [id] = [hit["id"] for hit in camillo("search", "zirconium").results[:1]]
        ran = camillo("forget", id)
        assert (ran.code, ran.report["pending"]) == (0, False)
        assert list(_vectors(user)) == [text_hash(GATES)]
        assert _holding(user, digest) == []
        camillo.mine(filed)
        camillo("embed")
        assert _holding(user, digest) == []

    @pytest.mark.promise(12)
    def test_what_mining_replaces_goes_with_the_mine(
        self, camillo: Camillo, filed: Path, user: Path
    ) -> None:
        plant(filed, {"secret.md": "Nothing to see here.\n"})
        camillo.mine(filed)
        assert _holding(user, text_hash(SECRET)) == []
        assert list(_vectors(user)) == [text_hash(GATES)]

    def test_what_is_archived_keeps_its_vector(
        self, camillo: Camillo, filed: Path, user: Path
    ) -> None:
        before = _vectors(user)
        [id] = [hit["id"] for hit in camillo("search", "zirconium").results[:1]]
        camillo("archive", id)
        assert _vectors(user) == before
        assert camillo.sources("zirconium", "--preset", "vectors") == ["gates.md"]
        camillo("archive", id, "--undo")
        assert camillo.sources("zirconium", "--preset", "vectors")[0] == "secret.md"
        assert _degraded(camillo) == []

    def test_a_search_of_words_needs_no_numpy_to_forget(
        self, camillo: Camillo, filed: Path
    ) -> None:
        [id] = [hit["id"] for hit in camillo("search", "zirconium").results[:1]]
        code = (
            "import sys; from camillo.surfaces.cli import main\n"
            f"code = main(['forget', {id!r}]); assert 'numpy' not in sys.modules; sys.exit(code)"
        )
        with start(code=code) as process:
            assert process.communicate(timeout=60)[1] == ""
        assert process.returncode == 0


class TestModels:
    @pytest.mark.promise(26, 27)
    def test_the_old_one_answers_until_the_new_one_is_complete(
        self, camillo: Camillo, filed: Path, user: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _embedder(monkeypatch, "light")
        ran = camillo("search", "gates", "--preset", "vectors")
        assert os.path.basename(ran.first["source"]) == "gates.md"
        [note] = ran.report["degraded"]
        assert "is not complete here yet" in note
        assert f"{HASHING} answers" in note
        assert camillo("embed").first["behind"] == 0
        assert [name for (name,) in _rows(user, "SELECT name FROM models")] != [HASHING]
        assert len(_vectors(user)) == 2
        assert {size for (size,) in _rows(user, "SELECT length(data) FROM vectors")} == {516}
        assert _degraded(camillo) == []

    @pytest.mark.promise(27)
    def test_the_best_that_is_installed_can_answer_after_a_change_too(
        self,
        camillo: Camillo,
        shop: Path,
        later: list[list[str]],
        home: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """`auto` is written down by the name of what it meant."""
        monkeypatch.setenv("CAMILLO_MODELS", str(home / "none"))
        _embedder(monkeypatch, "auto")
        plant(shop, ANSWERS)
        camillo.mine(shop)
        camillo("embed")
        _embedder(monkeypatch, "hashing")
        ran = camillo("search", "when is the bill due", "--preset", "vectors")
        assert os.path.basename(ran.first["source"]) == "tax.md"
        assert "answers" in ran.report["degraded"][0]


@pytest.mark.promise(26)
class TestDegraded:
    def test_vectors_that_are_behind_show_in_every_search(
        self, camillo: Camillo, filed: Path
    ) -> None:
        plant(filed, {f"{n}.md": f"Lamps and gate {n}.\n" for n in range(FEW + 1)})
        camillo.mine(filed)
        for _ in range(2):
            [said] = _degraded(camillo)
            assert said == f"vectors {FEW + 1} behind: they follow in the background"
        assert f"note: vectors {FEW + 1} behind" in camillo.plain("search", "gates").err

    def test_no_embedder_shows_in_every_search(
        self, camillo: Camillo, filed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _embedder(monkeypatch, "none")
        ran = camillo("search", "gates")
        assert ran.report["preset"] == "words"
        assert ran.report["degraded"] == ["words only: no embedder"]
        assert camillo.texts("gates") == [GATES]
        assert _degraded(camillo, "gates", "--preset", "hybrid") == ["words only: no embedder"]

    def test_one_that_is_missing_shows_with_the_way_out(
        self, camillo: Camillo, filed: Path, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CAMILLO_MODELS", str(home / "none"))
        _embedder(monkeypatch, "e5")
        ran = camillo("search", "gates")
        assert (ran.code, ran.report["preset"]) == (0, "words")
        assert "camillo setup e5" in ran.report["degraded"][0]

    def test_a_cold_command_answers_by_words_and_says_so(
        self, camillo: Camillo, filed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _embedder(monkeypatch, "auto")
        ran = camillo("search", "gates")
        assert ran.report["preset"] == "words"
        assert ran.first["text"] == GATES
        [note] = ran.report["degraded"]
        assert note.startswith("words only")
        assert "--preset hybrid" in note

    def test_a_cold_command_that_is_asked_for_more_gives_it(
        self, camillo: Camillo, filed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _embedder(monkeypatch, "auto")
        for words in (["--embedder", "hashing"], ["--config", "search.embedder=hashing"]):
            ran = camillo("search", "gates", *words)
            assert (ran.report["preset"], ran.report["degraded"]) == ("default", [])

    def test_vectors_without_an_embedder_are_an_error_that_says_the_way_out(
        self, camillo: Camillo, filed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _embedder(monkeypatch, "none")
        ran = camillo("search", "gates", "--preset", "vectors")
        assert (ran.code, ran.report["error"]["code"]) == (4, "missing-extra")
        assert "camillo setup light" in ran.err

    def test_embed_without_an_embedder_says_so(
        self, camillo: Camillo, filed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _embedder(monkeypatch, "none")
        assert "no embedder" in camillo("embed").report["degraded"][0]


class TestNew:
    """What has no vector when a search by meaning begins, as after an edit by hand."""

    @pytest.fixture(autouse=True)
    def _no_haste(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A machine that is busy does as many as one that is not."""
        monkeypatch.setattr(_new_vectors, "SECONDS", 60.0)

    @pytest.fixture
    def notes(self, camillo: Camillo, filed: Path, user: Path, later: list[list[str]]) -> Path:
        for name, text in ANSWERS.items():
            plant(user, {name: text})
        camillo("embed")
        later.clear()
        return user

    def _near(self, camillo: Camillo, question: str) -> tuple[str, list[str]]:
        """The first note that meaning alone finds, and what is said besides."""
        ran = camillo("search", question, "--preset", "vectors", "--kind", "fact")
        return str(ran.first["source"]), ran.report["degraded"]

    def test_a_few_edits_by_hand_are_found_by_the_same_command(
        self, camillo: Camillo, notes: Path, later: list[list[str]]
    ) -> None:
        plant(notes, {"cat.md": "Xylophagous beetles ate the ladder.\n"})
        plant(notes, {f"new{n}.md": f"Zeppelin {n} lands at {n} o'clock.\n" for n in range(5)})
        assert self._near(camillo, "unxylophagous") == ("cat.md", [])
        assert self._near(camillo, "zeppelins 3 o'clocks") == ("new3.md", [])
        assert camillo("embed").first["behind"] == 0
        assert later == []

    def test_many_follow_in_the_background_and_are_counted(
        self, camillo: Camillo, notes: Path, later: list[list[str]]
    ) -> None:
        plant(notes, {f"new{n}.md": f"Zeppelin {n} lands.\n" for n in range(FEW)})
        _, [said] = self._near(camillo, "zeppelins")
        assert said == f"vectors {2 * FEW} behind: they follow in the background"
        assert later == [["embed", "--scope", "user", "--embedder", "hashing", "--quiet"]]
        assert camillo(*later[0]).first["behind"] == 0
        assert self._near(camillo, "zeppelins 7")[1] == []

    def test_what_would_take_more_than_a_moment_follows_too(
        self,
        camillo: Camillo,
        notes: Path,
        later: list[list[str]],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(_new_vectors, "SECONDS", 0.0)
        plant(notes, {f"new{n}.md": f"Zeppelin {n} lands.\n" for n in range(5)})
        assert self._near(camillo, "zeppelins")[1] == [
            "vectors 8 behind: they follow in the background"
        ]
        assert len(later) == 1

    def test_where_another_process_is_at_them_none_is_started(
        self, camillo: Camillo, notes: Path, later: list[list[str]]
    ) -> None:
        plant(notes, {"new.md": "A zeppelin lands.\n"})
        with lock_file(str(notes / "index" / "vectors.lock")) as mine:
            assert mine
            assert self._near(camillo, "kitten")[1] == [
                "vectors 2 behind: another process is at them"
            ]
        assert later == []

    def test_a_text_that_cannot_be_read_is_not_tried_for_ever(
        self, camillo: Camillo, filed: Path, user: Path, later: list[list[str]]
    ) -> None:
        plant(filed, {"new.md": "A zeppelin lands.\n"})
        camillo.mine(filed)
        later.clear()
        connection = apsw.Connection(str(user / "store.db"))
        connection.execute(
            "UPDATE memories SET body = 'A zeppelin lends.' WHERE body LIKE 'A zeppelin%'"
        )
        connection.close()
        assert any("1 behind: `camillo embed`" in said for said in _degraded(camillo))
        assert later == []

    def test_a_search_by_words_makes_none(
        self, camillo: Camillo, notes: Path, user: Path, later: list[list[str]]
    ) -> None:
        before = _vectors(user)
        plant(notes, {"new.md": "A zeppelin lands.\n"})
        assert camillo.sources("zeppelin", "--preset", "words") == ["new.md"]
        assert (_vectors(user), later) == (before, [])


@pytest.mark.promise(3)
class TestDamage:
    def test_a_changed_vector_is_noticed_and_made_again(
        self, camillo: Camillo, filed: Path, user: Path
    ) -> None:
        before = camillo("search", "gates", "--preset", "vectors").results
        _rows(user, "UPDATE vectors SET data = zeroblob(length(data)) WHERE rowid = 1")
        ran = camillo("search", "gates", "--preset", "vectors")
        assert (ran.code, ran.report["degraded"]) == (0, [])
        assert ran.results == before
        assert camillo("embed").first["behind"] == 0

    def test_whichever_page_is_overwritten_every_search_goes_on(
        self, camillo: Camillo, shop: Path, user: Path, later: list[list[str]]
    ) -> None:
        chance = random.Random(3)
        plant(shop, {f"{n}.md": f"Gate {n} and door {n * 7}.\n" * 9 for n in range(60)})
        camillo.mine(shop)
        camillo("embed")
        index = user / "index" / "index.db"
        good = index.read_bytes()
        for page in range(len(good) // 8192):
            junk = chance.choice([b"\xff" * 8192, bytes(8192), chance.randbytes(8192)])
            for suffix in ("-wal", "-shm"):
                index.with_name(index.name + suffix).unlink(missing_ok=True)
            index.write_bytes(good[: page * 8192] + junk + good[(page + 1) * 8192 :])
            ran = camillo("search", "gate number 7")
            assert ran.code == 0, (page, ran)
            assert camillo("embed").code == 0, page
            again = camillo("search", "gate number 7")
            assert (again.code, again.report["degraded"]) == (0, []), (page, again)

    @pytest.mark.promise(4)
    def test_deleted_they_come_back_the_same(
        self, camillo: Camillo, filed: Path, user: Path
    ) -> None:
        before = camillo("search", "gates", "--preset", "hybrid").results
        for path in (user / "index").iterdir():
            path.unlink()
        assert camillo("embed").code == 0
        assert camillo("search", "gates", "--preset", "hybrid").results == before


class TestTogether:
    def test_two_commands_do_the_work_once(
        self, camillo: Camillo, shop: Path, user: Path, later: list[list[str]]
    ) -> None:
        plant(shop, {f"{n}.md": f"Gate {n} and door {n * 7}.\n" for n in range(1500)})
        camillo.mine(shop)
        ended = together([["embed", "--json"]] * 3)
        assert sorted({each.code for each in ended}) in ([0], [0, 3]), ended
        assert len(_vectors(user)) == 1500
        assert _degraded(camillo) == []

    def test_while_another_process_is_at_it_the_second_reports_and_leaves(
        self, camillo: Camillo, filed: Path, user: Path
    ) -> None:
        plant(filed, {"new.md": "Lamps and gates.\n"})
        camillo.mine(filed)
        with lock_file(str(user / "index" / "vectors.lock")) as mine:
            assert mine
            ran = camillo("embed")
            assert (ran.code, ran.first["behind"]) == (0, 1)
            assert "another process" in ran.report["degraded"][0]
        assert camillo("embed").code == 0


def test_what_is_embedded_is_what_is_shown() -> None:
    """The file's name, which is searched by words, is no part of a text's meaning."""
    memory = Memory("d", "text", "drawer", title="a title")
    assert passage(memory, 0).shown == "text"


def _is_free(path: str) -> bool:
    with lock_file(path) as mine:
        return mine


def _holding(root: Path, digest: bytes) -> list[str]:
    """The files of a root in which these bytes stand."""
    paths = [path for path in sorted(root.rglob("*")) if path.is_file()]
    return [path.name for path in paths if digest in path.read_bytes()]
