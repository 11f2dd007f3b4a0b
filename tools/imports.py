"""Imports every module of the product, to show that its own packages are all it needs.

Run with the interpreter of the run-time environment. A module that an extra brings may be
absent: pyproject.toml names those under [tool.camillo] optional-modules.
"""

import importlib
import pkgutil
import sys
import tomllib
from pathlib import Path

import camillo

__all__ = ["missing"]


def missing(optional: frozenset[str]) -> list[str]:
    """One line for each module that asks for something which is not there."""
    lines = []
    for module in pkgutil.walk_packages(camillo.__path__, "camillo."):
        if module.name.endswith("__main__"):
            continue  # importing it runs the program
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in optional:
                lines.append(f"{module.name}: {error}")
    return lines


if __name__ == "__main__":
    settings = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["camillo"]
    problems = missing(frozenset(settings["optional-modules"]))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
