"""Names that are no Unicode, as text that can be stored."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from camillo.text.printable import printable


def test_what_is_unicode_stays_as_it_is() -> None:
    assert printable("café/七道门.md") == "café/七道门.md"


def test_bytes_that_are_no_utf_8_are_written_out() -> None:
    assert printable(os.fsdecode(b"caf\xe9.md")) == "caf\\xe9.md"


def test_half_a_surrogate_pair_is_written_out() -> None:
    assert printable("a\ud800b") == "a\\ud800b"


@given(name=st.text(st.characters()))
def test_whatever_comes_can_be_encoded(name: str) -> None:
    printable(name).encode()
