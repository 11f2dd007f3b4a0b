"""Exit codes, replies and errors of every command, over the whole table of operations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from camillo.config import Settings
from camillo.errors import UnknownName
from camillo.ops.output import OUTPUT
from camillo.ops.signature import Parameter, Signature, run, signature
from camillo.ops.table import TABLE
from camillo.vault import Vault
from flows.command import Camillo, files, plant, start

SIGNATURES = [signature(name) for name in TABLE]
OPTIONS = [(each, flag) for each in SIGNATURES for p in each.parameters for flag in p.flags]
SETTINGS = [
    f"{table}.{name}"
    for table in ("memory", "mine", "closets", "search")
    for name in getattr(Settings(), table)._fields
]
TRAVERSALS = [
    "../../../outside", "/nowhere/outside", "..", "%2e%2e%2foutside", "..\\outside",
    "C:\\outside", "\\\\host\\share", "a/../../outside", "a\0b", "CON", "nul.txt", "~nobody/x",
    "\uff0e\uff0e/outside", "file:///nowhere", "x" * 5000, "./\n/..",
]  # fmt: skip


READERS = [s for s in SIGNATURES if s.vault and not s.writes and not s.name.startswith("bench")]


def _needed(found: Signature) -> list[str]:
    """Words that will do for what an operation cannot do without."""
    return [each.choices[0] if each.choices else "x" for each in found.positional if each.required]


def _named(found: Signature) -> str:
    return found.name.replace(" ", "-")


class TestExitCodes:
    def test_zero_one_and_two(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        assert camillo("mine", shop).code == 0
        assert camillo("search", "gates").code == 0
        assert camillo("search", "zeppelin").code == 1
        assert camillo("show", "00000000").code == 1
        assert camillo("search").code == 2
        assert camillo("search", "gates", "-k", "0").code == 2

    def test_three_for_done_in_part(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        camillo.mine(shop)
        shop.rename(shop.parent / "away")
        assert camillo("sync").code == 3

    def test_four_for_failed(self, camillo: Camillo, user: Path) -> None:
        user.write_text("no folder", "utf-8")
        assert camillo("init").code == 4

    def test_an_error_is_one_line_for_people_and_one_object_for_programs(
        self, camillo: Camillo
    ) -> None:
        ran = camillo("search", "gates", "--since", "soon")
        assert list(ran.report) == ["schema", "results", "degraded", "error"]
        assert ran.report["error"]["code"] == "invalid-value"
        assert ran.err == f"camillo: {ran.report['error']['message']}\n"
        assert camillo.plain("search", "gates", "--since", "soon").out == ""

    def test_a_process_ends_with_the_same_code(self, shop: Path) -> None:
        with start("search", "gates", "--json") as process:
            out, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert json.loads(out)["results"] == []
        assert err == ""


@pytest.mark.parametrize("found", SIGNATURES, ids=_named)
class TestEveryOperation:
    @pytest.mark.promise(25)
    def test_an_unknown_option_is_refused(self, camillo: Camillo, found: Signature) -> None:
        ran = camillo.plain(*found.name.split(), *_needed(found), "--no-such-thing")
        assert ran.code == 2
        assert "no option named '--no-such-thing'" in ran.err
        assert "known: " in ran.err

    @pytest.mark.promise(25)
    def test_a_misspelt_command_is_told_the_right_one(
        self, camillo: Camillo, found: Signature
    ) -> None:
        first, *rest = found.name.split()
        ran = camillo.plain(first[:-1] + "x", *rest)
        assert ran.code == 2
        assert f"did you mean '{first}" in ran.err

    @pytest.mark.promise(25)
    def test_an_unknown_argument_is_refused_in_python(self, vault: Vault, found: Signature) -> None:
        with pytest.raises(UnknownName) as caught:
            run(vault, found.name, no_such_thing=1)
        assert "no_such_thing" in str(caught.value)

    def test_help_costs_no_root(self, camillo: Camillo, user: Path, found: Signature) -> None:
        ran = camillo.plain(*found.name.split(), "--help")
        assert ran.code == 0
        assert found.summary in ran.out
        assert not user.exists()


@pytest.mark.parametrize("found", [each for each in SIGNATURES if _needed(each)], ids=_named)
def test_missing_words_are_named(camillo: Camillo, found: Signature) -> None:
    ran = camillo.plain(*found.name.split())
    assert ran.code == 2
    assert "is missing" in ran.err


@pytest.mark.parametrize("found", READERS, ids=_named)
def test_what_only_reads_changes_no_memory(
    camillo: Camillo, shop: Path, vault: Vault, found: Signature
) -> None:
    plant(shop, {"a.md": "gates\n"})
    camillo.mine(shop)
    store = vault.root("user").store
    before = store.last_change(), store.journal(limit=1000)
    words = [str(shop) if each == "x" else each for each in _needed(found)]
    assert camillo(found.name, *words).code in (0, 1)
    assert (store.last_change(), store.journal(limit=1000)) == before


@pytest.mark.promise(25)
@pytest.mark.parametrize(
    ("found", "flag"),
    [each for each in OPTIONS if len(each[1]) > 4],
    ids=lambda each: str(each)[:40],
)
def test_a_misspelt_option_is_told_the_right_one(
    camillo: Camillo, found: Signature, flag: str
) -> None:
    ran = camillo.plain(*found.name.split(), *_needed(found), flag[:-1])
    assert ran.code == 2
    assert f"did you mean '{flag}'" in ran.err


@pytest.mark.promise(25)
@pytest.mark.parametrize("key", SETTINGS)
def test_a_misspelt_setting_is_told_the_right_one(camillo: Camillo, key: str) -> None:
    ran = camillo("list", "--config", f"{key}x=1")
    assert ran.code == 2
    assert f"did you mean '{key}'" in ran.err


@pytest.mark.promise(25)
@pytest.mark.parametrize("flag", [flag for row in OUTPUT for flag in row[5] if len(flag) > 4])
def test_a_misspelt_common_option_is_told_the_right_one(camillo: Camillo, flag: str) -> None:
    ran = camillo.plain("list", flag[:-1])
    assert ran.code == 2
    assert f"did you mean '{flag}'" in ran.err


def _texts() -> list[tuple[Signature, Parameter]]:
    return [
        (each, parameter)
        for each in SIGNATURES
        for parameter in each.parameters
        if parameter.kind in ("str", "strs") and not parameter.choices
    ]


@pytest.mark.promise(15)
@pytest.mark.parametrize(
    ("found", "parameter"), _texts(), ids=lambda each: getattr(each, "name", "").replace(" ", "-")
)
def test_no_spelling_of_a_path_leaves_the_root(
    camillo: Camillo, home: Path, shop: Path, found: Signature, parameter: Parameter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Every argument that is text, in every operation: nothing outside the root is touched, and
    nothing unexpected happens."""
    plant(shop, {"a.md": "gates\n"})
    camillo.mine(shop)
    outside = plant(home / "outside", {"x.md": "not yours\n"})
    monkeypatch.chdir(shop)
    (home / ".cache").mkdir()  # where models lie
    before = files(outside), files(shop), sorted(path.name for path in home.iterdir())
    required = [each for each in found.positional if each.required]
    for spelling in TRAVERSALS:
        values: dict[str, Any] = {
            each.name: [word] if each.kind == "strs" else word
            for each, word in zip(required, _needed(found), strict=True)
        }
        values[parameter.name] = [spelling] if parameter.kind == "strs" else spelling
        ran = camillo(*found.name.split(), *_words(found, values))
        assert ran.code in (0, 1, 2, 3, 4), ran
        assert ran.report.get("error", {}).get("code") != "unexpected", (spelling, ran)
    assert (files(outside), files(shop), sorted(p.name for p in home.iterdir())) == before
    names = {path.name for path in (home / ".camillo").iterdir() if not _is_notes(path)}
    assert {name.split(".db")[0] for name in names} <= {"store", "index", "backups", ".roots"}


def _is_notes(path: Path) -> bool:
    """A note, or a room with nothing but notes in it."""
    inner = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return bool(inner) and all(each.suffix == ".md" for each in inner)


def _words(found: Signature, values: dict[str, Any]) -> list[str]:
    """Arguments as a command line: options first, then what follows `--`."""
    words: list[str] = []
    plain: list[str] = []
    for each in found.parameters:
        if each.name in values:
            given = values[each.name]
            items = given if isinstance(given, list) else [given]
            if each.flags:
                words += [f"{each.flags[-1]}={item}" for item in items]
            else:
                plain += items
    return [*words, "--", *plain]


@pytest.mark.promise(24)
class TestEveryWriteReplies:
    def test_init(self, camillo: Camillo) -> None:
        assert [camillo("init").first["status"] for _ in range(2)] == ["made", "already there"]

    def test_mine(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        replies = [camillo.mine(shop) for _ in range(2)]
        assert [reply["drawers_stored"] for reply in replies] == [1, 0]
        assert [reply["files_unchanged"] for reply in replies] == [0, 1]

    def test_archive_and_forget_name_the_id(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n"})
        camillo.mine(shop)
        id = camillo("search", "gates").first["id"]
        assert camillo("archive", id[:8]).first == {
            "id": id, "status": "updated", "archived": True, "done": "archived",
        }  # fmt: skip
        assert camillo("forget", id[:8]).first["id"] == id

    def test_sync(self, camillo: Camillo, shop: Path) -> None:
        plant(shop, {"a.md": "gates\n", "b.md": "doors\n"})
        camillo.mine(shop)
        (shop / "a.md").unlink()
        assert camillo("sync").results == [{"source": str(shop / "a.md"), "drawers": 1}]
