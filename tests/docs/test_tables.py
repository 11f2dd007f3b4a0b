"""The operation table, the page made from it, and what each operation owes its users."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from camillo.errors import InvalidValue, UnknownName
from camillo.ops import _generate
from camillo.ops._row import sample
from camillo.ops.completion import completion_script
from camillo.ops.signature import json_schema, signature, validate
from camillo.ops.table import TABLE
from camillo.surfaces.cli import main

every_operation = pytest.mark.parametrize("name", TABLE)


def test_the_table_and_the_page_are_up_to_date(capfd: pytest.CaptureFixture[str]) -> None:
    assert _generate.main(["--check"]) == 0, capfd.readouterr().err


def test_a_stale_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "CLI.md"
    stale.write_text("old")
    monkeypatch.setattr(_generate, "CLI_FILE", stale)
    assert _generate.main(["--check"]) == 1
    assert "CLI.md is stale: run python -m camillo.ops._generate" in capfd.readouterr().err
    assert _generate.main([]) == 0
    assert _generate.main(["--check"]) == 0


@every_operation
def test_every_operation_explains_itself(name: str) -> None:
    found = signature(name)
    assert found.summary.endswith("."), "the summary is a sentence"
    assert len(found.summary) <= 100
    assert f"camillo {name}" in found.help, "the help has an example"
    assert all(each.help for each in found.parameters)


@every_operation
def test_every_operation_says_whether_it_writes(name: str) -> None:
    found = signature(name)
    assert isinstance(found.writes, bool)
    assert found.writes or not found.destructive
    assert found.writes or found.idempotent


@pytest.mark.promise(25)
@every_operation
def test_every_operation_names_the_nearest_of_an_unknown_argument(name: str) -> None:
    for parameter in signature(name).parameters:
        with pytest.raises(UnknownName, match=r"known: .*") as caught:
            validate(name, {f"{parameter.name}x": 1})
        assert repr(f"{parameter.name}x") in str(caught.value)
        assert parameter.name in str(caught.value)


@pytest.mark.promise(25)
@every_operation
def test_every_command_names_the_nearest_of_an_unknown_option(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--jsno"]) == 2
    assert "no option named '--jsno'; did you mean '--json'?" in capsys.readouterr().err


@every_operation
def test_every_operation_refuses_a_value_of_another_type(name: str) -> None:
    wrong: dict[str, Any] = {"str": 1, "strs": 1, "int": "x", "float": "x", "bool": "x"}
    required = {p.name: sample(p) for p in signature(name).parameters if p.required}
    for parameter in signature(name).parameters:
        with pytest.raises(InvalidValue, match=f"{parameter.name} of {name} must be"):
            validate(name, {**required, parameter.name: wrong[parameter.kind]})


@every_operation
def test_every_schema_is_json_and_closed(name: str) -> None:
    schema = json_schema(name)
    assert json.loads(json.dumps(schema)) == schema
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) <= set(schema["properties"])


@every_operation
def test_every_command_prints_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: camillo {name}")
    for parameter in signature(name).parameters:
        assert (parameter.flags or [parameter.metavar or parameter.name.upper()])[-1] in shown


def test_the_overview_lists_every_operation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in TABLE:
        assert re.search(rf"^  {re.escape(name)}  ", shown, re.MULTILINE)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_operation(shell: Any) -> None:
    script = completion_script(shell, TABLE)
    assert all(word in script for name in TABLE for word in name.split())


@pytest.mark.parametrize("name", ["bench speed", "search"])
def test_bash_reads_the_completion_of_the_real_table(name: str, tmp_path: Path) -> None:
    script = tmp_path / "completion.bash"
    script.write_text(completion_script("bash", TABLE), "utf-8")
    words = f"camillo {name} --"
    asked = (
        f"source {shlex.quote(str(script))}; COMP_WORDS=({words}); "
        f"COMP_CWORD={len(words.split()) - 1}; _camillo; echo ${{COMPREPLY[*]}}"
    )
    ran = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "--json" in ran.stdout.split()
