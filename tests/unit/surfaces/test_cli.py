"""The command line, in this process on toy operations and as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from camillo import __version__
from camillo.surfaces.cli import main
from unit.ops.toys import TOYS, Hit, ToyVault

HITS = [Hit("1a2b3c4d5e6f7a8b9c0d1e2f", "We chose JWT.", "a.md", 1, 2), Hit("b" * 24, "Two.")]


class Ran:
    """One command line, run on a toy vault."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str, **vault: Any) -> None:
        self.vault = ToyVault(vault.get("results", HITS), vault.get("degraded", []))
        self.code = main(list(words), table=TOYS, opener=self.vault.open)
        self.out, self.err = capsys.readouterr()


def test_a_search_prints_to_standard_output_and_returns_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = Ran(capsys, "find", "why jwt", "-k", "1")
    assert ran.code == 0
    assert ran.out == "1. a.md:1-2  0.50  drawer  id 1a2b3c4d\n   We chose JWT.\n"
    assert ran.err == ""
    assert ran.vault.closed


def test_arguments_arrive_in_their_types(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(
        capsys, "find", "q", "--tags=a", "--min-score", ".5", "--no-boost", "--kind", "note",
        "--tags", "b",
    )  # fmt: skip
    assert ran.vault.called_with == {
        "query": "q",
        "k": 5,
        "kind": "note",
        "tags": ("a", "b"),
        "min_score": 0.5,
        "boost": False,
        "explain": False,
    }


def test_nothing_found_is_exit_code_one_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "find", "q", results=[])
    assert (ran.code, ran.out, ran.err) == (1, "", "nothing found\n")


def test_done_in_part_is_exit_code_three(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ran(capsys, "drop", "a", "b", "why").code == 3


@pytest.mark.promise(26)
def test_a_degraded_mode_shows_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    notes = ["words only: no embedder"]
    for words in (["find"], ["find", "--ids"]):
        assert Ran(capsys, *words, degraded=notes).err == "note: words only: no embedder\n"
    assert json.loads(Ran(capsys, "find", "--json", degraded=notes).out)["degraded"] == notes
    assert "note: words only" in Ran(capsys, "find", "--md", degraded=notes).out


def test_json_is_one_object_with_the_agreed_keys(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "find", "q", "--json")
    found = json.loads(ran.out)
    assert list(found) == ["schema", "results", "degraded"]
    assert found["schema"] == 1
    assert found["results"][0]["id"] == HITS[0].id
    nothing = Ran(capsys, "find", "q", "--json", results=[])
    assert (nothing.code, json.loads(nothing.out)["results"]) == (1, [])


def test_ids_are_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ran(capsys, "find", "--ids").out == f"{HITS[0].id}\n{HITS[1].id}\n"


@pytest.mark.promise(25)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fnid"], "no command named 'fnid'; did you mean 'find'?"),
        (["find", "--explian"], "no option named '--explian'; did you mean '--explain'?"),
        (["find", "-k", "x"], "k of find must be a whole number from 1 to 50; not 'x'"),
        (["find", "--kind", "nots"], "did you mean 'note'?"),
        (["find", "--json", "--md"], "--json and --md exclude each other"),
        (["find", "--config", "k"], "--config takes KEY=VALUE"),
        (["--json", "find"], "--json stands before the command"),
        (["drop"], "ID... REASON is missing"),
    ],
)
def test_wrong_usage_is_exit_code_two_and_names_the_way_out(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = Ran(capsys, *words)
    assert ran.code == 2
    assert ran.err.startswith("camillo: ")
    assert message in ran.err


def test_settings_reach_the_vault(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "find", "--embedder", "none", "--config", "search.k=2", "--config", "a.b=c=d")
    assert ran.vault.overrides == {"search.embedder": "none", "search.k": "2", "a.b": "c=d"}


def test_the_author_is_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ran(capsys, "find").vault.author.via == "cli"


def test_an_operation_without_a_vault_opens_none(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "greet", "Giulio")
    assert ran.out == "hello Giulio\n"
    assert not ran.vault.closed


def test_a_known_error_is_one_clean_line_with_its_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = Ran(capsys, "fail", "known")
    assert ran.code == 1
    assert ran.err == "camillo: nothing has the id '\\x1b[31mred'\n"
    assert ran.vault.closed


def test_an_error_is_an_object_with_json(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "fail", "known", "--json")
    found = json.loads(ran.out)
    assert found == {
        "schema": 1,
        "results": [],
        "degraded": [],
        "error": {"code": "not-found", "message": "nothing has the id '\x1b[31mred'"},
    }
    assert json.loads(Ran(capsys, "fnid", "--json").out)["error"]["code"] == "unknown-name"


def test_an_unexpected_error_hides_its_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = Ran(capsys, "fail", "unknown")
    assert ran.code == 4
    assert ran.err.startswith("camillo: unexpected ZeroDivisionError: by design (CAMILLO_DEBUG=1")
    assert ran.err.count("\n") == 1
    monkeypatch.setenv("CAMILLO_DEBUG", "1")
    assert "toys.py" in Ran(capsys, "fail", "unknown").err


def test_an_interrupt_closes_the_vault_first(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "fail", "interrupt")
    assert (ran.code, ran.err) == (130, "camillo: interrupted\n")
    assert ran.vault.closed


def test_quiet_keeps_standard_error_empty(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "find", "-q", results=[], degraded=["words only"])
    assert (ran.code, ran.err) == (1, "")
    assert ran.vault.progress is None


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ran(capsys, "--version").out == f"camillo {__version__}\n"


def test_the_overview_groups_by_reading_and_writing(capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, "--help")
    assert ran.out.index("Read:") < ran.out.index("  find ") < ran.out.index("Write:")
    assert ran.out.index("Write:") < ran.out.index("  drop ")
    alone = Ran(capsys)
    assert (alone.code, alone.out, alone.err) == (2, "", ran.out)


HELP = """\
usage: camillo find [QUERY] [OPTIONS]

Find what the vault was given.

Arguments:
  [QUERY]  Words to look for.

Options:
  -k, --k K              How many results. (a whole number from 1 to 50; default 5)
  --kind KIND            Only this kind. (one of: note, drawer)
  --tags TAG             Only with this tag.
  --min-score MIN_SCORE  Nothing below. (a number from 0 to 1; default 0)
  --boost, --no-boost    Let pointers raise scores. (default yes)
  --explain              Show the signals.

Output and settings:
"""


@pytest.mark.parametrize("words", [["find", "--help"], ["help", "find"], ["find", "x", "-h"]])
def test_a_command_explains_itself(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    ran = Ran(capsys, *words)
    assert ran.code == 0
    assert ran.out.startswith(HELP)
    assert 'camillo find "why jwt" -k 3' in ran.out


def test_two_dashes_make_help_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert Ran(capsys, "find", "--", "--help").vault.called_with["query"] == "--help"


# The process itself


def process(root: Path, *words: str | bytes, code: str = "", **options: Any) -> Any:
    code = code or "from camillo.surfaces.cli import run; run()"
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root / 'tests'}"}
    options = {"capture_output": True} | options
    return subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code, *words], env=environment, check=False, **options
    )


def imported(root: Path, *words: str) -> set[str]:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from camillo.surfaces.cli import main; main()\n"
        "sys.stderr.write(' '.join(set(sys.modules) - before))"
    )
    return set(process(root, *words, code=code).stderr.decode().split())


def test_the_version_imports_nothing(root: Path) -> None:
    own = {"camillo", "camillo.surfaces", "camillo.surfaces.cli"}
    assert imported(root, "--version") == {*own, "__future__", "gc"}


def test_help_imports_the_table_and_no_library(root: Path) -> None:
    loaded = imported(root, "--help")
    assert "camillo.ops.table" in loaded
    assert not loaded & {"argparse", "typing", "re", "json", "dataclasses", "inspect", "shutil"}


def test_a_command_imports_neither_json_nor_argparse_unless_asked(root: Path) -> None:
    loaded = imported(root, "completion", "bash")
    assert not loaded & {"argparse", "json", "rich", "numpy", "yaml", "pathspec", "mcp", "shtab"}
    assert "json" in imported(root, "completion", "bash", "--json")


TOY_RUN = (
    "import sys; from unit.ops.toys import *; from camillo.surfaces.cli import main\n"
    "sys.exit(main(table=TOYS, opener=ToyVault([Hit('i', {text}) for _ in range({n})], []).open))"
)


def test_a_reader_that_went_away_is_no_error(root: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    code = TOY_RUN.format(text="'x' * 500", n=3)
    ran = process(
        root, "find", code=code, capture_output=False, stdout=write, stderr=subprocess.PIPE
    )
    os.close(write)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_an_error(root: Path) -> None:
    with open("/dev/full", "wb") as full:
        code = TOY_RUN.format(text="'x'", n=1)
        ran = process(
            root, "find", code=code, capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert ran.returncode == 4
    assert ran.stderr.startswith(b"camillo: ")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.promise(22)
@pytest.mark.parametrize("word", [b"\xff\xfe", "部署".encode(), b"a\x1b[2J", "\u202e".encode()])
def test_any_bytes_of_a_word_are_taken_and_shown(root: Path, word: bytes) -> None:
    code = TOY_RUN.format(text="sys.argv[2]", n=1)
    for output in (b"--full", b"--json", b"--md"):
        ran = process(root, b"find", word, output, code=code)
        assert (ran.returncode, ran.stderr) == (0, b"")
        ran.stdout.decode("utf-8")
        assert b"\x1b" not in ran.stdout


def test_closed_streams_are_no_error(root: Path) -> None:
    code = "import os; os.close(1); os.close(2)\nimport sys; sys.stdout = sys.stderr = None\n"
    ran = process(root, "find", code=code + TOY_RUN.format(text="'x'", n=1))
    assert ran.returncode == 0


def test_a_narrow_encoding_of_the_locale_does_not_matter(root: Path) -> None:
    code = "import sys; sys.stdout.reconfigure(encoding='ascii')\n"
    ran = process(root, "find", code=code + TOY_RUN.format(text="'部署'", n=1))
    assert (ran.returncode, "部署" in ran.stdout.decode()) == (0, True)


def on_a_terminal(root: Path, **environment: str) -> str:
    """What a search writes to a terminal of its own."""
    pty = pytest.importorskip("pty", reason="no terminals here")
    ours, theirs = pty.openpty()
    code = f"import os; os.environ.update({environment!r})\n" + TOY_RUN.format(text="'a word'", n=1)
    process(root, "find", "word", code=code, capture_output=False, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown: bytes = os.read(ours, 65536)
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_gets_color_unless_it_is_unwanted(root: Path) -> None:
    assert "\x1b[1;33mword\x1b[0m" in on_a_terminal(root, TERM="xterm", NO_COLOR="")
    assert "\x1b" not in on_a_terminal(root, TERM="xterm", NO_COLOR="1")
