"""The options that every command takes besides its own: how the report is written, and settings.

Rows in the shape of `table.py`, each named by its flag, so that no parameter can have the same
name. No operation sees them, and none may use their flags.
"""

from __future__ import annotations

TYPE_CHECKING = False  # not from typing: `camillo --help` does without it
if TYPE_CHECKING:
    from camillo.ops.signature import ParameterRow

__all__ = ["FORMATS", "HELP_FLAGS", "OUTPUT"]

FORMATS = ("--json", "--md", "--ids")  # at most one of them
HELP_FLAGS = ("-h", "--help")

OUTPUT: tuple[ParameterRow, ...] = (
    ("--json", "bool", False, (), "Print one JSON object.", ("--json",), None, None, ""),
    ("--md", "bool", False, (), "Print Markdown.", ("--md",), None, None, ""),
    ("--ids", "bool", False, (), "Print one full id a line.", ("--ids",), None, None, ""),
    ("--full", "bool", False, (), "Print whole texts, not excerpts.", ("--full",), None, None, ""),
    (
        "--quiet", "bool", False, (), "No progress and no notes on standard error.",
        ("-q", "--quiet"), None, None, "",
    ),
    (
        "--embedder", "str", None, (), "auto, e5, light, hashing, none or a model folder.",
        ("--embedder",), None, None, "NAME",
    ),
    (
        "--config", "strs", (), (), "Set one setting for this run; may be repeated.",
        ("--config",), None, None, "KEY=VALUE",
    ),
)  # fmt: skip
