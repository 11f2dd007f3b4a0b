"""`python -m camillo`: the command line."""

from camillo.surfaces.cli import run

run()
