"""The command line: words in, one operation, a report out, an exit code.

Results go to standard output; notes, warnings, progress and errors to standard error. Only what
the command needs is imported: the version needs nothing, help needs the table. Exit codes: 0 found
or done, 1 nothing found, 2 usage, 3 done in part, 4 failed, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # not from typing: `camillo --version` does without it
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, NoReturn

    from camillo.ops.signature import Signature, Table
    from camillo.surfaces.progress import Progress
    from camillo.surfaces.view import View

    Opener = Callable[[Mapping[str, str]], AbstractContextManager[Any]]
    Values = dict[str, Any]

__all__ = ["main", "run"]

USAGE, FAILED, INTERRUPTED = 2, 4, 130
_NEAREST = 2  # commands that one was perhaps meant to be
_AS_NEAR = 0.1  # the likeness by which the second may fall behind
# A command makes thousands of records that live as long as it does: looking for cycles among them
# again and again takes 2 ms of a search.
_COLLECTED = 50_000


def run() -> NoReturn:
    """The process: `main`, then exit."""
    gc.set_threshold(_COLLECTED)
    _end_cleanly_when_told()
    code = main()
    if "atexit" in sys.modules or "threading" in sys.modules:
        sys.exit(code)
    # Nothing is left to be done at the end, and taking the interpreter down takes 2 ms.
    os._exit(code)


def _end_cleanly_when_told() -> None:
    """SIGTERM ends as Ctrl-C does: what was read is filed, and nothing temporary stays."""
    import _signal  # type: ignore[import-not-found]  # not signal: its enums take 6 ms

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    _signal.signal(_signal.SIGTERM, stop)


def main(
    argv: Sequence[str] | None = None,
    *,
    table: Table | None = None,
    opener: Opener | None = None,
) -> int:
    """Run one command line and return its exit code. Never raises an Exception.

    `table` and `opener` stand in for the real operations and the real vault.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words in (["--version"], ["-V"]):
            return _version()
        return _command(words, _table() if table is None else table, opener or _open)
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last resort: told in one line, exit code 4)
        return _failed(error, words)


def _command(words: list[str], table: Table, opener: Opener) -> int:
    from camillo.surfaces.terminal import use_utf8

    use_utf8()
    if words[:1] == ["help"]:
        words = [*words[1:3], "--help"]
    if not words or words[0] in ("-h", "--help"):
        return _overview(table, asked=bool(words))
    group = {name: row for name, row in table.items() if name.startswith(f"{words[0]} ")}
    if group and words[0] not in table and words[1:] in ([], ["-h"], ["--help"]):
        return _overview(group, asked=len(words) > 1)
    name, rest = _name_and_rest(words, table)
    found = _signature(name, table)
    if _asks_for_help(rest):
        return _explanation(found)
    arguments, options = _read(found, rest, table)
    report, exit_code = _call(found, arguments, options, opener)
    _print(_rendered(found.name, report, arguments, options))
    if not options["--json"] and not options["--quiet"]:
        _notes(report, exit_code)
    return exit_code


def _name_and_rest(words: list[str], table: Table) -> tuple[str, list[str]]:
    """A command has one word or two: `search …`, `bench speed …`."""
    pair = " ".join(words[:2])
    group = words[0] not in table and any(name.startswith(f"{words[0]} ") for name in table)
    return (pair, words[2:]) if group or pair in table else (words[0], words[1:])


def _version() -> int:
    from camillo import __version__

    _print(f"camillo {__version__}\n")
    return 0


def _overview(table: Table, *, asked: bool) -> int:
    from camillo.surfaces.usage import overview

    if asked:
        _print(overview(table))
        return 0
    if sys.stderr is not None:
        sys.stderr.write(overview(table))
    return USAGE


def _explanation(found: Signature) -> int:
    from camillo.surfaces.usage import explanation

    _print(explanation(found, _output(found).parameters))
    return 0


def _asks_for_help(words: list[str]) -> bool:
    options = words[: words.index("--")] if "--" in words else words
    return "-h" in options or "--help" in options


# What was asked


def _signature(name: str, table: Table) -> Signature:
    from camillo.errors import InvalidValue, UnknownName
    from camillo.ops.signature import signature

    if name.startswith("-"):
        raise InvalidValue(f"{name} stands before the command; write camillo COMMAND {name}")
    if name not in table:
        raise UnknownName(_no_command(name, table))
    return signature(name, table)


def _no_command(name: str, table: Table) -> str:
    """Names the nearest; all of them are a page, and --help prints it."""
    from difflib import SequenceMatcher, get_close_matches

    group, space, word = name.rpartition(" ")
    known = {*table, *(each.partition(" ")[0] for each in table)}
    if group:
        pairs = (each.split(" ", 1) for each in table if each.startswith(f"{group} "))
        known = {second for _, second in pairs}
    close = get_close_matches(word, known, n=_NEAREST)
    likeness = [SequenceMatcher(None, each, word).ratio() for each in close]
    near = [
        f"{group}{space}{each}"
        for each, like in zip(close, likeness, strict=True)
        if like > likeness[0] - _AS_NEAR
    ]
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ";"
    return f"no command named {name!r}{hint} `camillo {group}{space}--help` lists them"


def _output(found: Signature) -> Signature:
    """The options of every command, in the place of the operation's own parameters."""
    from camillo.ops.output import OUTPUT
    from camillo.ops.signature import Parameter

    return found._replace(parameters=tuple(Parameter(*row) for row in OUTPUT))


def _read(found: Signature, words: list[str], table: Table) -> tuple[Values, Values]:
    """(the operation's checked arguments, the value of every output option)."""
    from camillo.ops.signature import read_texts, validate
    from camillo.surfaces.arguments import split

    output = _output(found)
    texts = split(words, (*found.parameters, *output.parameters))
    if texts.get("text") == ["-"]:
        texts["text"] = [_standard_input()]
    own = {each.name: texts.pop(each.name) for each in found.parameters if each.name in texts}
    arguments = validate(found.name, read_texts(found, own), table)
    options = {each.name: each.default for each in output.parameters} | read_texts(output, texts)
    _refuse_two_formats(options)
    return arguments, options


def _standard_input() -> str:
    """What `-` stands for in the place of a text."""
    from camillo.errors import InvalidValue

    if sys.stdin is None:
        raise InvalidValue("there is no standard input to read the text from")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidValue(f"standard input is no UTF-8 (byte {error.start})") from None


def _refuse_two_formats(options: Values) -> None:
    from camillo.errors import InvalidValue
    from camillo.ops.output import FORMATS

    chosen = [each for each in FORMATS if options[each]]
    if len(chosen) > 1:
        raise InvalidValue(f"{' and '.join(chosen)} exclude each other; choose one")


def _settings(options: Values) -> dict[str, str]:
    """Overrides for the vault's settings."""
    from camillo.errors import InvalidValue

    settings = {"search.embedder": options["--embedder"]} if options["--embedder"] else {}
    for word in options["--config"]:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise InvalidValue(f"--config takes KEY=VALUE (search.k=20); not {word!r}")
        settings[key.strip()] = value
    return settings


# The call


def _table() -> Table:
    from camillo.ops.table import TABLE

    return TABLE


def _open(overrides: Mapping[str, str]) -> AbstractContextManager[Any]:
    from camillo.vault import open_vault

    return open_vault(overrides=overrides)


def _start_later(words: list[str]) -> None:
    from camillo.lifecycle.background import start

    start(words)


def _call(
    found: Signature, arguments: Values, options: Values, opener: Opener
) -> tuple[Values, int]:
    """The report in its plain form, made while the vault is still open, and its exit code."""
    from camillo.model import Author
    from camillo.ops.signature import call

    if not found.vault:
        report = call(found, None, arguments)
        return report.as_dict(), report.exit_code
    with opener(_settings(options)) as vault:
        vault.author = Author(via="cli")
        vault.warm = False
        vault.attended = sys.stderr is not None and sys.stderr.isatty()
        vault.later = _start_later
        progress = _progress(options)
        if progress is not None:
            vault.progress = progress
            vault.notice = _say
        try:
            report = call(found, vault, arguments)
            return report.as_dict(), report.exit_code
        finally:
            if progress is not None:
                progress.close()


def _progress(options: Values) -> Progress | None:
    if options["--quiet"] or sys.stderr is None:
        return None
    from camillo.surfaces.progress import Progress

    return Progress(sys.stderr)


# What is shown


def _rendered(name: str, report: Values, arguments: Values, options: Values) -> str:
    from camillo.surfaces import render
    from camillo.surfaces.terminal import columns

    if options["--json"]:
        return render.json_text(report, indent=columns(sys.stdout) is not None)
    if options["--ids"]:
        return render.ids(report)
    view = _view(arguments, full=options["--full"])
    as_text = render.markdown if options["--md"] else render.text
    return as_text(name, report, view)


def _view(arguments: Values, *, full: bool) -> View:
    from camillo.config import color_wanted
    from camillo.surfaces.terminal import Style, columns
    from camillo.surfaces.view import View

    width = columns(sys.stdout)
    return View(
        arguments=arguments,
        style=Style(color=width is not None and color_wanted()),
        width=width,
        full=full,
        cwd=_cwd(),
        home=os.path.expanduser("~"),
    )


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted under us
        return ""


def _print(text: str) -> None:
    """To standard output, at once. A reader that has gone away is no error."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError:
        _drop_output()
        raise


def _drop_output() -> None:
    """Let the interpreter's own flush at exit find a place that takes everything."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _notes(report: Values, exit_code: int) -> None:
    if exit_code == 1 and not report["results"]:
        _say("nothing found", head="")
    for note in report["degraded"]:
        _say(str(note), head="note: ")


def _say(message: str, head: str = "camillo: ") -> None:
    from camillo.surfaces.terminal import clean

    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"{head}{clean(message)}\n")
        sys.stderr.flush()
    except OSError:
        return


def _failed(error: Exception, words: list[str]) -> int:
    from camillo.errors import CamilloError

    if isinstance(error, CamilloError):
        code, message, exit_code = error.code, str(error), error.exit_code
    else:
        code, message, exit_code = "unexpected", _unexpected(error), FAILED
    _say(message)
    if "--json" in (words[: words.index("--")] if "--" in words else words):
        from camillo.surfaces.render import json_text

        failure = {"code": code, "message": message}
        try:
            _print(json_text({"schema": 1, "results": [], "degraded": [], "error": failure}))
        except OSError:  # it is the output that failed
            return exit_code
    return exit_code


def _unexpected(error: Exception) -> str:
    from camillo.config import debug

    if debug():
        import traceback

        return "".join(traceback.format_exception(error)).rstrip()
    return (
        f"unexpected {type(error).__name__}: {error} "
        "(CAMILLO_DEBUG=1 shows where; please report it)"
    )
