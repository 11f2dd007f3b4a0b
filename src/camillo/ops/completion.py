"""The `completion` operation: scripts that complete commands, options and choices in a shell.

Written from the table alone, so a new operation completes by itself. Values that are neither a
choice nor a path complete to nothing; ids, wings and roots are not looked up, that would open the
vault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from camillo.ops.operation import Doc, operation
from camillo.ops.output import HELP_FLAGS, OUTPUT
from camillo.ops.report import Report
from camillo.ops.signature import Parameter, signature
from camillo.ops.table import TABLE

if TYPE_CHECKING:
    from camillo.ops.signature import Table

__all__ = ["Completion", "completion", "completion_script"]

_ROOTS = ("user", "project")
_PATHS = frozenset({"PATH", "FILE", "DIR"})
_HELP = Parameter("help", "bool", False, (), "Explain this command.", HELP_FLAGS, None, None, "")


class Completion(Report):
    """`script` is the text for the shell to source."""

    script: str = ""


@operation(writes=False)
def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Doc("The shell to write it for.")],
) -> Completion:
    """Print a script that completes camillo's commands and options in a shell.

    bash:  source <(camillo completion bash)
    zsh:   source <(camillo completion zsh)
    fish:  camillo completion fish | source

    Put the line into ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish to have it in every shell.
    """
    return Completion(script=completion_script(shell, TABLE))


def completion_script(shell: Literal["bash", "zsh", "fish"], table: Table) -> str:
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]
    return "\n".join(write(table)) + "\n"


def _parameters(name: str, table: Table) -> list[Parameter]:
    return [*signature(name, table).parameters, *(Parameter(*row) for row in OUTPUT), _HELP]


def _choices(parameter: Parameter) -> tuple[str, ...]:
    """What is completed: of roots the two that there are everywhere."""
    choices = _ROOTS if parameter.metavar == "ROOT" else parameter.choices
    return tuple(filter(None, choices))


def _first_words(table: Table) -> dict[str, str]:
    """What stands first on a line, with a summary; a group's is what it can be followed by."""
    found = {name: row[2] for name, row in table.items() if " " not in name}
    found.update({group: ", ".join(words) for group, words in _groups(table).items()})
    return dict(sorted(found.items()))


def _groups(table: Table) -> dict[str, list[str]]:
    """First words of commands of two words -> the second ones."""
    found: dict[str, list[str]] = {}
    for name in table:
        first, _, second = name.partition(" ")
        if second:
            found.setdefault(first, []).append(second)
    return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _bash(table: Table) -> Iterator[str]:
    yield "_camillo() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield "  COMPREPLY=()"
    yield '  if [ "$COMP_CWORD" -eq 1 ]; then'
    first = " ".join(_first_words(table))
    yield f'    COMPREPLY=($(compgen -W "{first} --help --version" -- "$word"))'
    yield "    return"
    yield "  fi"
    yield '  local command="${COMP_WORDS[1]}"'
    yield '  case "$command" in'
    for group, words in _groups(table).items():
        yield f"    {group})"
        yield '      if [ "$COMP_CWORD" -eq 2 ]; then'
        yield f'        COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$word")); return'
        yield "      fi"
        yield '      command="$command ${COMP_WORDS[2]}" ;;'
    yield "  esac"
    yield '  case "$command $before" in'
    for name in table:
        for each in _parameters(name, table):
            if each.flags and each.kind != "bool":
                patterns = "|".join(_quoted(f"{name} {flag}") for flag in each.flags)
                yield f"    {patterns}) {_bash_values(each)} return ;;"
    yield "  esac"
    yield '  case "$command" in'
    for name in table:
        flags = " ".join(flag for each in _parameters(name, table) for flag in each.flags)
        yield f"    {_quoted(name)})"
        yield f'      if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "{flags}" -- "$word"))'
        values = next((_bash_values(each) for each in signature(name, table).positional), ":;")
        yield f"      else {values} fi ;;"
    yield "  esac"
    yield "}"
    yield "complete -o filenames -F _camillo camillo"


def _bash_values(parameter: Parameter) -> str:
    if choices := _choices(parameter):
        return f'COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word"));'
    if parameter.metavar in _PATHS:
        kind = "-d" if parameter.metavar == "DIR" else "-f"
        # by lines, for names with spaces; mapfile is not in the bash that macOS has
        return f"""local IFS=$'\\n'; COMPREPLY=($(compgen {kind} -- "$word"));"""
    return ":;"


def _zsh(table: Table) -> Iterator[str]:
    yield "#compdef camillo"
    yield "_camillo() {"
    yield "  local -a commands=("
    for name, summary in _first_words(table).items():
        yield "    " + _quoted(f"{name}:{summary}")
    yield "  )"
    yield "  if (( CURRENT == 2 )); then _describe command commands; return; fi"
    yield "  local command=$words[2]"
    yield "  shift words; (( CURRENT-- ))"
    yield "  case $command in"
    for group, words in _groups(table).items():
        yield f"    {group})"
        yield f"      if (( CURRENT == 2 )); then compadd {' '.join(words)}; return; fi"
        yield '      command="$command $words[2]"; shift words; (( CURRENT-- )) ;;'
    yield "  esac"
    yield "  case $command in"
    for name in table:
        yield f"    {_quoted(name)}) _arguments \\"
        for each in _parameters(name, table):
            for spec in _zsh_specs(each):
                yield f"      {_quoted(spec)} \\"
        yield "      ;;"
    yield "  esac"
    yield "}"
    yield 'if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _camillo "$@"'
    yield "else compdef _camillo camillo; fi"


def _zsh_specs(parameter: Parameter) -> Iterator[str]:
    text = parameter.help
    for mark in "\\[]:":
        text = text.replace(mark, f"\\{mark}")
    many = "*" if parameter.kind == "strs" else ""
    value = f":{parameter.metavar or parameter.name}:{_zsh_values(parameter)}"
    if not parameter.flags:
        yield f"{many}{value if parameter.required or many else ':' + value}"
    for flag in parameter.flags:
        yield f"{many}{flag}[{text}]{'' if parameter.kind == 'bool' else value}"


def _zsh_values(parameter: Parameter) -> str:
    if choices := _choices(parameter):
        return f"({' '.join(choices)})"
    if parameter.metavar in _PATHS:
        return "_files -/" if parameter.metavar == "DIR" else "_files"
    return " "


def _fish(table: Table) -> Iterator[str]:
    yield "complete -c camillo -f"
    for name, summary in _first_words(table).items():
        yield f"complete -c camillo -n __fish_use_subcommand -a {name} -d {_fish_quoted(summary)}"
    for group, words in _groups(table).items():
        seen = " ".join(words)
        yield (
            f"complete -c camillo -n '__fish_seen_subcommand_from {group}; and not "
            f"__fish_seen_subcommand_from {seen}' -a '{seen}'"
        )
    for name in table:
        for each in _parameters(name, table):
            yield from _fish_lines(name, each)


def _fish_lines(name: str, parameter: Parameter) -> Iterator[str]:
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
    head = f"complete -c camillo -n '{seen}'"
    values = _fish_values(parameter)
    if not parameter.flags and values:
        yield f"{head}{values.replace(' -r', '')}"
    for flag in parameter.flags:
        name_of_flag = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
        takes = "" if parameter.kind == "bool" else values or " -x"
        yield f"{head} {name_of_flag}{takes} -d {_fish_quoted(parameter.help)}"


def _fish_values(parameter: Parameter) -> str:
    if choices := _choices(parameter):
        return f" -x -a {_fish_quoted(' '.join(choices))}"
    return " -r -F" if parameter.metavar in _PATHS else ""


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
