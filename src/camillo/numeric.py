"""NumPy, with its linear algebra held to one thread. Import it from here: `from camillo.numeric
import np`.

More threads make our small products slower and a busy machine much slower (0.3 ms became 12-38).
What else the process computes with NumPy is then on one thread too.
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys

from camillo.config import one_thread_for_new_libraries

__all__ = ["np"]

if "numpy" not in sys.modules:
    # Read once, when the library is loaded: it then makes no threads at all.
    with one_thread_for_new_libraries():
        import numpy as np
else:
    import numpy as np


def _hold_loaded_openblas() -> None:
    """For a process that had imported NumPy before: tell the OpenBLAS that its wheels bring."""
    home = os.path.dirname(np.__file__)
    for folder in (f"{home}.libs", os.path.join(home, ".dylibs")):
        for path in glob.glob(os.path.join(glob.escape(folder), "*openblas*")):
            library = ctypes.CDLL(path)
            for name in ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads"):
                if hasattr(library, name):
                    getattr(library, name)(1)


_hold_loaded_openblas()
