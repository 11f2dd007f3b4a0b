"""Forgetting many, one after the other: pages that were split and joined hold no old copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from camillo.ops import run
from camillo.vault import open_vault


@pytest.mark.promise(12)
@pytest.mark.parametrize(("length", "count"), [(40, 30), (150, 30), (700, 24)])
def test_no_page_keeps_an_old_copy_of_a_forgotten_text(home: Path, length: int, count: int) -> None:
    folder = home / "work" / "notes"
    folder.mkdir()
    for number in range(count):
        filler = f"we decided number {number} today " * (length // 20)
        (folder / f"{number}.txt").write_text(f"Killsecret{number}x {filler}\n", "utf-8")
    with open_vault() as vault:
        run(vault, "mine", path=str(folder))
        for number in range(0, count, 2):
            report = run(vault, "forget", source=str(folder / f"{number}.txt"))
            assert report.exit_code == 0
            assert _holding(home / ".camillo", f"illsecret{number}x") == []


def _holding(folder: Path, text: str) -> list[str]:
    needles = (text.encode(), text.encode("utf-16-le"))
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(needle in path.read_bytes().lower() for needle in needles)
    ]
