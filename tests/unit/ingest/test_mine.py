"""Mining below the operations: versions, records, batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from camillo.config import MineSettings, Settings
from camillo.errors import InvalidValue
from camillo.ingest.mine import MineReport, mine
from camillo.ingest.places import Placing
from camillo.ingest.sources import VERSIONS, SourceRecord
from camillo.model import Author, Filter
from camillo.vault import OpenRoot, Vault, open_vault

SOURCES = Filter(kinds=("source",), internal=True)


@pytest.fixture
def vault(home: Path) -> Iterator[Vault]:
    with open_vault() as opened:
        yield opened


@pytest.fixture
def root(vault: Vault) -> OpenRoot:
    return vault.root("user", create=True)


@pytest.fixture
def folder(home: Path) -> Path:
    (home / "shop").mkdir()
    return home / "shop"


def _mine(root: OpenRoot, folder: Path, **options: object) -> MineReport:
    settings = options.pop("settings", MineSettings())
    assert isinstance(settings, MineSettings)
    rules = str(options.pop("rules", Settings().rules()))
    return mine(root, str(folder), Placing(str(folder)), settings, rules, **options)  # type: ignore[arg-type]


def test_a_record_says_how_the_file_was_read(root: OpenRoot, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"\xef\xbb\xbfgates 2024-05-06\r\n")
    _mine(root, folder, clock=lambda: 1_800_000_000.0)
    [record] = map(SourceRecord.of, root.store.scan(SOURCES))
    assert (record.encoding, record.bom, record.parts, record.size) == ("utf-8", 3, 1, 21)
    assert (record.folder, record.versions) == (str(folder), VERSIONS)
    assert record.read_at == 1_800_000_000_000


def test_a_drawer_carries_the_date_of_its_content(root: OpenRoot, folder: Path) -> None:
    (folder / "2024-11-08-notes.md").write_text("gates\n", "utf-8")
    (folder / "b.md").write_text("---\ndate: 2023-01-02\n---\ngates\n", "utf-8")
    (folder / "c.md").write_text("no date at all\n", "utf-8")
    _mine(root, folder)
    dates = {drawer.body: drawer.happened_at for drawer in root.store.scan()}
    assert sorted(dates.values()) == ["", "2023-01-02", "2024-11-08"]


def test_a_record_of_an_older_version_is_mined_again(root: OpenRoot, folder: Path) -> None:
    (folder / "a.md").write_text("gates\n", "utf-8")
    _mine(root, folder)
    [memory] = root.store.scan(SOURCES)
    old = SourceRecord.of(memory)._replace(versions="0.0.0.0")
    root.store.put([old.memory("user")])
    report = _mine(root, folder)
    assert (report.changed, report.drawers_unchanged) == (1, 1)
    [memory] = root.store.scan(SOURCES)
    assert SourceRecord.of(memory).versions == VERSIONS


def test_more_files_than_a_batch_holds_are_all_filed(root: OpenRoot, folder: Path) -> None:
    for n in range(150):
        (folder / f"{n}.md").write_text(f"door {n}\n", "utf-8")
    (folder / "long.md").write_text("gates and walls\n" * 20_000, "utf-8")
    report = _mine(root, folder)
    assert report.new == 151
    assert root.store.count(SOURCES) == 151
    assert root.store.count() == report.drawers_new == 150 + len(_parts(root, folder / "long.md"))
    assert root.behind() == 0


def test_the_author_is_in_the_journal(root: OpenRoot, folder: Path) -> None:
    (folder / "a.md").write_text("gates\n", "utf-8")
    _mine(root, folder, by=Author("ann", "mine"))
    assert [(line.who, line.via, line.what) for line in root.store.journal()] == [
        ("ann", "mine", "mined")
    ]


def test_progress_is_told_for_each_file_and_at_the_end(root: OpenRoot, folder: Path) -> None:
    for name in "ab":
        (folder / f"{name}.md").write_text("gates\n", "utf-8")
    told: list[tuple[int, int | None, str]] = []
    _mine(root, folder, tell=lambda *each: told.append(each))
    assert told == [(1, None, "a.md"), (2, None, "b.md"), (2, 2, "")]


def test_what_was_read_is_filed_when_it_is_interrupted(root: OpenRoot, folder: Path) -> None:
    for n in range(10):
        (folder / f"{n}.md").write_text(f"door {n}\n", "utf-8")

    def tell(done: int, total: int | None, what: str) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _mine(root, folder, tell=tell)
    assert root.store.count() == 4
    assert root.behind() == 0
    assert _mine(root, folder).new == 6


def test_the_scope_is_that_of_the_root(root: OpenRoot, folder: Path) -> None:
    (folder / "a.md").write_text("gates\n", "utf-8")
    _mine(root, folder, scope="project")
    assert {memory.scope for memory in root.store.scan()} == {"project"}
    assert _mine(root, folder, scope="project").unchanged == 1
    assert _mine(root, folder, scope="user").new == 1


def test_a_path_that_is_not_there_is_an_error(root: OpenRoot, folder: Path) -> None:
    with pytest.raises(InvalidValue, match="nowhere"):
        _mine(root, folder / "nowhere")


def test_a_folder_of_nothing_to_mine_is_no_error(root: OpenRoot, folder: Path) -> None:
    report = _mine(root, folder)
    assert (report.new, report.skipped, report.failed) == (0, [], [])


def _parts(root: OpenRoot, path: Path) -> list[int]:
    drawers = root.store.scan(Filter(source=str(path)))
    parts = sorted(drawer.origin.part for drawer in drawers if drawer.origin)
    assert parts == list(range(len(parts)))
    return parts
