"""Use cases: one file each, and the table says of each what is true."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from camillo.ops._row import row_of
from camillo.ops.operation import operation_of
from camillo.ops.report import Report
from camillo.ops.signature import Signature, signature
from camillo.ops.table import TABLE

SIGNATURES = [signature(name) for name in TABLE]


def _named(found: Signature) -> str:
    return found.name.replace(" ", "-")


def test_no_module_holds_two() -> None:
    modules = [found.module for found in SIGNATURES]
    assert len(set(modules)) == len(modules)


def test_every_one_is_in_the_table(root: Path) -> None:
    files = [path for path in (root / "src/camillo/ops").glob("*.py") if path.name[0] != "_"]
    modules = [import_module(f"camillo.ops.{path.stem}") for path in files]
    declared = {
        record.name
        for module in modules
        for thing in vars(module).values()
        if (record := operation_of(thing)) and thing.__module__ == module.__name__
    }
    assert declared == set(TABLE)


@pytest.mark.parametrize("found", SIGNATURES, ids=_named)
class TestEach:
    def test_its_row_is_what_its_function_says(self, found: Signature) -> None:
        function = getattr(import_module(found.module), found.function)
        assert row_of(function) == TABLE[found.name]

    def test_its_file_opens_with_its_name(self, found: Signature) -> None:
        doc = import_module(found.module).__doc__
        assert doc is not None
        assert f"`{found.name}`" in doc.splitlines()[0]

    def test_its_help_has_an_example_that_reads(self, found: Signature) -> None:
        assert f"camillo {found.name}" in found.help

    def test_what_destroys_writes_and_can_be_tried_first(self, found: Signature) -> None:
        names = {parameter.name for parameter in found.parameters}
        assert not found.destructive or (found.writes and "dry_run" in names)

    def test_it_opens_no_file_and_no_database_by_itself(self, found: Signature, root: Path) -> None:
        """That is for the planes below; temporary folders apart."""
        path = root / "src" / Path(*found.module.split(".")).with_suffix(".py")
        names = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in [*node.names, ast.alias(getattr(node, "module", None) or "")]
        }
        assert not names & {"sqlite3", "apsw", "camillo.database", "camillo.engines.sqlite"}


def test_every_report_says_where_its_own_keys_come_from() -> None:
    for cls in Report.__subclasses__():
        if cls.__module__.startswith("camillo.ops."):
            assert cls.__doc__
            assert {"schema", "results", "degraded"} <= set(cls().as_dict())
