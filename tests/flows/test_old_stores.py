"""Stores of earlier versions: each opens, answers, and keeps what it was told to keep away."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from camillo.model import Filter, Key
from camillo.ops import run
from camillo.vault import Vault, open_vault

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures").glob("store-*.db.gz"))


@pytest.fixture(params=FIXTURES, ids=lambda path: path.name.removesuffix(".db.gz"))
def vault(request: pytest.FixtureRequest, home: Path) -> Vault:
    folder = home / ".camillo"
    folder.mkdir(mode=0o700)
    (folder / "store.db").write_bytes(gzip.decompress(request.param.read_bytes()))
    return open_vault()


@pytest.mark.promise(6)
def test_a_store_of_every_version_opens_and_answers(vault: Vault) -> None:
    with vault:
        found = {
            question: [result.text for result in run(vault, "search", query=question).results]
            for question in ("move the queue", "柏林", "cart total", "tea")
        }
        health = vault.root("user").store.health(deep=True)
    assert health.problems == ()
    assert found["move the queue"][0].startswith("# Queue")
    assert "我们决定把数据库迁移到柏林" in found["柏林"][0]
    assert found["cart total"][0].startswith("def total(items)")
    assert "Mei prefers tea to coffee." in found["tea"][0]


def test_its_fields_are_read_as_they_were_written(vault: Vault) -> None:
    with vault:
        note = vault.root("user").store.get([Key("", "user", "", "prefers-tea")])[0]
    assert note is not None
    assert (note.title, note.tags, note.happened_at) == ("Prefers tea", ("drink",), "2026-05-21")
    assert [tuple(edge) for edge in note.edges] == [("related-to", "kitchen")]


@pytest.mark.promise(12)
def test_what_it_forgot_and_archived_stays_away(vault: Vault, home: Path) -> None:
    folder = home / "work" / "shop"
    folder.mkdir()
    (folder / "again.txt").write_text("The launch code is nineteen zebras.\n", "utf-8")
    with vault:
        mined = run(vault, "mine", path=str(folder)).as_dict()["results"][0]
        nothing = run(vault, "search", query="zebras heron").results
        archived = vault.root("user").store.count(Filter(archived=True))
        live = vault.root("user").store.count(Filter())
    assert mined["forgotten"] == 1
    assert nothing == []
    assert archived == live + 1
