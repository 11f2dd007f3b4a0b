"""Renames that lose nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from camillo.engines.markdown._exchange import exchange, link_new, rename_new


@pytest.mark.skipif(sys.platform != "linux", reason="one system call on Linux only")
def test_two_files_swap_their_names(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    other.write_text("2")
    assert exchange(str(one), str(other), None)
    assert (one.read_text(), other.read_text()) == ("2", "1")


@pytest.mark.skipif(sys.platform != "linux", reason="one system call on Linux only")
def test_a_swap_with_nothing_is_an_error(tmp_path: Path) -> None:
    one = tmp_path / "one"
    one.write_text("1")
    with pytest.raises(FileNotFoundError):
        exchange(str(one), str(tmp_path / "other"), None)
    assert one.read_text() == "1"


@pytest.mark.parametrize("rename", [rename_new, link_new])
def test_a_name_that_is_taken_is_not_taken_again(
    tmp_path: Path, rename: Callable[[str, str, None], None]
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("1")
    rename(str(one), str(other), None)
    assert (one.exists(), other.read_text()) == (False, "1")
    one.write_text("3")
    with pytest.raises(FileExistsError):
        rename(str(one), str(other), None)
    assert (one.read_text(), other.read_text()) == ("3", "1")
