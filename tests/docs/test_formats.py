"""docs/FORMATS.md and its neighbours: tables, columns, keys, codes and versions are the code's."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import apsw
import pytest

from camillo import registry
from camillo.database import APPLICATION_ID, PAGE_BYTES
from camillo.engines._sqlite_schema import COLUMNS, MIGRATIONS
from camillo.engines.sqlite import SqliteStore
from camillo.indexes._file import FORMAT
from camillo.ingest.sources import VERSIONS
from camillo.model import drawer_id, source_id
from camillo.ops.report import Report
from camillo.ops.search import SearchResult
from camillo.retrieval import fuse, grains, notes
from camillo.retrieval.closets import BOOSTS
from camillo.retrieval.presets import PRESETS
from camillo.surfaces import cli
from camillo.text.closets import ClosetLine, closet_id, parse_line, render_line

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FORMATS = (DOCS / "FORMATS.md").read_text("utf-8")


def section(title: str, page: str = FORMATS) -> str:
    """What stands below a heading, to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(title)}$(.*?)(?=^#+ |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no section {title}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """Cells of all tables' rows, without headings and rules, as they are written."""
    cells = [
        re.split(r" *(?<!\\)\| *", line.strip().strip("|").strip())
        for line in text.splitlines()
        if line.startswith("|")
    ]
    rules = [n for n, row in enumerate(cells) if all(re.fullmatch("-+", cell) for cell in row)]
    return [row for n, row in enumerate(cells) if n not in rules and n + 1 not in rules]


def codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_every_table_of_the_store_is_there_with_its_columns(tmp_path: Path) -> None:
    SqliteStore(str(tmp_path / "store.db")).close()
    connection = apsw.Connection(str(tmp_path / "store.db"))
    documented = {codes(row[0])[0]: codes(row[1]) for row in rows(section("store.db")) if row[1:2]}
    for name, columns in _columns(connection).items():
        if name == "readable":
            assert f"`{name}`" in section("store.db")
        elif name == "memories":
            assert _documented_columns() == {"seq", *COLUMNS} == set(columns)
        elif name == "retired":
            assert documented[name] == ["seq", "former", "memories"]
            assert set(columns) == {"seq", "former", *COLUMNS}
        else:
            assert documented[name] == [c for c in columns if c != "rowid"]


def test_every_table_of_the_index_is_there(tmp_path: Path) -> None:
    file = registry.open_index_file(str(tmp_path / "index" / "index.db"), "x")
    tables = {name for name in _columns(file.database.connection) if not _is_shadow(name)}
    file.close()
    named = {code for row in rows(section("index/index.db")) for code in codes(row[0])}
    assert named == tables


def test_the_numbers_of_the_files_are_right() -> None:
    assert f"`0x{APPLICATION_ID:X}`" in FORMATS
    assert f"pages of {PAGE_BYTES:,} bytes" in FORMATS
    assert f"Schema {len(MIGRATIONS)}." in FORMATS
    assert f"Format {FORMAT}." in FORMATS


def test_the_versions_are_those_of_the_code() -> None:
    table = {codes(row[0])[0]: row[2] for row in rows(section("Versions"))}
    modules = ("normalise", "chunk", "tokens", "closets")
    names = [name for name in table if name.endswith("_VERSION")]
    for name, module in zip(names, modules, strict=True):
        assert table[name] == str(getattr(import_module(f"camillo.text.{module}"), name))
    assert f"`{VERSIONS}`" in section("Versions")


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    documented = [int(row[0]) for row in rows(section("Exit codes"))]
    assert documented == [0, 1, cli.USAGE, 3, cli.FAILED, cli.INTERRUPTED]


def test_the_json_keys_are_those_of_a_report_and_a_result() -> None:
    named = [codes(row[0])[0] for row in rows(section("JSON"))]
    assert named == list(Report().as_dict())
    (sentence,) = re.findall(r"^A result of .+$", section("JSON"), re.MULTILINE)
    assert codes(sentence)[2:] == list(SearchResult._fields)


def test_ids_are_made_as_described() -> None:
    from hashlib import sha256

    digest = sha256("/笔记/a.md".encode()).hexdigest()[:24]
    assert source_id("/笔记/a.md") == digest
    assert drawer_id("/笔记/a.md", 3) == sha256("12:/笔记/a.md:3".encode()).hexdigest()[:24]
    assert closet_id("w", "r", "/笔记/a.md", 1) == f"closet_w_r_{digest}_01"


@pytest.mark.parametrize("sign", ["\\", "|", "→", ";", ",", "\n", "\r"])
def test_escapes_are_those_of_the_table(sign: str) -> None:
    written = {"\n": "␤", "\r": "␍"}.get(sign, sign)
    line = render_line(ClosetLine("a", (f"b{sign}",), None, None, None, (f"c{sign}",)))
    assert line == f"a|b\\{written}|→c\\{written}"
    shown = f"\\{written}" if sign == "|" else f"`\\{written}`"
    assert shown in section("Closet lines")


def test_the_example_of_a_closet_line_is_one() -> None:
    (example,) = re.findall(r"^migrated .+$", (DOCS / "CLOSETS.md").read_text("utf-8"), re.M)
    line = parse_line(example)
    assert line is not None
    assert render_line(line) == example
    assert (line.date, line.line_start, line.line_end) == ("2026-03-02", 1, 14)


def test_the_boosts_are_those_of_the_stage() -> None:
    page = (DOCS / "CLOSETS.md").read_text("utf-8")
    *most, last = (f"{boost:.2f}" for boost in BOOSTS)
    assert f"{', '.join(most)} and {last}" in page


def test_every_preset_and_stage_is_on_the_page_of_search() -> None:
    page = section("Stages", (DOCS / "SEARCH.md").read_text("utf-8"))
    presets = {name: codes(row[1]) for row in rows(page) for name in codes(row[0]) if "→" in row[1]}
    assert {name: tuple(stages) for name, stages in presets.items()} == PRESETS
    stages = [codes(row[0])[0] for row in rows(page) if "→" not in row[1]]
    assert sorted(stages) == registry.names("stage")


def test_the_weights_of_grains_and_fuse_are_those_of_the_stages() -> None:
    page = section("Stages", (DOCS / "SEARCH.md").read_text("utf-8"))
    (row,) = (row[1] for row in rows(page) if row[0] == "`grains`")
    weights = [f"{weight:.2f}" for weight in (grains.MESSAGE, grains.WINDOW, grains.SESSION)]
    assert re.findall(r"\d\.\d+", row) == weights
    assert f"words with {fuse.WORDS:.2f}" in page
    assert f"meaning with {1 - fuse.WORDS:.2f}" in page


def test_the_lifts_of_notes_are_those_of_the_stage() -> None:
    page = section("Notes among drawers", (DOCS / "SEARCH.md").read_text("utf-8"))
    (lifts,) = re.findall(r"by ([\d., and]+) of what their scores lack", page)
    assert re.findall(r"0\.\d+", lifts) == [f"{lift:.2f}" for lift in notes.LIFTS]
    assert f"nominate {notes.CONSIDERED} passages of notes" in page


def test_every_embedder_has_its_row() -> None:
    table = rows((DOCS / "EMBEDDERS.md").read_text("utf-8").partition("## ")[0])
    named = {code for row in table for code in codes(row[0])} - {"--embedder"}
    assert named == {"auto", "none", *registry.names("embedder")}


@pytest.mark.parametrize("what", ["engine", "index"])
def test_every_engine_and_index_is_in_the_glossary(what: str) -> None:
    page = (DOCS / "GLOSSARY.md").read_text("utf-8")
    (entry,) = re.findall(rf"^\*\*{what}\*\*$\n: (.+)$", page, re.MULTILINE)
    assert set(registry.names(what)) <= set(codes(entry))


def test_every_file_of_the_tour_is_there() -> None:
    page = section("Reading order", (DOCS / "ARCHITECTURE.md").read_text("utf-8"))
    folder = ""
    for name in codes(page):
        if "/" in name:
            folder = name.rpartition("/")[0]
        if name.endswith(".py"):
            places = [ROOT / "src/camillo" / name, ROOT / "src/camillo" / folder / name]
            assert any(place.is_file() for place in places), name


def _documented_columns() -> set[str]:
    table = section("store.db").partition("column of `memories`")[2]
    return {code for line in table.splitlines()[2:] if line.startswith("|") for code in
            codes(line.split("|")[1])}  # fmt: skip


def _columns(connection: apsw.Connection) -> dict[str, list[str]]:
    names: list[Any] = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"
    ).fetchall()
    return {
        name: [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        for (name,) in names
        if not _is_shadow(name)
    }


def _is_shadow(name: str) -> bool:
    """Tables that FTS5 makes for itself."""
    return re.fullmatch(r"(?:closet_)?words_(?:data|idx|docsize|config|content)", name) is not None
