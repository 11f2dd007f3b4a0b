"""Vectors agree to 1e-3 where a processor has no AVX-512, or vectors of two machines would not fit.

A machine that has it is made to do without: by an emulator where `qemu-x86_64` (Debian: qemu-user)
is installed, else by the switches of NumPy and OpenBLAS. onnxruntime has no switch; without an
emulator it is held to the golden vectors, which an emulated machine without AVX-512 gives too.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
from numpy.typing import NDArray

from camillo.config import child_environment
from camillo.embed.choice import missing, open_embedder
from camillo.embed.golden import TEXTS, TOLERANCE, golden_vectors, strangeness

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="AVX-512 is a matter of x86-64"
)

EMULATOR = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
NEWER = [name for name in __cpu_dispatch__ if name.startswith(("AVX512", "X86_V4"))]
SWITCHES = {"NPY_DISABLE_CPU_FEATURES": " ".join(NEWER), "OPENBLAS_CORETYPE": "Haswell"}

VECTORS = """
import json, sys
from numpy._core._multiarray_umath import __cpu_features__
from camillo.embed.choice import open_embedder
from camillo.embed.golden import TEXTS
embedder = open_embedder(sys.argv[1], sys.argv[2])
vectors = [embedder.embed([text], role)[0].tolist() for role, text in TEXTS]
print(json.dumps([vectors, [name for name, on in __cpu_features__.items() if on]]))
"""


def _vectors(
    name: str, models: str, emulator: tuple[str, ...] = (), switches: Mapping[str, str] = {}
) -> tuple[NDArray[np.float32], set[str]]:
    """What a process of its own gives for the golden texts, and what NumPy may use in it."""
    ended = subprocess.run(
        [*emulator, sys.executable, "-W", "ignore", "-c", VECTORS, name, models],
        env=child_environment(**switches), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    vectors, features = json.loads(ended.stdout)
    return np.array(vectors, np.float32), set(features)


def _needs(name: str, models: str) -> None:
    if lack := missing(name, models):
        pytest.skip(lack)


@pytest.mark.slow
@pytest.mark.skipif(EMULATOR is None, reason="qemu-x86_64 is not installed")
@pytest.mark.parametrize("name", ["light", "e5"])
def test_an_emulated_processor_without_it_gives_the_same(name: str, models: Path) -> None:
    _needs(name, str(models))
    here, _ = _vectors(name, str(models))
    there, features = _vectors(name, str(models), (str(EMULATOR), "-cpu", "max"))
    assert not any(feature.startswith("AVX512") for feature in features)
    assert here.shape == there.shape == (len(TEXTS), here.shape[1])
    assert np.abs(here - there).max() <= TOLERANCE


@pytest.mark.skipif(not NEWER, reason="this NumPy makes no use of AVX-512")
@pytest.mark.skipif(
    not any(__cpu_features__.get(name) for name in NEWER), reason="no AVX-512 here to do without"
)
def test_with_it_switched_off_light_gives_the_same() -> None:
    _needs("light", "")
    here, _ = _vectors("light", "")
    there, features = _vectors("light", "", switches=SWITCHES)
    assert not features & set(NEWER)
    assert np.abs(here - there).max() <= TOLERANCE


@pytest.mark.parametrize("name", ["light", "e5"])
def test_the_golden_vectors_hold_with_and_without_it(name: str, models: Path) -> None:
    _needs(name, str(models))
    embedder = open_embedder(name, str(models))
    assert embedder is not None
    if not golden_vectors(embedder.id):
        pytest.skip(f"no golden vectors were recorded for {embedder.id}")
    assert strangeness(embedder) <= TOLERANCE
