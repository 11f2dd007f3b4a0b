"""Mining: what is filed, what is left out and why, what a second run does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from camillo.config import MineSettings, Settings
from camillo.ingest.mine import MineReport
from camillo.ingest.mine import mine as mine_folder
from camillo.ingest.places import Placing
from camillo.vault import Vault
from flows.command import Camillo, files, plant

PYTHON = '"""Prices."""\n\n\ndef discount(total):\n    """Ten off a hundred."""\n    return total\n'
CHINESE = "# 剧场\n\n朱利奥·卡米洛的记忆剧场有七道门。\n每道门通向一个抽屉。\n"


def test_what_was_mined_is_found_word_for_word(camillo: Camillo, shop: Path) -> None:
    plant(shop, {"docs/queue.md": "We moved the queue to redis.\n", "price.py": PYTHON})
    mined = camillo.mine(shop)
    assert (mined["files_new"], mined["drawers_stored"], mined["wing"]) == (2, 2, "shop")
    assert camillo.texts("redis") == ["We moved the queue to redis.\n"]
    assert camillo.texts("discount") == [PYTHON]


@pytest.mark.parametrize(
    ("name", "content", "query"),
    [
        ("price.py", PYTHON * 40, "discount"),
        ("queue.md", "# Queue\n\n" + "We moved the queue to redis in May.\n\n" * 80, "redis"),
        ("dos.txt", "A line of DOS text about gates.\r\n" * 90, "gates"),
        ("mac.txt", "A line of old Mac text about gates.\r" * 90, "gates"),
        ("theatre.md", CHINESE * 60, "剧场"),
        ("late.md", "\n\n\n  \n" + "Far below stands the seventh gate.\n" * 50, "seventh gate"),
    ],
)
def test_the_text_of_a_hit_stands_at_the_lines_that_it_names(
    camillo: Camillo, shop: Path, name: str, content: str, query: str
) -> None:
    plant(shop, {name: content})
    camillo.mine(shop)
    hits = camillo("search", query, "-k", "100").results
    assert len(hits) > 1
    lines = _lines(content)
    for hit in hits:
        there = "".join(lines[hit["line_start"] - 1 : hit["line_end"]])
        assert hit["text"].strip() in there
        assert hit["source"] == str(shop / name)


def test_nothing_is_written_into_the_mined_folder(camillo: Camillo, shop: Path) -> None:
    plant(shop, {"a.md": "gates\n", "sub/b.py": PYTHON, ".gitignore": "c.txt\n", "c.txt": "no\n"})
    before = files(shop)
    camillo.mine(shop)
    camillo("search", "gates")
    camillo.mine(shop)
    assert files(shop) == before


class TestDryRun:
    def test_it_makes_no_root(self, camillo: Camillo, shop: Path, user: Path) -> None:
        plant(shop, {"a.md": "gates\n", "b.bin": b"\0\1"})
        ran = camillo("mine", shop, "--dry-run")
        assert (ran.code, ran.first["files_new"], ran.first["drawers_stored"]) == (0, 1, 1)
        assert ran.report["dry_run"]
        assert [skip["reason"] for skip in ran.report["skipped"]] == ["binary"]
        assert not user.exists()

    def test_it_leaves_a_root_as_it_was(self, camillo: Camillo, shop: Path, user: Path) -> None:
        plant(shop, {"a.md": "gates\n", "b.md": "doors\n"})
        camillo.mine(shop)
        before = camillo.listed("--order", "id")
        truth = (user / "store.db").read_bytes()
        plant(shop, {"a.md": "seven gates\n", "c.md": "walls\n"})
        mined = camillo.mine(shop, "--dry-run")
        assert [mined[f"files_{what}"] for what in ("new", "changed", "unchanged")] == [1, 1, 1]
        assert camillo.listed("--order", "id") == before
        assert (user / "store.db").read_bytes() == truth


class TestWhatIsLeftOut:
    def test_every_file_on_disk_is_counted_once(self, camillo: Camillo, shop: Path) -> None:
        plant(
            shop,
            {
                "a.md": "gates\n", "b.bin": b"\0\1\2", "empty.txt": "", "blank.txt": " \n\t\n",
                ".env": "KEY=1\n", "package-lock.json": "{}\n", ".gitignore": "*.log\n",
                "x.log": "noise\n", "sub/c.py": PYTHON, "sub/deep/d.md": "doors\n",
                "big.txt": "word " * 1000,
            },
        )  # fmt: skip
        (shop / "link.md").symlink_to(shop / "a.md")
        os.mkfifo(shop / "pipe")
        ran = camillo("mine", shop, "--config", "mine.max_bytes=2000")
        counts = ran.first
        on_disk = [path for path in shop.rglob("*") if path.is_symlink() or not path.is_dir()]
        counted = sum(counts[f"files_{what}"] for what in ("new", "skipped", "failed"))
        assert counted == len(on_disk)
        assert counts["files_skipped"] == len(ran.report["skipped"])
        reasons = {skip["path"]: skip["reason"] for skip in ran.report["skipped"]}
        assert len(reasons) == len(ran.report["skipped"])
        assert all(reasons.values())
        assert reasons["b.bin"] == "binary"
        assert reasons["empty.txt"] == "empty"
        assert reasons["blank.txt"] == "only white space"
        assert reasons["x.log"] == "ignored by .gitignore"
        assert "symlink" in reasons["link.md"]
        assert "secret" in reasons[".env"]
        assert reasons["big.txt"] == "over the size cap (5,000 > 2,000 bytes)"

    def test_a_folder_that_is_left_out_is_one_entry(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n", "node_modules/x/i.js": "1\n", "node_modules/y.js": "2\n"})
        ran = camillo("mine", shop)
        assert [skip["path"] for skip in ran.report["skipped"]] == ["node_modules"]

    def test_a_file_with_too_many_chunks_is_skipped_whole(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {"long.txt": "many words " * 300, "short.txt": "few words\n"})
        ran = camillo("mine", shop, "--config", "mine.max_chunks=2")
        assert ran.first["files_new"] == 1
        assert [skip["path"] for skip in ran.report["skipped"]] == ["long.txt"]
        assert "mine.max_chunks (2)" in ran.report["skipped"][0]["reason"]
        assert camillo.mine(shop, "--config", "mine.max_chunks=0")["files_new"] == 1

    def test_the_reasons_are_shown_to_people(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n", "b.bin": b"\0\1"})
        out = camillo.plain("mine", shop).out
        assert "b.bin" in out
        assert "binary" in out

    def test_they_are_listed_again_by_the_next_mine(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n", "b.md": "doors\n"})
        _age(shop)
        camillo.mine(shop)
        plant(shop, {"b.md": b"\0\1\2"})
        _age(shop)
        for _ in range(3):
            ran = camillo("mine", shop)
            assert [skip["path"] for skip in ran.report["skipped"]] == ["b.md"]
            assert ran.first["files_unchanged"] == 1


class TestAgain:
    def test_what_did_not_change_is_not_filed_again(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n", "b.md": "doors\n"})
        camillo.mine(shop)
        mined = camillo.mine(shop)
        assert (mined["files_unchanged"], mined["files_new"], mined["files_changed"]) == (2, 0, 0)
        assert mined["drawers_stored"] == 0

    def test_a_new_date_alone_changes_nothing(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        camillo.mine(shop)
        os.utime(shop / "a.md", (1_700_000_000, 1_700_000_000))
        assert camillo.mine(shop)["files_unchanged"] == 1

    def test_a_change_with_the_same_size_and_date_is_seen(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {"a.md": "gates\n"})
        camillo.mine(shop)
        stamp = (shop / "a.md").stat()
        plant(shop, {"a.md": "doors\n"})
        os.utime(shop / "a.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        assert camillo.mine(shop)["files_changed"] == 1
        assert camillo.texts("doors") == ["doors\n"]

    def test_a_changed_file_keeps_its_equal_drawers_and_loses_the_others(
        self, camillo: Camillo, shop: Path
    ) -> None:
        parts = [f"{word} " * 100 + "\n\n" for word in ("alpha", "bravo", "charlie")]
        plant(shop, {"a.txt": "".join(parts)})
        assert camillo.mine(shop)["drawers_stored"] == 3
        plant(shop, {"a.txt": "".join(parts[:2])})
        mined = camillo.mine(shop)
        assert (mined["drawers_unchanged"], mined["drawers_removed"]) == (2, 1)
        assert camillo.texts("charlie") == []
        assert len(camillo.texts("alpha")) == 1

    @pytest.mark.parametrize("content", [b"\0\1\2\0", b"", b" \n"])
    def test_a_file_that_holds_no_text_any_more_loses_its_drawers(
        self, camillo: Camillo, shop: Path, content: bytes
    ) -> None:
        plant(shop, {"a.md": "# Seven gates\n\nof the theatre\n", "b.md": "doors\n"})
        camillo.mine(shop)
        plant(shop, {"a.md": content})
        ran = camillo("mine", shop)
        assert (ran.first["drawers_removed"], ran.first["files_skipped"]) == (1, 1)
        assert camillo.texts("gates") == []
        assert [entry["text"] for entry in camillo.listed()] == ["doors\n"]

    def test_another_wing_files_everything_anew(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        camillo.mine(shop)
        assert camillo.mine(shop, "--wing", "theatre")["files_changed"] == 1
        assert camillo.texts("gates", "--wing", "theatre") == ["gates\n"]
        assert camillo.texts("gates", "--wing", "shop") == []
        assert len(camillo.listed()) == 1

    def test_other_rules_of_cutting_file_everything_anew(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {"a.md": "gates and doors " * 60})
        first = camillo.mine(shop)["drawers_stored"]
        mined = camillo.mine(shop, "--config", "mine.chunk_chars=200")
        assert mined["files_changed"] == 1
        assert len(camillo.listed()) > first

    def test_what_was_archived_stays_archived(self, camillo: Camillo, shop: Path) -> None:
        parts = [f"{word} " * 100 + "\n\n" for word in ("alpha", "bravo")]
        plant(shop, {"a.txt": "".join(parts)})
        camillo.mine(shop)
        camillo("archive", camillo("search", "alpha").first["id"])
        plant(shop, {"a.txt": "".join([*parts, "charlie\n"])})
        camillo.mine(shop)
        assert camillo.texts("alpha") == []
        assert len(camillo.texts("alpha", "--archived")) == 1
        assert camillo.texts("charlie") != []

    def test_an_archived_drawer_whose_text_changed_is_a_new_one(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {"a.txt": "the old gate\n"})
        camillo.mine(shop)
        camillo("archive", camillo("search", "gate").first["id"])
        plant(shop, {"a.txt": "the new gate\n"})
        camillo.mine(shop)
        assert camillo.texts("gate") == ["the new gate\n"]


class TestPlaces:
    def test_the_wing_is_the_folder_and_the_room_the_first_one_below(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {"a.md": "gates\n", "docs/deep/b.md": "doors\n"})
        camillo.mine(shop)
        places = {entry["text"]: (entry["wing"], entry["room"]) for entry in camillo.listed()}
        assert places == {"gates\n": ("shop", "general"), "doors\n": ("shop", "docs")}

    def test_a_single_file_is_filed_under_its_folder(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n", "b.md": "doors\n"})
        mined = camillo.mine(shop / "a.md")
        assert (mined["files_new"], mined["wing"]) == (1, "shop")
        assert len(camillo.listed()) == 1

    def test_a_file_that_was_named_is_mined_although_it_is_ignored(
        self, camillo: Camillo, shop: Path
    ) -> None:
        plant(shop, {".gitignore": "a.log\n", "a.log": "gates\n"})
        assert camillo.mine(shop / "a.log")["files_new"] == 1


class TestUsage:
    def test_a_path_that_is_not_there_is_a_usage_error(
        self, camillo: Camillo, shop: Path, user: Path
    ) -> None:
        ran = camillo("mine", shop / "nowhere")
        assert ran.code == 2
        assert "nowhere" in ran.err
        assert not user.exists()

    @pytest.mark.promise(15)
    @pytest.mark.parametrize("path", ["a\0b", "\0", "x" * 300, "\ud800"])
    def test_a_path_that_cannot_be_is_a_usage_error(self, camillo: Camillo, path: str) -> None:
        ran = camillo("mine", path)
        assert ran.code == 2
        assert ran.report["error"]["code"] == "invalid-value"

    def test_names_that_are_no_unicode_are_mined_and_shown_escaped(
        self, camillo: Camillo, shop: Path
    ) -> None:
        name = os.fsencode(shop) + b"/caf\xe9.md"
        with open(name, "wb") as file:
            file.write(b"gates\n")
        camillo.mine(shop)
        assert camillo.sources("gates") == ["caf\\xe9.md"]
        assert camillo.mine(shop)["files_unchanged"] == 1


class TestAFileThatChangesWhileItIsRead:
    """The clock is asked between opening a file and reading it."""

    def test_it_is_read_again_until_it_holds_still(self, vault: Vault, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        report = _mined(vault, shop, changes=1)
        assert (report.new, report.failed) == (1, [])
        [drawer] = vault.root("user").store.scan()
        assert drawer.body == (shop / "a.md").read_text("utf-8") == "gates\nmore\n"

    def test_one_that_never_does_is_reported(self, vault: Vault, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        report = _mined(vault, shop, changes=100)
        assert report.new == 0
        assert [(each.path, "changed while" in each.reason) for each in report.failed] == [
            ("a.md", True)
        ]
        assert list(vault.root("user").store.scan()) == []


def _mined(vault: Vault, folder: Path, changes: int) -> MineReport:
    left = [changes]

    def clock() -> float:
        if left[0]:
            left[0] -= 1
            with open(folder / "a.md", "a", encoding="utf-8") as file:
                file.write("more\n")
        return 1_800_000_000.0

    root: Any = vault.root("user", create=True)
    return mine_folder(
        root, str(folder), Placing(str(folder)), MineSettings(), Settings().rules(), clock=clock
    )


def _age(folder: Path) -> None:
    """As if nothing had been written for a while: stamps alone tell that a file is the same."""
    for path in folder.rglob("*"):
        os.utime(path, ns=(10**18, path.stat().st_size * 10**12 + 10**18))


def _lines(content: str) -> list[str]:
    """Lines as editors count them: LF, CR LF or CR ends one."""
    import re

    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", content)
