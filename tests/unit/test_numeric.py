"""NumPy on one thread, whoever imports it first."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os
before = dict(os.environ)
{first}
from camillo.numeric import np
assert dict(os.environ) == before
a = np.ones((600, 600), np.float32)
import time
for _ in range(100):  # threads made before are idle only after a while
    a @ a
wall, cpu = time.perf_counter(), time.process_time()
for _ in range(40):
    a @ a
print((time.process_time() - cpu) / (time.perf_counter() - wall))
"""


@pytest.mark.parametrize("first", ["", "import numpy"])
def test_products_take_one_processor(first: str) -> None:
    program = PROGRAM.format(first=first)
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, env=paths)
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout) < 1.2
