"""The console blocks of the README and the cookbook: run, and compared with what they promise.

In a ```console block a line after `$ ` is a command, lines after `> ` belong to it, and the lines
below are what it prints. Numbers, ids and times may differ; a line that is `…` alone stands for any
lines, and one that ends in `…` for any rest of the line.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from camillo.ops.table import TABLE
from camillo.surfaces.cli import main

ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / "README.md", ROOT / "README.zh.md"]
RECIPES = [
    *sorted((ROOT / "docs" / "cookbook").glob("[a-z]*.md")),
    *(ROOT / "docs" / name for name in ("NOTES.md", "FORMS.md", "OUTLINE.md")),
]
STORES = ROOT / "docs" / "STORES.md"
PAGES = [*READMES, *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ID = re.compile(r"\b(?:[0-9a-f]{24}|[0-9a-f]{8})\b")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)")


class Step(NamedTuple):
    command: str
    promised: list[str]


def steps(page: Path) -> list[Step]:
    """The commands of a page in order, with what each is said to print."""
    found: list[Step] = []
    for block in _BLOCK.findall(page.read_text("utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Step(line[2:], []))
            elif line.startswith(">") and not found[-1].promised:
                found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{line[2:]}")
            else:
                found[-1].promised.append(line)
    return found


def shape(line: str) -> str:
    """A line without what may differ from run to run, and without its width."""
    return " ".join(_NUMBER.sub("#", _ID.sub("ID", line)).split())


def fits(promised: list[str], printed: list[str]) -> bool:
    """Do the printed lines have the promised shape?"""
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "…" else _line_pattern(shape(line)) + r"\n"
        for line in promised
    )
    return re.fullmatch(pattern, "".join(f"{shape(line)}\n" for line in printed)) is not None


def _line_pattern(line: str) -> str:
    return re.escape(line.removesuffix("…")) + ".*" if line.endswith("…") else re.escape(line)


def run_page(page: Path, folder: Path, programs: Path = ROOT) -> None:
    """`programs` is where `camillo` lies."""
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
    }
    found = steps(page)
    assert found, f"{page.name} has nothing to run"
    for step in found:
        ended = subprocess.run(
            ["sh", "-c", step.command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        printed = ended.stdout.splitlines()
        assert fits(step.promised, printed), (
            f"{page.name}: $ {step.command}\npromised:\n"
            + "\n".join(step.promised)
            + f"\nprinted:\n{ended.stdout}"
        )


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_commands_of_the_readme_print_what_it_says(page: Path) -> None:
    run_page(page, ROOT)


@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_every_recipe_runs_as_it_stands(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path)


def test_the_way_to_postgresql_and_back_is_as_the_page_says(
    home: Path, tmp_path: Path, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAMILLO_DSN", postgres_dsn)
    programs = tmp_path / "programs"
    programs.mkdir()
    camillo = programs / "camillo"  # the one of these tests, which has psycopg
    camillo.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m camillo "$@"\n')
    camillo.chmod(0o755)
    (tmp_path / "lamp.txt").write_text("The lamp was replaced in March.\n")
    for words in (["mine", "lamp.txt"], ["remember", "Mei has the key.", "--name", "key"]):
        subprocess.run([camillo, *words], cwd=tmp_path, check=True, capture_output=True)
    run_page(STORES, tmp_path, programs)


def test_both_readmes_run_the_same_commands() -> None:
    english, chinese = ([step.command for step in steps(page)] for page in READMES)
    assert english == chinese


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_readme_is_short(page: Path) -> None:
    assert len(page.read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_readme_names_every_command(page: Path) -> None:
    (table,) = re.findall(
        r"^## (?:Commands|命令)\n(.*?)^## ", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    named = {code.split()[0] for code in re.findall(r"`([^`]+)`", table)}
    assert {name.split()[0] for name in TABLE} <= named


def test_help_lists_the_commands_as_the_readme_does(capsys: pytest.CaptureFixture[str]) -> None:
    (table,) = re.findall(r"^## Commands\n(.*?)^## ", READMES[0].read_text("utf-8"), re.M | re.S)
    cells = [line.split(" | ")[0] for line in table.splitlines()]
    order = [code.split()[0] for cell in cells for code in re.findall(r"`([^`]+)`", cell)]
    assert main(["--help"]) == 0
    for group in capsys.readouterr().out.split("\n\n")[2:4]:
        names = [line.split()[0] for line in group.splitlines() if re.match(r"  \w", line)]
        listed = [name for name in names if name in order]
        assert len(listed) > 5
        assert listed == sorted(listed, key=order.index)
        assert names[-1] == "bench"


def test_the_readme_counts_the_packages_that_the_first_run_installs() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    count = len(set(re.findall(r"^[\w.-]+==", lock, re.MULTILINE)))
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
    assert f"installs {words[count]} packages" in READMES[0].read_text("utf-8")
    assert f"{'零一二三四五六七八'[count]}个软件包" in READMES[1].read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    prose = _FENCED.sub("", page.read_text("utf-8"))
    for path, anchor in _LINK.findall(prose):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{path} is not there"
        if anchor:
            assert anchor in _anchors(target), f"{path} has no heading {anchor}"


@pytest.mark.parametrize(
    ("promised", "printed", "fit"),
    [
        (["a 1"], ["a 2,345"], True),
        (["a 1"], ["b 1"], False),
        (["a", "…"], ["a"], True),
        (["a", "…", "z"], ["a", "b", "c", "z"], True),
        (["a"], ["a", "b"], False),
        (["from …"], ["from anywhere"], True),
    ],
)
def test_a_shape_is_more_than_nothing_and_less_than_all(
    promised: list[str], printed: list[str], fit: bool
) -> None:
    assert fits(promised, printed) is fit


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
