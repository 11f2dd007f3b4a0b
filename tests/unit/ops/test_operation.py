"""Declaring an operation, and the table, page and completions made from it."""

from __future__ import annotations

import shutil
import subprocess
from typing import Annotated, Any

import pytest

from camillo.errors import InvalidValue
from camillo.ops._generate import cli_markdown, table_source
from camillo.ops._row import row_of
from camillo.ops.completion import completion_script
from camillo.ops.operation import Doc, operation, operation_of
from camillo.ops.report import Report
from camillo.ops.signature import Table, signature
from camillo.ops.table import TABLE
from unit.ops.toys import TOYS, drop, find


def test_a_decorated_function_stays_a_plain_function() -> None:
    class Vault:
        results = ["a", "b"]
        degraded: list[str] = []

    assert find(Vault(), "words", k=1).results == ["a"]  # type: ignore[arg-type]


def test_the_record_says_what_was_declared() -> None:
    record = operation_of(drop)
    assert record is not None
    assert (record.name, record.writes, record.destructive, record.idempotent) == (
        "drop",
        True,
        True,
        False,
    )


def test_what_only_reads_is_idempotent() -> None:
    record = operation_of(find)
    assert record is not None
    assert record.idempotent


def test_names_are_written_with_dashes() -> None:
    @operation(writes=False)
    def look_up() -> Report:
        """Look."""
        return Report()

    record = operation_of(look_up)
    assert record is not None
    assert record.name == "look-up"


def test_other_things_are_no_operations() -> None:
    assert operation_of(len) is None


def test_the_summary_is_the_first_line_and_the_rest_is_help() -> None:
    found = signature("find", TOYS)
    assert found.summary == "Find what the vault was given."
    assert found.help == 'camillo find "why jwt" -k 3'


def test_parameters_without_default_or_named_so_are_positional() -> None:
    assert [each.name for each in signature("find", TOYS).positional] == ["query"]
    assert [each.name for each in signature("drop", TOYS).positional] == ["ids", "reason"]


def test_flags_follow_the_signature() -> None:
    flags = {each.name: each.flags for each in signature("find", TOYS).parameters}
    assert flags["k"] == ("-k", "--k")
    assert flags["min_score"] == ("--min-score",)
    assert flags["boost"] == ("--boost", "--no-boost")
    assert flags["explain"] == ("--explain",)


def test_an_operation_without_a_vault_is_marked() -> None:
    assert not signature("greet", TOYS).vault
    assert signature("find", TOYS).vault


def test_the_table_reads_back_as_the_rows_it_was_made_from() -> None:
    space: dict[str, Any] = {}
    exec(table_source(TOYS), space)
    assert space["TABLE"] == TOYS


def test_the_page_lists_every_option_with_its_range_and_default() -> None:
    page = cli_markdown(TOYS)
    assert "| `-k`, `--k` | a whole number from 1 to 50 | `5` | How many results. |" in page
    assert "| `--kind` | one of: note, drawer |  | Only this kind. |" in page
    assert "camillo drop ID... REASON [OPTIONS]" in page


def _undocumented(vault: Any, k: int = 1) -> Report:
    """Summary."""
    return Report()


def _default_out_of_range(vault: Any, k: Annotated[int, Doc("k", min=2)] = 1) -> Report:
    """Summary."""
    return Report()


def _none_not_the_default(vault: Any, k: Annotated[int | None, Doc("k")] = 1) -> Report:
    """Summary."""
    return Report()


def _taken_flag(vault: Any, json: Annotated[bool, Doc("j")] = False) -> Report:
    """Summary."""
    return Report()


def _odd_type(vault: Any, when: Annotated[complex, Doc("w")] = 1j) -> Report:
    """Summary."""
    return Report()


def _silent(vault: Any) -> Report:
    return Report()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_undocumented, "has no Doc"),
        (_default_out_of_range, "must be a whole number of 2 or more; not 1"),
        (_none_not_the_default, "default None"),
        (_taken_flag, "--json"),
        (_odd_type, "known: str, int"),
        (_silent, "no docstring"),
    ],
)
def test_a_signature_that_cannot_be_a_command_is_refused(function: Any, message: str) -> None:
    with pytest.raises((SystemExit, InvalidValue), match=message):
        row_of(operation(writes=False)(function))


def test_a_positional_name_must_be_a_parameter() -> None:
    def search(vault: Any, query: Annotated[str, Doc("q")] = "") -> Report:
        """Summary."""
        return Report()

    with pytest.raises(SystemExit, match="no parameter 'qurey'"):
        row_of(operation(writes=False, positional=("qurey",))(search))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_every_command_and_long_option(shell: Any) -> None:
    script = completion_script(shell, TOYS)
    for name in TOYS:
        assert name in script
        for parameter in signature(name, TOYS).parameters:
            for flag in parameter.flags:
                assert flag.lstrip("-") in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["camillo", "f"], ["fail", "find"]),
        (["camillo", "find", "--ki"], ["--kind"]),
        (["camillo", "find", "--kind", "n"], ["note"]),
        (["camillo", "fail", "un"], ["unknown"]),
        (["camillo", "drop", "--no"], []),
    ],
)
def test_bash_offers_what_the_table_says(words: list[str], offered: list[str]) -> None:
    assert _offered(words, TOYS) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_offers_the_roots_that_there_are_everywhere() -> None:
    for name in ("search", "show", "mine"):
        assert _offered(["camillo", name, "--scope", "u"], TABLE) == ["user"]
    assert _offered(["camillo", "forget", "--scope", "''"], TABLE) == ["user", "project"]


def _offered(words: list[str], table: Table) -> list[str]:
    line = " ".join(words)
    ask = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _camillo\n"
    script = completion_script("bash", table) + ask + 'echo "${COMPREPLY[@]}"\n'
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return ran.stdout.split()
