"""An import that is killed at any moment, and run again, leaves each note once."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.surfaces.cli import main
from flows.command import plant, start

NOTES = 150


@pytest.mark.slow
@pytest.mark.promise(1)
def test_a_killed_import_goes_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pages = {f"n{n}.md": f"# N {n}\n[[n{n + 1}|next]] words {n}\n" for n in range(NOTES)}
    vault, root = plant(home / "vault", pages), home / ".camillo"
    for most in (1, 30, 60, 90, 120):
        with start("import", "obsidian", vault) as process:
            while process.poll() is None and len(list(root.glob("*.md"))) < most:
                pass
            process.kill()
        assert len(list(root.glob("*.md"))) <= NOTES
    assert main(["import", "--json", "obsidian", str(vault)]) == 0
    assert len(list(root.glob("*.md"))) == NOTES
    capsys.readouterr()
    assert main(["list", "--ids", "--limit", "1000"]) == 0
    assert sorted(capsys.readouterr().out.split()) == sorted(f"n{n}" for n in range(NOTES))
    assert main(["search", f"{NOTES - 1}"]) == 0
